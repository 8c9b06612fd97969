/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the classifier's tests, which are skipped without the folder of test models. */
#ifndef CLASSIFY_SUPPORT_H
#define CLASSIFY_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "backend.h"
#include "file.h"
#include "model.h"

#define MODELS  DXP_SOURCE_DIR "/../shared/models/"
#define SKIPPED 77

static inline void skip_without_models(void)
{
	if (access(MODELS "tiny-cnn.tflite", R_OK) == 0)
		return;
	printf("skipped: no test models at " MODELS "\n");
	exit(SKIPPED);
}

static inline void skip_without_opencl(void)
{
	struct backend *b;
	struct fault fault;

	if (backend_local_open(1, &b, &fault) == DXP_OK) {
		b->ops->close(b);
		return;
	}
	printf("skipped: %s\n", fault.text);
	exit(SKIPPED);
}

/* The file must exist; the caller frees the result. */
static inline uint8_t *load(const char *path, size_t *count)
{
	uint8_t *bytes = NULL;
	struct fault fault = {""};

	if (file_read(path, 64u << 20, &bytes, count, &fault) != DXP_OK)
		fail_msg("%s", fault.text);
	return bytes;
}

/* Largest absolute difference from a file of float32. */
static inline double difference(const float *values, int32_t count, const char *path)
{
	size_t bytes;
	uint8_t *file = load(path, &bytes);
	double most = 0;

	assert_int_equal(bytes, (size_t)count * sizeof(float));
	for (int32_t i = 0; i < count; i++) {
		float expected;
		memcpy(&expected, file + (size_t)i * sizeof(expected), sizeof(expected));
		most = fmax(most, fabs((double)values[i] - (double)expected));
	}
	free(file);
	return most;
}

#endif
