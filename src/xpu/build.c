/* SPDX-License-Identifier: BSD-3-Clause */
/* BUILD: sends a package in parts to the host's worker, which compiles it. Packages behind DMA are
 * fetched one at a time, because each may need XPU_SOURCE_BYTES_MAX of host memory. Others are
 * copied, because their host could change them.
 *
 * The program keeps the copy for rebuilds, up to XPU_PACKAGES_BYTES per host. A linked program
 * keeps its binary, because its inputs may be released.
 *
 * The worker gets only binaries that this node has made: with the node's seal, which is removed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CL/cl.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/seal.h"
#include "wire/package.h"
#include "xpu/slot_internal.h"

struct build {
	struct order order;
	struct build *next; /* BRIDGED memory: next in the slot's queue */
	struct tenant *tenant;
	struct program *program;
	uint32_t sequence;
	bool held; /* the package, in device memory */
	bool again;
	uint64_t address;
	struct worker_build message;
	struct pump_transfer pump;
};

static void build_reply(struct tenant *t, uint32_t sequence, const struct order_end *end,
			const struct program *p)
{
	struct command_reply r = {.op = COMMAND_BUILD,
				  .sequence = sequence,
				  .status = end->status,
				  .native = end->native};

	if (p) {
		r.program = p->entry.id;
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

/* Keeps the package if a rebuild needs it and there is space. */
static void package_settle(struct tenant *t, struct program *p)
{
	if (p->built && !p->links && t->packages_bytes + p->package_bytes <= XPU_PACKAGES_BYTES) {
		t->packages_bytes += p->package_bytes;
	} else {
		free(p->package);
		p->package = NULL;
	}
	program_charge(t, p, false);
}

static void build_free(struct build *b)
{
	struct slot *s = b->tenant->slot;

	b->tenant->busy--;
	if (b->held)
		arena_drop(s->arena, b->address);
	if (s->bridged && s->builds == b) {
		s->builds = b->next;
		if (!s->builds)
			s->builds_tail = &s->builds;
	}
	free(b);
}

static void build_failed(struct build *b, const struct order_end *end)
{
	program_discharge(b->tenant, b->program);
	program_drop(b->program);
	build_reply(b->tenant, b->sequence, end, NULL);
	build_free(b);
}

static void build_fail(struct build *b, int status)
{
	build_failed(b, &(struct order_end){.status = status});
}

static void build_succeed(struct build *b, const struct order_end *end)
{
	struct tenant *t = b->tenant;
	struct program *p = b->program;

	p->built = end->status == DXP_OK;
	package_settle(t, p);
	programs_add(&t->programs, &p->entry);
	build_reply(t, b->sequence, end, p);
	if (p->links && p->built)
		fetch_binary_keep(t, p);
	build_free(b);
}

static void next_fetch(struct slot *s);

static void build_data(struct order *o, uint32_t kind, const void *data, uint32_t bytes)
{
	struct program *p = CONTAINER_OF(o, struct build, order)->program;
	uint64_t count = kind == WORKER_LOG ? p->log_bytes : p->about_bytes;

	if (CONTAINER_OF(o, struct build, order)->again)
		return;
	if (kind == WORKER_LOG) {
		program_bytes_add((uint8_t **)&p->log, &count, data, bytes, ENGINE_LOG_BYTES_MAX);
		p->log_bytes = (uint32_t)count;
	} else {
		program_bytes_add(&p->about, &count, data, bytes, ENGINE_LOG_BYTES_MAX);
		p->about_bytes = (uint32_t)count;
	}
}

static void again_end(struct build *b, int status)
{
	struct tenant *t = b->tenant;

	if (status != DXP_OK && !t->leaving)
		tenant_complain(
			t, "program %u was lost with its worker process and cannot be rebuilt: %s",
			b->program->entry.id, dxp_status_text(status));
	program_drop(b->program);
	t->busy--;
	free(b);
}

static void build_end(struct order *o, const struct order_end *end)
{
	struct build *b = CONTAINER_OF(o, struct build, order);
	struct slot *s = b->tenant->slot;

	if (b->again) {
		again_end(b, end->status);
		return;
	}
	if (b->program->log_bytes)
		text_clean(b->program->log, b->program->log_bytes, TEXT_LINES, NULL);
	s->counters.builds += end->status == DXP_OK;
	if (end->status == DXP_OK || end->status == DXP_EBUILD)
		build_succeed(b, end);
	else
		build_failed(b, end);
	next_fetch(s);
}

static void build_describe(const struct order *o, char *out, size_t space)
{
	snprintf(out, space, "the compiler");
}

static const struct order_ops build_ops = {
	.data = build_data, .end = build_end, .describe = build_describe};

static void part_end(struct order *o, const struct order_end *end)
{
	free(o);
}

static const struct order_ops part_ops = {.end = part_end};

/* DXP_ENOMEM: not all parts were posted. build_send() then states a length of 0, which the worker
 * rejects. */
static int parts_post(struct worker *c, const struct build *b)
{
	const struct program *p = b->program;

	for (uint64_t at = 0; at < p->package_bytes; at += WORKER_PART_BYTES) {
		struct order *o = malloc(sizeof(*o));
		if (!o)
			return DXP_ENOMEM;
		*o = (struct order){.tenant = b->tenant,
				    .ops = &part_ops,
				    .kind = WORKER_PART,
				    .parts = {.first = p->package + at,
					      .first_bytes = (uint32_t)min_u64(
						      p->package_bytes - at, WORKER_PART_BYTES)}};
		worker_post(c, o);
	}
	return DXP_OK;
}

static void build_send(struct worker *c, struct build *b)
{
	struct program *p = b->program;
	int status = parts_post(c, b);

	b->message = (struct worker_build){
		.program = p->entry.id, .package_bytes = status == DXP_OK ? p->package_bytes : 0};
	b->order = (struct order){.tenant = b->tenant,
				  .ops = &build_ops,
				  .kind = WORKER_BUILD,
				  .parts = {&b->message, NULL, sizeof(b->message), 0}};
	worker_post(c, &b->order);
}

/* All inputs must be built programs of this host. */
static int inputs_check(const struct build *b, const struct package *package)
{
	for (uint32_t i = 0; i < package->input_count; i++) {
		const struct program *p = program_find(b->tenant, package_input(package, i));
		if (!p)
			return DXP_ENOENT;
		if (!p->built)
			return DXP_EINVAL;
	}
	return DXP_OK;
}

/* DXP_EBUILD: no loader may get the binary. */
static void binary_reject(struct build *b, const char *wrong)
{
	struct program *p = b->program;
	struct slot *s = b->tenant->slot;

	tenant_complain(b->tenant, "BUILD: a program binary is rejected: %s", wrong);
	p->log = NULL;
	int bytes = asprintf(&p->log, "%s\n", wrong);
	p->log_bytes = bytes > 0 ? (uint32_t)bytes : 0;
	build_succeed(b, &(struct order_end){.status = DXP_EBUILD, .native = CL_INVALID_BINARY});
	next_fetch(s);
}

static int binary_unseal(struct build *b, const struct package *sealed, const char **wrong)
{
	struct program *p = b->program;
	struct dxp_file file;
	const uint8_t *at = NULL;
	const struct package_source source = {.kind = DXP_PROGRAM_BINARY,
					      .options = sealed->options,
					      .files = &file,
					      .file_count = 1};

	package_file(sealed, &at, &file);
	*wrong = seal_check(b->tenant->slot->seal_key, file.data, file.bytes, &file.bytes);
	if (*wrong)
		return DXP_EBUILD;
	uint64_t bytes = package_bytes(&source);
	uint8_t *package = malloc(bytes);
	if (!package)
		return DXP_ENOMEM;
	package_encode(&source, package);
	free(p->package);
	p->package = package;
	p->package_bytes = bytes;
	return DXP_OK;
}

/* Starts the build. From now on the host may release the package's inputs. */
static int build_post(struct build *b)
{
	struct program *p = b->program;
	struct package package;
	const char *wrong = NULL;
	int status = package_decode(p->package, p->package_bytes, &package);

	if (status != DXP_OK) {
		tenant_complain(b->tenant, "BUILD: a package of %llu bytes does not parse",
				(unsigned long long)p->package_bytes);
		return status;
	}
	p->links = package.kind == DXP_PROGRAM_LINK;
	status = inputs_check(b, &package);
	if (status == DXP_OK && package.kind == DXP_PROGRAM_BINARY)
		status = binary_unseal(b, &package, &wrong);
	if (wrong) {
		binary_reject(b, wrong);
		return DXP_OK;
	}
	struct worker *c = status == DXP_OK ? worker_get(b->tenant, &status) : NULL;
	if (c)
		build_send(c, b);
	return status;
}

static void build_again(struct tenant *t, struct program *p)
{
	struct build *b = calloc(1, sizeof(*b));

	if (!b)
		return; /* a later launch reports the missing program */
	b->tenant = t;
	b->program = program_hold(p);
	b->again = true;
	t->busy++;
	build_send(t->worker, b);
}

/* Rebuilds a tenant's programs from the oldest on, because inputs are older than programs linked
 * from them. */
void programs_rebuild(struct tenant *t)
{
	for (struct program_entry *e = t->programs.oldest; e; e = e->newer) {
		struct program *p = CONTAINER_OF(e, struct program, entry);
		if (p->built && p->package)
			build_again(t, p);
	}
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
				"BUILD: fetching the package failed: %s, at byte %llu: %s",
				bridged_step_name(end->step), (unsigned long long)end->at,
				bridged_end_text(end));
	if (status == DXP_OK)
		return;
	build_fail(b, status);
	next_fetch(s);
}

/* Fetches directly into host memory: packages are too rare for buffers of the rings. */
static int fetch_begin(struct build *b)
{
	struct program *p = b->program;
	const struct bridge_order order = {.path = BRIDGE_DIRECT, .bytes = p->package_bytes};

	p->package = malloc(p->package_bytes);
	if (!p->package)
		return DXP_ENOMEM;
	b->pump = (struct pump_transfer){
		.device_from = b->address,
		.sink = p->package,
		.ended = fetch_ended,
	};
	return pump_begin(bridged_pump(b->tenant->slot->bridged), &b->pump, &order, clock_now_ns());
}

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
	p->entry.id = ++t->slot->program_last;
	p->users = 1;
	p->package_bytes = c->bytes;
	b->tenant = t;
	b->program = p;
	b->sequence = c->sequence;
	b->address = c->address;
	program_charge(t, p, true);
	t->busy++;
	return b;
}

static int package_copy(struct build *b, const uint8_t *from)
{
	struct program *p = b->program;

	p->package = malloc(p->package_bytes);
	if (!p->package)
		return DXP_ENOMEM;
	memcpy(p->package, from, p->package_bytes);
	return build_post(b);
}

static int package_accept(struct build *b, const struct command *c)
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
		return package_copy(b, t->memory->base + c->address);
	build_queue(s, b);
	return DXP_OK;
}

/* Begins a build. On success the reply is sent later, or is queued already. */
static int build_begin(struct tenant *t, const struct command *c)
{
	if (c->bytes > XPU_SOURCE_BYTES_MAX)
		return DXP_EINVAL;
	if (t->programs_bytes + c->bytes > XPU_PROGRAMS_BYTES)
		return DXP_EAGAIN;
	struct build *b = build_create(t, c);
	if (!b)
		return DXP_ENOMEM;
	int status = package_accept(b, c);
	if (status != DXP_OK)
		build_fail(b, status);
	return DXP_OK;
}

void program_build(struct tenant *t, const struct command *c)
{
	int status = build_begin(t, c);

	if (status != DXP_OK)
		build_reply(t, c->sequence, &(struct order_end){.status = status}, NULL);
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
	/* A running fetch completes its build when the bridge closes. */
	if (!first->program->package)
		build_fail(first, DXP_ECLOSED);
}
