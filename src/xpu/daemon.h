/* SPDX-License-Identifier: BSD-3-Clause */
/* The xPUs of a daemon: up to FABRIC_SLOTS_MAX slots, each a node, polled by one thread. */
#ifndef XPU_DAEMON_H
#define XPU_DAEMON_H

#include "xpu/slot.h"

struct daemon_options {
	uint32_t slots;   /* 1 .. FABRIC_SLOTS_MAX */
	const char *name; /* base of the node names; NULL: `base` */
	const char *base; /* base that always has a number; NULL: "xpu" */
	/* in the name of slot 0, unless `name` is given for one slot */
	uint32_t first;
	uint16_t id; /* requested for slot 0; slot n requests id + n; 0: any */
	struct udp_address manager;
	struct manager_backups other_managers; /* see member_options */
	const uint8_t *fabric_key;
	/* see node_options */
	const struct identity *identity;
	const char *identity_file;
	const char *key_file; /* file from which `fabric_key` was read; see node_options */
	/* NULL: the local address towards the manager. Slot n uses port + n, unless it is 0. */
	const struct udp_address *bind;
	uint16_t port; /* if that of `bind` is 0 */
	/* Without a port: the first free ones of XPU_PORTS from XPU_PORT_FIRST on, else any. */
	bool standard_ports;
	/* Slot n adds n to the port, unless it is 0. NULL: none. See node_options. */
	const struct udp_address *advertise;
	struct node_outside outside; /* see node_options */
	/* Folder for identities, the key that seals program binaries, and compiled kernels. NULL:
	 * identities and key are new at each start, and kernels go to the user's cache folder. */
	const char *state_folder;
	const char *cache_folder; /* for compiled kernels; NULL: see `state_folder` */
	bool cache_shared;        /* see slot_options */
	uint64_t memory_bytes;    /* device memory of each slot */
	uint64_t host_bytes;      /* see slot_options */
	uint32_t hosts_max;       /* see slot_options */
	uint64_t keep_hosts_ns;   /* see node_options */
	const char *engine;
	const char *worker_program;     /* see slot_options */
	struct sandbox_options sandbox; /* see slot_options */
	/* See pump_options; they apply to each slot with memory that only DMA can access. A buffer
	 * size that must be measured is measured for the first slot. */
	uint32_t buffers, buffer_bytes, reads;
	uint64_t stall_ns;
	const char *switches; /* see slot_options */
	uint32_t spin_ns;     /* see node_options */
	uint32_t functions;   /* per slot, for other processes, 0 .. 7 */
	/* nonzero stops the daemon; set by a signal handler or any thread */
	const _Atomic int *stop;
};

struct daemon;

/* The slots begin to join. Statuses of slot_open() and identity_get(), logged. DXP_EINVAL: an
 * option is out of range. */
int daemon_open(const struct daemon_options *options, struct daemon **out);
void daemon_close(struct daemon *d);

uint32_t daemon_slots(const struct daemon *d);
struct slot *daemon_slot(const struct daemon *d, uint32_t index);

/* Polls until all slots have joined; prints a line for each. DXP_ETIMEDOUT: not all before
 * `deadline_ns`. DXP_ECLOSED: `stop` was set. Others, such as DXP_EAUTH and DXP_EBUSY: the manager
 * rejected a slot; logged. */
int daemon_join(struct daemon *d, uint64_t deadline_ns);

/* DXP_OK: `stop` was set; else a slot lost its membership. */
int daemon_run(struct daemon *d);

#endif
