/* SPDX-License-Identifier: BSD-3-Clause */
/* RELEASE of programs. Everything that the engine does happens on its thread. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "xpu/slot_internal.h"

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

void program_free(struct program *p)
{
	free(p->log);
	free(p->about);
	free(p);
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
