/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes frames that read a node's counters; docs/reference/wire.md has the tables.
 * They are sealed like the other management frames (wire/manage.h).
 *
 *   STATS       key holder -> node    requests rows of one part, from `first` on
 *   STATS_PAGE  node -> key holder    those rows, as many as fit; `next` continues
 *
 * Both bodies begin with `request` and `nonce`; the page repeats those of the request. A page is
 * consistent; two pages may be of different times. Rows are in order of their number, so no session
 * is skipped if others open and close between two pages. */
#ifndef WIRE_STATS_H
#define WIRE_STATS_H

#include "wire/manage.h"
#include "wire/stats_fields.h"

/* Parts of a node's counters. The rows of QPS have indices, those of SESSIONS node ids. */
enum stats_part { STATS_PART_NODE = 1, STATS_PART_QPS = 2, STATS_PART_SESSIONS = 3 };

/* rows of a page; the shortest one has 43 bytes, so 26 fit a datagram */
#define STATS_PAGE_ROWS 32

struct stats_request {
	uint64_t request, nonce;
	uint8_t part;   /* enum stats_part */
	uint16_t first; /* first row; 0 with STATS_PART_NODE */
};

struct stats_qp_row {
	uint16_t index; /* function * DXP_QPS + queue pair, below STATS_QPS */
	struct stats_qp counts;
};

struct stats_page {
	uint64_t request, nonce;
	uint8_t part;
	bool published;       /* false: the node publishes no counters; the page has no rows */
	uint16_t first, next; /* next 0: no further rows */
	uint8_t count;        /* rows; NODE: 1 if published */
	/* NODE */
	uint32_t pid;
	uint64_t age_ns;        /* time since published_ns */
	struct stats_node node; /* without id, session_rows and qps */
	/* QPS and SESSIONS */
	struct stats_qp_row qps[STATS_PAGE_ROWS];
	struct stats_session sessions[STATS_PAGE_ROWS];
};

/* Encode header, body and mac into `out` of MANAGE_FRAME_BYTES or, for a page, of
 * FABRIC_DATAGRAM_BYTES. Return the length. A page gets the first rows that fit, and `next` of the
 * first row that does not. */
size_t stats_request_encode(const struct stats_request *request, uint16_t node, struct mac *mac,
			    uint8_t *out);
size_t stats_page_encode(const struct stats_page *page, uint16_t node, struct mac *mac,
			 uint8_t *out);

/* Decode a body of manage_open. DXP_EMALFORMED; a page: DXP_EUNSUPPORTED if it has another
 * STATS_VERSION. *out is written only on success. */
int stats_request_decode(struct manage_body body, struct stats_request *out);
int stats_page_decode(struct manage_body body, struct stats_page *out);

#endif
