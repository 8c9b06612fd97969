/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements maps of the object's host memory: the program's own, or the shadow. A map transfers
 * the bytes to this memory. The unmap of a map for writing records these bytes as the latest; they
 * are transferred when a device needs them. */
#include <stdlib.h>

#include "plugins/opencl/memory/memory.h"

#define MAP_WRITES (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

bool map_flags_valid(cl_map_flags flags)
{
	if (flags & ~(cl_map_flags)(CL_MAP_READ | MAP_WRITES))
		return false;
	return !(flags & CL_MAP_WRITE_INVALIDATE_REGION) || flags == CL_MAP_WRITE_INVALIDATE_REGION;
}

bool map_flags_allowed(cl_mem m, cl_map_flags flags)
{
	if (flags & CL_MAP_READ && m->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS))
		return false;
	return !(flags & MAP_WRITES && m->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS));
}

static cl_int fetch(struct command *c, cl_mem root, const struct map *map)
{
	struct copy *host = &root->copies->host;
	uint64_t end = map->start + rect_to_span(&map->rect);
	enum memory_access access = map->flags & MAP_WRITES ? MEMORY_READ_WRITE : MEMORY_READ;

	memory_settle(root);
	cl_int error = memory_order(&c->e, host, map->start, end, access);
	/* Transfers the whole span, with the gaps between rows. Only a map that overwrites one
	 * contiguous range needs no transfer. */
	if (error == CL_SUCCESS &&
	    (map->flags != CL_MAP_WRITE_INVALIDATE_REGION || !rect_is_line(&map->rect)))
		error = memory_bring(&c->e, root, host, map->start, end);
	return error;
}

cl_int map_make(struct command *c, cl_mem m, uint64_t offset, const struct dxp_rect *rect,
		cl_map_flags flags, void **out)
{
	cl_mem root = memory_root(m, &offset);
	struct map *map = malloc(sizeof *map);
	uint8_t *host = memory_host(root);

	if (!map || !host) {
		free(map);
		return host ? CL_OUT_OF_HOST_MEMORY : CL_MAP_FAILURE;
	}
	*map = (struct map){m->maps, host + offset, flags, offset, *rect};
	rect_fold(&map->rect);
	m->maps = map;
	m->map_count++;
	c->e.event->bytes = rect_bytes(&map->rect);
	cl_int error = enqueue_hold(&c->e, m);
	if (error == CL_SUCCESS)
		error = fetch(c, root, map);
	if (error != CL_SUCCESS)
		memory_map_free(m, map);
	else
		*out = map->at;
	return error;
}

static struct map *find(cl_mem m, const void *at)
{
	struct map *map = m->maps;

	while (map && map->at != at)
		map = map->next;
	return map;
}

void map_cancel(cl_mem m, const void *at)
{
	opencl_enter();
	/* Another thread may have released the object, although the program should prevent that. */
	struct map *map = object_is(m, OBJECT_MEMORY) ? find(m, at) : NULL;
	if (map)
		memory_map_free(m, map);
	opencl_leave();
}

/* Posts a mark that completes when everything that the command waits for has completed. From then
 * on, the host copy has the bytes that the program wrote through the map. */
static cl_int mark(struct command *c, struct copy *host, const struct map *map)
{
	struct use u = {
		.start = map->start, .end = map->start + rect_to_span(&map->rect), .into = true};

	if (c->e.settled)
		return CL_SUCCESS;
	int status = dxp_mark(c->e.device->xpu, &c->e.waits, &u.event);
	cl_int error = command_part(c, c->e.device, status, u.event);
	if (error == CL_SUCCESS && !copies_use(host, &u))
		error = CL_OUT_OF_HOST_MEMORY;
	return error;
}

static cl_int unmap(struct command *c, cl_mem m, const void *at)
{
	uint64_t offset = 0;

	cl_int error = memory_check(m, c->e.queue);
	if (error != CL_SUCCESS)
		return error;
	struct map *map = find(m, at);
	if (!map)
		return CL_INVALID_VALUE;
	cl_mem root = memory_root(m, &offset);
	error = enqueue_hold(&c->e, m);
	if (error == CL_SUCCESS && map->flags & MAP_WRITES) {
		memory_settle(root);
		if (!copies_reserve(root->copies, 2))
			return CL_OUT_OF_HOST_MEMORY;
		error = mark(c, &root->copies->host, map);
		if (error == CL_SUCCESS)
			transfer_wrote_rect(root, &root->copies->host, map->start, &map->rect,
					    false);
	}
	if (error == CL_SUCCESS)
		memory_map_free(m, map);
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem m,
							    void *at, cl_uint count,
							    const cl_event *list, cl_event *event)
{
	struct command c;

	cl_int error = command_begin(&c, queue, CL_COMMAND_UNMAP_MEM_OBJECT, false, count, list);
	if (error != CL_SUCCESS)
		return error;
	return command_end(&c, unmap(&c, m, at), false, event);
}
