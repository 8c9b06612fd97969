/* SPDX-License-Identifier: BSD-3-Clause */
/* BUILD, LOG and RELEASE. Everything that the compiler or the engine does happens on the engine's
 * thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "xpu/slot_internal.h"

struct build {
	struct job job;
	struct tenant *tenant;
	struct program *program;
	uint32_t sequence;
	uint64_t address, bytes; /* the source, held */
	int status;
	char options[COMMAND_OPTIONS_BYTES];
};

struct release {
	struct job job;
	struct tenant *tenant;
	struct program *program;
};

struct program *program_find(const struct tenant *t, uint32_t id)
{
	struct program *p = t->programs;

	while (p && p->id != id)
		p = p->next;
	return p;
}

static void program_free(struct program *p)
{
	free(p->log);
	free(p);
}

static void build_run(struct worker_job *worker)
{
	struct build *b = CONTAINER_OF(CONTAINER_OF(worker, struct job, worker), struct build, job);
	const struct engine_source source = {
		.text = (const char *)arena_base(b->job.slot->arena) + b->address,
		.bytes = b->bytes,
		.options = b->options,
	};

	b->status =
		engine_build(b->job.slot->engine, &source, &b->program->handle, &b->program->log);
}

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

static void build_done(struct job *j)
{
	struct build *b = CONTAINER_OF(j, struct build, job);
	struct tenant *t = b->tenant;
	struct program *p = b->program;

	t->busy--;
	arena_drop(j->slot->arena, b->address);
	j->slot->counters.builds += b->status == DXP_OK;
	if (b->status == DXP_OK || b->status == DXP_EBUILD) {
		p->log_bytes = p->log ? (uint32_t)strlen(p->log) : 0;
		p->next = t->programs;
		t->programs = p;
		build_reply(t, b->sequence, b->status, p);
	} else {
		t->program_count--;
		program_free(p);
		build_reply(t, b->sequence, b->status, NULL);
	}
	free(b);
}

static void build_drop(struct job *j)
{
	struct build *b = CONTAINER_OF(j, struct build, job);

	b->tenant->busy--;
	arena_drop(j->slot->arena, b->address);
	if (b->program->handle)
		engine_release(j->slot->engine, b->program->handle);
	program_free(b->program);
	free(b);
}

/* On success the job is with the engine's thread. */
static int build_post(struct tenant *t, const struct command *c)
{
	struct slot *s = t->slot;

	if (c->bytes > XPU_SOURCE_BYTES_MAX)
		return DXP_EINVAL;
	if (t->program_count >= XPU_PROGRAMS_MAX)
		return DXP_EAGAIN;
	int status = arena_hold(s->arena, t->owner, c->address, c->bytes, NULL);
	if (status != DXP_OK)
		return status;
	struct build *b = calloc(1, sizeof(*b));
	struct program *p = calloc(1, sizeof(*p));
	if (!b || !p) {
		free(b);
		free(p);
		arena_drop(s->arena, c->address);
		return DXP_ENOMEM;
	}
	p->id = ++s->program_last;
	*b = (struct build){.tenant = t,
			    .program = p,
			    .sequence = c->sequence,
			    .address = c->address,
			    .bytes = c->bytes};
	snprintf(b->options, sizeof(b->options), "%s", c->text);
	t->program_count++;
	t->busy++;
	job_post(s, &b->job, build_run, build_done, build_drop);
	return DXP_OK;
}

void program_build(struct tenant *t, const struct command *c)
{
	int status = build_post(t, c);

	if (status != DXP_OK)
		build_reply(t, c->sequence, status, NULL);
}

void program_log(struct tenant *t, const struct command *c)
{
	const struct program *p = program_find(t, c->program);
	struct command_reply r = {
		.op = COMMAND_LOG, .sequence = c->sequence, .status = p ? DXP_OK : DXP_ENOENT};

	if (p && c->offset < p->log_bytes) {
		r.log_bytes = (uint32_t)min_u64(p->log_bytes - c->offset, sizeof(r.log));
		memcpy(r.log, p->log + c->offset, r.log_bytes);
	}
	reply_send(t, &r);
}

static void release_run(struct worker_job *worker)
{
	struct release *r =
		CONTAINER_OF(CONTAINER_OF(worker, struct job, worker), struct release, job);

	engine_release(r->job.slot->engine, r->program->handle);
	r->program->handle = NULL;
}

static void release_done(struct job *j)
{
	struct release *r = CONTAINER_OF(j, struct release, job);

	r->tenant->busy--;
	program_free(r->program);
	free(r);
}

static void release_drop(struct job *j)
{
	struct release *r = CONTAINER_OF(j, struct release, job);

	if (r->program->handle)
		release_run(&j->worker);
	release_done(j);
}

static void program_unlink(struct tenant *t, const struct program *p)
{
	struct program **at = &t->programs;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	t->program_count--;
}

/* Lets a program go: behind the kernels that were given out before, so that none of them loses it.
 * False: no memory, nothing has changed. */
static bool program_end(struct tenant *t, struct program *p)
{
	struct release *r = NULL;

	if (p->handle) {
		r = calloc(1, sizeof(*r));
		if (!r)
			return false;
	}
	program_unlink(t, p);
	if (!r) {
		program_free(p);
		return true;
	}
	r->tenant = t;
	r->program = p;
	t->busy++;
	job_post(t->slot, &r->job, release_run, release_done,
		 release_drop); /* p is the engine's thread's now */
	return true;
}

void program_release(struct tenant *t, const struct command *c)
{
	struct program *p = program_find(t, c->program);
	int status = !p ? DXP_ENOENT : program_end(t, p) ? DXP_OK : DXP_ENOMEM;

	reply_status(t, COMMAND_RELEASE, c->sequence, status);
}

void programs_release(struct tenant *t)
{
	while (t->programs && program_end(t, t->programs))
		;
}

void programs_free(struct tenant *t)
{
	struct program *p;

	while ((p = t->programs)) {
		t->programs = p->next;
		if (p->handle)
			engine_release(t->slot->engine, p->handle);
		program_free(p);
	}
}
