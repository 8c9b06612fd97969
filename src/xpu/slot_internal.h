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
#include "xpu/tenant_memory.h"
#include "worker/zygote.h"

/* A program of a host. If it is built, the host's worker has it under the same id. */
struct program {
	struct program_entry entry;
	uint64_t charged; /* bytes counted in its tenant's programs_bytes */
	/* orders that point to the program, plus one until its host releases it */
	uint32_t users;
	bool built;
	bool links; /* linked from other programs */
	/* Package for a rebuild, in memory that no host can change; or NULL. */
	uint8_t *package;
	uint64_t package_bytes;
	char *log;
	uint32_t log_bytes;
	uint8_t *about; /* records about its kernels, or NULL */
	uint32_t about_bytes;
	struct order release;
	struct worker_program message;
};

/* Data last fetched from the engine for a host, which requests it in parts. */
struct fetched {
	uint32_t program;
	uint8_t what;
	uint8_t *data; /* NULL: nothing */
	size_t bytes;
};

/* A NIC function for kernels of one host, until no kernel and no packet uses its window. */
struct port {
	struct port *next;
	struct tenant *tenant;
	uint32_t function;
	uint32_t key;      /* key of device memory in the function's table */
	uint32_t index;    /* index of its window behind device memory */
	uint64_t address;  /* address of the window, from the start of device memory */
	uint32_t mappings; /* UNMAPs of the window that a process has not completed */
	uint32_t qp_magic[COMMAND_QPS];
	uint32_t launches; /* RUNs in the engine that have it as an argument */
	bool closed;
	struct dxp_window *window;
};

/* A host, from OPEN to CLOSE or its loss. */
struct tenant {
	struct tenant *next;
	struct slot *slot;
	uint16_t host;
	uint32_t owner; /* owner number of its memory in the arena: a new one for each OPEN */
	struct tenant_memory *memory;
	uint32_t memory_key; /* keys.c */
	bool trespassed;     /* an out-of-bounds access was logged */
	struct dxp_target reply;
	struct graph *graph;
	/* process of this host; NULL: none yet, or the slot's thread is used */
	struct worker *worker;
	struct programs programs; /* every program built or tried */
	uint64_t programs_bytes;  /* memory of its programs here, including those being built */
	uint64_t packages_bytes;  /* of that, packages kept for rebuilds */
	uint32_t unmaps;          /* freed ranges that its process may still map */
	/* ALLOCs that wait for these ranges, or for memory of a silent host */
	struct parked *parked;
	uint32_t busy; /* orders, clearings and transfers that point to this struct */
	/* running bulk transfers, at most XPU_BULKS_MAX; excludes that of the task */
	uint32_t bulks;
	bool leaving; /* accepts no commands; freed when not busy */
	bool gone;    /* the host is lost: nothing is sent to it */
	bool closing; /* a reply to CLOSE is due */
	/* true: the host was silent, and was evicted because others wait for its memory */
	bool given_up;
	bool hurried; /* events up to count `hurry` must not be delayed */
	uint32_t hurry;
	uint32_t close_sequence;
	uint32_t complaints;    /* logged so far */
	struct port *port;      /* NULL: not requested */
	bool port_waits;        /* a reply to COMMAND_NIC waits for a function of an evicted host */
	uint32_t port_sequence; /* sequence number of that reply */
	struct cfg_task task;
	struct fetched fetched;
	/* Encoded events that may be delayed, and the time at which the first was stored. */
	uint8_t held[XPU_EVENTS_HELD * COMMAND_EVENT_BYTES];
	uint32_t held_bytes;
	uint64_t held_since_ns;
	bool held_hurried; /* the host waits for one of the held events, or for a later one */
};

/* A SEND, SIGNAL or BRIDGE; fields as in struct command. */
struct network_command {
	uint64_t address, bytes;
	uint64_t from_address, to_address;
	uint32_t from_key, to_key;
	uint32_t piece_bytes;
	uint16_t to_node;
	uint8_t path, mode;
};

/* An asynchronous command from its arrival to its event. */
struct work {
	/* must be the first field, because the graph returns pointers to it */
	struct graph_command graph;
	struct tenant *tenant;
	uint64_t queued_ns, started_ns, ended_ns;
	int32_t native; /* the device driver's code of a failure; 0: none */
	/* SEND, SIGNAL: peer that must also be notified of a failure; 0: none, or already
	 * notified */
	uint16_t to_node;
	bool lazy;
	uint8_t op;
	/* Engine commands, from their start: */
	uint8_t held;      /* number of arguments or ranges, from the first on, that are held */
	struct port *port; /* RUN: the port, held; NULL: no argument is the NIC */
	struct order order;
	/* RUN: struct worker_run. WRITE, COPY, FILL, MARK: worker_edit. Others: network_command. */
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

struct pull;
struct build;
struct parked;

/* A DMA that clears a part of memory. */
struct clearing_dma {
	struct pump_transfer pump;
	struct clearing *clearing;
	bool busy;
};
#define CLEARING_DMAS 2 /* two DMAs, so that one is queued when the other completes */

/* Memory cleared piece by piece before its host has the address. */
struct clearing {
	struct clearing *next;
	struct tenant *tenant;
	uint32_t sequence;
	uint64_t address, bytes, cleared; /* BRIDGED: cleared or being cleared */
	int status;
	struct clearing_dma dmas[CLEARING_DMAS];
};

/* BRIDGED: unallocated memory being cleared. */
struct scrub {
	struct pump_transfer pump;
	bool busy;
	uint64_t at, end;       /* range to clear; equal: nothing */
	uint64_t running_bytes; /* bytes from `at` on, while busy */
};

/* A range of another xPU's memory, with key, to which a PUT has succeeded. */
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

/* Functions of higher files that lower files of this folder call (README.md). */
struct slot_hooks {
	void (*evict)(struct tenant *t, int status); /* tenant_evict */
	void (*worker_started)(struct tenant *t);    /* its new process has nothing built yet */
};

struct slot {
	const struct slot_hooks *hooks;
	struct slot_options options;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct mac *seal_key; /* seals binaries for hosts */
	struct arena *arena;
	struct engine *engine; /* `none` if kernels run in processes */
	struct engine_description about;
	struct bridged *bridged; /* NULL: the NIC reaches device memory */
	struct worker *worker;   /* shared by all hosts; NULL: each has its own */
	struct zygote *zygote;   /* starts the worker processes of hosts */
	int wakeup_fd;           /* the zygote's wakeup eventfd */
	uint32_t worker_last, worker_spin_ns;
	bool woke;        /* a worker was woken since slot_woke */
	uint32_t windows; /* bit i: window i behind device memory is used */
	struct node *node;
	/* guards `interrupted`: the engine's threads outlive the node */
	pthread_mutex_t interrupt_lock;
	struct node *interrupted; /* the node that they wake */
	struct outbox *outbox;
	struct scrub scrub;
	struct tenant *tenants;
	struct tenant_memory *memories; /* of tenants that are gone */
	bool common_used;               /* hosts have reached common memory (keys.c) */
	/* Tenants that are not leaving, by node id. The array covers all ids; untouched pages cost
	 * no memory. */
	struct tenant **by_host;
	uint32_t bulks; /* bulk transfers of all tenants, at most XPU_BULKS_SLOT_MAX */
	uint32_t owner_last, program_last;
	struct port *ports; /* including closed ones still in use */
	struct clearing *clearings, **clearings_tail;
	struct pull *pulls;
	/* BRIDGED: builds that wait; the package of the first one is in host memory */
	struct build *builds, **builds_tail;
	bool closing;
	uint64_t files_ns;   /* next check of tenants' files */
	uint64_t needed_ns;  /* next check whether silent hosts block others */
	uint64_t blocked_ns; /* time at which the outbox became unable to post; 0: it can post */
	uint16_t stuck_node; /* last node and time of slot_peer_stuck */
	uint64_t stuck_ns;
	struct known_key known[KNOWN_KEYS];
	struct slot_counters counters;
};

/* slot_peer.c */
bool slot_lookup(const struct slot *s, uint16_t node, struct node_entry *out);
/* Finds a live, granted xPU and its address. DXP_ENOENT, DXP_EACCESS, DXP_EPEERLOST; DXP_EINVAL:
 * not an xPU, or this one. */
int slot_peer(const struct slot *s, uint16_t node, struct node_entry *entry,
	      struct dxp_target *out);
void slot_error_note(struct slot *s, int status);
/* Resets the session of a live node that keeps bridge buffers too long, so its requests fail. If
 * the node is a host, evicts it. */
void slot_peer_stuck(struct slot *s, uint16_t node);

/* tenant_list.c */
struct tenant *tenant_find(const struct slot *s, uint16_t host);
/* Counts a bulk transfer that has started (+1) or completed (-1). */
void tenant_bulks_add(struct tenant *t, int more);
bool tenant_may_bulk(const struct tenant *t);
/* Logs a mistake of this host, up to a bound. */
void tenant_complain(struct tenant *t, const char *format, ...) PRINTF_LIKE(2, 3);

/* tenant_silent.c */
/* Resources of a silent host that another host may need. */
enum tenant_need { NEED_ENTRY, NEED_MEMORY, NEED_FUNCTION, NEED_REQUESTS };

/* Evicts the host that has been silent longest, of those that have any resource of `need`. False:
 * there is none. */
bool tenants_make_space(struct slot *s, enum tenant_need need);
/* Returns the memory of silent hosts. */
uint64_t tenants_silent_bytes(const struct slot *s);
/* Returns the memory of evicted silent hosts that is not freed yet. */
uint64_t tenants_giving(const struct slot *s);
/* Evicts silent hosts that hold resources which other hosts wait for; returns how many. */
uint32_t tenants_needed(struct slot *s);

/* tenant.c */
int tenant_open(struct slot *s, uint16_t host, const struct dxp_target *reply, struct tenant **out);
/* Cancels and frees everything; the tenant is freed when not busy. */
void tenant_leave(struct tenant *t, int status);
/* Drops a lost or evicted host: nothing more is sent to it. */
void tenant_evict(struct tenant *t, int status);
void tenants_changed(struct slot *s, const struct table_change *change);
/* Handles the loss of a session, and of its commands and answers. */
void tenants_session_ended(struct slot *s, uint16_t node, int status);
/* Frees tenants that are leaving and not busy; returns how many. */
uint32_t tenants_reap(struct slot *s);
/* Stops all messages to hosts (shutdown, step 1). */
void tenants_silence(struct slot *s);
/* Completes commands that wait, and messages in the outbox (step 2, after the last order). */
void tenants_cancel(struct slot *s);
/* Frees all tenants (step 3, after NIC and device). */
void tenants_free(struct slot *s);

/* reply.c */
void reply_send(struct tenant *t, const struct command_reply *r);
void reply_status(struct tenant *t, uint8_t op, uint32_t sequence, int status);
/* Queues an event for its host. `lazy`: may be delayed (XPU_EVENTS_HELD, XPU_EVENTS_HOLD_NS). */
void reply_event_send(struct tenant *t, const struct command_event *e, bool lazy);
/* Sends events up to count `upto` without delay from now on. */
void reply_events_hurry(struct tenant *t, uint32_t upto);
/* Sends events held for long enough; returns for how many hosts. */
uint32_t reply_events_flush_due(struct slot *s);
uint64_t reply_events_deadline(const struct slot *s);
/* Reports to the host that the command with this event has started. */
void reply_begun_send(struct tenant *t, uint64_t event);
/* Sends a sentence about a failed command, before its event; event 0: sends nothing. */
void reply_failed_send(struct tenant *t, uint64_t event, const char *sentence);
/* Sends a kernel's printed text. */
void reply_print_send(struct tenant *t, const void *text, uint32_t bytes);
/* Queues an EVENT to another xPU. `done` may be NULL. */
int reply_event_notify(struct slot *s, const struct dxp_target *to, const struct command_event *e,
		       outbox_done done, void *context);

/* commands.c: arriving messages */
void commands_message_receive(struct slot *s, const struct dxp_nic_event *event,
			      const uint8_t *data);

/* work.c: the lifetime of asynchronous commands */
void work_post(struct tenant *t, const struct command *c, uint32_t message_bytes);
/* Lists the events that the command, which the graph has handed out, needs; see graph_unfinished().
 * Returns their number. */
uint8_t work_needs(const struct work *w, uint64_t events[COMMAND_WAITS_MAX]);
/* Counts, reports and frees a command that is out of the graph. */
void work_report(struct work *w, int status);
/* Completes a command that came out of the graph. */
void work_done(struct work *w, int status);
void work_free(struct work *w);

/* launch.c, edit.c, transfer.c, pull.c: start a ready command; completes in work_done */
void launch_start(struct work *w);
void edit_start(struct work *w);
void transfer_start(struct work *w);
void pull_start(struct work *w);
/* Cancels a tenant's pulls; they complete soon. */
void pulls_cancel(const struct tenant *t, int status);
void transfer_task_start(struct tenant *t);

/* work_start.c */
/* Starts ready commands, reports failed ones. Returns how many. */
uint32_t works_advance(struct slot *s);

/* memory.c */
/* bytes that the tenant may still allocate, if they are contiguous */
uint64_t memory_left(const struct tenant *t);
void memory_allocate(struct tenant *t, const struct command *c);
void memory_free(struct tenant *t, const struct command *c);
/* Retries waiting ALLOCs after memory was freed. */
void memory_parked_retry(struct tenant *t);
uint32_t memory_clearings_advance(struct slot *s);
void memory_clearings_free(struct slot *s);

/* keys.c */
/* Registers a host's key, and the xPU's own use of it for the host. DXP_EBUSY. */
int key_open(struct tenant *t);
/* Rejects later requests with the key; the xPU's own transfers continue. */
void key_close(struct tenant *t);
/* Revokes the key of a tenant that has no transfers any more. */
void key_free(struct tenant *t);
/* Registers a key for the NIC function of the tenant's kernels; it is valid as long as the function
 * is open. */
int key_of_port(struct tenant *t, uint32_t function, uint32_t *key);
/* Cancels transfers of others in newly allocated memory. */
void keys_memory_claim(struct slot *s, uint64_t address, uint64_t bytes);
/* Returns whether these have completed. */
bool keys_memory_claimed(const struct slot *s, uint64_t address, uint64_t bytes);
uint32_t keys_scrub_advance(struct slot *s);

/* port.c */
void port_open(struct tenant *t, const struct command *c);
/* Closes a port: its kernels read `status`; the NIC sends nothing more. NULL is allowed. */
void port_close(struct slot *s, struct port *p, int status);
/* Called before and after each launch: keep the window, and make the NIC poll it without
 * wakeups. */
void port_hold(struct slot *s, struct port *p);
void port_drop(struct slot *s, struct port *p);
/* Logs that a kernel, which has just completed, lost its NIC function. */
void port_complain(struct tenant *t, const struct port *p, const char *kernel);
/* Frees closed ports without users; returns how many. */
uint32_t ports_reap(struct slot *s);
void ports_close(struct slot *s);
/* Frees all ports, after the NIC is closed. */
void ports_free(struct slot *s);

/* build.c */
void program_build(struct tenant *t, const struct command *c);
/* Rebuilds all programs in a new worker. */
void programs_rebuild(struct tenant *t);
/* Fails queued builds at shutdown. */
void builds_free(struct slot *s);

/* fetch.c */
void fetch_start(struct tenant *t, const struct command *c);
/* Keeps a linked program's binary for a rebuild without its inputs. */
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
/* Appends to *data. False: no memory, or the total would exceed `most`. */
bool program_bytes_add(uint8_t **data, uint64_t *bytes, const void *more, uint32_t count,
		       uint64_t most);

/* workers.c: workers of hosts, and what their processes map */
/* Returns the tenant's worker, or the slot's; NULL: none yet. */
struct worker *worker_of(const struct tenant *t);
/* Returns the tenant's worker, or the slot's; starts one if there is none. NULL: impossible now;
 * *status is the reason. */
struct worker *worker_get(struct tenant *t, int *status);
/* Returns whether the worker has XPU_WORK_MAX engine commands, the maximum. */
bool worker_full(const struct tenant *t);
/* Maps a new range of the tenant, in whole pages. */
void worker_map(struct tenant *t, uint64_t address, uint64_t bytes);
/* Reports an unmap. `sequence`: the FREE to answer now; NULL: the FREE is answered already, or
 * there is none. */
typedef void (*worker_unmapped)(struct tenant *t, const uint32_t *sequence);

/* Frees an allocation, available once the tenant's process has unmapped it, which `done` reports.
 * Status of arena_free, without `done` if nothing maps it; DXP_ENOMEM: it stays. DXP_EAGAIN (only
 * with `sequence`, which may be NULL): no engine command precedes, so `done` answers this FREE. */
int worker_unmap_free(struct tenant *t, uint64_t address, worker_unmapped done,
		      const uint32_t *sequence);
void worker_unmap_port(struct port *p);
uint32_t workers_poll(struct slot *s);
/* Notifies hosts of long-running commands; returns how many. */
uint32_t workers_begun_notify(struct slot *s);
/* Returns the earliest deadline of all workers, including the time at which a process that waits
 * for a zygote can start. */
uint64_t workers_begun_deadline(const struct slot *s);
bool workers_sleeping(struct slot *s);
void workers_resumed(struct slot *s);
/* Closes all workers at shutdown, after the last order. */
void workers_close(struct slot *s);

/* registers.c */
extern const struct nic_cfg_ops registers_ops;

#endif
