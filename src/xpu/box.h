/* SPDX-License-Identifier: BSD-3-Clause */
/* A box of xPUs: up to FABRIC_SLOTS_MAX slots, each a node of its own, turned by one thread.
 */
#ifndef XPU_BOX_H
#define XPU_BOX_H

#include "xpu/slot.h"

struct box_options {
	uint32_t slots;   /* 1 .. FABRIC_SLOTS_MAX */
	const char *name; /* base of the names; NULL: "xpu" */
	uint32_t first;   /* number of the first name; one slot with a name of its own has none */
	uint16_t id;      /* node id to ask for; slot n asks for id + n; 0: any */
	struct wire_address manager;
	const uint8_t *fabric_key;
	const struct wire_address *bind; /* NULL: the address that leads to the manager; slot n uses
					    port + n, if it has one */
	const char *state_folder; /* identities and compiled kernels; NULL: a new identity at each
				     start, and kernels are kept where the user's caches are */
	uint64_t memory_bytes;    /* of each slot */
	uint64_t host_bytes;      /* as slot_options */
	uint32_t hosts_max;       /* as slot_options */
	uint64_t keep_hosts_ns;   /* as node_options */
	const char *engine;
	const char *cell_program; /* as slot_options */
	/* Of each slot's bridge, where only DMA reaches its memory, as pump_options has them. What
	 * is measured for the first slot holds for all. */
	uint32_t buffers, buffer_bytes;
	uint64_t stall_ns;
	uint32_t spin_ns;        /* as node_options */
	uint32_t functions;      /* of each slot's NIC offered to other processes, 0 .. 7 */
	const _Atomic int *stop; /* not 0: end; may be set by a signal handler or another thread */
};

struct box;

/* Opens all slots, which begin to join. Statuses as slot_open and identity_get, logged there;
 * DXP_EINVAL. */
int box_open(const struct box_options *options, struct box **out);
void box_close(struct box *b);

uint32_t box_slots(const struct box *b);
/* Number `index`, from 0 on. */
struct slot *box_slot(const struct box *b, uint32_t index);

/* Turns until all have joined and prints a line for each to standard output. DXP_ETIMEDOUT at
 * `deadline_ns`; DXP_ECLOSED: stopped; DXP_EAUTH, DXP_EBUSY ...: refused, logged. */
int box_join(struct box *b, uint64_t deadline_ns);

/* Turns until it is stopped (DXP_OK), or a slot is thrown out of the fabric. */
int box_run(struct box *b);

#endif
