/* SPDX-License-Identifier: BSD-3-Clause */
/* FETCH: data about programs and the device, in parts. Logs and kernel records are kept with the
 * program; other data come from the host's worker, and are kept for the next part. A binary for a
 * host gets the node's seal. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "engine/seal.h"
#include "wire/package.h"
#include "xpu/slot_internal.h"

/* larger than any known binary */
#define FETCHED_BYTES_MAX (256u << 20)

struct part {
	uint32_t sequence, program;
	uint8_t what;
	uint64_t skip, bytes, address;
};

struct fetch {
	struct order order;
	struct worker_fetch message;
	/* keeps its binary; NULL: a host has sent this FETCH */
	struct program *keep;
	struct part part;
	uint8_t *data;
	uint64_t bytes;
	bool cut; /* incomplete, because memory was short */
};

static int part_write(struct tenant *t, const struct part *p, const uint8_t *from, uint64_t bytes)
{
	struct arena *arena = t->slot->arena;

	if (t->slot->bridged)
		return DXP_EUNSUPPORTED;
	int status = arena_hold(arena, t->owner, p->address, bytes, NULL);
	if (status != DXP_OK)
		return status;
	if (bytes)
		memcpy(t->memory->base + p->address, from, bytes);
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

static void fetch_data(struct order *o, uint32_t kind, const void *data, uint32_t bytes)
{
	struct fetch *f = CONTAINER_OF(o, struct fetch, order);

	if (!f->cut && !program_bytes_add(&f->data, &f->bytes, data, bytes, FETCHED_BYTES_MAX))
		f->cut = true;
}

static void fetch_free(struct fetch *f)
{
	f->order.tenant->busy--;
	program_drop(f->keep);
	free(f->data);
	free(f);
}

/* Keeps the binary as a package, in the format of packages from hosts. */
static void package_keep(struct tenant *t, struct program *p, const struct fetch *f)
{
	const struct dxp_file file = {.name = "binary", .data = f->data, .bytes = f->bytes};
	const struct package_source source = {
		.kind = DXP_PROGRAM_BINARY, .options = "", .files = &file, .file_count = 1};
	uint64_t bytes = package_bytes(&source);

	if (program_find(t, p->entry.id) != p || t->packages_bytes + bytes > XPU_PACKAGES_BYTES ||
	    package_fault(&source))
		return;
	p->package = malloc(bytes);
	if (!p->package)
		return;
	package_encode(&source, p->package);
	p->package_bytes = bytes;
	t->packages_bytes += bytes;
	program_charge(t, p, false);
}

static int binary_seal(struct fetch *f)
{
	uint8_t seal[SEAL_BYTES];

	seal_make(f->order.tenant->slot->seal_key, f->data, f->bytes, seal);
	return program_bytes_add(&f->data, &f->bytes, seal, sizeof(seal),
				 FETCHED_BYTES_MAX + SEAL_BYTES)
		       ? DXP_OK
		       : DXP_ENOMEM;
}

static void fetch_answer(struct fetch *f, int status)
{
	struct tenant *t = f->order.tenant;
	struct fetched *kept = &t->fetched;

	if (status == DXP_OK && f->part.what == FETCH_BINARY)
		status = binary_seal(f);
	fetch_reply(t, &f->part, status, f->data, f->bytes);
	if (status != DXP_OK)
		return;
	free(kept->data);
	*kept = (struct fetched){f->part.program, f->part.what, f->data, f->bytes};
	f->data = NULL;
}

static void fetch_end(struct order *o, const struct order_end *end)
{
	struct fetch *f = CONTAINER_OF(o, struct fetch, order);
	int status = end->status == DXP_OK && f->cut ? DXP_ENOMEM : end->status;

	if (!f->keep)
		fetch_answer(f, status);
	else if (status == DXP_OK)
		package_keep(o->tenant, f->keep, f);
	fetch_free(f);
}

static const struct order_ops fetch_ops = {.data = fetch_data, .end = fetch_end};

static int fetch_post(struct tenant *t, const struct part *part, struct program *keep)
{
	int status;
	struct worker *c = worker_get(t, &status);

	if (!c)
		return status;
	struct fetch *f = calloc(1, sizeof(*f));
	if (!f)
		return DXP_ENOMEM;
	f->part = *part;
	f->keep = keep ? program_hold(keep) : NULL;
	f->message = (struct worker_fetch){part->program, part->what};
	f->order = (struct order){.tenant = t,
				  .ops = &fetch_ops,
				  .kind = WORKER_FETCH,
				  .parts = {&f->message, NULL, sizeof(f->message), 0}};
	t->busy++;
	worker_post(c, &f->order);
	return DXP_OK;
}

void fetch_binary_keep(struct tenant *t, struct program *p)
{
	fetch_post(t, &(struct part){.program = p->entry.id, .what = FETCH_BINARY}, p);
}

/* Answers a FETCH of a later part from the data that was kept for it. False: no data was kept. */
static bool fetch_again(struct tenant *t, const struct part *p)
{
	const struct fetched *kept = &t->fetched;

	if (p->skip == 0 || !kept->data || kept->program != p->program || kept->what != p->what)
		return false;
	fetch_reply(t, p, DXP_OK, kept->data, kept->bytes);
	return true;
}

static void fetch_begin(struct tenant *t, const struct part *part)
{
	int status = fetch_again(t, part) ? DXP_OK : fetch_post(t, part, NULL);

	if (status != DXP_OK)
		fetch_reply(t, part, status, NULL, 0);
}

void fetch_start(struct tenant *t, const struct command *c)
{
	const struct part part = {.sequence = c->sequence,
				  .program = c->what == FETCH_DEVICE ? 0 : c->program,
				  .what = c->what,
				  .skip = c->skip,
				  .bytes = c->bytes,
				  .address = c->address};
	const struct program *p = program_find(t, c->program);

	if (c->what == FETCH_DEVICE)
		fetch_begin(t, &part);
	else if (!p)
		fetch_reply(t, &part, DXP_ENOENT, NULL, 0);
	else if (c->what == FETCH_LOG)
		fetch_reply(t, &part, DXP_OK, p->log, p->log_bytes);
	else if (!p->built)
		fetch_reply(t, &part, DXP_EBUILD, NULL, 0);
	else if (c->what == FETCH_ABOUT && p->about)
		fetch_reply(t, &part, DXP_OK, p->about, p->about_bytes);
	else
		fetch_begin(t, &part);
}
