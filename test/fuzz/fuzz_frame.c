/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes RLTP frames, also with a corrected checksum, because arbitrary bytes hardly ever have a
 * right one. A decoded frame encodes to the same bytes. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/util.h"
#include "test/fuzz/fuzz.h"
#include "wire/frame.h"

/* bytes; headers and bodies are far shorter, payload is not decoded */
#define FRAME_BYTES_MAX 2048

static void bodies_decode(const uint8_t *body, size_t bytes, uint16_t flags)
{
	struct wire_ack ack;
	struct wire_nack_body nack;
	struct wire_hello hello;
	struct wire_reset reset;
	struct wire_get get;
	struct wire_atomic atomic, atomic_again;
	uint8_t again[WIRE_HELLO_SEALED_BYTES] = {0};
	volatile uint8_t last = 0;

	if (wire_ack_decode(body, bytes, flags, &ack) == DXP_OK && ack.sack_words > 0)
		last = ack.bitmap[ack.sack_words * 8u - 1];
	(void)last;
	if (wire_nack_decode(body, bytes, &nack) == DXP_OK) {
		wire_nack_encode(&nack, again);
		assert(wire_nack_decode(again, bytes, &nack) == DXP_OK);
	}
	if (wire_hello_decode(body, bytes, &hello) == DXP_OK) {
		wire_hello_encode(&hello, again);
		assert(wire_hello_decode(again, bytes, &hello) == DXP_OK);
	}
	if (wire_reset_decode(body, bytes, &reset) == DXP_OK) {
		wire_reset_encode(&reset, again);
		assert(memcmp(again, body, bytes) == 0);
	}
	if (wire_get_decode(body, bytes, &get) == DXP_OK) {
		wire_get_encode(&get, again);
		assert(memcmp(again, body, bytes) == 0);
	}
	if (wire_atomic_decode(body, bytes, &atomic) == DXP_OK) {
		wire_atomic_encode(&atomic, again);
		assert(wire_atomic_decode(again, bytes, &atomic_again) == DXP_OK);
		assert(atomic.op == atomic_again.op && atomic.operand == atomic_again.operand &&
		       atomic.swap == atomic_again.swap &&
		       atomic.reply_msg_id == atomic_again.reply_msg_id);
	}
}

static void short_bodies_decode(const uint8_t *body, size_t bytes)
{
	struct wire_pmtu pmtu, pmtu_again;
	struct wire_bye bye, bye_again;
	struct wire_credit credit, credit_again;
	struct wire_cookie cookie;
	struct wire_reject reject, reject_again;
	uint8_t again[WIRE_CREDIT_ENTRIES_MAX * WIRE_CREDIT_BYTES];
	uint64_t opaque;

	if (wire_ping_decode(body, bytes, &opaque) == DXP_OK) {
		wire_ping_encode(opaque, again);
		assert(memcmp(again, body, bytes) == 0);
	}
	if (wire_pmtu_probe_decode(body, bytes, &pmtu) == DXP_OK)
		assert(pmtu.bytes == WIRE_COMMON_BYTES + bytes);
	if (wire_pmtu_ack_decode(body, bytes, &pmtu) == DXP_OK) {
		wire_pmtu_encode(&pmtu, again);
		assert(wire_pmtu_ack_decode(again, bytes, &pmtu_again) == DXP_OK);
		assert(pmtu.id == pmtu_again.id && pmtu.bytes == pmtu_again.bytes);
	}
	if (wire_bye_decode(body, bytes, &bye) == DXP_OK) {
		wire_bye_encode(&bye, again);
		assert(wire_bye_decode(again, bytes, &bye_again) == DXP_OK);
		assert(bye.token == bye_again.token && bye.code == bye_again.code);
	}
	if (wire_cookie_decode(body, bytes, &cookie) == DXP_OK) {
		wire_cookie_encode(&cookie, again);
		assert(cookie.value != 0 && memcmp(again, body, bytes) == 0);
	}
	if (wire_reject_decode(body, bytes, &reject) == DXP_OK) {
		wire_reject_encode(&reject, again);
		assert(wire_reject_decode(again, bytes, &reject_again) == DXP_OK);
		assert(memcmp(&reject, &reject_again, sizeof(reject)) == 0);
	}
	if (wire_credit_decode(body, bytes, &credit) == DXP_OK) {
		assert(credit.count * WIRE_CREDIT_BYTES == bytes);
		wire_credit_encode(&credit, again);
		assert(wire_credit_decode(again, bytes, &credit_again) == DXP_OK);
		assert(memcmp(&credit, &credit_again, sizeof(credit)) == 0);
	}
}

/* Corrects length and checksum, so that decoding reaches the other checks. */
static void frame_seal(uint8_t *frame, size_t bytes)
{
	size_t header_bytes = (frame[WIRE_OFF_VERSION_HEADER] & 0xfu) * 8;

	if (header_bytes < WIRE_COMMON_BYTES || header_bytes > bytes)
		return;
	put_be16(frame + WIRE_OFF_LEN, (uint16_t)(bytes - header_bytes));
	uint32_t crc = wire_crc_begin(frame, header_bytes);
	if (get_be16(frame + WIRE_OFF_FLAGS) & WIRE_FLAG_CRCP)
		crc = crc32c(crc, frame + header_bytes, bytes - header_bytes);
	wire_crc_set(frame, crc);
}

static void header_decode(const uint8_t *frame, size_t bytes)
{
	struct wire_header header, second;
	uint8_t again[FRAME_BYTES_MAX];

	if (wire_header_decode(frame, bytes, &header) != DXP_OK)
		return;
	assert(wire_frame_bytes(frame, bytes) == bytes);
	assert(header.header_bytes + (size_t)header.payload_bytes == bytes);
	bodies_decode(frame + header.header_bytes, header.payload_bytes, header.flags);
	short_bodies_decode(frame + header.header_bytes, header.payload_bytes);

	memcpy(again, frame, bytes);
	wire_header_encode(&header, again);
	frame_seal(again, bytes);
	int status = wire_header_decode(again, bytes, &second);
	assert(status == DXP_OK && memcmp(again, frame, bytes) == 0);
	assert(second.payload_bytes == header.payload_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t sealed[FRAME_BYTES_MAX];

	bytes = min_u64(bytes, sizeof(sealed));
	bodies_decode(data, bytes, WIRE_FLAG_CREDIT);
	short_bodies_decode(data, bytes);
	header_decode(data, bytes);
	if (bytes >= WIRE_COMMON_BYTES) {
		memcpy(sealed, data, bytes);
		frame_seal(sealed, bytes);
		header_decode(sealed, bytes);
	}
	return 0;
}
