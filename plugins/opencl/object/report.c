/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/object/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dxp/cl_ext.h>

#include "base/util.h"

static const struct {
	cl_command_type type;
	const char *name;
	bool transfer;
} types[] = {
	{CL_COMMAND_NDRANGE_KERNEL, "kernel", false},
	{CL_COMMAND_TASK, "task", false},
	{CL_COMMAND_READ_BUFFER, "read buffer", true},
	{CL_COMMAND_WRITE_BUFFER, "write buffer", true},
	{CL_COMMAND_COPY_BUFFER, "copy buffer", false},
	{CL_COMMAND_READ_IMAGE, "read image", true},
	{CL_COMMAND_WRITE_IMAGE, "write image", true},
	{CL_COMMAND_COPY_IMAGE, "copy image", false},
	{CL_COMMAND_COPY_IMAGE_TO_BUFFER, "copy image to buffer", false},
	{CL_COMMAND_COPY_BUFFER_TO_IMAGE, "copy buffer to image", false},
	{CL_COMMAND_MAP_BUFFER, "map buffer", true},
	{CL_COMMAND_MAP_IMAGE, "map image", true},
	{CL_COMMAND_UNMAP_MEM_OBJECT, "unmap", true},
	{CL_COMMAND_MARKER, "marker", false},
	{CL_COMMAND_BARRIER, "barrier", false},
	{CL_COMMAND_READ_BUFFER_RECT, "read buffer rect", true},
	{CL_COMMAND_WRITE_BUFFER_RECT, "write buffer rect", true},
	{CL_COMMAND_COPY_BUFFER_RECT, "copy buffer rect", false},
	{CL_COMMAND_MIGRATE_MEM_OBJECTS, "migrate", true},
	{CL_COMMAND_FILL_BUFFER, "fill buffer", false},
	{CL_COMMAND_FILL_IMAGE, "fill image", false},
	{CL_COMMAND_ALLREDUCE_DXP, "allreduce", false},
	{CL_COMMAND_REDUCE_DXP, "reduce", false},
	{CL_COMMAND_REDUCE_SCATTER_DXP, "reduce-scatter", false},
	{CL_COMMAND_ALL_GATHER_DXP, "all-gather", true},
	{CL_COMMAND_BROADCAST_DXP, "broadcast", true},
	{CL_COMMAND_ALL_TO_ALL_DXP, "all-to-all", true},
};

const char *report_type_name(cl_command_type type)
{
	for (size_t i = 0; i < ARRAY_COUNT(types); i++)
		if (types[i].type == type)
			return types[i].name;
	return "command";
}

bool report_is_transfer(cl_command_type type)
{
	for (size_t i = 0; i < ARRAY_COUNT(types); i++)
		if (types[i].type == type)
			return types[i].transfer;
	/* Other types belong to the extensions, whose commands transfer bytes between nodes. */
	return true;
}

bool report_path(const char *setting, char out[REPORT_PATH_BYTES])
{
	if (!setting || !*setting)
		return false;
	const char *mark = strstr(setting, "%p");
	int length = mark ? snprintf(out, REPORT_PATH_BYTES, "%.*s%d%s", (int)(mark - setting),
				     setting, (int)getpid(), mark + 2)
			  : snprintf(out, REPORT_PATH_BYTES, "%s", setting);
	if (length > 0 && length < REPORT_PATH_BYTES)
		return true;
	fprintf(stderr, "dxp: warning: the file name %.60s... is too long; nothing is written\n",
		setting);
	return false;
}
