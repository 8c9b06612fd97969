/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/token.h"

#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/mac.h"

#define SEALED (WEB_TOKEN_BYTES - MAC_BYTES)

/* The sealed bytes of a token start with this text. No frame of the fabric starts with it, so the
 * seal of a frame is never valid for a token. */
static const char purpose[] = "dxp-web login 1";

static bool seal(const uint8_t key[FABRIC_KEY_BYTES], const uint8_t *bytes, uint8_t out[MAC_BYTES])
{
	struct mac *mac;

	if (mac_create(key, &mac) != DXP_OK)
		return false;
	mac_compute(mac, purpose, sizeof(purpose), bytes, SEALED, out);
	mac_destroy(mac);
	return true;
}

void web_token_hex(const uint8_t *bytes, unsigned count, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < count; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
}

bool web_token_make(const uint8_t key[FABRIC_KEY_BYTES], uint64_t now_s, entropy_fn entropy,
		    void *entropy_context, char out[WEB_TOKEN_TEXT])
{
	uint8_t bytes[WEB_TOKEN_BYTES];

	put_be64(bytes, now_s);
	entropy(entropy_context, bytes + 8, WEB_NONCE_BYTES);
	if (!seal(key, bytes, bytes + SEALED))
		return false;
	web_token_hex(bytes, WEB_TOKEN_BYTES, out);
	return true;
}

/* Returns the value of a hexadecimal digit, or -1. */
static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool web_token_open(const uint8_t key[FABRIC_KEY_BYTES], const char *text, struct web_token *out)
{
	uint8_t bytes[WEB_TOKEN_BYTES], expected[MAC_BYTES];

	if (strnlen(text, WEB_TOKEN_TEXT) != WEB_TOKEN_TEXT - 1)
		return false;
	for (unsigned i = 0; i < WEB_TOKEN_BYTES; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	if (!seal(key, bytes, expected) || !mac_equal(expected, bytes + SEALED))
		return false;
	out->time_s = get_be64(bytes);
	memcpy(out->nonce, bytes + 8, WEB_NONCE_BYTES);
	return true;
}
