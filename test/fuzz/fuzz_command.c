/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes commands, replies and events: a decoded one encodes to the same bytes. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "test/fuzz/fuzz.h"
#include "wire/command.h"

static void same(const uint8_t *data, size_t bytes, const uint8_t *again, int again_bytes)
{
	assert(again_bytes >= 0 && (size_t)again_bytes == bytes);
	assert(memcmp(data, again, bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct command c;
	static struct command_reply r;
	struct command_event e;
	uint8_t again[COMMAND_BYTES_MAX];

	if (command_decode(data, bytes, &c) == DXP_OK)
		same(data, bytes, again, command_encode(&c, again));
	if (command_reply_decode(data, bytes, &r) == DXP_OK)
		same(data, bytes, again, command_reply_encode(&r, again));
	const uint8_t *text;
	size_t text_bytes;
	if (command_print_decode(data, bytes, &text, &text_bytes) == DXP_OK)
		same(data, bytes, again, command_print_encode(text, text_bytes, again));
	uint64_t begun;
	if (command_begun_decode(data, bytes, &begun) == DXP_OK)
		same(data, bytes, again, command_begun_encode(begun, again));
	struct command_lost lost;
	if (command_lost_decode(data, bytes, &lost) == DXP_OK)
		same(data, bytes, again, command_lost_encode(&lost, again));
	char sentence[COMMAND_FAILURE_BYTES];
	uint64_t failed;
	if (command_failed_decode(data, bytes, &failed, sentence) == DXP_OK)
		same(data, bytes, again, command_failed_encode(failed, sentence, again));
	struct dxp_event_cycles cycles;
	uint64_t launch;
	if (command_cycles_decode(data, bytes, &launch, &cycles) == DXP_OK)
		same(data, bytes, again, command_cycles_encode(launch, &cycles, again));
	if (command_event_decode(data, bytes, &e) == DXP_OK)
		same(data, bytes, again, command_event_encode(&e, again));
	return 0;
}
