/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that read a service's counters, of a manager or switch: wire/stats.h with
 * STATS_PART_SERVICE.
 *
 * Values have their names in the frame, so a reader shows those of other versions too. */
#ifndef WIRE_STATS_SERVICE_H
#define WIRE_STATS_SERVICE_H

#include "wire/stats.h"

#define STATS_SERVICE_VERSION 1
/* a reader ignores further ones */
#define STATS_SERVICE_VALUES_MAX 128
/* rows of a page: as many as fit if names have 14 characters */
#define STATS_SERVICE_ROWS 64
/* answers per second, and at once: 0.1 % of a core, as for nodes */
#define STATS_SERVICE_PER_S 128
#define STATS_SERVICE_BURST 64

/* switches next to a switch that it names, by values "parent_N" and "child_N" */
#define STATS_SERVICE_NEIGHBOURS 64

enum stats_role { STATS_ROLE_MANAGER = 1, STATS_ROLE_SWITCH = 2 };

struct stats_value {
	char name[FABRIC_NAME_BYTES]; /* a letter of a-z, then a-z 0-9 _ */
	bool level;                   /* can fall; false: only grows */
	uint64_t value;
};

struct stats_service {
	uint8_t role; /* enum stats_role */
	uint32_t pid;
	uint64_t up_ns;                  /* since its start */
	char name[FABRIC_NAME_BYTES];    /* of its machine, or its own */
	char program[FABRIC_NAME_BYTES]; /* of the process */
};

/* Values first .. first + count - 1. */
struct stats_service_page {
	uint64_t request, nonce;
	uint16_t first, next; /* next: first value of the next page; 0: none */
	uint8_t count;
	struct stats_service service;
	struct stats_value values[STATS_SERVICE_ROWS];
};

/* Limits answers; zeroed: a full burst. */
struct stats_service_limit {
	uint64_t free_ns; /* all answers are paid for */
};

/* Returns whether an answer is allowed now, and counts it. */
bool stats_service_allowed(struct stats_service_limit *l, uint64_t now_ns);

/* Appends to `values`, which has space. */
void stats_value_add(struct stats_value *values, size_t *count, const char *name, bool level,
		     uint64_t value);

/* Adds the IPv4 address of number `index` of the switches above or below a switch. */
void stats_neighbour_add(struct stats_value *values, size_t *count, bool above, unsigned index,
			 uint32_t ip);
/* True: such a value, with a usable address in *ip. */
bool stats_neighbour_get(const struct stats_value *value, bool *above, uint32_t *ip);

/* Fills a page from number page->first on. */
void stats_service_page_fill(struct stats_service_page *page, const struct stats_value *values,
			     size_t count);

/* Encode header, body and mac into `out`, of MANAGE_FRAME_BYTES, a page FABRIC_DATAGRAM_BYTES;
 * return the length. `key`: the sender's public key, only to a manager, or NULL. `node`:
 * WIRE_NODE_MANAGER, or WIRE_NODE_NONE for a switch. A page ends before a row that does not fit. */
size_t stats_service_request_encode(const struct stats_request *request, uint16_t node,
				    const uint8_t *key, struct mac *mac, uint8_t *out);
size_t stats_service_page_encode(const struct stats_service_page *page, uint16_t node,
				 struct mac *mac, uint8_t *out);

/* Decode a body of manage_open(). DXP_EMALFORMED: wrong length or field; DXP_EUNSUPPORTED: another
 * STATS_SERVICE_VERSION. *out is written only on success. */
int stats_service_request_decode(struct manage_body body, struct stats_request *out);
int stats_service_page_decode(struct manage_body body, struct stats_service_page *out);

#endif
