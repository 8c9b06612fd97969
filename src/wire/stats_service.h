/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the frames that read the counters of a service: a manager or a switch. They
 * are the frames of wire/stats.h with part STATS_PART_SERVICE.
 *
 * Unlike the counters of a node, each value has its name in the frame. So a reader shows the values
 * of a service of another version, too. */
#ifndef WIRE_STATS_SERVICE_H
#define WIRE_STATS_SERVICE_H

#include "wire/stats.h"

#define STATS_SERVICE_VERSION 1
/* values of a service; a reader ignores further ones */
#define STATS_SERVICE_VALUES_MAX 128
/* values in one page: as many as fit with names of 14 characters */
#define STATS_SERVICE_ROWS 64
/* answers per second, and at once: 0.1 % of a core, as for nodes */
#define STATS_SERVICE_PER_S 128
#define STATS_SERVICE_BURST 64

enum stats_role { STATS_ROLE_MANAGER = 1, STATS_ROLE_SWITCH = 2 };

struct stats_value {
	char name[FABRIC_NAME_BYTES]; /* a letter of a-z, then a-z 0-9 _ */
	bool level;                   /* the value can also fall; false: it only grows */
	uint64_t value;
};

struct stats_service {
	uint8_t role; /* enum stats_role */
	uint32_t pid;
	uint64_t up_ns;                  /* ns since its start */
	char name[FABRIC_NAME_BYTES];    /* name of its machine, or its own */
	char program[FABRIC_NAME_BYTES]; /* name of the process */
};

/* A page has the values with the numbers first .. first + count - 1. */
struct stats_service_page {
	uint64_t request, nonce;
	uint16_t first, next; /* next: number of the first value in the next page; 0: no further */
	uint8_t count;
	struct stats_service service;
	struct stats_value values[STATS_SERVICE_ROWS];
};

/* Limits answers; starts with a full burst if zeroed. */
struct stats_service_limit {
	uint64_t free_ns; /* time at which all answers are paid for */
};

/* Returns whether the limit allows one more answer, and counts it. */
bool stats_service_allowed(struct stats_service_limit *l, uint64_t now_ns);

/* Appends a value to `values`, which has space for it. */
void stats_value_add(struct stats_value *values, size_t *count, const char *name, bool level,
		     uint64_t value);

/* Fills a page with the values from number page->first on. */
void stats_service_page_fill(struct stats_service_page *page, const struct stats_value *values,
			     size_t count);

/* Encode header, body and mac into `out`, and return the length. `out` has MANAGE_FRAME_BYTES, or
 * FABRIC_DATAGRAM_BYTES for a page. A request to a manager may state the public key of its sender;
 * `key` is NULL otherwise. `node`: WIRE_NODE_MANAGER, or WIRE_NODE_NONE for a switch. A page ends
 * before a row that does not fit. */
size_t stats_service_request_encode(const struct stats_request *request, uint16_t node,
				    const uint8_t *key, struct mac *mac, uint8_t *out);
size_t stats_service_page_encode(const struct stats_service_page *page, uint16_t node,
				 struct mac *mac, uint8_t *out);

/* Decode a body that manage_open() returned. DXP_EMALFORMED: wrong length or invalid field.
 * DXP_EUNSUPPORTED: the page has another STATS_SERVICE_VERSION. *out is written only on success. */
int stats_service_request_decode(struct manage_body body, struct stats_request *out);
int stats_service_page_decode(struct manage_body body, struct stats_service_page *out);

#endif
