/* SPDX-License-Identifier: BSD-3-Clause */
/* Equation (2) of C-35 (docs/reference/seeds.md), closed and simulated: outstanding reads that hide
 * the latency of memory. */
#ifndef MODEL_TAGS_H
#define MODEL_TAGS_H

#include <stdint.h>

struct model_tags {
	uint32_t request_bytes; /* s: at least 1 */
	/* MTU: largest payload of a returned packet, at least 1 */
	uint32_t packet_bytes;
	uint32_t datapath_bytes; /* returned per cycle, at least 1 */
	/* header and processing of a returned packet: 2 in equation (2) */
	uint32_t packet_cycles;
	uint32_t read_cycles; /* t: request to last returned byte */
	uint32_t tags;        /* outstanding reads, at least 1 */
};

/* Returns the 1/1000 cycles of a request's packets on the link; equation (2) counts s / MTU of
 * them, not rounded. */
uint64_t model_tags_return_millicycles(const struct model_tags *t);

/* Returns n_min of equation (2), which hides the latency. */
uint32_t model_tags_least(const struct model_tags *t);

/* Returns the largest read_cycles that t->tags can hide. */
uint32_t model_tags_cover(const struct model_tags *t);

/* Bytes per 1000 cycles, of `requests` reads. */
uint64_t model_tags_simulated(const struct model_tags *t, uint32_t requests);

/* Bytes per 1000 cycles: min(link, tags x s / t). */
uint64_t model_tags_closed(const struct model_tags *t);

#endif
