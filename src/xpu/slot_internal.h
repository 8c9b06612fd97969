/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of an xPU, shared by the files of this folder that make up struct slot.
 *
 * Who keeps what alive: a tenant lives until nothing of it runs any more; `busy` counts what does.
 * A work item is in its tenant's graph until it ends. A program lives until the engine's thread has
 * released it. */
#ifndef XPU_SLOT_INTERNAL_H
#define XPU_SLOT_INTERNAL_H

#include <pthread.h>

#include "base/util.h"
#include "wire/command.h"
#include "xpu/arena.h"
#include "xpu/bridged.h"
#include "xpu/graph.h"
#include "xpu/haul.h"
#include "xpu/outbox.h"
#include "xpu/pump.h"
#include "xpu/slot.h"
#include "xpu/worker.h"

/* A program of a host. */
struct program {
	struct program *next;
	uint32_t id;
	struct engine_program *handle; /* NULL: it did not build */
	char *log;
	uint32_t log_bytes;
	uint8_t *about; /* records about its kernels, or NULL */
	uint32_t about_bytes;
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
	uint32_t function;
	uint32_t key; /* of device memory, in the function's table */
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
	struct program *programs;
	uint32_t program_count; /* with those being built */
	uint32_t busy;          /* jobs, clearings and transfers that point here */
	uint32_t hauls; /* under way, XPU_HAULS_MAX at most; those of the task are not counted */
	bool leaving;   /* takes no commands; ends when it is not busy any more */
	bool gone;      /* the host is lost: it is told nothing any more */
	bool closing;   /* a reply to CLOSE is owed */
	bool hurried;   /* events up to count `hurry` do not come late */
	uint32_t hurry;
	uint32_t close_sequence;
	uint32_t complaints; /* logged so far */
	struct port *port;   /* NULL: it has not asked for one */
	struct cfg_task task;
	struct fetched fetched;
	/* Events that may come late, as they will go out; since when the first waits. */
	uint8_t held[XPU_EVENTS_HELD * COMMAND_EVENT_BYTES];
	uint32_t held_bytes;
	uint64_t held_since_ns;
};

/* An asynchronous command from its arrival to its event. */
struct work {
	struct graph_command graph; /* first: the graph hands these out */
	struct tenant *tenant;
	uint64_t queued_ns, started_ns, ended_ns;
	uint16_t to_node; /* SEND, SIGNAL: who hears of its end too; 0: nobody, or it has been told
			   */
	bool lazy;
	uint16_t bytes;
	uint8_t data[]; /* the command as it came: smaller than decoded */
};

struct pull;
struct build;

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
	struct engine *engine;
	struct bridged *bridged; /* NULL: the NIC reaches device memory */
	struct worker *worker;
	struct node *node;
	pthread_mutex_t interrupt_lock; /* guards the next: the engine's threads outlive the node */
	struct node *interrupted;       /* whom they wake */
	struct outbox *outbox;
	uint32_t memory_key; /* own: of all memory that can be addressed, for no peer */
	struct scrub scrub;
	struct tenant *tenants;
	uint32_t owner_last, program_last;
	uint32_t jobs;      /* RUNs with the worker */
	struct port *ports; /* with those that end */
	struct clearing *clearings, **clearings_tail;
	struct pull *pulls;
	struct build *builds,
		**builds_tail; /* BRIDGED: not built yet; the first one's source is here */
	bool closing;
	uint16_t stuck_node; /* that slot_peer_stuck dealt with last, and when */
	uint64_t stuck_ns;
	struct known_key known[KNOWN_KEYS];
	struct slot_counters counters;

	/* The worker's: events of the last RUNs that failed. Longer than what may be with it at
	 * once. */
	uint64_t failed[XPU_WORK_MAX];
	uint32_t failed_next;
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
struct tenant *tenant_find(const struct slot *s, uint16_t host);
int tenant_open(struct slot *s, uint16_t host, const struct dxp_target *reply, struct tenant **out);
/* Cancels and frees everything; the tenant ends when it can. */
void tenant_leave(struct tenant *t, int status);
/* The host is lost. */
void tenant_evict(struct tenant *t, int status);
void tenants_changed(struct slot *s, const struct table_change *change);
/* Says on the log what this host did wrong, until that has been said often enough. */
void tenant_complain(struct tenant *t, const char *format, ...) PRINTF_LIKE(2, 3);
/* Ends those that are leaving and not busy; returns how many. */
uint32_t tenants_reap(struct slot *s);
/* At the end, when no job runs: everything ends that waits, or that the outbox has; nobody is told.
 */
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
/* An EVENT to another xPU. `done` may be NULL. */
int event_tell(struct slot *s, const struct dxp_target *to, const struct command_event *e,
	       outbox_done done, void *context);

/* commands.c: what arrives */
void message_take(struct slot *s, const struct dxp_nic_event *event, const uint8_t *data);

/* work.c: the life of asynchronous commands */
void work_post(struct tenant *t, const struct command *c, const uint8_t *data, uint32_t bytes);
/* It has run, or was given up after it came out of the graph. */
void work_done(struct work *w, int status);
/* Hands out what is ready, reports what failed. Returns how much. */
uint32_t works_advance(struct slot *s);
void work_free(struct work *w);

/* launch.c, edit.c, transfer.c, pull.c: what is ready starts; ends in work_done */
void launch_start(struct work *w);
void edit_start(struct work *w);
void transfer_start(struct work *w);
void pull_start(struct work *w);
/* Those of a tenant end soon. */
void pulls_cancel(const struct tenant *t, int status);
void task_start(struct tenant *t);

/* memory.c */
uint64_t memory_left(const struct tenant *t); /* it may allocate, if that is in one piece */
void memory_allocate(struct tenant *t, const struct command *c);
void memory_free(struct tenant *t, const struct command *c);
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
/* At the end: those that wait for their turn. */
void builds_free(struct slot *s);

/* fetch.c */
void fetch_take(struct tenant *t, const struct command *c);

/* program.c */
void program_release(struct tenant *t, const struct command *c);
struct program *program_find(const struct tenant *t, uint32_t id);
/* Without an engine's part in it. */
void program_free(struct program *p);
/* Has the engine's thread release all of them. */
void programs_release(struct tenant *t);
/* Without the engine's thread. */
void programs_free(struct tenant *t);

/* job.c: what the engine's thread does for us */
struct job {
	struct worker_job worker;
	struct slot *slot;
	void (*done)(struct job *j); /* back in the slot's thread; frees j */
	void (*drop)(struct job *j); /* in place of done, at the end of the slot; frees j */
};
void job_post(struct slot *s, struct job *j, void (*run)(struct worker_job *),
	      void (*done)(struct job *), void (*drop)(struct job *));
uint32_t jobs_take(struct slot *s);
void jobs_drop(struct slot *s, struct worker_job *list);

/* order.c: a command of the engine's lane that is with the engine's thread; part of its owner's
 * struct */
struct order;
struct order_ops {
	int (*run)(struct order *o);  /* engine's thread */
	void (*end)(struct order *o); /* lets go of what it holds, and of itself */
};
struct order {
	struct job job;
	struct work *work;
	const struct order_ops *ops;
	uint64_t needs[COMMAND_WAITS_MAX]; /* events of earlier ones on this thread that must have
					      gone well */
	uint8_t need_count;
	bool ran;
	int status;
	char text[ENGINE_TEXT_BYTES];
};
void order_init(struct order *o, struct work *w, const struct order_ops *ops);
void order_post(struct order *o);

/* registers.c */
extern const struct nic_cfg_ops registers_ops;

#endif
