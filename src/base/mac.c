/* SPDX-License-Identifier: BSD-3-Clause */
/* HMAC-SHA-256 by libcrypto's EVP_MAC, keyed once and restarted per message. */
#include "base/mac.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <dxp/status.h>

#define DIGEST_BYTES 32

struct mac {
	EVP_MAC_CTX *context;
};

/* Disables libcrypto's exit handler, which would free state that other threads still use. Only the
 * first call in a process counts. */
__attribute__((constructor)) static void state_keep(void)
{
	OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

void mac_before_end(void (*function)(void))
{
	OPENSSL_atexit(function);
}

static EVP_MAC_CTX *context_create(const uint8_t key[FABRIC_KEY_BYTES])
{
	OSSL_PARAM parameters[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char[]){"SHA256"}, 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *context = hmac ? EVP_MAC_CTX_new(hmac) : NULL;

	EVP_MAC_free(hmac); /* the context holds its own reference */
	if (context && EVP_MAC_init(context, key, FABRIC_KEY_BYTES, parameters) != 1) {
		EVP_MAC_CTX_free(context);
		context = NULL;
	}
	return context;
}

int mac_create(const uint8_t key[FABRIC_KEY_BYTES], struct mac **out)
{
	struct mac *m = calloc(1, sizeof(*m));

	if (!m)
		return DXP_ENOMEM;
	m->context = context_create(key);
	if (!m->context) {
		free(m);
		return DXP_EIO;
	}
	*out = m;
	return DXP_OK;
}

void mac_destroy(struct mac *m)
{
	if (!m)
		return;
	EVP_MAC_CTX_free(m->context);
	free(m);
}

void mac_compute(struct mac *m, const void *head, size_t head_bytes, const void *body,
		 size_t body_bytes, uint8_t out[MAC_BYTES])
{
	uint8_t digest[DIGEST_BYTES];
	size_t bytes = 0;

	/* NULL keeps the current key */
	if (EVP_MAC_init(m->context, NULL, 0, NULL) != 1 ||
	    EVP_MAC_update(m->context, head, head_bytes) != 1 ||
	    EVP_MAC_update(m->context, body, body_bytes) != 1 ||
	    EVP_MAC_final(m->context, digest, &bytes, sizeof(digest)) != 1 || bytes != DIGEST_BYTES)
		abort();
	memcpy(out, digest, MAC_BYTES);
}

bool mac_equal(const uint8_t a[MAC_BYTES], const uint8_t b[MAC_BYTES])
{
	return CRYPTO_memcmp(a, b, MAC_BYTES) == 0;
}
