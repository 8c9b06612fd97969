/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests HMAC with a published vector: in pieces, repeated, and with another key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/mac.h"

/* RFC 4231 test case 1; HMAC pads its 20-byte key with zeros. */
static const uint8_t rfc_key[FABRIC_KEY_BYTES] = {11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
						  11, 11, 11, 11, 11, 11, 11, 11, 11, 11};
static const uint8_t rfc_mac[MAC_BYTES] = {0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53,
					   0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b, 0xf1, 0x2b};

static void mac_compute__rfc_4231_in_every_split(void **state)
{
	struct mac *m;
	uint8_t out[MAC_BYTES];

	assert_int_equal(mac_create(rfc_key, &m), DXP_OK);
	for (size_t split = 0; split <= 8; split++) {
		mac_compute(m, "Hi There", split, &"Hi There"[split], 8 - split, out);
		assert_memory_equal(out, rfc_mac, MAC_BYTES);
	}
	mac_destroy(m);
}

static void mac_compute__another_key_or_byte_changes_it(void **state)
{
	uint8_t key[FABRIC_KEY_BYTES] = {1}, a[MAC_BYTES], b[MAC_BYTES];
	struct mac *one, *two;

	assert_int_equal(mac_create(key, &one), DXP_OK);
	key[FABRIC_KEY_BYTES - 1] ^= 1;
	assert_int_equal(mac_create(key, &two), DXP_OK);
	mac_compute(one, "x", 1, "y", 1, a);
	mac_compute(two, "x", 1, "y", 1, b);
	assert_false(mac_equal(a, b));
	mac_compute(one, "x", 1, "z", 1, b);
	assert_false(mac_equal(a, b));
	mac_compute(one, "xy", 2, "", 0, b);
	assert_true(mac_equal(a, b));
	mac_destroy(one);
	mac_destroy(two);
}

static void mac_equal__sees_every_bit(void **state)
{
	uint8_t a[MAC_BYTES] = {0}, b[MAC_BYTES] = {0};

	for (unsigned bit = 0; bit < 8 * MAC_BYTES; bit++) {
		b[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(mac_equal(a, b));
		b[bit / 8] = 0;
	}
	assert_true(mac_equal(a, b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mac_compute__rfc_4231_in_every_split),
		cmocka_unit_test(mac_compute__another_key_or_byte_changes_it),
		cmocka_unit_test(mac_equal__sees_every_bit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
