/* SPDX-License-Identifier: BSD-3-Clause */
/* The certificate of dxp-web: from files, or made for one run. */
#ifndef CMD_WEB_CERTIFICATE_H
#define CMD_WEB_CERTIFICATE_H

#include <stddef.h>

#define WEB_PEM_MAX           (64 * 1024) /* bytes; a chain of certificates has a few KB */
#define WEB_FINGERPRINT_BYTES 100         /* text of SHA-256: "AB:CD:..." */

struct web_certificate {
	char *chain, *key; /* PEM */
};

/* Reads PEM files. Errors are logged: DXP_EIO, DXP_EMALFORMED, DXP_ENOMEM. */
int web_certificate_read(const char *chain_path, const char *key_path, struct web_certificate *out);

/* Makes a key and a certificate that it signs itself, valid for `days`. DXP_EIO: libcrypto failed.
 */
int web_certificate_make(unsigned days, struct web_certificate *out);

void web_certificate_free(struct web_certificate *c);

/* Writes the SHA-256 of the first certificate, as browsers show it; "" if it does not parse. */
void web_certificate_fingerprint(const struct web_certificate *c, char out[WEB_FINGERPRINT_BYTES]);

#endif
