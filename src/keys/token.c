/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys/token.h"

#include <stdio.h>
#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
static const char prefix[] = "dxp1.";
static const char psk_label[] = "dxp token 1";
static const char pair_label[] = "dxp manage 1";
static const char rotate_label[] = "dxp rotate 1";

#define LETTER_BITS    5
#define BASE32_TEXT(n) (((n)*8 + LETTER_BITS - 1) / LETTER_BITS)
#define ID_LETTERS     BASE32_TEXT(TOKEN_ID_BYTES)
#define SECRET_LETTERS BASE32_TEXT(TOKEN_SECRET_BYTES)
#define KEY_LETTERS    BASE32_TEXT(KEYS_BYTES)
#define TOKEN_LETTERS  (sizeof(prefix) - 1 + ID_LETTERS + 1 + SECRET_LETTERS + 1 + KEY_LETTERS)

_Static_assert(ID_LETTERS + 1 == TOKEN_ID_TEXT && KEY_LETTERS + 1 == KEY_TEXT_BYTES &&
		       TOKEN_LETTERS < TOKEN_TEXT_BYTES,
	       "texts fit");

/* Writes base32 with a final zero; missing bits of the last letter are zero. */
static void base32_put(const uint8_t *from, size_t bytes, char *to)
{
	for (size_t bit = 0; bit < bytes * 8; bit += LETTER_BITS) {
		size_t at = bit / 8;
		unsigned pair = (unsigned)from[at] << 8 | (at + 1 < bytes ? from[at + 1] : 0);
		*to++ = letters[pair >> (16 - LETTER_BITS - bit % 8) & 31];
	}
	*to = '\0';
}

static int letter_value(char c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

/* Reads base32. Rejects nonzero padding bits, so that each value has only one text. */
static bool base32_get(const char *from, size_t bytes, uint8_t *to)
{
	uint32_t bits = 0, held = 0;

	for (size_t i = 0; i < BASE32_TEXT(bytes); i++) {
		int value = letter_value(from[i]);
		if (value < 0)
			return false;
		bits = bits << LETTER_BITS | (uint32_t)value;
		held += LETTER_BITS;
		if (held >= 8) {
			held -= 8;
			*to++ = (uint8_t)(bits >> held);
		}
	}
	return (bits & ((1u << held) - 1)) == 0;
}

const char *token_format(const struct token *token, char out[TOKEN_TEXT_BYTES])
{
	char id[ID_LETTERS + 1], secret[SECRET_LETTERS + 1], key[KEY_LETTERS + 1];

	base32_put(token->id, sizeof(token->id), id);
	base32_put(token->secret, sizeof(token->secret), secret);
	base32_put(token->manager, sizeof(token->manager), key);
	snprintf(out, TOKEN_TEXT_BYTES, "%s%s.%s.%s", prefix, id, secret, key);
	keys_erase(secret, sizeof(secret));
	return out;
}

const char *token_id_format(const uint8_t id[TOKEN_ID_BYTES], char out[TOKEN_ID_TEXT])
{
	base32_put(id, TOKEN_ID_BYTES, out);
	return out;
}

const char *key_format(const uint8_t key[KEYS_BYTES], char out[KEY_TEXT_BYTES])
{
	base32_put(key, KEYS_BYTES, out);
	return out;
}

bool token_parse(const char *text, struct token *out)
{
	const char *id = text + sizeof(prefix) - 1;
	const char *secret = id + ID_LETTERS + 1, *key = secret + SECRET_LETTERS + 1;
	struct token t;

	if (strnlen(text, TOKEN_LETTERS + 1) != TOKEN_LETTERS ||
	    strncmp(text, prefix, sizeof(prefix) - 1) != 0 || secret[-1] != '.' || key[-1] != '.' ||
	    !base32_get(id, sizeof(t.id), t.id) ||
	    !base32_get(secret, sizeof(t.secret), t.secret) ||
	    !base32_get(key, sizeof(t.manager), t.manager))
		return false;
	*out = t;
	keys_erase(&t, sizeof(t));
	return true;
}

bool token_id_parse(const char *text, uint8_t id[TOKEN_ID_BYTES])
{
	uint8_t read[TOKEN_ID_BYTES];

	if (strnlen(text, ID_LETTERS + 1) != ID_LETTERS || !base32_get(text, sizeof(read), read))
		return false;
	memcpy(id, read, sizeof(read));
	return true;
}

bool key_parse(const char *text, uint8_t key[KEYS_BYTES])
{
	uint8_t read[KEYS_BYTES];

	if (strnlen(text, KEY_LETTERS + 1) != KEY_LETTERS || !base32_get(text, sizeof(read), read))
		return false;
	memcpy(key, read, sizeof(read));
	return true;
}

bool token_psk(const struct token *token, uint8_t out[KEYS_BYTES])
{
	uint8_t text[TOKEN_ID_BYTES + TOKEN_SECRET_BYTES];

	memcpy(text, token->id, TOKEN_ID_BYTES);
	memcpy(text + TOKEN_ID_BYTES, token->secret, TOKEN_SECRET_BYTES);
	bool good = keys_hash(psk_label, sizeof(psk_label), text, sizeof(text), out);
	keys_erase(text, sizeof(text));
	return good;
}

bool keys_pair(const uint8_t private_key[KEYS_BYTES], const uint8_t node[KEYS_BYTES],
	       const uint8_t manager[KEYS_BYTES], uint8_t out[KEYS_BYTES])
{
	uint8_t own[KEYS_BYTES], secret[KEYS_BYTES], both[2 * KEYS_BYTES];

	if (!keys_public(private_key, own))
		return false;
	bool is_node = memcmp(own, node, KEYS_BYTES) == 0;
	memcpy(both, node, KEYS_BYTES);
	memcpy(both + KEYS_BYTES, manager, KEYS_BYTES);
	bool good = keys_agree(private_key, is_node ? manager : node, secret) &&
		    keys_hmac(secret, pair_label, sizeof(pair_label), both, sizeof(both), out);
	keys_erase(secret, sizeof(secret));
	return good;
}

bool keys_rotation_proof(const uint8_t pair[KEYS_BYTES], const uint8_t before[KEYS_BYTES],
			 uint8_t out[KEYS_BYTES])
{
	return keys_hmac(pair, rotate_label, sizeof(rotate_label), before, KEYS_BYTES, out);
}
