/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes and costs of the NIC's packets, for nic.c, nic_send.c and nic_receive.c. */
#ifndef MODEL_NIC_INTERNAL_H
#define MODEL_NIC_INTERNAL_H

#include "model/nic.h"

/* kinds of packets: a kind is a size and a position in the request */
#define MODEL_NIC_ROUTES 64

enum {
	MODEL_POOL_TAGS,  /* outstanding reads */
	MODEL_POOL_PIECE, /* nap_overlap=serial: one piece between memory and upload */
};

/* Packets with the same route. */
struct model_nic_kind {
	uint64_t bytes;         /* bytes of the completion */
	uint64_t data;          /* message data among them */
	uint64_t packets;       /* packets that start in these data */
	uint64_t upload_cycles; /* cycles of the writes that carry these data */
	bool first, last;       /* first, last packet of a read request */
};

/* Routes of one phase of a job. */
struct model_nic_plan {
	const struct model_parameters *p;
	enum model_op op;
	bool descriptor; /* the phase reads only the descriptor */
	uint64_t rest_ps;
	struct model_nic_kind kinds[MODEL_NIC_ROUTES];
	struct model_route routes[MODEL_NIC_ROUTES];
	uint32_t count;
};

/* Appends the steps of the send engine: request .. crossbar. */
void model_nic_send(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
		    struct model_route *route);

/* Returns the cycles of the writes that carry `bytes` to `address`. */
uint64_t model_nic_upload_cycles(const struct model_parameters *p, uint64_t address,
				 uint64_t bytes);

/* Appends the steps of the receive engine: upload. */
void model_nic_receive(const struct model_nic_plan *plan, const struct model_nic_kind *kind,
		       struct model_route *route);

/* Returns the cycles from the extracted GET descriptor to the peer's first read. */
uint64_t model_nic_turnaround_cycles(const struct model_parameters *p);

/* Returns the cycles of event and buffer after a message's upload. */
uint64_t model_nic_event_cycles(const struct model_parameters *p, enum model_op op);

/* Returns the time in ps until the host sees the result. */
uint64_t model_nic_see_ps(const struct model_parameters *p);

/* Returns whether an operation's data are in its descriptor. */
static inline bool model_nic_immediate(enum model_op op)
{
	return op == MODEL_NAP_IMM;
}

static inline uint64_t model_cycles_ps(const struct model_parameters *p, uint64_t cycles)
{
	return cycles * (uint64_t)model_cycle_ps(p);
}

/* Appends a step and returns it. `head_ps`: when the next step may start with forward=beats. */
struct model_step *model_nic_step(const struct model_parameters *p, struct model_route *route,
				  enum model_nic_stage stage, uint64_t hold_ps, uint64_t head_ps);

/* Sets the switches to setting `index` of an operation. Returns false past the last. */
bool model_nic_setting(struct model_parameters *p, enum model_op op, unsigned index);

/* Computes the latency of one message. */
int model_nic_latency_ps(const struct model_parameters *p, enum model_op op, uint64_t bytes,
			 uint64_t *ps);

#define MODEL_NIC_NAMES 320 /* bytes of a list of assumptions */

/* Writes the names of the assumptions of an operation: marks A and F, and the constants derived
 * from the row of 1 byte if base=row. Returns `out`. */
const char *model_nic_assumptions(const struct model_parameters *p, enum model_op op,
				  char out[MODEL_NIC_NAMES]);

/* Returns whether all values of NIC and link are the source's; only then are its figures
 * comparable. */
bool model_nic_is_source(const struct model_parameters *p);

#endif
