/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes packages: a decoded one is valid, and encodes to the same bytes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "test/fuzz/fuzz.h"
#include "wire/package.h"

static void same(const struct package *p, const uint8_t *data, size_t bytes)
{
	struct dxp_file *files = calloc(p->file_count + 1, sizeof(*files));
	uint32_t *inputs = calloc(p->input_count + 1, sizeof(*inputs));
	uint8_t *again = malloc(bytes);
	const uint8_t *at = NULL;
	uint32_t count = 0;

	assert(files && inputs && again);
	while (package_file(p, &at, &files[count]))
		assert(++count <= p->file_count);
	assert(count == p->file_count);
	for (uint32_t i = 0; i < p->input_count; i++)
		inputs[i] = package_input(p, i);
	const struct package_source s = {p->kind, p->options, files, count, inputs, p->input_count};
	assert(package_fault(&s) == NULL);
	assert(package_bytes(&s) == bytes);
	package_encode(&s, again);
	assert(memcmp(again, data, bytes) == 0);
	free(again);
	free(inputs);
	free(files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct package p;

	if (package_decode(data, bytes, &p) == DXP_OK)
		same(&p, data, bytes);
	return 0;
}
