/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes board descriptions: one that parses is within the manual's bounds, another leaves no
 * state. */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "engine/limits.h"
#include "test/fuzz/fuzz.h"
#include "engine/board_config.h"
#include "engine/engine.h"

/* Parses without logging, because a million runs would print all rejections. */
static int parse_quietly(const char *text, size_t bytes, struct board_config *out)
{
	static int nowhere = -1, kept = -1;

	if (kept < 0) {
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
		kept = dup(STDERR_FILENO);
		assert(nowhere >= 0 && kept >= 0);
	}
	dup2(nowhere, STDERR_FILENO);
	int status = board_config_parse("folder/a.conf", text, bytes, out);
	dup2(kept, STDERR_FILENO);
	return status;
}

static void check(const struct board_config *c)
{
	assert(c->to_device <= BOARD_RATE_MAX && c->from_device <= BOARD_RATE_MAX);
	assert(c->memory <= BOARD_RATE_MAX);
	assert(c->latency_ns <= BOARD_DELAY_MAX_NS && c->interrupt_ns <= BOARD_DELAY_MAX_NS);
	assert(c->queue >= 1 && c->queue <= BOARD_QUEUE_MAX);
	assert(c->core <= ENGINE_CORE_KERNEL);
	assert(c->core == ENGINE_CORE_ADD || c->operand == 0);
	assert(c->core != ENGINE_CORE_KERNEL || (c->core_file[0] && c->core_kernel[0]));
	assert(memchr(c->core_file, '\0', sizeof(c->core_file)));
	assert(memchr(c->core_kernel, '\0', sizeof(c->core_kernel)));
	assert(memchr(c->compute, '\0', sizeof(c->compute)));
	assert(strcmp(c->preset, "pac-a10") == 0 || strcmp(c->preset, "fast") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct board_config c, before;
	char *text = malloc(bytes + 1);

	assert(text);
	if (bytes)
		memcpy(text, data, bytes);
	memset(&c, 0x5a, sizeof(c));
	before = c;
	if (parse_quietly(text, bytes, &c) == DXP_OK)
		check(&c);
	else
		assert(memcmp(&c, &before, sizeof(c)) == 0);
	free(text);
	return 0;
}
