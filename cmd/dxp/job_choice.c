/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/job_choice.h"

#include <stdio.h>
#include <string.h>

const char *job_holder(const struct job_fabric *f, const char *own, const char *xpu)
{
	for (size_t i = 0; i < f->grant_count; i++)
		if (strcmp(f->grants[i].xpu, xpu) == 0 && strcmp(f->grants[i].host, own) != 0)
			return f->grants[i].host;
	return NULL;
}

static bool fits(const struct node_entry *n, const struct job_wish *wish)
{
	return n->kind == MANAGE_XPU && n->alive && n->memory_bytes >= wish->memory &&
	       (!wish->engine || strcmp(n->engine, wish->engine) == 0);
}

void job_choose(const struct job_fabric *f, const char *own, const struct job_wish *wish,
		uint64_t start, struct job_choice *out)
{
	*out = (struct job_choice){0};
	for (size_t i = 0; i < f->node_count; i++) {
		const struct node_entry *n = &f->nodes[(start + i) % f->node_count];
		const char *holder = job_holder(f, own, n->name);
		if (!fits(n, wish))
			continue;
		out->fitting++;
		out->vacant += holder == NULL;
		if (holder)
			snprintf(out->holder, sizeof(out->holder), "%s", holder);
		else if (out->count < wish->count && out->count < JOB_XPUS_MAX)
			snprintf(out->names[out->count++], FABRIC_NAME_BYTES, "%s", n->name);
	}
}
