/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a root object: host memory, records of writing commands, transfers and maps. */
#include <stdlib.h>

#include "plugins/opencl/memory/memory.h"

/* bytes; allocators also align large blocks to this */
#define SHADOW_ALIGN 4096

cl_mem memory_root(cl_mem m, uint64_t *offset)
{
	while (m->parent) {
		*offset += m->origin;
		m = m->parent;
	}
	return m;
}

uint8_t *memory_host(cl_mem root)
{
	if (root->host)
		return root->host;
	if (!root->shadow && posix_memalign(&root->shadow, SHADOW_ALIGN, root->bytes) != 0)
		root->shadow = NULL;
	return root->shadow;
}

void memory_writer(struct enqueue *e, cl_mem root, uint64_t start, uint64_t end, dxp_event event)
{
	struct copy *here = copies_of(root->copies, e->device);
	const struct use u = {
		.start = start, .end = end, .event = event, .queue = e->queue, .into = true};
	bool in_order = !(e->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);

	/* If memory is short, the command is not recorded; programs that order their commands do
	 * not need this record. */
	if (here && event)
		copies_writer(here, &u, in_order);
}

void memory_transfer_drop(struct transfer *t)
{
	if (--t->holds == 0)
		free(t);
}

void memory_map_free(cl_mem m, struct map *map)
{
	struct map **link = &m->maps;

	while (*link != map)
		link = &(*link)->next;
	*link = map->next;
	m->map_count--;
	free(map);
}
