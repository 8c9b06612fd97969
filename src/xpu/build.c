/* SPDX-License-Identifier: BSD-3-Clause */
/* BUILD. Everything that the compiler does happens on the engine's thread. A package in memory that
 * only DMA reaches is fetched first; one at a time, since each may take XPU_SOURCE_BYTES_MAX of
 * ours. One in memory that its host could change meanwhile is copied. */
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
	uint8_t *package;
	struct package decoded;
	struct engine_file *files;
	struct engine_program **inputs;
};

static void build_reply(struct tenant *t, uint32_t sequence, int status, const struct program *p)
{
	struct command_reply r = {.op = COMMAND_BUILD, .sequence = sequence, .status = status};

	if (p) {
		r.program = p->id;
		r.log_bytes = p->log_bytes;
		r.about_bytes = p->about_bytes;
	}
	if (p && (uint64_t)p->log_bytes + p->about_bytes <= sizeof(r.part)) {
		r.part_bytes = p->log_bytes + p->about_bytes;
		if (p->log_bytes)
			memcpy(r.part, p->log, p->log_bytes);
		if (p->about_bytes)
			memcpy(r.part + p->log_bytes, p->about, p->about_bytes);
	}
	reply_send(t, &r);
}

/* What the engine tells about the kernels; none is no failure. */
static void about_get(struct engine *e, struct program *p)
{
	size_t bytes = 0;

	if (engine_fetch(e, p->handle, FETCH_ABOUT, &p->about, &bytes) == DXP_OK)
		p->about_bytes = (uint32_t)bytes;
}

static void build_run(struct worker_job *worker)
{
	struct build *b = CONTAINER_OF(CONTAINER_OF(worker, struct job, worker), struct build, job);
	struct engine *engine = b->job.slot->engine;
	struct program *p = b->program;
	const struct engine_source source = {
		.kind = b->decoded.kind,
		.options = b->decoded.options,
		.files = b->files,
		.file_count = b->decoded.file_count,
		.inputs = b->inputs,
		.input_count = b->decoded.input_count,
	};

	b->status = engine_build(engine, &source, &p->handle, &p->log);
	if (b->status == DXP_OK)
		about_get(engine, p);
}

static void build_free(struct build *b)
{
	struct slot *s = b->tenant->slot;

	b->tenant->busy--;
	if (b->held)
		arena_drop(s->arena, b->address);
	free(b->package);
	free(b->files);
	free(b->inputs);
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

/* The programs that are linked; those that were not built have an empty place. */
static int inputs_find(struct build *b)
{
	const struct program *p;

	for (uint32_t i = 0; i < b->decoded.input_count; i++) {
		p = program_find(b->tenant, package_input(&b->decoded, i));
		if (!p)
			return DXP_ENOENT;
		if (!p->handle)
			return DXP_EINVAL;
		b->inputs[i] = p->handle;
	}
	return DXP_OK;
}

static int package_open(struct build *b)
{
	struct package *p = &b->decoded;
	const uint8_t *at = NULL;
	struct dxp_file file;

	int status = package_decode(b->package, b->bytes, p);
	if (status != DXP_OK) {
		tenant_complain(b->tenant, "BUILD: a package of %llu bytes does not parse",
				(unsigned long long)b->bytes);
		return status;
	}
	b->files = calloc(p->file_count + 1, sizeof(*b->files));
	b->inputs = calloc(p->input_count + 1, sizeof(struct engine_program *));
	if (!b->files || !b->inputs)
		return DXP_ENOMEM;
	for (uint32_t i = 0; package_file(p, &at, &file); i++)
		b->files[i] = (struct engine_file){file.name, file.data, file.bytes};
	return inputs_find(b);
}

/* The package is here. Programs that it names may go from now on: the engine's thread does that
 * later. */
static int build_post(struct build *b)
{
	int status = package_open(b);

	if (status == DXP_OK)
		job_post(b->tenant->slot, &b->job, build_run, build_done, build_drop);
	return status;
}

static void fetch_ended(struct pump_transfer *t, const struct bridge_end *end)
{
	struct build *b = CONTAINER_OF(t, struct build, pump);
	struct slot *s = b->tenant->slot;
	int status = bridged_end_status(end);

	if (status == DXP_OK && b->tenant->leaving)
		status = DXP_ECANCELED;
	if (status == DXP_OK)
		status = build_post(b);
	else if (end->step < BRIDGE_STEPS)
		tenant_complain(b->tenant,
				"BUILD: %s, which brings the package, failed at byte %llu: %s",
				bridged_step_name(end->step), (unsigned long long)end->at,
				bridged_end_text(end));
	if (status == DXP_OK)
		return;
	build_fail(b, status);
	next_fetch(s);
}

/* The first one's package comes straight into memory of ours: nobody waits for it long enough that
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

static void build_queue(struct slot *s, struct build *b)
{
	bool alone = s->builds == NULL;

	*s->builds_tail = b;
	s->builds_tail = &b->next;
	if (alone)
		next_fetch(s);
}

static struct build *build_create(struct tenant *t, const struct command *c)
{
	struct build *b = calloc(1, sizeof(*b));
	struct program *p = calloc(1, sizeof(*p));

	if (!b || !p) {
		free(b);
		free(p);
		return NULL;
	}
	p->id = ++t->slot->program_last;
	b->tenant = t;
	b->program = p;
	b->sequence = c->sequence;
	b->address = c->address;
	b->bytes = c->bytes;
	t->program_count++;
	t->busy++;
	return b;
}

/* A copy of what is within reach. */
static int package_copy(struct build *b, const uint8_t *from)
{
	b->package = malloc(b->bytes);
	if (!b->package)
		return DXP_ENOMEM;
	memcpy(b->package, from, b->bytes);
	return build_post(b);
}

static int package_take(struct build *b, const struct command *c)
{
	struct tenant *t = b->tenant;
	struct slot *s = t->slot;

	if (c->data_bytes)
		return package_copy(b, c->data);
	int status = arena_hold(s->arena, t->owner, c->address, c->bytes, NULL);
	if (status != DXP_OK)
		return status;
	b->held = true;
	if (!s->bridged)
		return package_copy(b, arena_base(s->arena) + c->address);
	build_queue(s, b);
	return DXP_OK;
}

/* On success the reply comes later, or has been put in. */
static int build_begin(struct tenant *t, const struct command *c)
{
	if (c->bytes > XPU_SOURCE_BYTES_MAX)
		return DXP_EINVAL;
	if (t->program_count >= XPU_PROGRAMS_MAX)
		return DXP_EAGAIN;
	struct build *b = build_create(t, c);
	if (!b)
		return DXP_ENOMEM;
	int status = package_take(b, c);
	if (status != DXP_OK)
		build_fail(b, status);
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
