/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of a host: RELEASE, and building them again in a process that takes the place of one
 * that was lost. */
#include <stdlib.h>

#include <dxp/status.h>

#include "xpu/slot_internal.h"

struct program *program_find(const struct tenant *t, uint32_t id)
{
	struct program *p = t->programs;

	while (p && p->id != id)
		p = p->next;
	return p;
}

struct program *program_hold(struct program *p)
{
	p->users++;
	return p;
}

void program_drop(struct program *p)
{
	if (!p || --p->users > 0)
		return;
	free(p->package);
	free(p->log);
	free(p->about);
	free(p);
}

static void release_end(struct order *o, const struct order_end *end)
{
	o->tenant->busy--;
	program_drop(CONTAINER_OF(o, struct program, release));
}

static const struct order_ops release_ops = {.end = release_end};

static void program_unlink(struct tenant *t, const struct program *p)
{
	struct program **at = &t->programs;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	t->program_count--;
	if (p->package)
		t->packages_bytes -= p->package_bytes;
}

/* Behind the kernels that were given out before, so that none of them loses it. */
static void program_end(struct tenant *t, struct program *p)
{
	struct cell *c = p->built ? cell_of(t) : NULL;

	program_unlink(t, p);
	if (!c) {
		program_drop(p);
		return;
	}
	p->message.program = p->id;
	p->release = (struct order){.tenant = t,
				    .ops = &release_ops,
				    .kind = CELL_RELEASE,
				    .parts = {&p->message, NULL, sizeof(p->message), 0}};
	t->busy++;
	cell_post(c, &p->release);
}

void program_release(struct tenant *t, const struct command *c)
{
	struct program *p = program_find(t, c->program);

	if (p)
		program_end(t, p);
	reply_status(t, COMMAND_RELEASE, c->sequence, p ? DXP_OK : DXP_ENOENT);
}

void programs_release(struct tenant *t)
{
	while (t->programs)
		program_end(t, t->programs);
}

/* Those that others are made of are older, and newer ones are in front. */
static void program_rebuild(struct tenant *t, struct program *p)
{
	if (!p)
		return;
	program_rebuild(t, p->next);
	if (p->built && p->package)
		build_again(t, p);
}

void programs_rebuild(struct tenant *t)
{
	program_rebuild(t, t->programs);
}
