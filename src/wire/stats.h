/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes frames that read a node's counters; docs/reference/wire.md has the tables.
 * They are sealed like the other management frames (wire/manage.h).
 *
 *   STATS       key holder -> node    requests rows of one part, from `first` on
 *   STATS_PAGE  node -> key holder    those rows, as many as fit; `next` continues
 *
 * Both bodies begin with `request` and `nonce`; the page repeats the values of the request. The
 * values of one page are of the same time; two pages may be of different times. Rows are in order
 * of their number, so no session is skipped if other sessions open and close between two pages. */
#ifndef WIRE_STATS_H
#define WIRE_STATS_H

#include "wire/manage.h"
#include "wire/stats_fields.h"

/* Parts of a node's counters. Rows of QPS are numbered by index, rows of SESSIONS by node id. Only
 * managers and switches have SERVICE (wire/stats_service.h). */
enum stats_part {
	STATS_PART_NODE = 1,
	STATS_PART_QPS = 2,
	STATS_PART_SESSIONS = 3,
	STATS_PART_SERVICE = 4,
	STATS_PART_PATHS = 5 /* rows are numbered by node id of the peer */
};

enum stats_path_state { STATS_PATH_UNKNOWN, STATS_PATH_OPEN, STATS_PATH_BLOCKED };

/* Measurement of the path from a node to a peer (node/probe.h). */
struct stats_path {
	uint16_t node;
	uint8_t state; /* enum stats_path_state */
	char peer[FABRIC_NAME_BYTES];
	uint64_t sent, answered; /* of the last short probes whose outcome is known */
	uint64_t srtt_ns, min_rtt_ns;
	uint64_t age_ns; /* since the last answer; 0: none yet */
	/* bytes of UDP payload: the longest probe that was answered, 0: none yet; the longest that
	 * the node's interface permits */
	uint64_t answered_bytes, limit_bytes;
};

/* rows in one page: all STATS_QPS queue pairs; a session's row has at least 44 bytes, so at most 25
 * fit */
#define STATS_PAGE_ROWS 32

struct stats_request {
	uint64_t request, nonce;
	uint8_t part;   /* enum stats_part */
	uint16_t first; /* number of the first requested row; 0 with STATS_PART_NODE */
};

struct stats_qp_row {
	uint16_t index; /* function * DXP_QPS + queue pair, below STATS_QPS */
	struct stats_qp counts;
};

struct stats_page {
	uint64_t request, nonce;
	uint8_t part;
	bool published; /* false: the node publishes no counters; the page has no rows */
	/* first: number of the first row; next: number of the first row in the next page, 0: no
	 * further rows */
	uint16_t first, next;
	uint8_t count; /* rows in this page; STATS_PART_NODE: 1 if published */
	/* STATS_PART_NODE */
	uint32_t pid;
	uint64_t age_ns;        /* ns since published_ns */
	struct stats_node node; /* all members but id, session_rows and qps are set */
	/* STATS_PART_QPS and STATS_PART_SESSIONS */
	struct stats_qp_row qps[STATS_PAGE_ROWS];
	struct stats_session sessions[STATS_PAGE_ROWS];
	/* STATS_PART_PATHS */
	struct stats_path paths[STATS_PAGE_ROWS];
};

/* Encode header, body and mac into `out`, and return the length. `out` has MANAGE_FRAME_BYTES, or
 * FABRIC_DATAGRAM_BYTES for a page. A page gets the rows that fit. If rows are left, `next` becomes
 * the number of the first of these. */
size_t stats_request_encode(const struct stats_request *request, uint16_t node, struct mac *mac,
			    uint8_t *out);
size_t stats_page_encode(const struct stats_page *page, uint16_t node, struct mac *mac,
			 uint8_t *out);

/* Decode a body that manage_open() returned. DXP_EMALFORMED: wrong length or invalid field.
 * DXP_EUNSUPPORTED: the page has another STATS_VERSION. *out is written only on success. */
int stats_request_decode(struct manage_body body, struct stats_request *out);
int stats_page_decode(struct manage_body body, struct stats_page *out);

#endif
