/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes texts of addresses: one that parses survives formatting and parsing, and encoding and
 * decoding. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "test/fuzz/fuzz.h"
#include "wire/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);
	char again[UDP_ADDRESS_TEXT_BYTES];
	uint8_t wire[WIRE_ADDRESS_BYTES];
	struct udp_address a, b, c;

	assert(text);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	if (address_parse(text, 4795, &a) == DXP_OK) {
		int status = address_parse(address_format(&a, again), 1, &b);
		assert(status == DXP_OK && address_equal(&a, &b));
		wire_address_encode(&a, wire);
		wire_address_decode(wire, &c);
		assert(address_equal(&a, &c));
	}
	free(text);
	return 0;
}
