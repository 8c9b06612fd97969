/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes control payload and messages between members: a decoded one encodes to the same bytes. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "test/fuzz/fuzz.h"
#include "wire/inc_compat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t again[INC_CONTROL_BYTES_MAX];
	struct inc_control c;
	struct inc_header h = {.flags = INC_FLAG_COMPAT};
	struct inc_peer p;

	if (inc_control_decode(data, bytes, &c) == DXP_OK) {
		assert(inc_control_encode(&c, again) == bytes);
		assert(memcmp(data, again, bytes) == 0);
		assert(inc_cause_text(c.fail_cause));
	}
	if (inc_compat_control_decode(data, bytes, &h, &c) == DXP_OK) {
		assert(inc_compat_control_encode(&h, &c, again) == bytes);
		assert(memcmp(data, again, bytes) == 0);
	}
	if (inc_peer_decode(data, bytes, &p) == DXP_OK) {
		assert(inc_peer_encode(&p, again) == bytes);
		assert(memcmp(data, again, bytes) == 0);
	}
	return 0;
}
