/* SPDX-License-Identifier: BSD-3-Clause */
/* A crossbar with input queues and virtual channels, cycle by cycle. A packet for port d waits at
 * its input in queue d modulo `channels`. While it crosses, it occupies input and output. */
#ifndef MODEL_CROSSBAR_H
#define MODEL_CROSSBAR_H

#include "model/parameter.h"
#include "model/row.h"

/* Since the last reset, in cycles. */
struct model_crossbar_sums {
	uint64_t cycles;
	uint64_t generated, delivered; /* packets */
	/* from generation to upload, of delivered packets */
	uint64_t time;
	/* packets between generation and upload, summed over all cycles */
	uint64_t inside;
	uint64_t least_time, most_time;
};

/* Result of measuring one load. */
struct model_crossbar_point {
	uint64_t throughput_ppm;  /* payload per port, of the link's rate */
	uint64_t latency_mcycles; /* mean, from the doorbell on, in 1/1000 cycles */
	uint64_t cycles;
	/* stopped at 20 times the latency without load */
	bool saturated;
};

struct model_crossbar;

/* Returns NULL if out of memory. */
struct model_crossbar *model_crossbar_create(const struct model_parameters *p, uint64_t seed);
void model_crossbar_destroy(struct model_crossbar *x);

void model_crossbar_run(struct model_crossbar *x, uint64_t cycles);

/* Generates no more packets. false: not all were delivered within `cycles`. */
bool model_crossbar_drain(struct model_crossbar *x, uint64_t cycles);

const struct model_crossbar_sums *model_crossbar_sums(const struct model_crossbar *x);
void model_crossbar_reset(struct model_crossbar *x);

/* Packets at the sources. *full: a source holds as many as it can. */
uint64_t model_crossbar_backlog(const struct model_crossbar *x, bool *full);

/* Returns the cycles for which a packet occupies an input and an output. */
uint64_t model_crossbar_cycles(const struct model_parameters *p);

/* Warms up until throughput and latency change by less than 1 %, then runs until their 95 %
 * confidence intervals are below 1 %, or `cycles_most` in total. DXP_ENOMEM. */
int model_crossbar_measure(const struct model_parameters *p, uint64_t seed, uint64_t cycles_most,
			   struct model_crossbar_point *out);

/* Finds the lowest load with twice the mean latency of load 0.05, by bisection in steps of
 * 0.005. */
int model_crossbar_knee(const struct model_parameters *p, uint64_t seed, uint64_t *knee_ppm);

/* Measures throughput at offered load 1, in ppm of the link's rate. */
int model_crossbar_saturation(const struct model_parameters *p, uint64_t seed,
			      uint64_t *saturation_ppm);

/* Emits latency and throughput at the load in `p`. */
int model_crossbar_rows(const struct model_parameters *p, uint64_t seed,
			const struct model_sink *sink);

/* Settings vary what C-44 leaves open: depth, message length, own port, allocator, order of
 * sources. Returns false past the last one. */
bool model_crossbar_setting(struct model_parameters *p, unsigned index);

/* Emits knee, saturation, and what each cause of loss costs. `intervals`: over depth,
 * message_packets, allocator and own_port. */
int model_crossbar_knee_rows(const struct model_parameters *p, uint64_t seed, bool intervals,
			     const struct model_sink *sink);

/* Emits 1 if GETs in both directions wait for each other in a cycle, which the note describes, else
 * 0. */
int model_crossbar_get_row(const struct model_parameters *p, const struct model_sink *sink);

/* Exchanges GETs between two NICs in both directions. Returns 1 if packets wait in a cycle, which
 * is in `text`; 0: all data arrived. */
int model_crossbar_deadlock(const struct model_parameters *p, uint32_t gets, char *text,
			    size_t text_bytes);

#endif
