/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that checksums joined from parts, and packets sealed with them, equal those of the
 * whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "wire/inc.h"

#define BYTES_MAX 9000

static uint8_t data[BYTES_MAX];

static void crc32_shift__joins(void **state)
{
	static const size_t lengths[] = {0, 1, 2, 3, 4, 16, 255, 256, 1408, 4096, 8912};
	struct rng r = {3};

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)rng_next(&r);
	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
		struct crc32_shift shift;

		crc32_shift_make(&shift, lengths[i]);
		assert_int_equal(shift.bytes, lengths[i]);
		for (size_t front = 0; front < 80; front += 1 + front / 9) {
			uint32_t a = crc32_ieee(0, data, front);
			uint32_t b = crc32_ieee(0, data + front, lengths[i]);

			assert_int_equal(crc32_join(&shift, a, b),
					 crc32_ieee(0, data, front + lengths[i]));
		}
	}
}

static void crc32_shift__seals_packets(void **state)
{
	static const uint8_t opcodes[] = {ROCE_UD_SEND_ONLY, ROCE_RC_SEND_ONLY};
	struct roce_path path = {0x0a000001, 0x0a000002, 0xc001, ROCE_PORT};
	struct inc_header h = {.comm_id = 7,
			       .kind = INC_DATA,
			       .op = DXP_INC_SUM,
			       .type = DXP_INC_INT32,
			       .collective = INC_ALLREDUCE};

	for (size_t bytes = 4; bytes <= 1408; bytes += 4)
		for (size_t i = 0; i < ARRAY_COUNT(opcodes); i++) {
			struct crc32_shift shift;
			struct inc_sum sum = {&shift, crc32_ieee(0, data, bytes)};
			struct datagram whole, joined;
			uint8_t trailers[2][INC_TRAILER_BYTES];

			if (bytes > 64 && bytes % 64)
				continue;
			crc32_shift_make(&shift, bytes);
			h.elements = (uint16_t)(bytes / 4);
			inc_packet_encode(&h, opcodes[i], 5, 6, 7, &path, data, bytes, &whole,
					  trailers[0]);
			inc_packet_encode_summed(&h, opcodes[i], 5, 6, 7, &path, data, &sum,
						 &joined, trailers[1]);
			assert_int_equal(joined.header_bytes, whole.header_bytes);
			assert_memory_equal(joined.header, whole.header, whole.header_bytes);
			assert_int_equal(joined.slice_count, 2);
			assert_ptr_equal(joined.slices[0].base, data);
			assert_int_equal(joined.slices[0].bytes, bytes);
			assert_int_equal(joined.slices[1].bytes, ROCE_ICRC_BYTES);
			assert_memory_equal(trailers[1], trailers[0], ROCE_ICRC_BYTES);
			assert_true(address_equal(&joined.to, &whole.to));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32_shift__joins),
		cmocka_unit_test(crc32_shift__seals_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
