/* SPDX-License-Identifier: BSD-3-Clause */
/* State of an xPU.
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
#include "xpu/notices.h"
#include "xpu/outbox.h"
#include "xpu/programs.h"
#include "engine/pump.h"
#include "xpu/slot.h"
#include "xpu/switch_group.h"
#include "xpu/tenant_memory.h"
#include "worker/zygote.h"

/* If built, its worker knows it by the same id. */
struct program {
	struct program_entry entry;
	uint64_t charged; /* bytes counted in programs_bytes of the tenant */
	/* orders that point here, plus one until the release */
	uint32_t users;
	bool built;
	bool links; /* linked from other programs */
	/* for a rebuild, in memory that no host can change; NULL: not kept */
	uint8_t *package;
	uint64_t package_bytes;
	char *log;
	uint32_t log_bytes;
	uint8_t *about; /* about its kernels, or NULL */
	uint32_t about_bytes;
	struct order release;
	struct worker_program message;
};

/* Last data fetched from the engine, for requests of further parts. */
struct fetched {
	uint32_t program;
	uint8_t what;
	uint8_t *data; /* NULL: nothing was fetched */
	size_t bytes;
};

/* Exists until no kernel and no packet uses its window. */
struct port {
	struct port *next;
	struct tenant *tenant;
	uint32_t function;
	uint32_t key;     /* of device memory */
	uint32_t index;   /* of the window, behind device memory */
	uint64_t address; /* of the window, from the start of device memory */
	/* incomplete UNMAPs of the window */
	uint32_t mappings;
	uint32_t qp_magic[COMMAND_QPS];
	uint32_t launches; /* RUNs with the function as an argument */
	bool closed;
	struct dxp_window *window;
};

/* A host, from OPEN to CLOSE or its loss. */
struct tenant {
	struct tenant *next;
	struct slot *slot;
	uint16_t host;
	uint32_t owner; /* its number in the arena; new for each OPEN */
	struct tenant_memory *memory;
	uint32_t memory_key; /* to device memory (keys.c) */
	bool trespassed;     /* an out-of-bounds access was logged */
	struct dxp_target reply;
	struct graph *graph;
	/* NULL: none yet, or the slot's thread runs its kernels */
	struct worker *worker;
	struct programs programs; /* also failed builds */
	/* bytes of the programs in this process, also of running builds */
	uint64_t programs_bytes;
	uint64_t packages_bytes; /* of these, packages for rebuilds */
	struct reduction *lost;  /* whose switches are lost, until SETTLE */
	uint32_t unmaps;         /* freed ranges that the worker may still map */
	/* ALLOCs that wait for them, or for a silent host's memory */
	struct parked *parked;
	uint32_t busy; /* orders, clearings and transfers that point here */
	/* running, without the task's: at most XPU_BULKS_MAX */
	uint32_t bulks;
	bool leaving; /* accepts no commands; freed when not busy */
	bool gone;    /* lost; gets no more messages */
	bool closing; /* must still get the reply to CLOSE */
	/* evicted for the needs of others, while silent */
	bool given_up;
	bool hurried; /* events up to count `hurry` must not be delayed */
	uint32_t hurry;
	uint32_t close_sequence;
	uint32_t complaints;    /* log lines about this host */
	struct port *port;      /* NULL: not requested */
	bool port_waits;        /* COMMAND_NIC waits for a function of an evicted host */
	uint32_t port_sequence; /* of this COMMAND_NIC */
	struct cfg_task task;
	struct fetched fetched;
	/* Delayed encoded events, and when the first was held. */
	uint8_t held[XPU_EVENTS_HELD * COMMAND_EVENT_BYTES];
	uint32_t held_bytes;
	uint64_t held_since_ns;
	bool held_hurried; /* the host waits for a held event or a later one */
};

/* SEND, SIGNAL, BRIDGE; see struct command. */
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
	/* first, because the graph returns pointers to it */
	struct graph_command graph;
	struct tenant *tenant;
	uint64_t queued_ns, started_ns, ended_ns;
	int32_t native; /* driver's code; 0: none */
	/* SEND, SIGNAL: peer to notify of a failure; 0: none */
	uint16_t to_node;
	bool lazy;
	uint8_t op;
	/* engine commands, from their start */
	uint8_t held;      /* arguments or ranges held, from the first on */
	struct port *port; /* RUN: held; NULL: no argument is a NIC */
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
struct kernel_reduce;

/* A group of switches in which a host made this xPU a member. Lives until its thread ends. */
struct switch_member {
	struct switch_member *next;
	struct tenant *tenant;
	uint32_t number; /* given by the host */
	struct switch_group *group;
	bool created, leaving;
	bool replies; /* the SWITCHES command `sequence` waits for its answer */
	uint32_t sequence;
	struct reduction *reduction;   /* uses the group; NULL: none */
	struct kernel_reduce *kernels; /* wait for the group */
};

struct pull;
struct build;
struct parked;

struct clearing_dma {
	struct pump_transfer pump;
	struct clearing *clearing;
	bool busy;
};
#define CLEARING_DMAS 2 /* one is queued when the other completes */

/* Memory cleared piece by piece before its host gets the address. */
struct clearing {
	struct clearing *next;
	struct tenant *tenant;
	uint32_t sequence;
	/* `cleared`: BRIDGED: with running DMAs */
	uint64_t address, bytes, cleared;
	int status;
	struct clearing_dma dmas[CLEARING_DMAS];
};

/* BRIDGED: an unallocated range that is being cleared. */
struct scrub {
	struct pump_transfer pump;
	bool busy;
	uint64_t at, end;       /* empty if equal */
	uint64_t running_bytes; /* of the running DMA, from `at` on */
};

/* Another xPU's range and key, with which a PUT succeeded. */
struct known_key {
	uint16_t node;
	uint32_t key;
	uint64_t incarnation;
	uint64_t address, bytes;
};
#define KNOWN_KEYS 256

struct slot_counters {
	uint32_t done, failed, rejected, kernels, builds;
	uint32_t switch_rejected, switch_expired; /* groups of switches */
	uint64_t sent_bytes;
	uint32_t last_error;
	/* allreduces of kernels */
	uint32_t reduces_done, reduces_failed, reduces_refused;
};

/* Functions of higher files for lower ones (README.md). */
struct slot_hooks {
	void (*evict)(struct tenant *t, int status); /* tenant_evict */
	void (*worker_started)(struct tenant *t);    /* programs_rebuild, for a new process */
	void (*interrupt)(void *slot);               /* wakes the slot's thread, from any thread */
};

struct slot {
	const struct slot_hooks *hooks;
	struct slot_options options;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct mac *seal_key; /* for seals of binaries */
	struct arena *arena;
	struct engine *engine; /* `none` if kernels run in processes */
	struct engine_description about;
	struct bridged *bridged; /* NULL: the NIC accesses device memory itself */
	struct worker *worker;   /* of all hosts; NULL: each has one */
	struct zygote *zygote;   /* starts worker processes */
	int wakeup_fd;           /* the zygote's wakeup eventfd */
	uint32_t worker_last, worker_spin_ns;
	bool woke;        /* a worker was woken after the last slot_woke() */
	uint32_t windows; /* behind device memory: bit i: window i is used */
	struct node *node;
	/* guards `interrupted`: the engine's threads outlive the node */
	pthread_mutex_t interrupt_lock;
	/* node to wake; NULL: closed */
	struct node *interrupted;
	struct outbox *outbox;
	struct notices *notices;
	struct scrub scrub;
	struct tenant *tenants;
	struct tenant_memory *memories; /* memories of tenants that have left */
	bool common_used;               /* hosts have accessed unallocated memory (keys.c) */
	/* not leaving, by node id; the array covers all ids, and untouched pages cost no memory */
	struct tenant **by_host;
	uint32_t bulks; /* at most XPU_BULKS_SLOT_MAX */
	uint32_t owner_last, program_last;
	struct port *ports; /* closed ports in use */
	struct clearing *clearings, **clearings_tail;
	struct pull *pulls;
	/* BRIDGED: waiting builds; the first one's package is in host memory, or being fetched */
	struct build *builds, **builds_tail;
	char *switches;      /* see slot_options */
	struct dxp_inc *inc; /* of all groups; NULL: not opened yet */
	int inc_status;      /* of the last attempt; none follows before inc_retry_ns */
	uint64_t inc_retry_ns;
	struct switch_member *switch_members;
	bool closing;
	uint64_t files_ns;   /* next check of tenants' files */
	uint64_t needed_ns;  /* next check whether silent hosts block others */
	uint64_t blocked_ns; /* since when the outbox cannot post; 0: it can */
	uint16_t stuck_node; /* node of the last slot_peer_stuck(), at stuck_ns */
	uint64_t stuck_ns;
	struct known_key known[KNOWN_KEYS];
	struct slot_counters counters;
};

/* slot_peer.c */
bool slot_lookup(const struct slot *s, uint16_t node, struct node_entry *out);
/* Finds a live, granted xPU. DXP_ENOENT: no such node. DXP_EACCESS: not granted. DXP_EPEERLOST: not
 * alive. DXP_EINVAL: not an xPU, or this one. */
int slot_peer(const struct slot *s, uint16_t node, struct node_entry *entry,
	      struct dxp_target *out);
void slot_error_note(struct slot *s, int status);
/* A live node keeps bridge buffers too long: resets its session, so that its requests fail, and
 * evicts a host. */
void slot_peer_stuck(struct slot *s, uint16_t node);

/* tenant_list.c */
struct tenant *tenant_find(const struct slot *s, uint16_t host);
/* +1: started, -1: completed. */
void tenant_bulks_add(struct tenant *t, int more);
bool tenant_may_bulk(const struct tenant *t);
/* Group of switches that the host knows by this number and has not left. */
struct switch_member *tenant_switches_find(const struct tenant *t, uint32_t number);
/* Logs a mistake of this host, at most COMPLAINTS_MAX times. */
void tenant_complain(struct tenant *t, const char *format, ...) PRINTF_LIKE(2, 3);

/* tenant_silent.c */
/* Kept by a silent host, needed by others. */
enum tenant_need { NEED_ENTRY, NEED_MEMORY, NEED_FUNCTION, NEED_REQUESTS };

/* Evicts the longest silent host with such a resource. False: none. */
bool tenants_make_space(struct slot *s, enum tenant_need need);
uint64_t tenants_silent_bytes(const struct slot *s);
/* Memory of evicted silent hosts that is not freed yet. */
uint64_t tenants_giving(const struct slot *s);
/* Evicts silent hosts with resources that others wait for; returns how many. */
uint32_t tenants_needed(struct slot *s);

/* tenant.c */
int tenant_open(struct slot *s, uint16_t host, const struct dxp_target *reply, struct tenant **out);
/* Cancels all commands, and frees the memory, at once or with the killed worker. The tenant is
 * freed when not busy. */
void tenant_leave(struct tenant *t, int status);
/* The host gets no more messages. */
void tenant_evict(struct tenant *t, int status);
void tenants_changed(struct slot *s, const struct table_change *change);
/* Commands and answers may be lost with the session: evicts the host. */
void tenants_session_ended(struct slot *s, uint16_t node, int status);
uint32_t tenants_reap(struct slot *s);
/* Shutdown, step 1: no more messages to hosts. */
void tenants_silence(struct slot *s);
/* Step 2, after the last order: completes waiting commands and messages. */
void tenants_cancel(struct slot *s);
/* Step 3, after NIC and device are closed. */
void tenants_free(struct slot *s);

/* reply.c */
void reply_send(struct tenant *t, const struct command_reply *r);
void reply_status(struct tenant *t, uint8_t op, uint32_t sequence, int status);
/* `lazy`: may be delayed (XPU_EVENTS_HELD, XPU_EVENTS_HOLD_NS). */
void reply_event_send(struct tenant *t, const struct command_event *e, bool lazy);
/* Sends events up to count `upto` without delay from now on. */
void reply_events_hurry(struct tenant *t, uint32_t upto);
/* Sends events held long enough; returns the number of hosts. */
uint32_t reply_events_flush_due(struct slot *s);
uint64_t reply_events_deadline(const struct slot *s);
/* The command with this event has started. */
void reply_begun_send(struct tenant *t, uint64_t event);
/* Sends nothing if the event is 0. */
void reply_lost_send(struct tenant *t, const struct command_lost *lost);
/* Sends a sentence about a failed command, before its event. Nothing if `event` is 0, the sentence
 * empty, or XPU_OUTBOX_MAX / 2 messages to the host are queued or outstanding. */
void reply_failed_send(struct tenant *t, uint64_t event, const char *sentence);
/* The same for the cycles of a launch; nothing if they are 0. */
void reply_cycles_send(struct tenant *t, uint64_t event, const struct dxp_event_cycles *cycles);
void reply_print_send(struct tenant *t, const void *text, uint32_t bytes);
/* `done` may be NULL. */
int reply_event_notify(struct slot *s, const struct dxp_target *to, const struct command_event *e,
		       outbox_done done, void *context);

/* commands.c */
void commands_message_receive(struct slot *s, const struct dxp_nic_event *event,
			      const uint8_t *data);

/* work.c: asynchronous commands */
void work_post(struct tenant *t, const struct command *c, uint32_t message_bytes);
/* See graph_unfinished(). */
uint8_t work_needs(const struct work *w, uint64_t events[COMMAND_WAITS_MAX]);
/* The command has left the graph. */
void work_report(struct work *w, int status);
/* Completes a command that graph_next has returned. */
void work_done(struct work *w, int status);
void work_free(struct work *w);

/* launch.c, edit.c, transfer.c, pull.c: start a ready command; work_done completes it. */
void launch_start(struct work *w);
void edit_start(struct work *w);
void transfer_start(struct work *w);
void pull_start(struct work *w);
/* The transfers complete soon after. */
void pulls_cancel(const struct tenant *t, int status);
void transfer_task_start(struct tenant *t);

/* switches.c */
/* The answer may be sent later. */
void switches_receive(struct tenant *t, const struct command *c);
/* Leaves all groups, which end soon after. */
void switches_leave(const struct tenant *t);
uint32_t switches_poll(struct slot *s);
/* Groups of switches in which a host, or any if `t` is NULL, made this xPU a member. */
uint32_t switches_count(const struct slot *s, const struct tenant *t);
/* Leaves all groups and waits for their threads. */
void switches_close(struct slot *s);

/* allreduce.c */
void allreduce_start(struct work *w);
/* Starts a kernel's descriptor on a free group; `ended` may be called before the return. */
typedef void (*kernel_reduce_ended)(struct kernel_reduce *k, int status);
void allreduce_kernel_start(struct tenant *t, const struct allreduce_command *c,
			    struct kernel_reduce *k, kernel_reduce_ended ended);
/* An ALLREDUCE will not run: makes all members lose its group. */
void allreduce_abandon(const struct tenant *t, uint32_t group);
/* The result of the switches for m->reduction. */
void allreduce_reduced(struct switch_member *m, int status, size_t elements);
/* Separates a reduction with an outstanding DMA from its group, which ends. */
void allreduce_detach(struct switch_member *m);
/* Completes lost ALLREDUCEs of one group; NULL: of all. */
void allreduces_cancel(struct tenant *t, const uint32_t *group, int status);
void allreduce_settle(struct work *w);
/* The SETTLE failed without running: fails its ALLREDUCE. */
void allreduce_settle_cancelled(struct work *w);

/* kernel_reduce.c */
/* Posts the descriptor in a write of the registers ALLREDUCE_*. Returns 0 or a NACK code. */
uint8_t kernel_reduce_post(struct tenant *t, const uint32_t words[CFG_ALLREDUCE_WORDS]);
/* Starts the next descriptor of a group that is free. */
void kernel_reduces_advance(struct switch_member *m);
/* Completes all that wait for the group. */
void kernel_reduces_cancel(struct switch_member *m);

/* work_start.c */
/* Starts ready commands, and reports failed ones; returns how many. */
uint32_t works_advance(struct slot *s);

/* memory.c */
/* Bytes that the tenant may still allocate, if free memory is contiguous. */
uint64_t memory_left(const struct tenant *t);
void memory_allocate(struct tenant *t, const struct command *c);
void memory_free(struct tenant *t, const struct command *c);
/* Call it after memory was freed. */
void memory_parked_retry(struct tenant *t);
uint32_t memory_clearings_advance(struct slot *s);
void memory_clearings_free(struct slot *s);

/* keys.c */
/* The host's key, also for own transfers. DXP_EBUSY: the NIC has no free region. */
int key_open(struct tenant *t);
/* Rejects later requests with the key; own transfers continue. */
void key_close(struct tenant *t);
/* Call it after the last transfer. */
void key_free(struct tenant *t);
/* Registers a key for the NIC function of the tenant's kernels; it is valid as long as the function
 * is open. */
int key_of_port(struct tenant *t, uint32_t function, uint32_t *key);
/* Cancels transfers of other owners in newly allocated memory. */
void keys_memory_claim(struct slot *s, uint64_t address, uint64_t bytes);
/* These transfers have completed. */
bool keys_memory_claimed(const struct slot *s, uint64_t address, uint64_t bytes);
uint32_t keys_scrub_advance(struct slot *s);

/* port.c */
void port_open(struct tenant *t, const struct command *c);
/* Kernels read `status`; the NIC sends nothing more. NULL is allowed. */
void port_close(struct slot *s, struct port *p, int status);
/* Around each launch with a port: its window stays, and the NIC polls without wakeups. */
void port_hold(struct slot *s, struct port *p);
void port_drop(struct slot *s, struct port *p);
/* The kernel has lost its NIC function; logs this after the kernel. */
void port_complain(struct tenant *t, const struct port *p, const char *kernel);
/* Frees closed ports without users; returns how many. */
uint32_t ports_reap(struct slot *s);
void ports_close(struct slot *s);
/* Call it after the NIC was closed. */
void ports_free(struct slot *s);

/* build.c */
void program_build(struct tenant *t, const struct command *c);
/* Call it for a new worker. */
void programs_rebuild(struct tenant *t);
/* Fails queued builds, at shutdown. */
void builds_free(struct slot *s);

/* fetch.c */
void fetch_start(struct tenant *t, const struct command *c);
/* A linked program can then be rebuilt without its inputs. */
void fetch_binary_keep(struct tenant *t, struct program *p);

/* program.c */
void program_release(struct tenant *t, const struct command *c);
struct program *program_find(const struct tenant *t, uint32_t id);
/* Adds to programs_bytes. `building`: the package is in this process, or will be. */
void program_charge(struct tenant *t, struct program *p, bool building);
void program_discharge(struct tenant *t, struct program *p);
struct program *program_hold(struct program *p);
void program_drop(struct program *p);
/* Releases the programs of a leaving tenant. */
void programs_release(struct tenant *t);
/* False: out of memory, or more than `most`. */
bool program_bytes_add(uint8_t **data, uint64_t *bytes, const void *more, uint32_t count,
		       uint64_t most);

/* workers.c: workers of hosts, and what they map */
/* The tenant's or the slot's worker; NULL: none yet. */
struct worker *worker_of(const struct tenant *t);
/* Starts a worker if there is none. NULL: impossible now, with *status. */
struct worker *worker_get(struct tenant *t, int *status);
/* The worker has XPU_WORK_MAX engine commands, the maximum. */
bool worker_full(const struct tenant *t);
/* Whole pages, in the tenant's process. */
void worker_map(struct tenant *t, uint64_t address, uint64_t bytes);
/* `sequence`: FREE to answer, or NULL. */
typedef void (*worker_unmapped)(struct tenant *t, const uint32_t *sequence);

/* Frees an allocation. If a process maps it, it is available after the unmap, which calls `done`.
 * Otherwise returns the status of arena_free, without `done`. DXP_ENOMEM: the allocation stays.
 * DXP_EAGAIN, only with `sequence`: no engine command precedes the FREE, so `done` answers it. */
int worker_unmap_free(struct tenant *t, uint64_t address, worker_unmapped done,
		      const uint32_t *sequence);
void worker_unmap_port(struct port *p);
uint32_t workers_poll(struct slot *s);
/* Notifies hosts of commands that run long. Returns how many. */
uint32_t workers_begun_notify(struct slot *s);
/* Earliest deadline of all workers, including the start of a waiting process. */
uint64_t workers_begun_deadline(const struct slot *s);
bool workers_sleeping(struct slot *s);
void workers_resumed(struct slot *s);
/* Call it at shutdown, after the last order. */
void workers_close(struct slot *s);

/* registers.c */
extern const struct nic_cfg_ops registers_ops;

#endif
