/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of an xPU, shared by the files of this folder that make up struct slot.
 *
 * Who keeps what alive: a tenant lives until nothing of it runs any more; `busy` counts what does.
 * A work item is in its tenant's graph until it ends. What an order works in is held until it has
 * ended, and what a process has mapped until it has unmapped it, or is gone. */
#ifndef XPU_SLOT_INTERNAL_H
#define XPU_SLOT_INTERNAL_H

#include <pthread.h>

#include "base/util.h"
#include "wire/command.h"
#include "xpu/arena.h"
#include "xpu/bridged.h"
#include "xpu/cell.h"
#include "xpu/graph.h"
#include "xpu/haul.h"
#include "xpu/outbox.h"
#include "xpu/programs.h"
#include "engine/pump.h"
#include "xpu/slot.h"
#include "cell/zygote.h"

/* A program of a host. It is in its cell under this id, where it has built. */
struct program {
	struct program_entry entry;
	uint64_t charged; /* bytes of its tenant's programs_bytes */
	uint32_t users;   /* orders that point here, and one while its host has it */
	bool built;
	bool links; /* is made of other programs */
	/* What it can be built from again, or NULL: a package that no host can change. */
	uint8_t *package;
	uint64_t package_bytes;
	char *log;
	uint32_t log_bytes;
	uint8_t *about; /* records about its kernels, or NULL */
	uint32_t about_bytes;
	struct order release;
	struct cell_program message;
};

/* What was fetched last from the engine for a host, which asks for it part by part. */
struct fetched {
	uint32_t program;
	uint8_t what;
	uint8_t *data; /* NULL: nothing */
	size_t bytes;
};

/* A NIC function that kernels of one host drive. Lives until no kernel and no packet points into
 * its window. */
struct port {
	struct port *next;
	struct tenant *tenant;
	uint32_t function;
	uint32_t key;      /* of device memory, in the function's table */
	uint32_t place;    /* of its window, behind device memory */
	uint64_t address;  /* of it, from the begin of device memory */
	uint32_t mappings; /* that a process may still have */
	uint32_t qp_magic[COMMAND_QPS];
	uint32_t launches; /* RUNs with the engine that have it as an argument */
	bool closed;
	struct dxp_window *window;
};

/* One host's use of the xPU, from OPEN to CLOSE or its death. */
struct tenant {
	struct tenant *next;
	struct slot *slot;
	uint16_t host;
	uint32_t owner;      /* of its memory: a fresh number for each OPEN */
	uint32_t memory_key; /* keys.c */
	bool trespassed;     /* that has been said */
	struct dxp_target reply;
	struct graph *graph;
	struct cell *cell; /* a process of its own; NULL: none yet, or the slot's thread is used */
	struct programs programs; /* that were built, or tried to be */
	uint64_t programs_bytes;  /* that they take here, with those being built */
	uint64_t packages_bytes;  /* of these, packages that are kept */
	uint32_t unmaps;          /* ranges that were freed, and that its process may still have */
	struct parked *parked;    /* ALLOCs that wait for these, or for memory of a silent host */
	uint32_t busy;            /* orders, clearings and transfers that point here */
	uint32_t hauls; /* under way, XPU_HAULS_MAX at most; that of the task is not counted */
	bool leaving;   /* takes no commands; ends when it is not busy any more */
	bool gone;      /* the host is lost: it is told nothing any more */
	bool closing;   /* a reply to CLOSE is owed */
	bool given_up;  /* silent and put out for others, who wait for its memory */
	bool hurried;   /* events up to count `hurry` do not come late */
	uint32_t hurry;
	uint32_t close_sequence;
	uint32_t complaints;    /* logged so far */
	struct port *port;      /* NULL: it has not asked for one */
	bool port_waits;        /* for the function of a silent host that was put out */
	uint32_t port_sequence; /* of the reply that is then owed */
	struct cfg_task task;
	struct fetched fetched;
	/* Events that may come late, as they will go out; since when the first waits. */
	uint8_t held[XPU_EVENTS_HELD * COMMAND_EVENT_BYTES];
	uint32_t held_bytes;
	uint64_t held_since_ns;
	bool held_hurried; /* of these, one is waited for, or one after it */
};

/* An asynchronous command from its arrival to its event. */
struct work {
	struct graph_command graph; /* first: the graph hands these out */
	struct tenant *tenant;
	uint64_t queued_ns, started_ns, ended_ns;
	int32_t native;   /* what the device's driver said of its failure; 0: nothing */
	uint16_t to_node; /* SEND, SIGNAL: who hears of its end too; 0: nobody, or it has been told
			   */
	bool lazy;
	uint16_t bytes;
	uint8_t data[]; /* the command as it came: smaller than decoded */
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
#define CLEARING_DMAS 2 /* the next one is there when one ends */

/* Memory that is cleared piece by piece before its host hears of it. */
struct clearing {
	struct clearing *next;
	struct tenant *tenant;
	uint32_t sequence;
	uint64_t address, bytes, cleared; /* BRIDGED: cleared or being cleared */
	int status;
	struct clearing_dma dmas[CLEARING_DMAS];
};

/* BRIDGED: memory that is nobody's and is being cleared. */
struct scrub {
	struct pump_transfer pump;
	bool busy;
	uint64_t at, end;   /* to be cleared; equal: nothing */
	uint64_t under_way; /* bytes from `at` on, while busy */
};

/* Memory of another xPU that a PUT has shown to be right, with its key. */
struct known_key {
	uint16_t node;
	uint32_t key;
	uint64_t incarnation;
	uint64_t address, bytes;
};
#define KNOWN_KEYS 256

struct slot_counters {
	uint32_t done, failed, refused, kernels, builds;
	uint64_t sent_bytes;
	uint32_t last_error;
};

struct slot {
	struct slot_options options;
	uint8_t uuid[WIRE_UUID_BYTES];
	struct arena *arena;
	struct engine *engine; /* `none` where kernels run in processes */
	struct engine_description about;
	struct bridged *bridged; /* NULL: the NIC reaches device memory */
	struct cell *cell;       /* of all hosts; NULL: each has its own */
	struct zygote *zygote;   /* ... from here */
	int bell_fd;             /* ... which ring there */
	uint32_t cell_last, cell_spin_ns;
	bool woke;        /* one, since slot_woke */
	uint32_t windows; /* bit i: place i behind device memory is taken */
	struct node *node;
	pthread_mutex_t interrupt_lock; /* guards the next: the engine's threads outlive the node */
	struct node *interrupted;       /* whom they wake */
	struct outbox *outbox;
	uint32_t memory_key; /* own: of all memory that can be addressed, for no peer */
	struct scrub scrub;
	struct tenant *tenants;
	struct tenant **by_host; /* by node id, of those that are not leaving; for all ids, of
				    which only what is used takes memory */
	uint32_t hauls;          /* of all tenants, XPU_HAULS_SLOT_MAX at most */
	uint32_t owner_last, program_last;
	struct port *ports; /* with those that end */
	struct clearing *clearings, **clearings_tail;
	struct pull *pulls;
	struct build *builds,
		**builds_tail; /* BRIDGED: not built yet; the first one's source is here */
	bool closing;
	uint64_t needed_ns;  /* next look whether silent hosts are in the way of others */
	uint64_t blocked_ns; /* since when the outbox could not post; 0: it could */
	uint16_t stuck_node; /* that slot_peer_stuck dealt with last, and when */
	uint64_t stuck_ns;
	struct known_key known[KNOWN_KEYS];
	struct slot_counters counters;
};

/* slot.c */
bool slot_lookup(const struct slot *s, uint16_t node, struct node_entry *out);
/* A row of a live node that we may talk to as a struct dxp_target. DXP_ENOENT, DXP_EACCESS,
 * DXP_EPEERLOST. */
int slot_peer(const struct slot *s, uint16_t node, struct node_entry *entry,
	      struct dxp_target *out);
void slot_error_note(struct slot *s, int status);
/* This node lives, and has not answered for so long that our buffers are wanted back: all that we
 * have under way with it ends. A host is put out. */
void slot_peer_stuck(struct slot *s, uint16_t node);

/* tenant.c */
/* A haul of it has begun, +1, or ended, -1. */
void tenant_hauls_add(struct tenant *t, int more);
/* May another begin? */
bool tenant_may_haul(const struct tenant *t);
struct tenant *tenant_find(const struct slot *s, uint16_t host);
int tenant_open(struct slot *s, uint16_t host, const struct dxp_target *reply, struct tenant **out);
/* Cancels and frees everything; the tenant ends when it can. */
void tenant_leave(struct tenant *t, int status);
/* The host is lost. */
void tenant_evict(struct tenant *t, int status);
void tenants_changed(struct slot *s, const struct table_change *change);
/* The session with this node is over, and with it what its commands and our answers were. */
void tenants_session_ended(struct slot *s, uint16_t node, int status);
/* What another host may need of a silent one. */
enum tenant_need { NEED_PLACE, NEED_MEMORY, NEED_FUNCTION, NEED_REQUESTS };

/* Puts out the host that has been silent longest, of those that have any of what another host
 * needs. False: there is none. */
bool tenants_make_room(struct slot *s, enum tenant_need need);
/* Memory that silent hosts have. */
uint64_t tenants_silent_bytes(const struct slot *s);
/* Memory of those that were put out so, which is still to come. */
uint64_t tenants_giving(const struct slot *s);
/* Looks whether silent hosts hold what others wait for; returns how many were put out. */
uint32_t tenants_needed(struct slot *s);
/* Says on the log what this host did wrong, until that has been said often enough. */
void tenant_complain(struct tenant *t, const char *format, ...) PRINTF_LIKE(2, 3);
/* Ends those that are leaving and not busy; returns how many. */
uint32_t tenants_reap(struct slot *s);
/* At the end: nobody is told anything any more. */
void tenants_silence(struct slot *s);
/* Then, when no order is left: everything ends that waits, or that the outbox has. */
void tenants_cancel(struct slot *s);
/* Then, when nothing of theirs is with NIC or device either. */
void tenants_free(struct slot *s);

/* reply.c */
void reply_send(struct tenant *t, const struct command_reply *r);
void reply_status(struct tenant *t, uint8_t op, uint32_t sequence, int status);
/* `lazy`: it may wait for others (XPU_EVENTS_HELD, XPU_EVENTS_HOLD_NS). */
void event_send(struct tenant *t, const struct command_event *e, bool lazy);
/* Events up to count `upto` are waited for: they come at once from now on. */
void events_hurry(struct tenant *t, uint32_t upto);
/* Lets out what is held for long enough; returns how much that was. */
uint32_t events_flush_due(struct slot *s);
uint64_t events_deadline(const struct slot *s);
/* The command of this event is running. */
void begun_send(struct tenant *t, uint64_t event);
/* What a kernel of its has printed. */
void print_send(struct tenant *t, const void *text, uint32_t bytes);
/* An EVENT to another xPU. `done` may be NULL. */
int event_tell(struct slot *s, const struct dxp_target *to, const struct command_event *e,
	       outbox_done done, void *context);

/* commands.c: what arrives */
void message_take(struct slot *s, const struct dxp_nic_event *event, const uint8_t *data);

/* work.c: the life of asynchronous commands */
void work_post(struct tenant *t, const struct command *c, const uint8_t *data, uint32_t bytes);
/* What goes in front of it in an order. */
void work_needs(const struct work *w, struct cell_needs *out);
/* It has run, or was given up after it came out of the graph. */
void work_done(struct work *w, int status);
/* Hands out what is ready, reports what failed. Returns how much. */
uint32_t works_advance(struct slot *s);
void work_free(struct work *w);

/* launch.c, edit.c, transfer.c, pull.c: what is ready starts; ends in work_done */
void launch_start(struct work *w);
void edit_start(struct work *w);
/* What a CELL_RUN is, for people. */
void launch_describe(const struct order *o, char *out, size_t room);
void transfer_start(struct work *w);
void pull_start(struct work *w);
/* Those of a tenant end soon. */
void pulls_cancel(const struct tenant *t, int status);
void task_start(struct tenant *t);

/* memory.c */
uint64_t memory_left(const struct tenant *t); /* it may allocate, if that is in one piece */
void memory_allocate(struct tenant *t, const struct command *c);
void memory_free(struct tenant *t, const struct command *c);
void memory_free_reply(struct tenant *t, uint32_t sequence, int status);
/* Memory has come back: those that wait for it go on. */
void parked_retry(struct tenant *t);
uint32_t clearings_advance(struct slot *s);
void clearings_free(struct slot *s);

/* keys.c */
/* A host's key; ends with it. DXP_EBUSY. */
int key_open(struct tenant *t);
void key_close(struct tenant *t);
/* In the table of its kernels' function; ends with that. */
int key_of_port(struct tenant *t, uint32_t function, uint32_t *key);
/* The memory has been allocated: what others still have under way there ends soon. */
void memory_claim(struct slot *s, uint64_t address, uint64_t bytes);
bool memory_claimed(const struct slot *s, uint64_t address, uint64_t bytes); /* it has */
uint32_t scrub_advance(struct slot *s);

/* port.c */
void port_open(struct tenant *t, const struct command *c);
/* Its kernels read `status`, nothing of it is sent any more. NULL is allowed. */
void port_close(struct slot *s, struct port *p, int status);
/* Around each launch: the window stays, and the NIC looks at it without being woken. */
void port_hold(struct slot *s, struct port *p);
void port_drop(struct slot *s, struct port *p);
/* Says on the log when the kernel that has just ended has lost its function. */
void port_complain(struct tenant *t, const struct port *p, const char *kernel);
/* Frees those that are closed and pointed at by nobody; returns how many. */
uint32_t ports_reap(struct slot *s);
void ports_close(struct slot *s);
/* After the NIC. */
void ports_free(struct slot *s);

/* build.c */
void program_build(struct tenant *t, const struct command *c);
/* In the tenant's cell, which has just begun. */
void build_again(struct tenant *t, struct program *p);
/* False: there is no memory, or it would be more than `most`. */
bool bytes_add(uint8_t **data, uint64_t *bytes, const void *more, uint32_t count, uint64_t most);
/* At the end: those that wait for their turn. */
void builds_free(struct slot *s);

/* fetch.c */
void fetch_take(struct tenant *t, const struct command *c);
/* So that it can be built again without what it was linked from. */
void binary_keep(struct tenant *t, struct program *p);

/* program.c */
void program_release(struct tenant *t, const struct command *c);
struct program *program_find(const struct tenant *t, uint32_t id);
/* Counts what it takes now with its tenant's; `building`: its package is here, or will be. */
void program_charge(struct tenant *t, struct program *p, bool building);
void program_discharge(struct tenant *t, struct program *p);
struct program *program_hold(struct program *p);
void program_drop(struct program *p); /* NULL is allowed */
/* All of a tenant, which is leaving. */
void programs_release(struct tenant *t);
/* Into a cell that has just begun. */
void programs_rebuild(struct tenant *t);

/* cells.c: which cell serves whom, and what its process has mapped */
/* The tenant's cell, or the slot's; NULL: it has none yet. */
struct cell *cell_of(const struct tenant *t);
/* The same, and begins one. NULL: there can be none now; *status says why. */
struct cell *cell_get(struct tenant *t, int *status);
/* How many commands of the engine's lane may still be given out. */
bool cell_full(const struct tenant *t);
/* A range that the tenant has from now on, in whole pages. */
void cell_map(struct tenant *t, uint64_t address, uint64_t bytes);
/* An allocation that goes; it is anybody's only when its process has given it up. Status of
 * arena_free; DXP_ENOMEM: it stays. With `sequence`, which may be NULL: DXP_EAGAIN: no kernel is
 * before that, so the FREE with this sequence will be answered then. */
int cell_unmap_free(struct tenant *t, uint64_t address, const uint32_t *sequence);
void cell_unmap_port(struct port *p);
uint32_t cells_turn(struct slot *s);
/* Tells hosts of commands that run for long; how many. */
uint32_t cells_begun_tell(struct slot *s);
/* Also when a process that waits for a zygote can be started. */
uint64_t cells_begun_deadline(const struct slot *s);
bool cells_asleep(struct slot *s);
void cells_awake(struct slot *s);
/* At the end: nothing runs any more, all orders have ended. */
void cells_close(struct slot *s);

/* registers.c */
extern const struct nic_cfg_ops registers_ops;

#endif
