/* SPDX-License-Identifier: BSD-3-Clause */
/* Equation (2) of the NIC's source (C-35): how many reads must be outstanding to hide the latency
 * of memory, in closed form and simulated. */
#ifndef MODEL_TAGS_H
#define MODEL_TAGS_H

#include <stdint.h>

struct model_tags {
	uint32_t request_bytes;  /* s: of one read request, at least 1 */
	uint32_t packet_bytes;   /* MTU: largest payload of a returned packet, at least 1 */
	uint32_t datapath_bytes; /* bytes that return in a cycle, at least 1 */
	uint32_t packet_cycles;  /* header and processing of a returned packet: 2 in equation (2) */
	uint32_t read_cycles;    /* t: from a request to its last return */
	uint32_t tags;           /* reads outstanding, at least 1 */
};

/* Returns the cycles for which the returns of one request occupy the link, times 1000: equation
 * (2) counts packets as s / MTU, also in part. */
uint64_t model_tags_return_millicycles(const struct model_tags *t);

/* Returns n_min of equation (2). */
uint32_t model_tags_least(const struct model_tags *t);

/* Returns the largest read_cycles that t->tags hide. */
uint32_t model_tags_cover(const struct model_tags *t);

/* Returns the bytes that `requests` reads move per 1000 cycles, by moving each of them. */
uint64_t model_tags_simulated(const struct model_tags *t, uint32_t requests);

/* Returns the closed form of the same: min(link, tags x s / t). */
uint64_t model_tags_closed(const struct model_tags *t);

#endif
