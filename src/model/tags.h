/* SPDX-License-Identifier: BSD-3-Clause */
/* Equation (2) of the publication about the NIC (C-35, see docs/reference/seeds.md), in closed form
 * and simulated: the number of outstanding reads that hides the latency of memory. */
#ifndef MODEL_TAGS_H
#define MODEL_TAGS_H

#include <stdint.h>

struct model_tags {
	uint32_t request_bytes; /* s: bytes of one read request, at least 1 */
	/* MTU: largest payload in bytes of a returned packet, at least 1 */
	uint32_t packet_bytes;
	uint32_t datapath_bytes; /* bytes returned per cycle, at least 1 */
	/* cycles for header and processing of a returned packet: 2 in equation (2) */
	uint32_t packet_cycles;
	uint32_t read_cycles; /* t: cycles from a request to its last returned byte */
	uint32_t tags;        /* reads that may be outstanding, at least 1 */
};

/* Returns for how many 1/1000 cycles the returned packets of one request occupy the link. Equation
 * (2) counts s / MTU packets, not rounded. */
uint64_t model_tags_return_millicycles(const struct model_tags *t);

/* Returns n_min of equation (2), the smallest number of tags that hides the latency. */
uint32_t model_tags_least(const struct model_tags *t);

/* Returns the largest read_cycles that t->tags can hide. */
uint32_t model_tags_cover(const struct model_tags *t);

/* Returns the rate of `requests` reads in bytes per 1000 cycles, by simulation. */
uint64_t model_tags_simulated(const struct model_tags *t, uint32_t requests);

/* Returns the rate in bytes per 1000 cycles by the closed form: min(link, tags x s / t). */
uint64_t model_tags_closed(const struct model_tags *t);

#endif
