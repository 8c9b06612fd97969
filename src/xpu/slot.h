/* SPDX-License-Identifier: BSD-3-Clause */
/* One xPU node: NIC, device memory, registers and an engine. Accepts commands of
 * hosts, keeps their graphs, passes kernels to workers (worker.h) and sends data to other xPUs.
 *
 * All calls are made by the thread that polls the node; a worker has its own thread or process.
 *
 * Hosts are isolated: a command names only its host's memory, programs and events. PUT, GET and
 * kernels' NIC functions access only the host's memory; PUT and GET also unallocated memory
 * (keys.c).
 *
 * With `worker_program`, kernels of an engine that works in this process's memory run in other
 * processes, which map only the memory of their host. A wild address ends only that process; a
 * sandbox limits machine code (worker/sandbox.h). Otherwise kernels run here, with this process's
 * rights. */
#ifndef XPU_SLOT_H
#define XPU_SLOT_H

#include "node/node.h"
#include "worker/sandbox.h"
#include "xpu/bridged.h"
#include "xpu/cfg.h"
#include "engine/engine.h"

struct slot;

struct slot_options {
	/* The caller sets name, identity, manager, key, bind and spinning. */
	struct node_options node;
	uint32_t number;       /* in its daemon */
	uint64_t memory_bytes; /* device memory, XPU_MEMORY_MIN .. XPU_MEMORY_MAX */
	uint64_t host_bytes;   /* for one host; 0: no limit */
	/* with the xPU open, up to XPU_HOSTS_MAX; 0: XPU_HOSTS_DEFAULT */
	uint32_t hosts_max;
	const char *engine;       /* see engine_options.name */
	const char *cache_folder; /* see zygote_options */
	bool cache_shared;        /* see zygote_options */
	/* A program that calls zygote_main (zygote.h), such as /proc/self/exe: engines that work in
	 * this process's memory (rv32, ocl) run kernels in one process per host. NULL, or another
	 * engine: one thread of this process for all hosts. */
	const char *worker_program;
	struct sandbox_options sandbox; /* of the hosts' processes */
	/* seals program binaries (engine/seal.h), FABRIC_KEY_BYTES; NULL: random */
	const uint8_t *seal_key;
	/* of the bridge to BRIDGED memory; see pump_options */
	uint32_t buffers, buffer_bytes, reads;
	uint64_t stall_ns;
	/* the switch that sums for this xPU, as in struct dxp_inc_options; NULL: none */
	const char *switches;
};

/* The node begins to join. Statuses of arena_create, engine_open and node_open, logged. */
int slot_open(const struct slot_options *options, struct slot **out);

/* Waits for the running kernel and leaves the fabric. NULL is allowed. */
void slot_close(struct slot *s);

struct node *slot_node(const struct slot *s);
void slot_describe(const struct slot *s, struct engine_description *out);
uint64_t slot_memory_bytes(const struct slot *s);
/* All 0 if the NIC accesses the memory itself. */
void slot_bridged_state(const struct slot *s, struct bridged_state *out);

/* Processes input of NIC and engine, and advances all work; returns the number of steps. */
uint32_t slot_service(struct slot *s);
/* Gives idle time to the device. 0: nothing to do. */
uint32_t slot_idle(struct slot *s);
/* True: a worker was woken since the last call and may need this core, so do not spin. */
bool slot_woke(struct slot *s);
/* Returns when slot_service must be called. Call after node_sleep_announce: from then on workers
 * send wakeups. */
uint64_t slot_deadline(struct slot *s);

/* Hosts that have the xPU open. */
uint32_t slot_hosts(const struct slot *s);

#endif
