/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/program_device.h"

#include <string.h>

#include <dxp/about.h>

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
