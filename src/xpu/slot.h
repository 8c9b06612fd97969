/* SPDX-License-Identifier: BSD-3-Clause */
/* One xPU node: NIC, device memory, registers and an engine, put together. Takes
 * commands of hosts, keeps their event graphs, has kernels run in cells (cell.h) and sends data to
 * other xPUs.
 *
 * Threads: everything is for the one thread that turns the node; a cell has a thread or a process
 * of its own inside. Trust: hosts are kept apart. Each names only its own memory, programs and
 * events in its commands, and reaches only its own memory, and what nobody has allocated, by PUT
 * and GET, its kernels' NIC functions included (keys.c). With `cell_program`, where the engine
 * works in our memory, its kernels have only its own memory mapped, so that a wild address ends
 * nothing but its own process. Kernels are native code all the same, with the rights of this
 * process's user: who writes one to break out of there is not stopped. Without, they run in this
 * process. */
#ifndef XPU_SLOT_H
#define XPU_SLOT_H

#include "node/node.h"
#include "xpu/bridged.h"
#include "xpu/cfg.h"
#include "engine/engine.h"

struct slot;

struct slot_options {
	/* Name, identity, manager, key, bind and spinning; the slot fills in what makes it an xPU.
	 */
	struct node_options node;
	uint32_t number;          /* in its box */
	uint64_t memory_bytes;    /* XPU_MEMORY_MIN .. XPU_MEMORY_MAX */
	uint64_t host_bytes;      /* of it for each host, at most; 0: no limit */
	uint32_t hosts_max;       /* that may have it open, up to XPU_HOSTS_MAX; 0:
				     XPU_HOSTS_DEFAULT */
	const char *engine;       /* as engine_options.name */
	const char *cache_folder; /* as engine_options.cache_folder */
	/* A program that calls zygote_main (zygote.h), such as /proc/self/exe: kernels of each host
	 * run in a process of their own, where the engine works in our memory. NULL: in a thread,
	 * which all share. */
	const char *cell_program;
	/* Of the bridge to BRIDGED memory, as pump_options has them. */
	uint32_t buffers, buffer_bytes;
	uint64_t stall_ns;
};

/* Makes memory, engine and node, which begins to join. Statuses of arena_create, engine_open and
 * node_open, logged there. */
int slot_open(const struct slot_options *options, struct slot **out);

/* Leaves the fabric and frees everything, when the kernel that is running has ended. NULL is
 * allowed. */
void slot_close(struct slot *s);

struct node *slot_node(const struct slot *s);
void slot_describe(const struct slot *s, struct engine_description *out);
uint64_t slot_memory_bytes(const struct slot *s);
/* Of its bridge; all 0 where the NIC reaches its memory. */
void slot_bridged_state(const struct slot *s, struct bridged_state *out);

/* Takes what the NIC and the engine have brought and goes on with everything. Returns how much
 * happened. */
uint32_t slot_service(struct slot *s);
/* Called when nothing at all is to be done; returns how much it found nevertheless. */
uint32_t slot_idle(struct slot *s);
/* Has slot_service woken a cell since this was asked? It may need this core. */
bool slot_woke(struct slot *s);
/* When slot_service must be called again though the node brings nothing. Asked before sleeping,
 * after node_sleep_announce: from then on cells ring when they have something. */
uint64_t slot_deadline(struct slot *s);

/* Hosts that have it open. */
uint32_t slot_hosts(const struct slot *s);

#endif
