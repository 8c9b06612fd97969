/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes model files: reading returns, stays inside the bytes, and gives a model that can be read
 * completely. A missing file identifier is added, because the parser stops without it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "examples/classify/memory.h"
#include "examples/classify/model.h"
#include "examples/classify/plan.h"
#include "examples/classify/tflite.h"
#include "test/fuzz/fuzz.h"

#define IDENTIFIER_AT 4
#define WALK_MAX      65536 /* elements read of a constant */

static void lay_out(const struct model *m)
{
	struct fault fault;
	struct plan plan;
	struct layout layout;

	if (plan_auto(m, 2, &plan, &fault) != DXP_OK)
		return;
	for (uint32_t i = 0; i < plan.stage_count; i++)
		if (layout_build(m, &plan, i, &(struct layout_options){0, 2, false}, &layout) ==
		    DXP_OK)
			layout_release(&layout);
}

static float walk(const struct model *m)
{
	float sum = 0;

	for (int32_t i = 0; i < m->tensor_count; i++) {
		const struct tensor *t = &m->tensors[i];
		for (int64_t k = 0;
		     t->data && t->type != TENSOR_OTHER && k < t->elements && k < WALK_MAX; k++)
			sum += tensor_value(t, k);
	}
	for (int32_t i = 0; i < m->op_count; i++)
		sum += model_range(m, &m->ops[i]).low;
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static volatile float sink;
	struct model m;
	struct fault fault;
	uint8_t *copy = malloc(bytes + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, bytes);
	if (bytes >= IDENTIFIER_AT + 4)
		memcpy(copy + IDENTIFIER_AT, "TFL3", 4);
	if (tflite_parse("fuzz", copy, bytes, &m, &fault) == DXP_OK) {
		sink = walk(&m);
		if (model_end_in_probabilities(&m) == DXP_OK)
			lay_out(&m);
		model_release(&m);
	}
	(void)sink;
	free(copy);
	return 0;
}
