/* SPDX-License-Identifier: BSD-3-Clause */
/* One xPU node: NIC, device memory, registers and an engine. Accepts commands of
 * hosts, keeps their graphs, passes kernels to workers (worker.h) and sends data to other xPUs.
 *
 * Threads: the thread that polls the node makes all calls; a worker has its own thread or process.
 * Trust: hosts are isolated. A command names only its host's memory, programs and events. PUT, GET
 * and kernels' NIC functions reach only the host's memory. PUT and GET also reach unallocated
 * memory (keys.c). With `worker_program`, if the engine works in this process's memory, kernels run
 * in a process that maps only their host's memory: a wild address ends only that process, and its
 * sandbox limits what machine code in a kernel can do (worker/sandbox.h). Without `worker_program`
 * they run in this process, with the rights of its user. */
#ifndef XPU_SLOT_H
#define XPU_SLOT_H

#include "node/node.h"
#include "worker/sandbox.h"
#include "xpu/bridged.h"
#include "xpu/cfg.h"
#include "engine/engine.h"

struct slot;

struct slot_options {
	/* Name, identity, manager, key, bind, spinning; the slot sets the rest. */
	struct node_options node;
	uint32_t number;       /* position in its daemon */
	uint64_t memory_bytes; /* XPU_MEMORY_MIN .. XPU_MEMORY_MAX */
	uint64_t host_bytes;   /* most memory of one host; 0: no limit */
	/* most hosts that have the xPU open, up to XPU_HOSTS_MAX; 0: XPU_HOSTS_DEFAULT */
	uint32_t hosts_max;
	const char *engine;       /* see engine_options.name */
	const char *cache_folder; /* see zygote_options */
	bool cache_shared;        /* see zygote_options */
	/* A program that calls zygote_main (zygote.h), such as /proc/self/exe: each host's kernels
	 * run in their own process, if the engine works in this process's memory. NULL: kernels of
	 * all hosts run in one thread of this process. */
	const char *worker_program;
	struct sandbox_options sandbox; /* sandbox of these processes */
	/* Key of the seals of program binaries (engine/seal.h), FABRIC_KEY_BYTES; NULL: a random
	 * one. */
	const uint8_t *seal_key;
	/* Bridge to BRIDGED memory; fields as in pump_options. */
	uint32_t buffers, buffer_bytes, reads;
	uint64_t stall_ns;
};

/* Creates memory, engine and node, which begins to join. Statuses of arena_create, engine_open
 * and node_open, logged there. */
int slot_open(const struct slot_options *options, struct slot **out);

/* Leaves the fabric and frees everything, after the running kernel completes. NULL is allowed. */
void slot_close(struct slot *s);

struct node *slot_node(const struct slot *s);
void slot_describe(const struct slot *s, struct engine_description *out);
uint64_t slot_memory_bytes(const struct slot *s);
/* Returns the state of the slot's bridge; all 0 if the NIC reaches the memory. */
void slot_bridged_state(const struct slot *s, struct bridged_state *out);

/* Processes input of NIC and engine and advances all work. Returns the amount. */
uint32_t slot_service(struct slot *s);
/* Polls the device when nothing else is to be done. Returns the amount of work found. */
uint32_t slot_idle(struct slot *s);
/* Returns whether slot_service woke a worker since the last call; it may need this core. */
bool slot_woke(struct slot *s);
/* Returns when slot_service must be called even without input of the node. Call before sleeping,
 * after node_sleep_announce: workers send wakeups from then on. */
uint64_t slot_deadline(struct slot *s);

/* Counts hosts that have it open. */
uint32_t slot_hosts(const struct slot *s);

#endif
