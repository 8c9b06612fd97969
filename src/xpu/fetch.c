/* SPDX-License-Identifier: BSD-3-Clause */
/* FETCH: what is known about programs and the device, part by part. Logs and records about kernels
 * are kept with the program; the rest is asked of the engine, and kept for the host's next part. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "xpu/slot_internal.h"

struct part {
	uint32_t sequence, program;
	uint8_t what;
	uint64_t skip, bytes, address;
};

struct fetch {
	struct job job;
	struct tenant *tenant;
	struct engine_program *program; /* NULL: the device */
	struct part part;
	int status;
	uint8_t *data;
	size_t bytes;
};

/* Into device memory of the host. */
static int part_write(struct tenant *t, const struct part *p, const uint8_t *from, uint64_t bytes)
{
	struct arena *arena = t->slot->arena;

	if (t->slot->bridged)
		return DXP_EUNSUPPORTED;
	int status = arena_hold(arena, t->owner, p->address, bytes, NULL);
	if (status != DXP_OK)
		return status;
	if (bytes)
		memcpy(arena_base(arena) + p->address, from, bytes);
	arena_drop(arena, p->address);
	return DXP_OK;
}

static void fetch_reply(struct tenant *t, const struct part *p, int status, const void *data,
			uint64_t total)
{
	struct command_reply r = {
		.op = COMMAND_FETCH, .sequence = p->sequence, .status = status, .total = total};
	const uint64_t skip = min_u64(p->skip, total);
	const uint64_t bytes = min_u64(total - skip, p->bytes);
	const uint8_t *from = data ? (const uint8_t *)data + skip : NULL;

	if (status == DXP_OK && p->address != COMMAND_NO_ADDRESS) {
		r.status = part_write(t, p, from, bytes);
	} else if (status == DXP_OK) {
		r.part_bytes = (uint32_t)min_u64(bytes, sizeof(r.part));
		if (r.part_bytes)
			memcpy(r.part, from, r.part_bytes);
	}
	reply_send(t, &r);
}

static void fetch_run(struct worker_job *worker)
{
	struct fetch *f = CONTAINER_OF(CONTAINER_OF(worker, struct job, worker), struct fetch, job);

	f->status =
		engine_fetch(f->job.slot->engine, f->program, f->part.what, &f->data, &f->bytes);
}

static void fetch_free(struct fetch *f)
{
	f->tenant->busy--;
	free(f->data);
	free(f);
}

static void fetch_drop(struct job *j)
{
	fetch_free(CONTAINER_OF(j, struct fetch, job));
}

static void fetch_done(struct job *j)
{
	struct fetch *f = CONTAINER_OF(j, struct fetch, job);
	struct fetched *kept = &f->tenant->fetched;

	fetch_reply(f->tenant, &f->part, f->status, f->data, f->bytes);
	if (f->status == DXP_OK) {
		free(kept->data);
		*kept = (struct fetched){f->part.program, f->part.what, f->data, f->bytes};
		f->data = NULL;
	}
	fetch_free(f);
}

static int fetch_post(struct tenant *t, const struct part *part, struct engine_program *program)
{
	struct fetch *f = calloc(1, sizeof(*f));

	if (!f)
		return DXP_ENOMEM;
	f->tenant = t;
	f->program = program;
	f->part = *part;
	t->busy++;
	job_post(t->slot, &f->job, fetch_run, fetch_done, fetch_drop);
	return DXP_OK;
}

/* A later part of what was fetched before. */
static bool fetch_again(struct tenant *t, const struct part *p)
{
	const struct fetched *kept = &t->fetched;

	if (p->skip == 0 || !kept->data || kept->program != p->program || kept->what != p->what)
		return false;
	fetch_reply(t, p, DXP_OK, kept->data, kept->bytes);
	return true;
}

static void fetch_begin(struct tenant *t, const struct part *part, struct engine_program *program)
{
	int status = fetch_again(t, part) ? DXP_OK : fetch_post(t, part, program);

	if (status != DXP_OK)
		fetch_reply(t, part, status, NULL, 0);
}

void fetch_take(struct tenant *t, const struct command *c)
{
	const struct part part = {.sequence = c->sequence,
				  .program = c->program,
				  .what = c->what,
				  .skip = c->skip,
				  .bytes = c->bytes,
				  .address = c->address};
	const struct program *p = program_find(t, c->program);

	if (c->what == FETCH_DEVICE)
		fetch_begin(t, &part, NULL);
	else if (!p)
		fetch_reply(t, &part, DXP_ENOENT, NULL, 0);
	else if (c->what == FETCH_LOG)
		fetch_reply(t, &part, DXP_OK, p->log, p->log_bytes);
	else if (!p->handle)
		fetch_reply(t, &part, DXP_EBUILD, NULL, 0);
	else if (c->what == FETCH_ABOUT && p->about)
		fetch_reply(t, &part, DXP_OK, p->about, p->about_bytes);
	else
		fetch_begin(t, &part, p->handle);
}
