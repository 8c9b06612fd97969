/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes and costs of packets, for nic.c, nic_send.c and nic_receive.c. */
#ifndef MODEL_NIC_INTERNAL_H
#define MODEL_NIC_INTERNAL_H

#include "model/nic.h"

/* of packets: size and position in the read request */
#define MODEL_NIC_ROUTES 64

enum {
	MODEL_POOL_TAGS, /* outstanding reads */
	/* nap_overlap=serial: one piece between memory and upload */
	MODEL_POOL_PIECE,
};

struct model_nic_kind {
	uint64_t bytes;         /* of the read completion */
	uint64_t data;          /* of the message, in the completion */
	uint64_t packets;       /* started in these data */
	uint64_t upload_cycles; /* of the receiver's writes with these data */
	/* of its read request */
	bool first, last;
};

/* The routes of one phase of a job. */
struct model_nic_plan {
	const struct model_parameters *p;
	enum model_op op;
	bool descriptor; /* the phase reads only the descriptor */
	uint64_t rest_ps;
	struct model_nic_kind kinds[MODEL_NIC_ROUTES];
	struct model_route routes[MODEL_NIC_ROUTES];
	uint32_t count;
};

/* Appends the steps from the request to the crossbar. */
void model_nic_send(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
		    struct model_route *route);

/* Returns the cycles of the writes of `bytes` to `address`. */
uint64_t model_nic_upload_cycles(const struct model_parameters *p, uint64_t address,
				 uint64_t bytes);

/* Appends the upload. */
void model_nic_receive(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
		       struct model_route *route);

/* Returns the cycles from the extraction of a GET descriptor to the peer's first read. */
uint64_t model_nic_turnaround_cycles(const struct model_parameters *p);

/* Returns the cycles from the end of the upload until the event is written, with the receive buffer
 * of an indirect NAP. 0: the event is not awaited, or base=value for a NAP. */
uint64_t model_nic_event_cycles(const struct model_parameters *p, enum model_op op);

/* Returns the ps from the last write until the host sees the result. */
uint64_t model_nic_see_ps(const struct model_parameters *p);

/* Returns true if the data is in the descriptor. */
static inline bool model_nic_immediate(enum model_op op)
{
	return op == MODEL_NAP_IMM;
}

static inline uint64_t model_cycles_ps(const struct model_parameters *p, uint64_t cycles)
{
	return cycles * (uint64_t)model_cycle_ps(p);
}

/* Appends a step and returns it. `head_ps`: with forward=beats, time until the next step may
 * start. */
struct model_step *model_nic_step(const struct model_parameters *p, struct model_route *route,
				  enum model_nic_stage stage, uint64_t hold_ps, uint64_t head_ps);

/* Sets the switches in *p; false: `index` is past the last setting. */
bool model_nic_setting(struct model_parameters *p, enum model_op op, unsigned index);

/* Computes the latency of one message. */
int model_nic_latency_ps(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			 uint64_t *ps);

#define MODEL_NIC_NAMES 320 /* list of assumptions */

/* Names of parameters with marks A and F, and with base=row of constants derived from the row of 1
 * byte. Returns `out`. */
const char *model_nic_assumptions(const struct model_parameters *p, enum model_op op,
				  char out[MODEL_NIC_NAMES]);

/* Returns true if all parameters of NIC and link are the source's (row.h), so that figures are
 * comparable. */
bool model_nic_is_source(const struct model_parameters *p);

#endif
