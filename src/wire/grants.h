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

/* as many as fit if the names of a row have 15 characters together */
#define GRANTS_PAGE_ROWS 64

enum grants_rule { GRANTS_RULE_ANY = 1, GRANTS_RULE_EXPLICIT = 2 };

struct grants_request {
	uint64_t request, nonce;
	uint16_t first; /* first row wanted */
	/* of the sender, selects the key of the MAC, or NULL; not set by decoders */
	const uint8_t *key;
};

struct grants_row {
	char host[FABRIC_NAME_BYTES]; /* a node's name or "*" */
	char xpu[FABRIC_NAME_BYTES];
};

struct grants_page {
	uint64_t request, nonce;
	/* number of the manager's run; version of the grants */
	uint64_t epoch, version;
	uint8_t rule; /* enum grants_rule */
	/* first row of this page; of the next page, 0: none */
	uint16_t first, next;
	uint8_t count;
	struct grants_row rows[GRANTS_PAGE_ROWS];
};

/* Encode into MANAGE_FRAME_BYTES, a page into FABRIC_DATAGRAM_BYTES; return the length. `next`
 * becomes the first row that does not fit. */
size_t grants_request_encode(const struct grants_request *request, struct mac *mac, uint8_t *out);
size_t grants_page_encode(const struct grants_page *page, struct mac *mac, uint8_t *out);

/* DXP_EMALFORMED: wrong length or field; the output is unchanged. */
int grants_request_decode(struct manage_body body, struct grants_request *out);
int grants_page_decode(struct manage_body body, struct grants_page *out);

#endif
