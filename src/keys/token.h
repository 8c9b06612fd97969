/* SPDX-License-Identifier: BSD-3-Clause */
/* Join tokens and public keys as text, and the keys that follow from tokens.
 *
 *   dxp1.ID.SECRET.FINGERPRINT   ID names the token at the manager, SECRET proves the token,
 *                                FINGERPRINT is the manager's public key
 *
 * All parts are base32 (RFC 4648) in lower case without padding. Upper case is accepted too. */
#ifndef KEYS_TOKEN_H
#define KEYS_TOKEN_H

#include "keys/primitives.h"

#define TOKEN_ID_BYTES     5  /* 8 letters, enough to distinguish tokens */
#define TOKEN_SECRET_BYTES 16 /* 2^128 values are too many to try */
#define TOKEN_ID_TEXT      9  /* with the final zero */
#define TOKEN_TEXT_BYTES   96
/* with the final zero */
#define KEY_TEXT_BYTES 53

struct token {
	uint8_t id[TOKEN_ID_BYTES];
	uint8_t secret[TOKEN_SECRET_BYTES];
	uint8_t manager[KEYS_BYTES];
};

/* Return `out`. */
const char *token_format(const struct token *token, char out[TOKEN_TEXT_BYTES]);
const char *token_id_format(const uint8_t id[TOKEN_ID_BYTES], char out[TOKEN_ID_TEXT]);
const char *key_format(const uint8_t key[KEYS_BYTES], char out[KEY_TEXT_BYTES]);

/* Parse exactly this form; otherwise return false, and leave *out unchanged. */
bool token_parse(const char *text, struct token *out);
bool token_id_parse(const char *text, uint8_t id[TOKEN_ID_BYTES]);
bool key_parse(const char *text, uint8_t key[KEYS_BYTES]);

/* Computes the pre-shared key, which the manager keeps instead of the secret. */
bool token_psk(const struct token *token, uint8_t out[KEYS_BYTES]);

/* Computes the proof that the owner of a new key pair consents to its use in place of the key
 * `before`. `pair` is keys_pair of the new key and the manager's. */
bool keys_rotation_proof(const uint8_t pair[KEYS_BYTES], const uint8_t before[KEYS_BYTES],
			 uint8_t out[KEYS_BYTES]);

/* Computes the key of management frames between a node and its manager. `private_key` belongs to
 * one side. `node` and `manager` are the public keys of both sides. */
bool keys_pair(const uint8_t private_key[KEYS_BYTES], const uint8_t node[KEYS_BYTES],
	       const uint8_t manager[KEYS_BYTES], uint8_t out[KEYS_BYTES]);

#endif
