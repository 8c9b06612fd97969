/* SPDX-License-Identifier: BSD-3-Clause */
/* The certificate of dxp-web. It is read from files, or made for one run. */
#ifndef CMD_WEB_CERTIFICATE_H
#define CMD_WEB_CERTIFICATE_H

#include <stddef.h>

/* bytes of a PEM file; a chain of certificates has a few KB */
#define WEB_PEM_MAX           (64 * 1024)
#define WEB_FINGERPRINT_BYTES 100 /* text of SHA-256: "AB:CD:..." */

struct web_certificate {
	char *chain, *key; /* PEM */
};

/* Reads PEM files. Logs errors and returns DXP_EIO, DXP_EMALFORMED or DXP_ENOMEM. */
int web_certificate_read(const char *chain_path, const char *key_path, struct web_certificate *out);

/* Makes a key and a self-signed certificate that is valid for `days`. Returns DXP_EIO if libcrypto
 * failed. */
int web_certificate_make(unsigned days, struct web_certificate *out);

void web_certificate_free(struct web_certificate *c);

/* Writes the SHA-256 fingerprint of the first certificate, in the format of browsers; "" if the
 * certificate does not parse. */
void web_certificate_fingerprint(const struct web_certificate *c, char out[WEB_FINGERPRINT_BYTES]);

#endif
