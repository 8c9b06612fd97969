/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the parser of board descriptions and its messages; the manual's table must match. */
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

#include "base/util.h"
#include "engine/board_config.h"
#include "engine/engine.h"
#include "engine/limits.h"

#define MANUAL DXP_SOURCE_DIR "/docs/guide/bridge.md"
#define LOG    4096

static char log_text[LOG];
static struct board_config config;

static int parse_as(const char *name, const char *text)
{
	FILE *log = tmpfile();
	int kept = dup(STDERR_FILENO);

	assert_non_null(log);
	assert_true(kept >= 0);
	fflush(stderr);
	dup2(fileno(log), STDERR_FILENO);
	int status = board_config_parse(name, text, strlen(text), &config);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(log);
	log_text[fread(log_text, 1, LOG - 1, log)] = '\0';
	fclose(log);
	return status;
}

static void parses(const char *text)
{
	if (parse_as("a.conf", text) != DXP_OK)
		fail_msg("%s: %s", text, log_text);
	assert_string_equal(log_text, "");
}

static void refused(const char *text, const char *a, const char *b)
{
	if (parse_as("a.conf", text) != DXP_EINVAL || !strstr(log_text, a) || !strstr(log_text, b))
		fail_msg("'%s' should be rejected with '%s' and '%s', not with: %s", text, a, b,
			 log_text);
}

static void board_config__presets(void **state)
{
	struct board_config other;

	assert_int_equal(board_config_load(NULL, &config), DXP_OK);
	assert_string_equal(config.preset, "pac-a10");
	assert_int_equal(config.to_device, 7877);
	assert_int_equal(config.from_device, 7877);
	assert_int_equal(config.memory, 12800);
	assert_int_equal(config.queue, 16);
	assert_int_equal(config.core, ENGINE_CORE_PASS);
	assert_string_equal(config.compute, BOARD_COMPUTE_CHOOSE);
	parses("");
	assert_int_equal(board_config_load("pac-a10", &other), DXP_OK);
	assert_memory_equal(&config, &other, sizeof(other));
	parses("preset = fast");
	assert_int_equal(board_config_load("fast", &other), DXP_OK);
	assert_memory_equal(&config, &other, sizeof(other));
	assert_int_equal(config.to_device + config.from_device + config.memory, 0);
	assert_int_equal(config.latency_ns + config.interrupt_ns, 0);
}

static void board_config_parse__all_settings(void **state)
{
	parses("# one of each\n"
	       "preset=fast\r\n"
	       "\t to_device =\t1 # slow\n"
	       "from_device = 1000000\nthrough = 2\n\n"
	       "memory = 3\ncontrol = 5\nlatency = 4\ninterrupt = 1000000000\nqueue = 64\n"
	       "core = add  4294967295\ncompute = ocl:Some Device\nfail = 7\nstall = 8");
	assert_string_equal(config.preset, "fast");
	assert_int_equal(config.to_device, 1);
	assert_int_equal(config.from_device, 1000000);
	assert_int_equal(config.through, 2);
	assert_int_equal(config.memory, 3);
	assert_int_equal(config.control_ns, 5);
	assert_int_equal(config.latency_ns, 4);
	assert_int_equal(config.interrupt_ns, 1000000000);
	assert_int_equal(config.queue, 64);
	assert_int_equal(config.core, ENGINE_CORE_ADD);
	assert_int_equal(config.operand, UINT32_MAX);
	assert_string_equal(config.compute, "ocl:Some Device");
	assert_int_equal(config.fail, 7);
	assert_int_equal(config.stall, 8);
	parses("core = checksum\ncompute = none");
	assert_int_equal(config.core, ENGINE_CORE_CHECKSUM);
	assert_string_equal(config.compute, "none");
}

static void kernel_is(const char *file, const char *line, const char *path)
{
	if (parse_as(file, line) != DXP_OK)
		fail_msg("%s", log_text);
	assert_int_equal(config.core, ENGINE_CORE_KERNEL);
	assert_string_equal(config.core_file, path);
	assert_string_equal(config.core_kernel, "stir");
}

static void board_config_parse__kernel(void **state)
{
	kernel_is("a.conf", "core = kernel b.cl stir", "b.cl");
	kernel_is("x/y/a.conf", "core = kernel b.cl stir", "x/y/b.cl");
	kernel_is("/a.conf", "core = kernel  c/b.cl   stir ", "/c/b.cl");
	kernel_is("x/a.conf", "core = kernel /c/b.cl stir", "/c/b.cl");
	kernel_is("a.conf", "core = kernel my own core.cl stir", "my own core.cl");
	refused("core = kernel", "a.conf:1: the value of core cannot be 'kernel'",
		"kernel FILE NAME");
	refused("core = kernel b.cl", "cannot be 'kernel b.cl'", "kernel FILE NAME");
	char *line = calloc(1, 2000);
	assert_non_null(line);
	strcpy(line, "core = kernel ");
	memset(line + strlen(line), 'x', 1100);
	strcat(line, " stir");
	refused(line, "a.conf:1: core", "at most 1023 bytes");
	memset(line, 0, 2000);
	strcpy(line, "core = kernel b.cl ");
	memset(line + strlen(line), 'x', COMMAND_NAME_BYTES);
	refused(line, "a.conf:1: the value of core", "kernel FILE NAME");
	free(line);
}

static void board_config_parse__mistakes(void **state)
{
	refused("\n\nspeed = 5\n", "a.conf:3: unknown setting 'speed'", "docs/guide/bridge.md");
	refused("nonsense", "a.conf:1: cannot parse 'nonsense'", "NAME = VALUE");
	refused("= 5", "a.conf:1: unknown setting ''", "such as");
	refused("queue = 1\nqueue = 2", "a.conf:2: queue is given twice, first in line 1",
		"remove");
	refused("queue = 1\npreset = fast", "a.conf:2: `preset` would override queue of line 1",
		"first line");
	refused("preset = slow", "a.conf:1: the value of preset cannot be 'slow'", "pac-a10, fast");
	refused("queue = 0", "a.conf:1: the value of queue cannot be '0'", "1 .. 64");
	refused("queue = 65", "queue cannot be '65'", "1 .. 64");
	refused("queue =", "queue cannot be ''", "1 .. 64");
	refused("to_device = 1000001", "to_device cannot be '1000001'", "1000000 MB/s");
	refused("from_device = -1", "from_device cannot be '-1'", "0 (unlimited)");
	refused("memory = 12.5", "memory cannot be '12.5'", "MB/s");
	refused("memory = 99999999999999999999999", "memory cannot be", "MB/s");
	refused("latency = 1us", "latency cannot be '1us'", "1000000000 ns");
	refused("interrupt = 1000000001", "interrupt cannot be '1000000001'", "ns");
	refused("fail = +1", "fail cannot be '+1'", "0 (none)");
	refused("stall = x", "stall cannot be 'x'", "0 (none)");
	refused("core = multiply", "core cannot be 'multiply'", "checksum");
	refused("core = add", "core cannot be 'add'", "add N");
	refused("core = add 4294967296", "core cannot be 'add 4294967296'", "4294967295");
	refused("compute = cuda", "compute cannot be 'cuda'", "ocl:PART");
	refused("compute = ocl:", "compute cannot be 'ocl:'", "ocl:PART");
}

static void board_config_parse__nothing_on_failure(void **state)
{
	struct board_config before;

	parses("queue = 9");
	before = config;
	refused("to_device = 3\nqueue = 0", "a.conf:2", "queue");
	assert_memory_equal(&config, &before, sizeof(before));
	assert_int_equal(board_config_parse("a.conf", "queue = 3\0\n", 11, &config), DXP_EINVAL);
	char *long_text = malloc(BOARD_FILE_BYTES_MAX + 1);
	assert_non_null(long_text);
	memset(long_text, '\n', BOARD_FILE_BYTES_MAX + 1);
	assert_int_equal(board_config_parse("a.conf", long_text, BOARD_FILE_BYTES_MAX + 1, &config),
			 DXP_EINVAL);
	assert_int_equal(board_config_parse("a.conf", long_text, BOARD_FILE_BYTES_MAX, &config),
			 DXP_OK);
	free(long_text);
}

static void board_config_load__files(void **state)
{
	assert_int_equal(board_config_load(DXP_SOURCE_DIR "/examples/boards/usb3.conf", &config),
			 DXP_OK);
	assert_int_equal(config.from_device, 350);
	assert_string_equal(config.compute, "none");
	struct board_config preset, written;
	assert_int_equal(board_config_load(NULL, &preset), DXP_OK);
	assert_int_equal(
		board_config_load(DXP_SOURCE_DIR "/examples/boards/pac-a10.conf", &written),
		DXP_OK);
	/* the file states that it equals the preset */
	assert_memory_equal(&preset, &written, sizeof(preset));
	assert_int_equal(board_config_load("no such board", &config), DXP_EINVAL);
	assert_int_equal(board_config_load(DXP_SOURCE_DIR "/examples", &config), DXP_EIO);
}

static bool row_read(FILE *manual, char name[64], char values[128])
{
	char line[512];

	if (!fgets(line, sizeof(line), manual) ||
	    sscanf(line, "| %63[a-z_] | %*[^|]| %127[^|]|", name, values) != 2)
		return false;
	for (size_t n = strlen(values); n > 0 && values[n - 1] == ' '; n--)
		values[n - 1] = '\0';
	return true;
}

static void board_config_settings__as_in_the_manual(void **state)
{
	FILE *manual = fopen(MANUAL, "r");
	char line[512] = "", name[64], values[128];
	size_t count, rows = 0;
	const struct board_setting *settings = board_config_settings(&count);

	assert_non_null(manual);
	while (!strstr(line, "| setting | meaning | values |"))
		assert_non_null(fgets(line, sizeof(line), manual));
	assert_non_null(fgets(line, sizeof(line), manual));
	for (; row_read(manual, name, values); rows++) {
		assert_true(rows < count);
		assert_string_equal(name, settings[rows].name);
		assert_string_equal(values, settings[rows].values);
	}
	assert_int_equal(rows, count);
	fclose(manual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(board_config__presets),
		cmocka_unit_test(board_config_parse__all_settings),
		cmocka_unit_test(board_config_parse__kernel),
		cmocka_unit_test(board_config_parse__mistakes),
		cmocka_unit_test(board_config_parse__nothing_on_failure),
		cmocka_unit_test(board_config_load__files),
		cmocka_unit_test(board_config_settings__as_in_the_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
