/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that list the grants of a fabric, as bytes; docs/reference/wire.md has the tables. Header
 * and MAC are the same as in wire/manage.h.
 *
 *   GRANTS       key holder -> manager  first row wanted     answer: GRANTS_PAGE or REFUSE
 *   GRANTS_PAGE  manager -> key holder  rows, in pages
 *
 * A page states the version of the grants. A reader that receives pages of different versions
 * starts again. */
#ifndef WIRE_GRANTS_H
#define WIRE_GRANTS_H

#include "wire/manage.h"

/* rows in one page at most: so many fit if the two names of a row have at most 15 characters
 * together */
#define GRANTS_PAGE_ROWS 64

enum grants_rule { GRANTS_RULE_ANY = 1, GRANTS_RULE_EXPLICIT = 2 };

struct grants_request {
	uint64_t request, nonce;
	uint16_t first; /* number of the first row wanted */
	/* public key of the sender, which selects the key of the MAC, or NULL; decoders do not set
	 * it */
	const uint8_t *key;
};

struct grants_row {
	char host[FABRIC_NAME_BYTES]; /* a node's name or "*" */
	char xpu[FABRIC_NAME_BYTES];
};

struct grants_page {
	uint64_t request, nonce;
	/* epoch: number of the manager's run; version: version of the grants */
	uint64_t epoch, version;
	uint8_t rule; /* enum grants_rule */
	/* first: number of the first row in this page. next: number of the first row in the next
	 * page; 0: no further rows */
	uint16_t first, next;
	uint8_t count;
	struct grants_row rows[GRANTS_PAGE_ROWS];
};

/* Encode into MANAGE_FRAME_BYTES, or into FABRIC_DATAGRAM_BYTES for a page; return the length. If a
 * row does not fit, the page ends before the row, and `next` is the number of that row. */
size_t grants_request_encode(const struct grants_request *request, struct mac *mac, uint8_t *out);
size_t grants_page_encode(const struct grants_page *page, struct mac *mac, uint8_t *out);

/* Decode a body. DXP_EMALFORMED: wrong length or invalid field; the output is unchanged. */
int grants_request_decode(struct manage_body body, struct grants_request *out);
int grants_page_decode(struct manage_body body, struct grants_page *out);

#endif
