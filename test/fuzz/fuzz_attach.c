/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes messages between processes and a NIC: a decoded one encodes to the same bytes. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "test/fuzz/fuzz.h"
#include "wire/attach.h"

static void same(const uint8_t *data, size_t bytes, const uint8_t *again, size_t again_bytes)
{
	assert(again_bytes == bytes);
	assert(memcmp(data, again, bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct attach_request r;
	struct attach_answer a;
	uint8_t again[ATTACH_BYTES_MAX];

	if (attach_request_decode(data, bytes, &r) == DXP_OK)
		same(data, bytes, again, attach_request_encode(&r, again));
	if (attach_answer_decode(data, bytes, &a) == DXP_OK)
		same(data, bytes, again, attach_answer_encode(&a, again));
	return 0;
}
