/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the records in which the node describes its device, by parameter. */
#include <string.h>

#include "plugins/opencl/door.h"

const void *device_about(cl_device_id d, cl_uint param, size_t *bytes)
{
	struct dxp_about_record r;
	struct dxp_about a;

	dxp_about_begin(&a, d->about, d->about ? d->about_bytes : 0);
	while (dxp_about_next(&a, &r)) {
		if (r.tag == param) {
			*bytes = r.bytes;
			return r.data;
		}
	}
	return NULL;
}

cl_uint device_uint(cl_device_id d, cl_uint param, cl_uint otherwise)
{
	size_t bytes = 0;
	const void *data = device_about(d, param, &bytes);

	if (data && bytes == sizeof(otherwise))
		memcpy(&otherwise, data, sizeof(otherwise));
	return otherwise;
}

size_t device_size(cl_device_id d, cl_uint param, size_t otherwise)
{
	size_t bytes = 0;
	const void *data = device_about(d, param, &bytes);

	if (data && bytes == sizeof(otherwise))
		memcpy(&otherwise, data, sizeof(otherwise));
	return otherwise;
}
