/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes and costs of packets in the NIC, for nic.c, nic_send.c and nic_receive.c. */
#ifndef MODEL_NIC_INTERNAL_H
#define MODEL_NIC_INTERNAL_H

#include "model/nic.h"

/* kinds of packets; a kind is a size and a position in the read request */
#define MODEL_NIC_ROUTES 64

enum {
	MODEL_POOL_TAGS, /* limits the reads that may be outstanding */
	/* for nap_overlap=serial: only one piece is between memory and upload */
	MODEL_POOL_PIECE,
};

/* Packets that have the same route. */
struct model_nic_kind {
	uint64_t bytes;         /* bytes of the read completion */
	uint64_t data;          /* bytes of message data in the completion */
	uint64_t packets;       /* packets that start in these data */
	uint64_t upload_cycles; /* cycles of the writes that carry these data at the receiver */
	/* the packet is the first one of its read request; the packet is the last one */
	bool first, last;
};

/* The routes of one phase of a job. */
struct model_nic_plan {
	const struct model_parameters *p;
	enum model_op op;
	bool descriptor; /* true: the phase reads only the descriptor */
	uint64_t rest_ps;
	struct model_nic_kind kinds[MODEL_NIC_ROUTES];
	struct model_route routes[MODEL_NIC_ROUTES];
	uint32_t count;
};

/* Appends the steps of the send engine, from the request to the crossbar. */
void model_nic_send(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
		    struct model_route *route);

/* Returns the number of cycles of the writes that carry `bytes` bytes to `address`. */
uint64_t model_nic_upload_cycles(const struct model_parameters *p, uint64_t address,
				 uint64_t bytes);

/* Appends the step of the receive engine: the upload. */
void model_nic_receive(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
		       struct model_route *route);

/* Returns the number of cycles from the extraction of a GET descriptor to the first read at the
 * peer. */
uint64_t model_nic_turnaround_cycles(const struct model_parameters *p);

/* Returns the number of cycles from the end of a message's upload until its event is written. For
 * an indirect NAP they include its receive buffer. 0: the measurement does not wait for the event,
 * or base=value for a NAP. */
uint64_t model_nic_event_cycles(const struct model_parameters *p, enum model_op op);

/* Returns the time in ps from the last write until the host sees the result. */
uint64_t model_nic_see_ps(const struct model_parameters *p);

/* Returns true if an operation has its data in the descriptor. */
static inline bool model_nic_immediate(enum model_op op)
{
	return op == MODEL_NAP_IMM;
}

static inline uint64_t model_cycles_ps(const struct model_parameters *p, uint64_t cycles)
{
	return cycles * (uint64_t)model_cycle_ps(p);
}

/* Appends a step to the route, and returns it. `head_ps`: with forward=beats, time after which the
 * next step may start. */
struct model_step *model_nic_step(const struct model_parameters *p, struct model_route *route,
				  enum model_nic_stage stage, uint64_t hold_ps, uint64_t head_ps);

/* Changes the switches in *p to setting `index` of an operation. Returns false if `index` is past
 * the last setting. */
bool model_nic_setting(struct model_parameters *p, enum model_op op, unsigned index);

/* Computes the latency of one message in ps. */
int model_nic_latency_ps(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			 uint64_t *ps);

#define MODEL_NIC_NAMES 320 /* bytes of a text that lists assumptions */

/* Writes the names of the assumptions behind an operation's figures: parameters with marks A and F,
 * and with base=row also the constants derived from the row of 1 byte. Returns `out`. */
const char *model_nic_assumptions(const struct model_parameters *p, enum model_op op,
				  char out[MODEL_NIC_NAMES]);

/* Returns true if all parameters of NIC and link have the values of the source (row.h). Only then
 * can figures be compared with the source's. */
bool model_nic_is_source(const struct model_parameters *p);

#endif
