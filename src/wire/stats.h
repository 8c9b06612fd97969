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

/* QPS rows are numbered by index, SESSIONS by node id. Only managers and switches have SERVICE
 * (wire/stats_service.h). */
enum stats_part {
	STATS_PART_NODE = 1,
	STATS_PART_QPS = 2,
	STATS_PART_SESSIONS = 3,
	STATS_PART_SERVICE = 4,
	STATS_PART_PATHS = 5 /* by node id of the peer */
};

enum stats_path_state { STATS_PATH_UNKNOWN, STATS_PATH_OPEN, STATS_PATH_BLOCKED };

/* Measurement of the path from a node to a peer (node/probe.h). */
struct stats_path {
	uint16_t node;
	uint8_t state; /* enum stats_path_state */
	char peer[FABRIC_NAME_BYTES];
	uint64_t sent, answered; /* short probes with a known outcome */
	uint64_t srtt_ns, min_rtt_ns;
	uint64_t age_ns; /* since the last answer; 0: none yet */
	/* UDP payload: longest answered, 0: none yet; longest of the interface */
	uint64_t answered_bytes, limit_bytes;
};

/* all STATS_QPS queue pairs; sessions have at least 44 bytes, so at most 25 fit */
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
	bool published; /* false: no counters, no rows */
	/* first row of this page; of the next, 0: none */
	uint16_t first, next;
	uint8_t count; /* rows; STATS_PART_NODE: 1 if published */
	/* STATS_PART_NODE */
	uint32_t pid;
	uint64_t age_ns;        /* since published_ns */
	struct stats_node node; /* without id, session_rows and qps */
	/* STATS_PART_QPS and STATS_PART_SESSIONS */
	struct stats_qp_row qps[STATS_PAGE_ROWS];
	struct stats_session sessions[STATS_PAGE_ROWS];
	/* STATS_PART_PATHS */
	struct stats_path paths[STATS_PAGE_ROWS];
};

/* Encode header, body and mac into `out`, of MANAGE_FRAME_BYTES, a page FABRIC_DATAGRAM_BYTES;
 * return the length. `next` becomes the first row that does not fit. */
size_t stats_request_encode(const struct stats_request *request, uint16_t node, struct mac *mac,
			    uint8_t *out);
size_t stats_page_encode(const struct stats_page *page, uint16_t node, struct mac *mac,
			 uint8_t *out);

/* Decode a body of manage_open(). DXP_EMALFORMED: wrong length or field; DXP_EUNSUPPORTED: another
 * STATS_VERSION. *out is written only on success. */
int stats_request_decode(struct manage_body body, struct stats_request *out);
int stats_page_decode(struct manage_body body, struct stats_page *out);

#endif
