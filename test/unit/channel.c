/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the codec of the channel to the manager: round trips and wrong lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "wire/channel.h"

static const struct channel_request request = {.command = CHANNEL_TOKEN_CREATE,
					       .role = ROLE_XPU,
					       .first = 3,
					       .uses = 1u << 31,
					       .seconds = 1ull << 63,
					       .token = {1, 2, 3, 4, 5},
					       .psk = {6, [31] = 7},
					       .name = "a-machine",
					       .xpu = "*"};

static void channel_request__comes_back(void **state)
{
	uint8_t data[CHANNEL_MESSAGE_MAX + 1] = {0};
	struct channel_request got;
	size_t bytes = channel_request_encode(&request, data);

	for (size_t length = 0; length <= bytes + 1; length++)
		assert_int_equal(channel_request_decode(data, length, &got),
				 length == bytes ? DXP_OK : DXP_EMALFORMED);
	assert_int_equal(channel_request_decode(data, bytes, &got), DXP_OK);
	assert_memory_equal(&got, &request, sizeof(got));
}

/* A proof has any bytes, in the place of a name. */
static void channel_request__carries_a_proof(void **state)
{
	struct channel_request r = {.command = CHANNEL_ROTATE, .psk = {1}, .name = ""}, got;
	uint8_t data[CHANNEL_MESSAGE_MAX];

	memset(r.proof, 0xa5, sizeof(r.proof));
	size_t bytes = channel_request_encode(&r, data);
	assert_int_equal(bytes, channel_request_encode(&request, data + bytes));
	assert_int_equal(channel_request_decode(data, bytes, &got), DXP_OK);
	assert_memory_equal(&got, &r, sizeof(got));
}

static void channel_request__invalid_fields(void **state)
{
	struct channel_request r = request, got;
	uint8_t data[CHANNEL_MESSAGE_MAX];

	r.command = CHANNEL_COMMANDS + 1;
	size_t bytes = channel_request_encode(&r, data);
	assert_int_equal(channel_request_decode(data, bytes, &got), DXP_EMALFORMED);
	r = request;
	r.role = ROLE_OPERATOR + 1;
	channel_request_encode(&r, data);
	assert_int_equal(channel_request_decode(data, bytes, &got), DXP_EMALFORMED);
	r = request;
	snprintf(r.name, sizeof(r.name), "two words");
	channel_request_encode(&r, data);
	assert_int_equal(channel_request_decode(data, bytes, &got), DXP_EMALFORMED);
}

/* The longest answer fits into one datagram. */
static void channel_answer__comes_back(void **state)
{
	struct channel_answer answer = {.status = DXP_OK,
					.role = ROLE_HOST,
					.fabric_key = {9},
					.next = 12,
					.count = CHANNEL_TOKENS_MAX},
			      got;
	uint8_t data[CHANNEL_MESSAGE_MAX + 1] = {0};

	memset(answer.text, 'x', sizeof(answer.text) - 1);
	for (unsigned i = 0; i < CHANNEL_TOKENS_MAX; i++) {
		answer.tokens[i].id[0] = (uint8_t)i;
		answer.tokens[i].role = ROLE_OPERATOR;
		answer.tokens[i].state = TOKEN_REVOKED;
		answer.tokens[i].uses = i;
		answer.tokens[i].seconds = 1ull << i;
		snprintf(answer.tokens[i].used_by, sizeof(answer.tokens[i].used_by), "m%u", i);
	}
	size_t bytes = channel_answer_encode(&answer, data);
	assert_true(bytes + MAC_BYTES <= CHANNEL_MESSAGE_MAX);
	for (size_t length = 0; length <= bytes + 1; length++)
		assert_int_equal(channel_answer_decode(data, length, &got),
				 length == bytes ? DXP_OK : DXP_EMALFORMED);
	assert_int_equal(channel_answer_decode(data, bytes, &got), DXP_OK);
	assert_string_equal(got.text, answer.text);
	for (unsigned i = 0; i < CHANNEL_TOKENS_MAX; i++) {
		assert_true(got.tokens[i].seconds == answer.tokens[i].seconds);
		assert_string_equal(got.tokens[i].used_by, answer.tokens[i].used_by);
	}
}

/* The state of the fabric key follows the tokens; other answers have the form of earlier releases.
 */
static void channel_answer__with_the_fabric_key(void **state)
{
	const struct channel_answer plain = {.fabric_key = {9}};
	const struct channel_answer answer = {.fabric_key = {9},
					      .fabric = {true, 3, 4000, 1ull << 40}};
	struct channel_answer got;
	uint8_t data[CHANNEL_MESSAGE_MAX + 1] = {0};
	const size_t without = channel_answer_encode(&plain, data);
	const size_t bytes = channel_answer_encode(&answer, data);

	assert_int_equal(bytes, without + 16);
	for (size_t length = 0; length <= bytes + 1; length++)
		assert_int_equal(channel_answer_decode(data, length, &got),
				 length == bytes || length == without ? DXP_OK : DXP_EMALFORMED);
	assert_int_equal(channel_answer_decode(data, without, &got), DXP_OK);
	assert_false(got.fabric.present);
	assert_int_equal(channel_answer_decode(data, bytes, &got), DXP_OK);
	assert_true(got.fabric.present);
	assert_int_equal(got.fabric.generation, 3);
	assert_int_equal(got.fabric.former_ms, 4000);
	assert_true(got.fabric.age_s == 1ull << 40);
}

static void channel_open__has_one_length(void **state)
{
	struct channel_open open = {{1, 2, 3, 4, 5}}, got;
	struct channel_opened opened = {DXP_EACCESS, "no"}, back;
	uint8_t data[CHANNEL_OPEN_BYTES + 1] = {0};

	channel_open_encode(&open, data);
	for (size_t length = 0; length <= CHANNEL_OPEN_BYTES + 1; length++)
		assert_int_equal(channel_open_decode(data, length, &got),
				 length == CHANNEL_OPEN_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_memory_equal(&got, &open, sizeof(got));
	memset(data, 0, sizeof(data));
	channel_opened_encode(&opened, data);
	for (size_t length = 0; length <= CHANNEL_OPENED_BYTES + 1; length++)
		assert_int_equal(channel_opened_decode(data, length, &back),
				 length == CHANNEL_OPENED_BYTES ? DXP_OK : DXP_EMALFORMED);
	assert_int_equal(back.status, DXP_EACCESS);
	assert_string_equal(back.text, "no");
}

/* A wrong length or one flipped bit is rejected. */
static void channel_frame__comes_back(void **state)
{
	static const uint8_t message[] = "a sealed message";
	const struct channel_frame frame = {1ull << 40, 7, CHANNEL_ANSWER, message,
					    sizeof(message)};
	uint8_t data[FABRIC_DATAGRAM_BYTES + 1] = {0};
	struct channel_frame got;
	size_t bytes = channel_frame_encode(&frame, 0xffff, 0xfffe, data);

	assert_int_equal(channel_frame_decode(data, bytes, &got), DXP_OK);
	assert_true(got.id == frame.id && got.number == 7 && got.step == CHANNEL_ANSWER);
	assert_int_equal(got.bytes, sizeof(message));
	assert_memory_equal(got.message, message, sizeof(message));
	for (size_t length = 0; length <= bytes + 1; length++)
		if (length != bytes)
			assert_int_not_equal(channel_frame_decode(data, length, &got), DXP_OK);
	for (size_t bit = 0; bit < 8 * bytes; bit++) {
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(channel_frame_decode(data, bytes, &got), DXP_OK);
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(channel_request__comes_back),
		cmocka_unit_test(channel_request__carries_a_proof),
		cmocka_unit_test(channel_request__invalid_fields),
		cmocka_unit_test(channel_answer__comes_back),
		cmocka_unit_test(channel_answer__with_the_fabric_key),
		cmocka_unit_test(channel_open__has_one_length),
		cmocka_unit_test(channel_frame__comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
