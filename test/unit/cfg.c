/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests CFG registers: the map matches its documentation, and a rejected access changes nothing. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "wire/frame.h"
#include "xpu/cfg.h"

static void cfg_info__dense(void **state)
{
	for (int i = 0; i < CFG_COUNT; i++) {
		assert_non_null(cfg_info[i].name);
		size_t bytes = strlen(cfg_info[i].name);
		if (bytes > 3 && strcmp(cfg_info[i].name + bytes - 3, "_LO") == 0) {
			const char *high = cfg_info[i + 1].name;
			assert_memory_equal(high, cfg_info[i].name, bytes - 3);
			assert_string_equal(high + bytes - 3, "_HI");
		}
	}
}

static void line_expect(const char *line, int index)
{
	static const char *const access[] = {"ro", "rw", "wo"};
	char expected[256];

	assert_true(index < CFG_COUNT);
	const struct cfg_info *info = &cfg_info[index];
	snprintf(expected, sizeof(expected), "| %d | `%s` | %s | %s |\n", index, info->name,
		 access[info->access], info->text);
	assert_string_equal(line, expected);
}

static void cfg_info__as_documented(void **state)
{
	FILE *f = fopen(DXP_SOURCE_DIR "/docs/reference/registers.md", "r");
	char line[512];
	int index = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, "| ", 2) == 0 && isdigit((unsigned char)line[2]))
			line_expect(line, index++);
	fclose(f);
	assert_int_equal(index, CFG_COUNT);
}

static void cfg_read__bounds(void **state)
{
	static struct cfg_values v;
	uint32_t out[CFG_COUNT] = {0};

	v.words[CFG_STATE] = CFG_STATE_BUSY;
	cfg_set_64(&v, CFG_MEMORY_LO, 0x1122334455667788ull);
	assert_int_equal(cfg_read(&v, 0, CFG_COUNT, out), 0);
	assert_memory_equal(out, v.words, sizeof(out));
	assert_int_equal(out[CFG_MEMORY_HI], 0x11223344);
	memset(out, 0, sizeof(out));
	assert_int_equal(cfg_read(&v, 1, CFG_COUNT, out), WIRE_NACK_BOUNDS);
	assert_int_equal(cfg_read(&v, CFG_COUNT, 1, out), WIRE_NACK_BOUNDS);
	assert_int_equal(cfg_read(&v, UINT32_MAX, 2, out), WIRE_NACK_BOUNDS);
	assert_int_equal(cfg_read(&v, 2, UINT32_MAX, out), WIRE_NACK_BOUNDS);
	for (int i = 0; i < CFG_COUNT; i++)
		assert_int_equal(out[i], 0);
}

static void cfg_write__task_in_one_access(void **state)
{
	const uint32_t values[] = {1, 2, 3, 4, 5, 6, 7, 8, 1};
	struct cfg_task task = {0};
	struct cfg_target target = {.task = &task};
	struct cfg_values v = {0};
	struct cfg_go go = {0};

	assert_int_equal(cfg_write(&target, CFG_TASK_SRC_LO, ARRAY_COUNT(values), values, &go), 0);
	assert_true(go.task && !go.core);
	assert_true(task.source == 0x200000001ull && task.bytes == 0x400000003ull &&
		    task.destination == 0x700000006ull);
	assert_true(task.node == 5 && task.key == 8);
	cfg_set_task(&v, &task);
	assert_memory_equal(v.words + CFG_TASK_SRC_LO, values, 8 * sizeof(uint32_t));
	assert_int_equal(v.words[CFG_TASK_GO], 0);
	assert_int_equal(cfg_write(&target, CFG_TASK_KEY, 1, values, &go), 0);
	assert_true(!go.task && !go.core);
}

/* The core is independent of tasks. */
static void cfg_write__core(void **state)
{
	const uint32_t values[] = {1, 77};
	struct cfg_task task = {.status = CFG_TASK_BUSY};
	struct cfg_target target = {.task = &task, .core = {3, 4}};
	struct cfg_go go = {0};

	assert_int_equal(cfg_write(&target, CFG_CORE_OPERAND, 1, values + 1, &go), 0);
	assert_true(go.core && !go.task && target.core.core == 3 && target.core.operand == 77);
	assert_int_equal(cfg_write(&target, CFG_CORE, 2, values, &go), 0);
	assert_true(go.core && target.core.core == 1 && target.core.operand == 77);
	const uint32_t checksum = 2, add = 1;
	assert_int_equal(cfg_write(&target, CFG_CORE, 1, &add, &go), 0);
	assert_true(target.core.core == 1 && target.core.operand == 77);
	assert_int_equal(cfg_write(&target, CFG_CORE, 1, &checksum, &go), 0);
	assert_true(target.core.core == 2 && target.core.operand == 0);
	assert_int_equal(cfg_write(&target, CFG_CORE, 3, values, &go), WIRE_NACK_RIGHTS);
	assert_int_equal(cfg_write(NULL, CFG_CORE, 2, values, &go), WIRE_NACK_RIGHTS);
}

/* Only one access to all registers of an allreduce is a descriptor. */
static void cfg_write__allreduce(void **state)
{
	const uint32_t values[CFG_ALLREDUCE_WORDS + 1] = {0};
	const uint32_t first = CFG_ALLREDUCE_FROM_LO, words = CFG_ALLREDUCE_WORDS;
	struct cfg_task task = {.status = CFG_TASK_BUSY};
	struct cfg_target target = {.task = &task};
	struct cfg_go go = {0};

	assert_int_equal(cfg_write(&target, first, words, values, &go), 0);
	assert_true(go.allreduce && !go.task && !go.core);
	for (uint32_t i = first; i <= CFG_ALLREDUCE_TAG; i++)
		for (uint32_t count = 1; i + count <= CFG_ALLREDUCE_TAG + 1; count++)
			if (count != words)
				assert_int_equal(cfg_write(&target, i, count, values, &go),
						 WIRE_NACK_BOUNDS);
	assert_int_equal(cfg_write(&target, first, words + 1, values, &go), WIRE_NACK_RIGHTS);
	assert_int_equal(cfg_write(NULL, first, words, values, &go), WIRE_NACK_RIGHTS);
	task.status = CFG_TASK_NEVER;
	assert_int_equal(cfg_write(&target, CFG_TASK_KEY, 1, values, &go), 0);
	assert_false(go.allreduce);
}

static void cfg_write__rejections_change_nothing(void **state)
{
	const uint32_t values[CFG_COUNT] = {1, 1, 1, 1, 1, 1, 1, 1, 2, 1};
	struct cfg_task task = {.node = 9}, before = task;
	struct cfg_target target = {.task = &task};
	struct cfg_go go = {.task = true, .core = true};

	for (uint32_t i = 0; i < CFG_COUNT; i++)
		if (cfg_info[i].access == CFG_ACCESS_RO)
			assert_int_equal(cfg_write(&target, i, 1, values, &go), WIRE_NACK_RIGHTS);
	assert_int_equal(cfg_write(&target, CFG_TASK_SRC_LO, 9, values, &go),
			 /* GO accepts only 1 */
			 WIRE_NACK_BOUNDS);
	assert_int_equal(cfg_write(&target, CFG_TASK_KEY, 3, values, &go),
			 /* STATUS is read-only */
			 WIRE_NACK_RIGHTS);
	assert_int_equal(cfg_write(&target, CFG_TASK_KEY, UINT32_MAX, values, &go),
			 WIRE_NACK_BOUNDS);
	assert_int_equal(cfg_write(&target, CFG_COUNT, 1, values, &go), WIRE_NACK_BOUNDS);
	assert_int_equal(cfg_write(NULL, CFG_TASK_KEY, 1, values, &go), WIRE_NACK_RIGHTS);
	assert_memory_equal(&task, &before, sizeof(task));
	task.status = before.status = CFG_TASK_BUSY;
	assert_int_equal(cfg_write(&target, CFG_TASK_KEY, 1, values, &go), WIRE_NACK_RESOURCE);
	assert_memory_equal(&task, &before, sizeof(task));
	assert_true(go.task && go.core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cfg_info__dense),
		cmocka_unit_test(cfg_info__as_documented),
		cmocka_unit_test(cfg_read__bounds),
		cmocka_unit_test(cfg_write__task_in_one_access),
		cmocka_unit_test(cfg_write__core),
		cmocka_unit_test(cfg_write__allreduce),
		cmocka_unit_test(cfg_write__rejections_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
