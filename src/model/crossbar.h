/* SPDX-License-Identifier: BSD-3-Clause */
/* A crossbar with input queues and virtual channels, cycle by cycle: a packet for port d waits in
 * queue d mod channels of its input, and holds input and output while it crosses. */
#ifndef MODEL_CROSSBAR_H
#define MODEL_CROSSBAR_H

#include "model/parameter.h"
#include "model/row.h"

/* Sums since the last reset. Times are in cycles. */
struct model_crossbar_sums {
	uint64_t cycles;
	uint64_t generated, delivered; /* packets */
	uint64_t time;                 /* of delivered packets, from generation to upload */
	uint64_t inside;               /* packets between these two, summed over cycles */
	uint64_t least_time, most_time;
};

/* One measured load. */
struct model_crossbar_point {
	uint64_t throughput_ppm;  /* payload per port as a share of the link */
	uint64_t latency_mcycles; /* mean, from the doorbell; thousandths of a cycle */
	uint64_t cycles;          /* simulated */
	bool saturated;           /* gave up: 20 times the idle latency */
};

struct model_crossbar;

/* NULL: out of memory. */
struct model_crossbar *model_crossbar_create(const struct model_parameters *p, uint64_t seed);
void model_crossbar_destroy(struct model_crossbar *x);

/* Simulates `cycles` more. */
void model_crossbar_run(struct model_crossbar *x, uint64_t cycles);

/* Stops the generation, and simulates until every packet is delivered. Returns false if one
 * is not after `cycles`. */
bool model_crossbar_drain(struct model_crossbar *x, uint64_t cycles);

const struct model_crossbar_sums *model_crossbar_sums(const struct model_crossbar *x);
void model_crossbar_reset(struct model_crossbar *x);

/* Returns the packets that wait at the sources; the bound of a source is reached: *full. */
uint64_t model_crossbar_backlog(const struct model_crossbar *x, bool *full);

/* Returns the cycles that a packet holds input and output. */
uint64_t model_crossbar_cycles(const struct model_parameters *p);

/* Measures a load: warm-up until throughput and latency move less than 1 %, then until their 95 %
 * intervals are below 1 %, or `cycles_most` in all. DXP_ENOMEM. */
int model_crossbar_measure(const struct model_parameters *p, uint64_t seed, uint64_t cycles_most,
			   struct model_crossbar_point *out);

/* Finds the least load, in ppm, whose mean latency is twice that at 5 %, by bisection to 0.005. */
int model_crossbar_knee(const struct model_parameters *p, uint64_t seed, uint64_t *knee_ppm);

/* Measures the throughput at offered load 1, in ppm. */
int model_crossbar_saturation(const struct model_parameters *p, uint64_t seed,
			      uint64_t *saturation_ppm);

/* Emits latency and throughput at the offered load. */
int model_crossbar_rows(const struct model_parameters *p, uint64_t seed,
			const struct model_sink *sink);

/* Emits knee and saturation, with what each cause of loss costs. `intervals`: also over depth,
 * message_packets, allocator, own_port. */
int model_crossbar_knee_rows(const struct model_parameters *p, uint64_t seed, bool intervals,
			     const struct model_sink *sink);

/* Emits whether GETs both ways wait for each other, with the cycle of waits as its note. */
int model_crossbar_get_row(const struct model_parameters *p, const struct model_sink *sink);

/* Exchanges GETs between two NICs, both ways at a time. Returns 1 if the packets wait for each
 * other in a cycle, and writes the cycle to `text`; 0 if all data arrived. */
int model_crossbar_deadlock(const struct model_parameters *p, uint32_t gets, char *text,
			    size_t text_bytes);

#endif
