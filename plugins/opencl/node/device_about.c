/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the value of a parameter in the records that describe the node's device. */
#include <dxp/about.h>
#include <string.h>

#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/object.h"

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

/* ---- sentences that describe a device, to recognize binaries for it ---- */

static size_t fact_add(char *sentence, size_t have, cl_device_id d, cl_uint param)
{
	size_t bytes = 0;
	const char *text = device_about(d, param, &bytes);

	bytes = text ? strnlen(text, bytes) : 0;
	if (bytes > DEVICE_SENTENCE_BYTES / 4)
		bytes = DEVICE_SENTENCE_BYTES / 4;
	if (bytes > 0)
		memcpy(sentence + have, text, bytes);
	sentence[have + bytes] = '\n';
	return have + bytes + 1;
}

size_t device_sentence(cl_device_id d, char sentence[DEVICE_SENTENCE_BYTES])
{
	size_t have = fact_add(sentence, 0, d, CL_DEVICE_NAME);

	have = fact_add(sentence, have, d, CL_DEVICE_VERSION);
	return fact_add(sentence, have, d, CL_DRIVER_VERSION);
}
