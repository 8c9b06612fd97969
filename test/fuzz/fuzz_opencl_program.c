/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the OpenCL plugin's program inputs: options, sources with includes, a node's kernel
 * information, and kept binaries. The first byte selects. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "plugins/opencl/program/binary.h"
#include "plugins/opencl/program/include.h"
#include "plugins/opencl/program/metadata.h"
#include "plugins/opencl/program/options.h"
#include "test/fuzz/fuzz.h"

struct input {
	const uint8_t *data;
	size_t bytes;
};

static char *text_of(const struct input *in)
{
	char *text = malloc(in->bytes + 1);

	assert(text);
	memcpy(text, in->data, in->bytes);
	text[in->bytes] = '\0';
	return text;
}

static void options_try(const struct input *in)
{
	char *text = text_of(in);
	struct options_split s, again;

	assert(options_split(text, &s));
	assert(strlen(s.rest) <= 2 * strlen(text));
	/* without folder options in the text, the rest has none either */
	assert(options_split(s.rest, &again));
	assert(again.folder_count == 0 || s.folder_count > 0);
	options_split_clear(&again);
	options_split_clear(&s);
	options_valid(text);
	options_valid_link(text);
	options_have(text, "-create-library");
	free(text);
}

/* longer paths do not exist, so folders cannot nest without end */
#define PATH_MOST 48

/* A path of even length exists, and contains the source again. */
static char *file_read(void *context, const char *path, size_t *bytes)
{
	const struct input *in = context;

	if (path[0] != '/' || strstr(path, "/../") || strstr(path, "//"))
		abort();
	if (strlen(path) % 2 || strlen(path) > PATH_MOST)
		return NULL;
	*bytes = in->bytes;
	return text_of(in);
}

static void include_try(const struct input *in)
{
	static const char *const folders[] = {"a", "/b/c", "../../d"};
	struct include_set s = {.read = file_read,
				.context = (void *)(uintptr_t)in,
				.here = "/here",
				.folders = folders,
				.folder_count = 3};
	size_t bytes = in->bytes < 4096 ? in->bytes : 4096;
	const char *text = (const char *)in->data;

	assert(include_begin(&s) && include_scan(&s, NULL, text, bytes));
	char *root = include_root(&s);
	assert(root);
	for (size_t i = 0; i < s.file_count; i++) {
		size_t n = strlen(root);
		assert(strncmp(s.files[i].path, root, n) == 0 && s.files[i].path[n] == '/');
	}
	char *out = include_rename(&s, root, "below/", text, &bytes);
	assert(out && strlen(out) <= bytes);
	free(out);
	free(root);
	include_clear(&s);
}

static void metadata_try(const struct input *in)
{
	struct program_about p;
	size_t sum = 0;

	if (metadata_read(&p, in->data, in->bytes) != DXP_OK)
		return;
	for (uint32_t i = 0; i < p.kernel_count; i++) {
		const struct kernel_about *k = &p.kernels[i];
		sum += strlen(k->name);
		for (uint32_t j = 0; j < k->argument_count; j++)
			sum += strlen(k->arguments[j].type) + strlen(k->arguments[j].name);
		assert(metadata_alike(k, k));
	}
	assert(sum <= 2 * in->bytes);
	metadata_clear(&p);
}

static void binary_try(const struct input *in)
{
	struct binary b;

	if (!binary_read(&b, in->data, in->bytes))
		return;
	assert(binary_size(&b) == in->bytes);
	uint8_t *again = malloc(in->bytes);
	assert(again);
	binary_write(&b, again);
	assert(memcmp(again, in->data, in->bytes) == 0);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes == 0)
		return 0;
	/* A copy of exact size, so that reads past its end are detected. */
	uint8_t *copy = malloc(bytes);
	assert(copy);
	memcpy(copy, data + 1, bytes - 1);
	const struct input in = {copy, bytes - 1};
	switch (data[0]) {
	case 'o': options_try(&in); break;
	case 'i': include_try(&in); break;
	case 'm': metadata_try(&in); break;
	default: binary_try(&in); break;
	}
	free(copy);
	return 0;
}
