/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/certificate.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"

#define DAY_S 86400L

/* Returns the contents of a file as text. On failure logs the reason and returns NULL. */
static char *file_read(const char *path)
{
	FILE *f = descriptor_fopen(path, "re");
	char *text = malloc(WEB_PEM_MAX + 1);

	if (!f)
		log_error("cannot read %s: %s", path, strerror(errno));
	if (!f || !text) {
		free(text);
		if (f)
			fclose(f);
		return NULL;
	}
	const size_t bytes = fread(text, 1, WEB_PEM_MAX + 1, f);
	const int failed = ferror(f);
	fclose(f);
	if (failed || bytes > WEB_PEM_MAX) {
		log_error("%s is not a PEM file of at most %d bytes", path, WEB_PEM_MAX);
		free(text);
		return NULL;
	}
	text[bytes] = '\0';
	return text;
}

static X509 *parse(const char *chain)
{
	BIO *in = BIO_new_mem_buf(chain, -1);
	X509 *c = in ? PEM_read_bio_X509(in, NULL, NULL, NULL) : NULL;

	BIO_free(in);
	return c;
}

/* Returns whether the private key belongs to the first certificate of the chain. */
static bool matches(const struct web_certificate *c)
{
	X509 *certificate = parse(c->chain);
	BIO *in = BIO_new_mem_buf(c->key, -1);
	EVP_PKEY *key = in ? PEM_read_bio_PrivateKey(in, NULL, NULL, NULL) : NULL;
	bool good = certificate && key && X509_check_private_key(certificate, key) == 1;

	X509_free(certificate);
	EVP_PKEY_free(key);
	BIO_free(in);
	return good;
}

int web_certificate_read(const char *chain_path, const char *key_path, struct web_certificate *out)
{
	struct web_certificate c = {.chain = file_read(chain_path), .key = NULL};

	if (c.chain)
		c.key = file_read(key_path);
	int status = c.chain && c.key ? DXP_OK : DXP_EIO;
	if (status == DXP_OK && !matches(&c)) {
		log_error("%s and %s are not a certificate and its key, both as PEM", chain_path,
			  key_path);
		status = DXP_EMALFORMED;
	}
	if (status != DXP_OK) {
		web_certificate_free(&c);
		return status;
	}
	*out = c;
	return DXP_OK;
}

static bool fields_set(X509 *c, EVP_PKEY *key, unsigned days)
{
	static const unsigned char name[] = "dxp-web";
	uint64_t serial = 0;

	if (RAND_bytes((unsigned char *)&serial, sizeof(serial)) != 1)
		return false;
	X509_NAME *subject = X509_get_subject_name(c);
	return X509_set_version(c, 2) && /* the value 2 means version 3 of X.509 */
	       ASN1_INTEGER_set_uint64(X509_get_serialNumber(c), serial >> 1 | 1) &&
	       X509_gmtime_adj(X509_getm_notBefore(c), -DAY_S) &&
	       X509_gmtime_adj(X509_getm_notAfter(c), DAY_S * (long)days) &&
	       X509_set_pubkey(c, key) &&
	       X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1, 0) &&
	       X509_set_issuer_name(c, subject) && X509_sign(c, key, EVP_sha256());
}

/* Copies the text of a BIO; NULL if out of memory. */
static char *text_of(BIO *b)
{
	char *data, *text;
	const long bytes = BIO_get_mem_data(b, &data);

	if (bytes <= 0)
		return NULL;
	text = malloc((size_t)bytes + 1);
	if (text) {
		memcpy(text, data, (size_t)bytes);
		text[bytes] = '\0';
	}
	return text;
}

int web_certificate_make(unsigned days, struct web_certificate *out)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *c = X509_new();
	BIO *chain_text = BIO_new(BIO_s_mem()), *key_text = BIO_new(BIO_s_mem());
	int status = DXP_EIO;

	if (key && c && chain_text && key_text && fields_set(c, key, days) &&
	    PEM_write_bio_X509(chain_text, c) &&
	    PEM_write_bio_PrivateKey(key_text, key, NULL, NULL, 0, NULL, NULL)) {
		out->chain = text_of(chain_text);
		out->key = text_of(key_text);
		status = out->chain && out->key ? DXP_OK : DXP_EIO;
		if (status != DXP_OK)
			web_certificate_free(out);
	}
	if (status != DXP_OK)
		log_error("cannot make a certificate; give one with --certificate");
	BIO_free(chain_text);
	BIO_free(key_text);
	X509_free(c);
	EVP_PKEY_free(key);
	return status;
}

void web_certificate_free(struct web_certificate *c)
{
	free(c->chain);
	if (c->key)
		OPENSSL_cleanse(c->key, strlen(c->key));
	free(c->key);
	*c = (struct web_certificate){0};
}

void web_certificate_fingerprint(const struct web_certificate *c, char out[WEB_FINGERPRINT_BYTES])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned bytes = 0;
	X509 *certificate = parse(c->chain);

	out[0] = '\0';
	if (certificate && X509_digest(certificate, EVP_sha256(), digest, &bytes) == 1)
		for (unsigned i = 0; i < bytes; i++)
			snprintf(out + 3 * i, 4, i + 1 < bytes ? "%02X:" : "%02X", digest[i]);
	X509_free(certificate);
}
