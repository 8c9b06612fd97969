/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes inquiries to switches and their answers: a decoded one encodes to the same bytes. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "test/fuzz/fuzz.h"
#include "wire/inc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t again[INC_ANSWER_BYTES_MAX];
	struct inc_inquiry q;
	struct inc_answer a;

	if (inc_inquiry_decode(data, bytes, &q) == DXP_OK) {
		assert(inc_inquiry_encode(&q, again) == bytes);
		assert(memcmp(data, again, bytes) == 0);
	}
	if (inc_answer_decode(data, bytes, &a) == DXP_OK) {
		assert(inc_answer_encode(&a, again) == bytes);
		assert(memcmp(data, again, bytes) == 0);
	}
	return 0;
}
