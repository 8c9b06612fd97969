/* SPDX-License-Identifier: BSD-3-Clause */
/* A crossbar with input queues and virtual channels, simulated cycle by cycle. Each input has a
 * source, which generates its packets. A packet for port d waits at its input, in the queue with
 * number d modulo `channels`. While a packet crosses, it occupies its input and its output. */
#ifndef MODEL_CROSSBAR_H
#define MODEL_CROSSBAR_H

#include "model/parameter.h"
#include "model/row.h"

/* Sums since the last reset. All times are in cycles. */
struct model_crossbar_sums {
	uint64_t cycles;
	uint64_t generated, delivered; /* packets */
	/* sum of the times from generation to upload, over all delivered packets */
	uint64_t time;
	/* number of packets that are generated and not yet uploaded, summed over all cycles */
	uint64_t inside;
	uint64_t least_time, most_time;
};

/* Result of measuring one load. */
struct model_crossbar_point {
	uint64_t throughput_ppm;  /* payload of each port as a share of the link's rate, in ppm */
	uint64_t latency_mcycles; /* mean latency from the doorbell on, in 1/1000 cycles */
	uint64_t cycles;
	/* true: the measurement stopped, because the latency was 20 times the latency without
	 * load */
	bool saturated;
};

struct model_crossbar;

/* Creates a crossbar; NULL: out of memory. */
struct model_crossbar *model_crossbar_create(const struct model_parameters *p, uint64_t seed);
void model_crossbar_destroy(struct model_crossbar *x);

/* Simulates `cycles` more cycles. */
void model_crossbar_run(struct model_crossbar *x, uint64_t cycles);

/* Stops generating packets, and simulates until all packets are delivered. Returns false if that
 * takes longer than `cycles`. */
bool model_crossbar_drain(struct model_crossbar *x, uint64_t cycles);

const struct model_crossbar_sums *model_crossbar_sums(const struct model_crossbar *x);
void model_crossbar_reset(struct model_crossbar *x);

/* Returns the number of packets that wait at the sources. *full: a source holds as many as it
 * can. */
uint64_t model_crossbar_backlog(const struct model_crossbar *x, bool *full);

/* Returns the number of cycles for which a packet occupies an input and an output. */
uint64_t model_crossbar_cycles(const struct model_parameters *p);

/* Measures a load. Warms up until throughput and latency change by less than 1 %. Then runs until
 * the 95 % confidence intervals of both are below 1 %, or for `cycles_most` cycles in total.
 * DXP_ENOMEM. */
int model_crossbar_measure(const struct model_parameters *p, uint64_t seed, uint64_t cycles_most,
			   struct model_crossbar_point *out);

/* Finds the lowest load, in ppm, whose mean latency is twice the latency at load 0.05. Uses
 * bisection, down to steps of 0.005. */
int model_crossbar_knee(const struct model_parameters *p, uint64_t seed, uint64_t *knee_ppm);

/* Measures the throughput at offered load 1, in ppm of the link's rate. */
int model_crossbar_saturation(const struct model_parameters *p, uint64_t seed,
			      uint64_t *saturation_ppm);

/* Emits latency and throughput at the offered load in `p`. */
int model_crossbar_rows(const struct model_parameters *p, uint64_t seed,
			const struct model_sink *sink);

/* Applies setting `index`. A setting changes a value that the publication (C-44) leaves open:
 * depth, length of messages, own port, allocator, or the order in which a source sends. Returns
 * false if `index` is past the last setting. */
bool model_crossbar_setting(struct model_parameters *p, unsigned index);

/* Emits knee and saturation, and what each cause of loss costs. `intervals`: also their intervals
 * over depth, message_packets, allocator and own_port. */
int model_crossbar_knee_rows(const struct model_parameters *p, uint64_t seed, bool intervals,
			     const struct model_sink *sink);

/* Emits 1 or 0: GETs in both directions wait for each other in a cycle, or not. The row's note
 * describes the cycle. */
int model_crossbar_get_row(const struct model_parameters *p, const struct model_sink *sink);

/* Exchanges GETs between two NICs, in both directions at once. Returns 1 if packets wait for each
 * other in a cycle, and writes the cycle to `text`. Returns 0 if all data arrived. */
int model_crossbar_deadlock(const struct model_parameters *p, uint32_t gets, char *text,
			    size_t text_bytes);

#endif
