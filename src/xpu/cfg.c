/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/cfg.h"

#include <string.h>

#include "wire/frame.h"
#include "engine/engine.h"

const struct cfg_info cfg_info[CFG_COUNT] = {
#define CFG_INFO(index, name, access, text) [index] = {"" #name, text, CFG_ACCESS_##access},
	CFG_REGISTERS(CFG_INFO)
#undef CFG_INFO
};

void cfg_set_64(struct cfg_values *v, enum cfg_register low, uint64_t value)
{
	v->words[low] = (uint32_t)value;
	v->words[low + 1] = (uint32_t)(value >> 32);
}

void cfg_set_task(struct cfg_values *v, const struct cfg_task *task)
{
	cfg_set_64(v, CFG_TASK_SRC_LO, task->source);
	cfg_set_64(v, CFG_TASK_BYTES_LO, task->bytes);
	v->words[CFG_TASK_NODE] = task->node;
	cfg_set_64(v, CFG_TASK_DST_LO, task->destination);
	v->words[CFG_TASK_KEY] = task->key;
	v->words[CFG_TASK_STATUS] = task->status;
	v->words[CFG_TASK_COUNT] = task->count;
}

static int range_bad(uint32_t first, uint32_t count)
{
	return first >= CFG_COUNT || count > CFG_COUNT - first;
}

uint8_t cfg_read(const struct cfg_values *v, uint32_t first, uint32_t count, uint32_t *values)
{
	if (range_bad(first, count))
		return WIRE_NACK_BOUNDS;
	memcpy(values, v->words + first, count * sizeof(*values));
	return 0;
}

static bool task_register(uint32_t index)
{
	return index >= CFG_TASK_SRC_LO && index <= CFG_TASK_COUNT;
}

static bool allreduce_register(uint32_t index)
{
	return index >= CFG_ALLREDUCE_FROM_LO && index <= CFG_ALLREDUCE_TAG;
}

static uint8_t write_check(const struct cfg_target *target, uint32_t first, uint32_t count,
			   const uint32_t *values)
{
	bool task = false, allreduce = false;

	if (range_bad(first, count))
		return WIRE_NACK_BOUNDS;
	for (uint32_t i = 0; i < count; i++) {
		if (cfg_info[first + i].access == CFG_ACCESS_RO)
			return WIRE_NACK_RIGHTS;
		if (first + i == CFG_TASK_GO && values[i] != 1)
			return WIRE_NACK_BOUNDS;
		task |= task_register(first + i);
		allreduce |= allreduce_register(first + i);
	}
	if (allreduce && (first != CFG_ALLREDUCE_FROM_LO || count != CFG_ALLREDUCE_WORDS))
		return WIRE_NACK_BOUNDS;
	if (!target)
		return WIRE_NACK_RIGHTS;
	return task && target->task->status == CFG_TASK_BUSY ? WIRE_NACK_RESOURCE : 0;
}

static void half_set(uint64_t *whole, bool high, uint32_t value)
{
	int shift = high ? 32 : 0;

	*whole = (*whole & ~(0xffffffffull << shift)) | (uint64_t)value << shift;
}

static void task_set(struct cfg_task *task, uint32_t index, uint32_t value)
{
	switch (index) {
	case CFG_TASK_SRC_LO:
	case CFG_TASK_SRC_HI: half_set(&task->source, index == CFG_TASK_SRC_HI, value); break;
	case CFG_TASK_BYTES_LO:
	case CFG_TASK_BYTES_HI: half_set(&task->bytes, index == CFG_TASK_BYTES_HI, value); break;
	case CFG_TASK_NODE: task->node = value; break;
	case CFG_TASK_DST_LO:
	case CFG_TASK_DST_HI: half_set(&task->destination, index == CFG_TASK_DST_HI, value); break;
	case CFG_TASK_KEY: task->key = value; break;
	}
}

static void register_set(struct cfg_target *target, uint32_t index, uint32_t value,
			 struct cfg_go *go)
{
	switch (index) {
	case CFG_TASK_GO: go->task = true; break;
	case CFG_CORE:
		target->core.core = value;
		if (value != ENGINE_CORE_ADD) /* the operand was for the old core */
			target->core.operand = 0;
		break;
	case CFG_CORE_OPERAND: target->core.operand = value; break;
	default: task_set(target->task, index, value); return;
	}
	go->core |= index != CFG_TASK_GO;
}

uint8_t cfg_write(struct cfg_target *target, uint32_t first, uint32_t count, const uint32_t *values,
		  struct cfg_go *go)
{
	uint8_t rejected = write_check(target, first, count, values);

	if (rejected)
		return rejected;
	*go = (struct cfg_go){0};
	go->allreduce = count == CFG_ALLREDUCE_WORDS && allreduce_register(first);
	for (uint32_t i = 0; i < count && !go->allreduce; i++)
		register_set(target, first + i, values[i], go);
	return 0;
}
