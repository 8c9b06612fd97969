/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of a host: their memory, and RELEASE. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "xpu/slot_internal.h"

struct program *program_find(const struct tenant *t, uint32_t id)
{
	struct program_entry *e = programs_find(&t->programs, id);

	return e ? CONTAINER_OF(e, struct program, entry) : NULL;
}

void program_charge(struct tenant *t, struct program *p, bool building)
{
	program_discharge(t, p);
	p->charged = sizeof(*p) + p->log_bytes + p->about_bytes;
	if (building || p->package)
		p->charged += p->package_bytes;
	t->programs_bytes += p->charged;
}

void program_discharge(struct tenant *t, struct program *p)
{
	t->programs_bytes -= p->charged;
	p->charged = 0;
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

bool program_bytes_add(uint8_t **data, uint64_t *bytes, const void *more, uint32_t count,
		       uint64_t most)
{
	if (*bytes + count > most)
		return false;
	uint8_t *at = realloc(*data, *bytes + count + 1);
	if (!at)
		return false;
	memcpy(at + *bytes, more, count);
	*data = at;
	*bytes += count;
	return true;
}

static void release_end(struct order *o, const struct order_end *end)
{
	o->tenant->busy--;
	program_drop(CONTAINER_OF(o, struct program, release));
}

static const struct order_ops release_ops = {.end = release_end};

static void program_unlink(struct tenant *t, struct program *p)
{
	programs_remove(&t->programs, &p->entry);
	program_discharge(t, p);
	if (p->package)
		t->packages_bytes -= p->package_bytes;
}

/* In the worker's queue, the release follows the kernels that need the program. */
static void program_end(struct tenant *t, struct program *p)
{
	struct worker *c = p->built ? worker_of(t) : NULL;

	program_unlink(t, p);
	if (!c) {
		program_drop(p);
		return;
	}
	p->message.program = p->entry.id;
	p->release = (struct order){.tenant = t,
				    .ops = &release_ops,
				    .kind = WORKER_RELEASE,
				    .parts = {&p->message, NULL, sizeof(p->message), 0}};
	t->busy++;
	worker_post(c, &p->release);
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
	while (t->programs.newest)
		program_end(t, CONTAINER_OF(t->programs.newest, struct program, entry));
}
