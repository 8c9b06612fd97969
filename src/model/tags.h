/* SPDX-License-Identifier: BSD-3-Clause */
/* Equation (2) of the NIC's source (C-35), closed and simulated: the number of outstanding reads
 * that hides the latency of memory. */
#ifndef MODEL_TAGS_H
#define MODEL_TAGS_H

#include <stdint.h>

struct model_tags {
	uint32_t request_bytes;  /* s: per read request, at least 1 */
	uint32_t packet_bytes;   /* MTU: largest payload of a returned packet, at least 1 */
	uint32_t datapath_bytes; /* bytes returned per cycle, at least 1 */
	uint32_t packet_cycles;  /* header and processing of a returned packet: 2 in equation (2) */
	uint32_t read_cycles;    /* t: from a request to its last return */
	uint32_t tags;           /* outstanding reads, at least 1 */
};

/* Returns for how many 1/1000 cycles the returns of one request occupy the link. Equation (2)
 * counts s / MTU packets, not rounded. */
uint64_t model_tags_return_millicycles(const struct model_tags *t);

/* Returns n_min of equation (2). */
uint32_t model_tags_least(const struct model_tags *t);

/* Returns the largest read_cycles that t->tags hide. */
uint32_t model_tags_cover(const struct model_tags *t);

/* Returns the bytes per 1000 cycles of `requests` reads, by simulation. */
uint64_t model_tags_simulated(const struct model_tags *t, uint32_t requests);

/* Returns the bytes per 1000 cycles in closed form: min(link, tags x s / t). */
uint64_t model_tags_closed(const struct model_tags *t);

#endif
