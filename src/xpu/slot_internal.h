/* SPDX-License-Identifier: BSD-3-Clause */
/* State of an xPU, shared by the files of struct slot.
 *
 * Lifetimes: a tenant is freed when `busy` is 0. A work item stays in its graph until it completes.
 * Memory is held until its orders complete and no process maps it. */
#ifndef XPU_SLOT_INTERNAL_H
#define XPU_SLOT_INTERNAL_H

#include <pthread.h>

#include "base/mac.h"
#include "base/util.h"
#include "wire/command.h"
#include "xpu/arena.h"
#include "xpu/bridged.h"
#include "xpu/limits.h"
#include "xpu/worker.h"
#include "xpu/graph.h"
#include "xpu/bulk.h"
#include "xpu/outbox.h"
#include "xpu/programs.h"
#include "engine/pump.h"
#include "xpu/slot.h"
#include "xpu/switch_group.h"
#include "xpu/tenant_memory.h"
#include "worker/zygote.h"

/* A program of a host. If it is built, the host's worker has it under the same id. */
struct program {
	struct program_entry entry;
	uint64_t charged; /* bytes of the program that programs_bytes of its tenant contains */
	/* orders that point to the program, plus one until its host releases it */
	uint32_t users;
	bool built;
	bool links; /* the program was linked from other programs */
	/* Package for a rebuild, in memory that no host can change; NULL: not kept. */
	uint8_t *package;
	uint64_t package_bytes;
	char *log;
	uint32_t log_bytes;
	uint8_t *about; /* records about the program's kernels, or NULL */
	uint32_t about_bytes;
	struct order release;
	struct worker_program message;
};

/* Data that was last fetched from the engine for a host. The host requests it in parts. */
struct fetched {
	uint32_t program;
	uint8_t what;
	uint8_t *data; /* the data; NULL: nothing was fetched */
	size_t bytes;
};

/* A NIC function for kernels of one host. It exists until no kernel and no packet uses its
 * window. */
struct port {
	struct port *next;
	struct tenant *tenant;
	uint32_t function;
	uint32_t key;     /* key of device memory in the function's table */
	uint32_t index;   /* number of the port's window behind device memory */
	uint64_t address; /* address of the port's window, from the start of device memory */
	/* UNMAPs of the port's window that the worker process has not completed */
	uint32_t mappings;
	uint32_t qp_magic[COMMAND_QPS];
	uint32_t launches; /* RUNs in the engine with the function as an argument */
	bool closed;
	struct dxp_window *window;
};

/* A host, from OPEN to CLOSE or its loss. */
struct tenant {
	struct tenant *next;
	struct slot *slot;
	uint16_t host;
	uint32_t owner; /* number by which the arena knows this host's memory; new for each OPEN */
	struct tenant_memory *memory;
	uint32_t memory_key; /* the host's key to device memory (keys.c) */
	bool trespassed;     /* an out-of-bounds access of the host was logged */
	struct dxp_target reply;
	struct graph *graph;
	/* worker process of this host; NULL: none yet, or the slot's thread runs its kernels */
	struct worker *worker;
	struct programs programs; /* programs of the host, with failed builds */
	/* bytes of its programs in this process, with programs that are being built */
	uint64_t programs_bytes;
	uint64_t packages_bytes; /* part of programs_bytes: packages kept for rebuilds */
	struct reduction *lost;  /* ALLREDUCEs whose switches are lost, until SETTLE */
	uint32_t unmaps;         /* freed ranges that the worker process may still map */
	/* ALLOCs that wait for freed ranges, or for memory of a silent host */
	struct parked *parked;
	uint32_t busy; /* orders, clearings and transfers that point to this tenant */
	/* running bulk transfers, without the one of the task: at most XPU_BULKS_MAX */
	uint32_t bulks;
	bool leaving; /* the tenant accepts no commands, and is freed when it is not busy */
	bool gone;    /* the host is lost, and gets no more messages */
	bool closing; /* the reply to CLOSE must still be sent */
	/* true: the host was silent, and was evicted because other hosts need its memory */
	bool given_up;
	bool hurried; /* events up to count `hurry` must be sent without delay */
	uint32_t hurry;
	uint32_t close_sequence;
	uint32_t complaints;    /* log lines about this host so far */
	struct port *port;      /* port of this host; NULL: not requested */
	bool port_waits;        /* a reply to COMMAND_NIC waits for a function of an evicted host */
	uint32_t port_sequence; /* sequence number of this COMMAND_NIC */
	struct cfg_task task;
	struct fetched fetched;
	/* Encoded events that are delayed; held_since_ns is the time of the first one. */
	uint8_t held[XPU_EVENTS_HELD * COMMAND_EVENT_BYTES];
	uint32_t held_bytes;
	uint64_t held_since_ns;
	bool held_hurried; /* the host waits for a held event or a later one */
};

/* A SEND, SIGNAL or BRIDGE. Fields are as in struct command. */
struct network_command {
	uint64_t address, bytes;
	uint64_t from_address, to_address;
	uint32_t from_key, to_key;
	uint32_t piece_bytes;
	uint16_t to_node;
	uint8_t path, mode;
};

/* An ALLREDUCE. Fields are as in struct command. */
struct allreduce_command {
	uint64_t from, to, bytes;
	uint32_t group;
	uint8_t type, reduction;
};

struct settle_command {
	uint64_t event; /* event of the ALLREDUCE */
	int32_t status;
};

/* An asynchronous command, from its arrival to its event. */
struct work {
	/* must be the first field, because the graph returns pointers to it */
	struct graph_command graph;
	struct tenant *tenant;
	uint64_t queued_ns, started_ns, ended_ns;
	int32_t native; /* the device driver's code of a failure; 0: none */
	/* SEND, SIGNAL: peer that must be notified if the command fails; 0: none, or already
	 * notified */
	uint16_t to_node;
	bool lazy;
	uint8_t op;
	/* Fields of engine commands, valid from their start: */
	uint8_t held;      /* arguments or ranges that are held, counted from the first one */
	struct port *port; /* RUN: its port, which it holds; NULL: no argument is a NIC */
	struct order order;
	/* RUN: struct worker_run. WRITE, COPY, FILL, MARK: struct worker_edit. ALLREDUCE: struct
	 * allreduce_command. SETTLE: struct settle_command. Others: struct network_command. */
	_Alignas(uint64_t) uint8_t data[];
};

static inline struct worker_run *work_run(struct work *w)
{
	return (struct worker_run *)(void *)w->data;
}

static inline struct worker_edit *work_edit(struct work *w)
{
	return (struct worker_edit *)(void *)w->data;
}

static inline const struct network_command *work_network(const struct work *w)
{
	return (const struct network_command *)(const void *)w->data;
}

static inline const struct allreduce_command *work_allreduce(const struct work *w)
{
	return (const struct allreduce_command *)(const void *)w->data;
}

static inline const struct settle_command *work_settle(const struct work *w)
{
	return (const struct settle_command *)(const void *)w->data;
}

struct reduction;

/* A group of switches in which a host has made this xPU a member. Lives until its thread ends. */
struct switch_member {
	struct switch_member *next;
	struct tenant *tenant;
	uint32_t number; /* the host's number for the group */
	struct switch_group *group;
	bool created, leaving;
	bool replies; /* the command SWITCHES with `sequence` waits for its answer */
	uint32_t sequence;
	struct reduction *reduction; /* ALLREDUCE that uses the group; NULL: none */
};

struct pull;
struct build;
struct parked;

/* A DMA that clears a part of memory. */
struct clearing_dma {
	struct pump_transfer pump;
	struct clearing *clearing;
	bool busy;
};
#define CLEARING_DMAS 2 /* so that one is queued when the other completes */

/* Memory that is cleared piece by piece before its host gets the address. */
struct clearing {
	struct clearing *next;
	struct tenant *tenant;
	uint32_t sequence;
	/* `cleared`: bytes that are cleared; BRIDGED: also bytes of running DMAs */
	uint64_t address, bytes, cleared;
	int status;
	struct clearing_dma dmas[CLEARING_DMAS];
};

/* BRIDGED memory: an unallocated range that is being cleared. */
struct scrub {
	struct pump_transfer pump;
	bool busy;
	uint64_t at, end;       /* range to clear; empty if `at` equals `end` */
	uint64_t running_bytes; /* while busy: bytes of the DMA, from `at` on */
};

/* A range of another xPU's memory, and its key. A PUT to it has succeeded. */
struct known_key {
	uint16_t node;
	uint32_t key;
	uint64_t incarnation;
	uint64_t address, bytes;
};
#define KNOWN_KEYS 256

struct slot_counters {
	uint32_t done, failed, rejected, kernels, builds;
	uint64_t sent_bytes;
	uint32_t last_error;
};

/* Functions of higher files that lower files of this folder call (see README.md). */
struct slot_hooks {
	void (*evict)(struct tenant *t, int status); /* tenant_evict */
	void (*worker_started)(struct tenant *t);    /* programs_rebuild, for a new process */
	void (*interrupt)(void *slot);               /* wakes the slot's thread, from any thread */
};

struct slot {
	const struct slot_hooks *hooks;
	struct slot_options options;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct mac *seal_key; /* state for seals of binaries */
	struct arena *arena;
	struct engine *engine; /* engine of the xPU; `none` if kernels run in processes */
	struct engine_description about;
	struct bridged *bridged; /* NULL: the NIC accesses device memory itself */
	struct worker *worker;   /* worker of all hosts; NULL: each host has one */
	struct zygote *zygote;   /* starts the worker processes of hosts */
	int wakeup_fd;           /* the zygote's wakeup eventfd */
	uint32_t worker_last, worker_spin_ns;
	bool woke;        /* a worker was woken after the last slot_woke() */
	uint32_t windows; /* windows behind device memory: bit i is set if window i is used */
	struct node *node;
	/* guards `interrupted`, because the engine's threads outlive the node */
	pthread_mutex_t interrupt_lock;
	/* node that the engine's threads wake; NULL: the node is closed */
	struct node *interrupted;
	struct outbox *outbox;
	struct scrub scrub;
	struct tenant *tenants;
	struct tenant_memory *memories; /* memories of tenants that have left */
	bool common_used;               /* hosts have accessed unallocated memory (keys.c) */
	/* Tenants that are not leaving, by node id. The array covers all ids; untouched pages cost
	 * no memory. */
	struct tenant **by_host;
	uint32_t bulks; /* bulk transfers of all tenants, at most XPU_BULKS_SLOT_MAX */
	uint32_t owner_last, program_last;
	struct port *ports; /* includes closed ports that are still in use */
	struct clearing *clearings, **clearings_tail;
	struct pull *pulls;
	/* BRIDGED memory: builds that wait. The package of the first one is in host memory, or
	 * being fetched. */
	struct build *builds, **builds_tail;
	char *switches;      /* see slot_options */
	struct dxp_inc *inc; /* endpoint of all groups of switches; NULL: not opened yet */
	struct switch_member *switch_members;
	bool closing;
	uint64_t files_ns;   /* time of the next check of tenants' files */
	uint64_t needed_ns;  /* time of the next check whether silent hosts block others */
	uint64_t blocked_ns; /* time at which the outbox became unable to post; 0: it can post */
	uint16_t stuck_node; /* node of the last call of slot_peer_stuck(), at stuck_ns */
	uint64_t stuck_ns;
	struct known_key known[KNOWN_KEYS];
	struct slot_counters counters;
};

/* slot_peer.c */
bool slot_lookup(const struct slot *s, uint16_t node, struct node_entry *out);
/* Finds an xPU that is alive and granted, and its address. DXP_ENOENT: no such node. DXP_EACCESS:
 * not granted. DXP_EPEERLOST: not alive. DXP_EINVAL: not an xPU, or this one. */
int slot_peer(const struct slot *s, uint16_t node, struct node_entry *entry,
	      struct dxp_target *out);
void slot_error_note(struct slot *s, int status);
/* Resets the session of a live node that keeps buffers of the bridge too long, so that its requests
 * fail. Evicts the node if it is a host. */
void slot_peer_stuck(struct slot *s, uint16_t node);

/* tenant_list.c */
struct tenant *tenant_find(const struct slot *s, uint16_t host);
/* Counts a bulk transfer that has started (+1) or completed (-1). */
void tenant_bulks_add(struct tenant *t, int more);
bool tenant_may_bulk(const struct tenant *t);
/* Finds the group of switches that the host knows by this number and has not left. */
struct switch_member *tenant_switches_find(const struct tenant *t, uint32_t number);
/* Logs a mistake of this host, at most COMPLAINTS_MAX times. */
void tenant_complain(struct tenant *t, const char *format, ...) PRINTF_LIKE(2, 3);

/* tenant_silent.c */
/* Resources of a silent host that other hosts may need. */
enum tenant_need { NEED_ENTRY, NEED_MEMORY, NEED_FUNCTION, NEED_REQUESTS };

/* Among the silent hosts that have a resource of `need`, evicts the one that has been silent
 * longest. False: there is none. */
bool tenants_make_space(struct slot *s, enum tenant_need need);
/* Returns the bytes of memory of silent hosts. */
uint64_t tenants_silent_bytes(const struct slot *s);
/* Returns the bytes of memory of evicted silent hosts that are not freed yet. */
uint64_t tenants_giving(const struct slot *s);
/* Evicts silent hosts with resources that other hosts wait for. Returns how many. */
uint32_t tenants_needed(struct slot *s);

/* tenant.c */
int tenant_open(struct slot *s, uint16_t host, const struct dxp_target *reply, struct tenant **out);
/* Cancels all commands of a tenant and frees its memory. If the tenant has a worker, kills the
 * worker; its memory is then freed with the tenant. The tenant itself is freed when it is not
 * busy. */
void tenant_leave(struct tenant *t, int status);
/* Drops a lost or evicted host: it gets no more messages. */
void tenant_evict(struct tenant *t, int status);
void tenants_changed(struct slot *s, const struct table_change *change);
/* Called when the session to a host was closed. Commands and answers may have been lost with it, so
 * the host is evicted. */
void tenants_session_ended(struct slot *s, uint16_t node, int status);
/* Frees tenants that are leaving and not busy; returns how many. */
uint32_t tenants_reap(struct slot *s);
/* Stops all messages to hosts (step 1 of a shutdown). */
void tenants_silence(struct slot *s);
/* Completes commands that wait, and messages in the outbox (step 2 of a shutdown, after the last
 * order). */
void tenants_cancel(struct slot *s);
/* Frees all tenants (step 3 of a shutdown, after NIC and device). */
void tenants_free(struct slot *s);

/* reply.c */
void reply_send(struct tenant *t, const struct command_reply *r);
void reply_status(struct tenant *t, uint8_t op, uint32_t sequence, int status);
/* Queues an event for its host. `lazy`: the event may be delayed (XPU_EVENTS_HELD,
 * XPU_EVENTS_HOLD_NS). */
void reply_event_send(struct tenant *t, const struct command_event *e, bool lazy);
/* From now on, sends events up to count `upto` without delay. */
void reply_events_hurry(struct tenant *t, uint32_t upto);
/* Sends events that were held long enough. Returns the number of hosts that got some. */
uint32_t reply_events_flush_due(struct slot *s);
uint64_t reply_events_deadline(const struct slot *s);
/* Reports to the host that the command with this event has started. */
void reply_begun_send(struct tenant *t, uint64_t event);
/* Notifies the host that the switches of an ALLREDUCE are lost, after `done_bytes` of its output.
 */
void reply_lost_send(struct tenant *t, uint64_t event, uint64_t done_bytes);
/* Sends a sentence about a failed command, before the command's event. Sends nothing if `event` is
 * 0, if the sentence is empty, or if XPU_OUTBOX_MAX / 2 messages to the host are queued or
 * outstanding. */
void reply_failed_send(struct tenant *t, uint64_t event, const char *sentence);
/* Sends text that a kernel printed. */
void reply_print_send(struct tenant *t, const void *text, uint32_t bytes);
/* Queues an EVENT to another xPU. `done` may be NULL. */
int reply_event_notify(struct slot *s, const struct dxp_target *to, const struct command_event *e,
		       outbox_done done, void *context);

/* commands.c: arriving messages */
void commands_message_receive(struct slot *s, const struct dxp_nic_event *event,
			      const uint8_t *data);

/* work.c: the lifetime of asynchronous commands */
void work_post(struct tenant *t, const struct command *c, uint32_t message_bytes);
/* Lists, for a command that graph_next has returned, the events that must succeed before it runs.
 * Returns their number. See graph_unfinished(). */
uint8_t work_needs(const struct work *w, uint64_t events[COMMAND_WAITS_MAX]);
/* Counts, reports and frees a command that has left the graph. */
void work_report(struct work *w, int status);
/* Completes a command that graph_next has returned. */
void work_done(struct work *w, int status);
void work_free(struct work *w);

/* launch.c, edit.c, transfer.c, pull.c: start a ready command, which completes in work_done */
void launch_start(struct work *w);
void edit_start(struct work *w);
void transfer_start(struct work *w);
void pull_start(struct work *w);
/* Cancels a tenant's BRIDGE transfers. They complete soon after that. */
void pulls_cancel(const struct tenant *t, int status);
void transfer_task_start(struct tenant *t);

/* switches.c */
/* Executes SWITCHES. The answer may be sent later. */
void switches_receive(struct tenant *t, const struct command *c);
/* Leaves all groups of a tenant. They end soon after that. */
void switches_leave(const struct tenant *t);
uint32_t switches_poll(struct slot *s);
/* Leaves all groups and waits for their threads. */
void switches_close(struct slot *s);

/* allreduce.c */
void allreduce_start(struct work *w);
/* Makes all members lose the group of an ALLREDUCE that will not run. */
void allreduce_abandon(struct work *w);
/* Handles the result of the switches for m->reduction. */
void allreduce_reduced(struct switch_member *m, int status, size_t elements);
/* Separates a reduction whose DMA is outstanding from its group, which ends. */
void allreduce_detach(struct switch_member *m);
/* Completes lost ALLREDUCEs of a tenant: those of one group, or all if `group` is NULL. */
void allreduces_cancel(struct tenant *t, const uint32_t *group, int status);
void allreduce_settle(struct work *w);
/* Fails the ALLREDUCE of a SETTLE that failed without running. */
void allreduce_settle_cancelled(struct work *w);

/* work_start.c */
/* Starts ready commands, and reports failed ones. Returns how many. */
uint32_t works_advance(struct slot *s);

/* memory.c */
/* Returns the bytes that the tenant may still allocate, if free memory is contiguous. */
uint64_t memory_left(const struct tenant *t);
void memory_allocate(struct tenant *t, const struct command *c);
void memory_free(struct tenant *t, const struct command *c);
/* Retries waiting ALLOCs after memory was freed. */
void memory_parked_retry(struct tenant *t);
uint32_t memory_clearings_advance(struct slot *s);
void memory_clearings_free(struct slot *s);

/* keys.c */
/* Registers a host's key, which the xPU's own transfers for the host use too. DXP_EBUSY: the NIC
 * has no free region. */
int key_open(struct tenant *t);
/* Rejects later requests with the key; the xPU's own transfers continue. */
void key_close(struct tenant *t);
/* Revokes the key of a tenant after its last transfer. */
void key_free(struct tenant *t);
/* Registers a key for the NIC function of the tenant's kernels; it is valid as long as the function
 * is open. */
int key_of_port(struct tenant *t, uint32_t function, uint32_t *key);
/* Cancels transfers of other owners in newly allocated memory. */
void keys_memory_claim(struct slot *s, uint64_t address, uint64_t bytes);
/* Returns true when these transfers have completed. */
bool keys_memory_claimed(const struct slot *s, uint64_t address, uint64_t bytes);
uint32_t keys_scrub_advance(struct slot *s);

/* port.c */
void port_open(struct tenant *t, const struct command *c);
/* Closes a port. Its kernels read `status`; the NIC sends nothing more. NULL is allowed. */
void port_close(struct slot *s, struct port *p, int status);
/* Called before and after each launch with a port. While a launch holds the port, its window stays,
 * and the NIC polls without wakeups. */
void port_hold(struct slot *s, struct port *p);
void port_drop(struct slot *s, struct port *p);
/* Logs that a kernel has lost its NIC function. Called when the kernel has completed. */
void port_complain(struct tenant *t, const struct port *p, const char *kernel);
/* Frees closed ports without users; returns how many. */
uint32_t ports_reap(struct slot *s);
void ports_close(struct slot *s);
/* Frees all ports, after the NIC was closed. */
void ports_free(struct slot *s);

/* build.c */
void program_build(struct tenant *t, const struct command *c);
/* Rebuilds all programs in a new worker. */
void programs_rebuild(struct tenant *t);
/* Fails queued builds, at shutdown. */
void builds_free(struct slot *s);

/* fetch.c */
void fetch_start(struct tenant *t, const struct command *c);
/* Keeps the binary of a linked program, so that it can be rebuilt without its inputs. */
void fetch_binary_keep(struct tenant *t, struct program *p);

/* program.c */
void program_release(struct tenant *t, const struct command *c);
struct program *program_find(const struct tenant *t, uint32_t id);
/* Adds the program's memory to its tenant's programs_bytes. `building`: the package is in this
 * process, or will be. */
void program_charge(struct tenant *t, struct program *p, bool building);
void program_discharge(struct tenant *t, struct program *p);
struct program *program_hold(struct program *p);
void program_drop(struct program *p); /* NULL is allowed */
/* Releases all programs of a leaving tenant. */
void programs_release(struct tenant *t);
/* Appends bytes to *data. False: out of memory, or the total would exceed `most`. */
bool program_bytes_add(uint8_t **data, uint64_t *bytes, const void *more, uint32_t count,
		       uint64_t most);

/* workers.c: workers of hosts, and the memory that their processes map */
/* Returns the worker of the tenant, or the slot's worker; NULL: there is none yet. */
struct worker *worker_of(const struct tenant *t);
/* Returns the worker of the tenant, or the slot's worker. Starts one if there is none. NULL: that
 * is impossible now, and *status is the reason. */
struct worker *worker_get(struct tenant *t, int *status);
/* Returns true if the worker has XPU_WORK_MAX engine commands, which is the maximum. */
bool worker_full(const struct tenant *t);
/* Maps a new range of the tenant, whole pages, in its process. */
void worker_map(struct tenant *t, uint64_t address, uint64_t bytes);
/* Reports an unmap. `sequence` names the FREE to answer now. NULL: the FREE was answered before, or
 * there is none. */
typedef void (*worker_unmapped)(struct tenant *t, const uint32_t *sequence);

/* Frees an allocation. Its memory is available when the tenant's process has unmapped it; then
 * `done` is called. If no process maps it, returns the status of arena_free, and does not call
 * `done`. DXP_ENOMEM: the allocation stays. DXP_EAGAIN: no engine command precedes the FREE, so
 * `done` answers it. `sequence` may be NULL; then DXP_EAGAIN is not returned. */
int worker_unmap_free(struct tenant *t, uint64_t address, worker_unmapped done,
		      const uint32_t *sequence);
void worker_unmap_port(struct port *p);
uint32_t workers_poll(struct slot *s);
/* Notifies hosts of commands that run long. Returns how many. */
uint32_t workers_begun_notify(struct slot *s);
/* Returns the earliest deadline of all workers, which includes the time at which a waiting process
 * can be started. */
uint64_t workers_begun_deadline(const struct slot *s);
bool workers_sleeping(struct slot *s);
void workers_resumed(struct slot *s);
/* Closes all workers, at shutdown after the last order. */
void workers_close(struct slot *s);

/* registers.c */
extern const struct nic_cfg_ops registers_ops;

#endif
