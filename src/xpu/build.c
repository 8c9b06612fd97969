/* SPDX-License-Identifier: BSD-3-Clause */
/* BUILD. Everything that the compiler does happens on the engine's thread. A source in memory that
 * only DMA reaches is fetched first; one at a time, since each may take XPU_SOURCE_BYTES_MAX of
 * ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "link/udp.h"
#include "wire/package.h"
#include "xpu/slot_internal.h"

struct build {
	struct job job;
	struct build *next;
	struct tenant *tenant;
	struct program *program;
	uint32_t sequence;
	bool held;               /* the package lies in device memory, at `address` */
	uint64_t address, bytes; /* of the package */
	int status;
	struct pump_transfer pump;
	uint8_t *package; /* a copy, which its host cannot change any more */
};

static void build_reply(struct tenant *t, uint32_t sequence, int status, const struct program *p)
{
	const struct command_reply r = {
		.op = COMMAND_BUILD,
		.sequence = sequence,
		.status = status,
		.program = p ? p->id : 0,
		.log_bytes = p ? p->log_bytes : 0,
	};

	reply_send(t, &r);
}

static void build_run(struct worker_job *worker)
{
	struct build *b = CONTAINER_OF(CONTAINER_OF(worker, struct job, worker), struct build, job);
	struct slot *s = b->job.slot;
	struct package p;
	const uint8_t *at = NULL;
	struct dxp_file file;

	b->status = package_decode(b->package, b->bytes, &p);
	if (b->status == DXP_OK && (p.kind != DXP_PROGRAM_SOURCE || p.file_count != 1))
		b->status = DXP_EUNSUPPORTED;
	if (b->status != DXP_OK || !package_file(&p, &at, &file))
		return;
	const struct engine_file text = {.data = file.data, .bytes = file.bytes};
	const struct engine_source source = {
		.options = p.options, .files = &text, .file_count = 1};
	b->status = engine_build(s->engine, &source, &b->program->handle, &b->program->log);
}

static void build_free(struct build *b)
{
	struct slot *s = b->tenant->slot;

	b->tenant->busy--;
	if (b->held)
		arena_drop(s->arena, b->address);
	free(b->package);
	if (s->bridged && s->builds == b) {
		s->builds = b->next;
		if (!s->builds)
			s->builds_tail = &s->builds;
	}
	free(b);
}

static void build_fail(struct build *b, int status)
{
	b->tenant->program_count--;
	program_free(b->program);
	build_reply(b->tenant, b->sequence, status, NULL);
	build_free(b);
}

static void build_end(struct build *b)
{
	struct tenant *t = b->tenant;
	struct program *p = b->program;

	p->log_bytes = p->log ? (uint32_t)strlen(p->log) : 0;
	p->next = t->programs;
	t->programs = p;
	build_reply(t, b->sequence, b->status, p);
	build_free(b);
}

static void next_fetch(struct slot *s);

static void build_done(struct job *j)
{
	struct build *b = CONTAINER_OF(j, struct build, job);
	struct slot *s = j->slot;

	s->counters.builds += b->status == DXP_OK;
	if (b->status == DXP_OK || b->status == DXP_EBUILD)
		build_end(b);
	else
		build_fail(b, b->status);
	next_fetch(s);
}

static void build_drop(struct job *j)
{
	struct build *b = CONTAINER_OF(j, struct build, job);

	if (b->program->handle)
		engine_release(j->slot->engine, b->program->handle);
	program_free(b->program);
	build_free(b);
}

static void build_post(struct build *b)
{
	job_post(b->tenant->slot, &b->job, build_run, build_done, build_drop);
}

static void fetch_ended(struct pump_transfer *t, const struct bridge_end *end)
{
	struct build *b = CONTAINER_OF(t, struct build, pump);
	struct slot *s = b->tenant->slot;
	int status = bridged_end_status(end);

	if (status == DXP_OK && b->tenant->leaving)
		status = DXP_ECANCELED;
	if (status == DXP_OK) {
		build_post(b);
		return;
	}
	if (end->step < BRIDGE_STEPS)
		tenant_complain(b->tenant,
				"BUILD: %s, which brings the source, failed at byte %llu: %s",
				bridged_step_name(end->step), (unsigned long long)end->at,
				bridged_end_text(end));
	build_fail(b, status);
	next_fetch(s);
}

/* The first one's source comes straight into memory of ours: nobody waits for it long enough that
 * the rings would be worth it. */
static int fetch_begin(struct build *b)
{
	const struct bridge_order order = {.path = BRIDGE_DIRECT, .bytes = b->bytes};

	b->package = malloc(b->bytes);
	if (!b->package)
		return DXP_ENOMEM;
	b->pump = (struct pump_transfer){
		.device_from = b->address,
		.sink = b->package,
		.ended = fetch_ended,
	};
	return pump_begin(bridged_pump(b->tenant->slot->bridged), &b->pump, &order, link_now_ns());
}

/* Once the one before is built, or not. */
static void next_fetch(struct slot *s)
{
	struct build *b;

	while ((b = s->builds) && !s->closing) {
		int status = b->tenant->leaving ? DXP_ECANCELED : fetch_begin(b);
		if (status == DXP_OK)
			return;
		build_fail(b, status);
	}
}

static void build_enter(struct slot *s, struct build *b)
{
	if (b->package) {
		build_post(b);
		return;
	}
	bool alone = s->builds == NULL;
	*s->builds_tail = b;
	s->builds_tail = &b->next;
	if (alone)
		next_fetch(s);
}

/* On success the reply comes later, or has been put in. */
static int build_begin(struct tenant *t, const struct command *c)
{
	struct slot *s = t->slot;

	if (c->bytes > XPU_SOURCE_BYTES_MAX)
		return DXP_EINVAL;
	if (t->program_count >= XPU_PROGRAMS_MAX)
		return DXP_EAGAIN;
	int status =
		c->data_bytes ? DXP_OK : arena_hold(s->arena, t->owner, c->address, c->bytes, NULL);
	if (status != DXP_OK)
		return status;
	struct build *b = calloc(1, sizeof(*b));
	struct program *p = calloc(1, sizeof(*p));
	bool copies = c->data_bytes || !s->bridged;
	uint8_t *package = copies ? malloc(c->bytes) : NULL;
	if (!b || !p || (copies && !package)) {
		free(b);
		free(p);
		free(package);
		if (!c->data_bytes)
			arena_drop(s->arena, c->address);
		return DXP_ENOMEM;
	}
	if (copies)
		memcpy(package, c->data_bytes ? c->data : arena_base(s->arena) + c->address,
		       c->bytes);
	p->id = ++s->program_last;
	*b = (struct build){.tenant = t,
			    .program = p,
			    .sequence = c->sequence,
			    .held = c->data_bytes == 0,
			    .address = c->address,
			    .bytes = c->bytes,
			    .package = package};
	t->program_count++;
	t->busy++;
	build_enter(s, b);
	return DXP_OK;
}

void program_build(struct tenant *t, const struct command *c)
{
	int status = build_begin(t, c);

	if (status != DXP_OK)
		build_reply(t, c->sequence, status, NULL);
}

void builds_free(struct slot *s)
{
	struct build *first = s->builds, *b;

	if (!first)
		return;
	while ((b = first->next)) {
		first->next = b->next;
		build_fail(b, DXP_ECLOSED);
	}
	s->builds_tail = &first->next;
	/* One that is with the device ends with the bridge. */
	if (!first->package)
		build_fail(first, DXP_ECLOSED);
}
