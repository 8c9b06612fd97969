/* SPDX-License-Identifier: BSD-3-Clause */
/* A crossbar with input queues and virtual channels, cycle by cycle. A packet for port d waits in
 * queue d mod channels of its input. While it crosses, it occupies input and output. */
#ifndef MODEL_CROSSBAR_H
#define MODEL_CROSSBAR_H

#include "model/parameter.h"
#include "model/row.h"

/* Sums since the last reset. Times are in cycles. */
struct model_crossbar_sums {
	uint64_t cycles;
	uint64_t generated, delivered; /* packets */
	/* sum of times from generation to upload, over delivered packets */
	uint64_t time;
	/* packets generated and not yet uploaded, summed over cycles */
	uint64_t inside;
	uint64_t least_time, most_time;
};

/* One measured load. */
struct model_crossbar_point {
	uint64_t throughput_ppm;  /* payload per port, as a share of the link */
	uint64_t latency_mcycles; /* mean from the doorbell, 1/1000 cycles */
	uint64_t cycles;
	bool saturated; /* stopped at 20 times the idle latency */
};

struct model_crossbar;

/* NULL: out of memory. */
struct model_crossbar *model_crossbar_create(const struct model_parameters *p, uint64_t seed);
void model_crossbar_destroy(struct model_crossbar *x);

/* Simulates `cycles` more. */
void model_crossbar_run(struct model_crossbar *x, uint64_t cycles);

/* Stops generation, and simulates until all packets are delivered. Returns false if that takes
 * longer than `cycles`. */
bool model_crossbar_drain(struct model_crossbar *x, uint64_t cycles);

const struct model_crossbar_sums *model_crossbar_sums(const struct model_crossbar *x);
void model_crossbar_reset(struct model_crossbar *x);

/* Returns the packets that wait at the sources. *full: a source has reached its limit. */
uint64_t model_crossbar_backlog(const struct model_crossbar *x, bool *full);

/* Returns the cycles for which a packet occupies input and output. */
uint64_t model_crossbar_cycles(const struct model_parameters *p);

/* Measures a load: warms up until throughput and latency change by less than 1 %, then runs until
 * their 95 % intervals are below 1 %, or for `cycles_most` in total. DXP_ENOMEM. */
int model_crossbar_measure(const struct model_parameters *p, uint64_t seed, uint64_t cycles_most,
			   struct model_crossbar_point *out);

/* Finds the least load, in ppm, whose mean latency is twice that at 5 %: by bisection to 0.005. */
int model_crossbar_knee(const struct model_parameters *p, uint64_t seed, uint64_t *knee_ppm);

/* Measures the throughput at offered load 1, in ppm. */
int model_crossbar_saturation(const struct model_parameters *p, uint64_t seed,
			      uint64_t *saturation_ppm);

/* Emits latency and throughput at the offered load. */
int model_crossbar_rows(const struct model_parameters *p, uint64_t seed,
			const struct model_sink *sink);

/* Applies one of the settings that the source leaves open: depth, length of messages, own port,
 * allocator, order of the source. Returns false past the last. */
bool model_crossbar_setting(struct model_parameters *p, unsigned index);

/* Emits knee and saturation, and the cost of each cause of loss. `intervals`: also over depth,
 * message_packets, allocator, own_port. */
int model_crossbar_knee_rows(const struct model_parameters *p, uint64_t seed, bool intervals,
			     const struct model_sink *sink);

/* Emits whether GETs in both directions wait for each other. The row's note describes the cycle of
 * waits. */
int model_crossbar_get_row(const struct model_parameters *p, const struct model_sink *sink);

/* Exchanges GETs between two NICs in both directions at once. Returns 1 if packets wait for each
 * other in a cycle, and writes the cycle to `text`; 0 if all data arrived. */
int model_crossbar_deadlock(const struct model_parameters *p, uint32_t gets, char *text,
			    size_t text_bytes);

#endif
