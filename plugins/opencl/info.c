/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes results of clGet...Info: the bytes, if they fit, and their number. */
#include <string.h>

#include "plugins/opencl/door.h"

cl_int info_bytes(const struct info *i, const void *data, size_t bytes)
{
	if (i->value && i->size < bytes)
		return CL_INVALID_VALUE;
	if (i->value && bytes)
		memcpy(i->value, data, bytes);
	if (i->size_ret)
		*i->size_ret = bytes;
	return CL_SUCCESS;
}

cl_int info_text(const struct info *i, const char *text)
{
	return info_bytes(i, text, strlen(text) + 1);
}

cl_int info_uint(const struct info *i, cl_uint v)
{
	return info_bytes(i, &v, sizeof(v));
}

cl_int info_ulong(const struct info *i, cl_ulong v)
{
	return info_bytes(i, &v, sizeof(v));
}

cl_int info_size(const struct info *i, size_t v)
{
	return info_bytes(i, &v, sizeof(v));
}

cl_int info_handle(const struct info *i, const void *handle)
{
	return info_bytes(i, &handle, sizeof(handle));
}
