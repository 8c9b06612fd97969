/* SPDX-License-Identifier: BSD-3-Clause */
/* One path for all commands of cl_dxp_collective: a row for each operation, the check of the
 * arguments, and the posting. Callers hold the plugin's lock. */
#ifndef OPENCL_COLLECTIVE_H
#define OPENCL_COLLECTIVE_H

#include <dxp/collective.h>

#include "plugins/opencl/command/event.h"

/* How many parts of `count` elements the input or output of a device has. */
enum extent {
	EXTENT_ONE,
	EXTENT_ROOT, /* one at the root, none at other devices */
	EXTENT_ALL,  /* one for each device */
};

struct operation {
	cl_command_type type;
	int (*start)(struct dxp_group *group, const struct dxp_collective *c, size_t bytes);
	enum extent from, to;
};

/* A range of a buffer. 0 bytes: the operation uses no range. */
struct span {
	cl_mem buffer;
	uint64_t offset, bytes;
};

struct collective {
	const struct operation *operation;
	cl_uint members;
	const cl_device_id *devices;
	/* One buffer for EXTENT_ROOT, otherwise one for each device. NULL: the part of the device
	 * in the other list. */
	const cl_mem *from, *to;
	uint64_t from_offset, to_offset;
	size_t count;
	cl_uint type, reduction, root;
	cl_uint way; /* an enum dxp_way */
	/* set by collective_check; indexed by member */
	struct span inputs[DXP_GROUP_MEMBERS_MAX], outputs[DXP_GROUP_MEMBERS_MAX];
};

/* collective_check.c: checks all arguments, with the errors in dxp/cl_ext.h, and sets the spans. */
cl_int collective_check(struct collective *c, cl_command_queue queue);
/* collective.c: posts a checked operation. *event completes when all devices have completed. */
cl_int collective_post(struct enqueue *e, const struct collective *c, dxp_event *event);

#endif
