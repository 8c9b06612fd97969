/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the host library: one node per fabric, polled by waiting calls, under one lock.
 *
 * Lock: `lock` guards everything here and the node; public calls run between host_fabric_enter and
 * host_fabric_leave. Only host_fabric_wait releases it, between polls and during sleep, so state
 * may change across host_fabric_wait. Progress: calls poll the node themselves. The progress thread
 * polls while no call does; after a call it pauses for a moment, unless an xPU accesses host
 * memory. */
#ifndef HOST_INTERNAL_H
#define HOST_INTERNAL_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <dxp/async.h>
#include <dxp/bridge.h>

#include "base/error.h"
#include "host/limits.h"
#include "base/spin.h"
#include "base/util.h"
#include "host/events.h"
#include "host/use.h"
#include "nic/user.h"
#include "node/node.h"
#include "wire/command.h"

#define HOST_QP_COMMANDS NODE_SERVICE_QP
/* For PUT, GET and registers: never behind a command, nor short ones behind long ones. Both
 * sides use separate queue pairs: order holds within the peer's. */
#define HOST_QP_DATA 1
#define HOST_QP_LONG 2

/* Context of a descriptor: a struct host_op if the low byte is 0; else one of these and 56 bits
 * of data. */
enum host_context {
	HOST_CONTEXT_EVENT = 1, /* a command with an event: its name without the host */
	HOST_CONTEXT_PROBE,     /* a probe: node id */
	HOST_CONTEXT_NOTIFY,    /* notification of a node of an own event: node id */
};

/* Descriptors that a call waits for. On its stack, so it stays until `pending` is 0. */
struct host_op {
	alignas(256) uint32_t pending;
	int status; /* the first failure */
};

/* A synchronous command under way, on the caller's stack. */
struct host_request {
	struct host_op op; /* the NAP */
	struct host_request *next;
	struct dxp_xpu *xpu;
	uint32_t sequence;
	bool done;
	int status;
	struct command_reply *reply;
};

/* A node that waits for an event of this host, or the message that notifies it. */
struct notice {
	struct notice *next;
	uint64_t event;
	uint16_t node;
	uint8_t qp; /* queue pair of the data that it follows */
	int8_t status;
};

struct notice_queue {
	struct notice *first, **end;
};

struct move_list {
	struct move *first, **end;
};

/* Queue of completions. The ring has space for all requested ones, so adding never fails. */
struct completions {
	struct dxp_completion *ring;
	uint32_t space; /* a power of two, or 0 */
	uint32_t head, tail;
	uint32_t outstanding; /* requested, not completed */
	uint32_t waiters;
	bool woken;
	bool begun; /* also starts of commands */
};

struct dxp_fabric {
	pthread_mutex_t lock;
	_Atomic uint32_t entering; /* threads that wait for the lock */
	struct node *node;
	struct dxp_window *window;
	struct spin spin;
	uint64_t timeout_ns;
	/* Open ones, newest first; two of one node only if the older is dead. */
	struct dxp_xpu *xpus;
	struct host_request *requests;
	uint32_t sequence;
	uint32_t event_base;         /* first count of the next xPU opened */
	struct events own;           /* events whose executor is this host */
	struct notice_queue notices; /* to be posted */
	struct notice *spare_notices;
	struct move_list later, ready, running, draining, pulled;
	struct move *spare_moves;
	uint32_t pulls;     /* transfers that are PULLED */
	bool waits_changed; /* an xPU of a waiting transfer has ended: check all */
	struct completions completions;
	uint32_t hurriers; /* threads that have waited long for completions */
	dxp_print_fn print;
	void *print_context;
	/* Completions, replies and events so far: distinguishes polls with news from idle ones. */
	uint32_t ended;

	/* Sleep: at most one leader watches the node's file; others wait on `progress`. */
	pthread_cond_t progress, progress_wake;
	uint32_t waiting;  /* threads in host_fabric_wait */
	uint32_t sleepers; /* of those, on `progress` */
	bool leader, leader_polls;
	int leader_wakeup, progress_wakeup;
	pthread_t progress_thread;
	bool progress_started, progress_parked, closing;
	uint64_t polled_ns; /* last poll by a call */
	uint64_t looked_ns; /* last poll by any thread */
	/* Total time without running; waits are extended by it. */
	uint64_t away_ns;
	uint64_t burst_ns;   /* when a call that does not wait last sent commands */
	bool unsent;         /* commands were posted since the last poll */
	bool progress_sends; /* the progress thread checks for these */
	uint64_t watch_ns;   /* next check for silent xPUs */
	uint32_t probe_word, probe_key;
	char manager[64];
	/* Guarded by the lock of use.c. */
	struct dxp_fabric *next_open;
	int opener; /* process that opened it */
};

struct dxp_xpu {
	struct dxp_fabric *fabric;
	struct dxp_xpu *next;
	uint32_t references;
	uint16_t node;
	struct dxp_target target;            /* for commands */
	struct dxp_target data[COMMAND_QPS]; /* by queue pair: HOST_QP_DATA and HOST_QP_LONG */
	uint32_t memory_key;
	uint32_t hurried;                /* events before this count are reported at once */
	uint64_t scratch, scratch_bytes; /* device memory for packages; 0 bytes: none yet */
	bool scratch_busy;
	struct dxp_xpu_caps caps;
	int status;       /* DXP_OK, or why it is no longer usable */
	uint32_t awaited; /* calls that wait for it */
	bool probing;
	bool nic; /* has a function for kernels */
	uint64_t received_ns;
	struct events events;
	struct dxp_bridge *bridges; /* transfers whose result was not read */
	struct host_use use;
};

struct dxp_program {
	struct dxp_xpu *xpu;
	uint32_t id;
	int32_t native; /* the device driver's code; 0: none */
	char *log;
	void *about;
	size_t about_bytes;
};

/* error.c: sets the error text for an xPU's failure; returns `status`. */
int error_xpu(const struct dxp_xpu *x, int status, const char *doing);

/* progress.c */
void host_fabric_enter(struct dxp_fabric *f);
void host_fabric_leave(struct dxp_fabric *f);
uint32_t host_fabric_poll(struct dxp_fabric *f);
uint64_t host_fabric_deadline(const struct dxp_fabric *f);
/* Polls until done(context) or the deadline (DXP_ETIMEDOUT). */
int host_fabric_wait(struct dxp_fabric *f, bool (*done)(void *context), void *context,
		     uint64_t deadline_ns);
/* Wakes threads that may wait for a completion. */
void host_fabric_ended(struct dxp_fabric *f);

/* progress_thread.c */
int progress_start(struct dxp_fabric *f);
void progress_stop(struct dxp_fabric *f);
/* Wakes the progress thread: an xPU may access host memory while no call polls. */
void progress_notify(struct dxp_fabric *f);
/* Sends posted commands now, or in a batch with those that follow. `alone`: now, as its xPU has
 * no other work. */
void progress_burst(struct dxp_fabric *f, bool alone);

/* arrivals.c: processes completions and arrivals in the window; returns how many. */
uint32_t arrivals_process(struct dxp_fabric *f);

/* watch.c */
void watch_look(struct dxp_fabric *f, uint64_t now_ns);
/* Surrounds a wait for x. */
void watch_begin(struct dxp_xpu *x);
void watch_end(struct dxp_xpu *x);
void watch_arm(struct dxp_fabric *f);
void watch_changed(void *fabric, const struct table_change *change);
void watch_session_ended(void *fabric, uint16_t peer, int status);

/* xpu.c */
struct dxp_xpu *xpu_find(const struct dxp_fabric *f, uint16_t node);
/* Returns whether an xPU accesses host memory on its own now. */
bool xpus_pull(const struct dxp_fabric *f);
/* Finds an event's ring and entry; NULL: unknown. *x: its xPU, or NULL for an own event. */
struct events *events_of(struct dxp_fabric *f, dxp_event event, struct dxp_xpu **x,
			 struct host_event **entry);
void xpu_end(struct dxp_xpu *x, int status);
/* Applies a descriptor's outcome to the xPU: after a transport failure it is lost for this host,
 * even if the node table lists it as alive. Returns the status to report. */
int xpu_judge(struct dxp_xpu *x, int status);

/* request.c */
/* Posts one NAP, polling while the window is full. `context`: enum host_context. */
int request_post(struct dxp_xpu *x, const uint8_t *message, uint32_t bytes, uint64_t context);
/* Sends a synchronous command and waits. Returns the reply's status, or why there is none; sets
 * no error text. Sets c->sequence. */
int request_call(struct dxp_xpu *x, struct command *c, struct command_reply *reply,
		 uint64_t timeout_ns);
void request_fail(struct dxp_fabric *f, const struct dxp_xpu *x, int status);

/* memory.c */
enum memory_direction { MEMORY_WRITE, MEMORY_READ };
int memory_move(struct dxp_xpu *x, enum memory_direction direction, uint64_t address, void *local,
		uint64_t bytes);

/* waits.c */
struct command_waits {
	uint64_t events[COMMAND_WAITS_MAX];
	uint8_t count;
	bool failed; /* one of them has failed already */
};
/* Converts a wait list to events that node x can wait for; makes other xPUs signal to x if
 * needed. */
int waits_resolve(struct dxp_xpu *x, const dxp_event *wait, uint32_t count,
		  struct command_waits *out);
/* start.c */
/* Initializes a command; clears it only up to `text`, because it is long. */
static inline void command_begin(struct command *c, uint8_t op)
{
	memset(c, 0, offsetof(struct command, text));
	c->text[0] = '\0';
	c->op = op;
}
/* Waits until another command fits. May release the lock. */
int host_command_space(struct dxp_xpu *x);
/* Names, posts and records an asynchronous command. *event may be NULL: no handle. */
int host_command_start(struct dxp_xpu *x, struct command *c, const struct command_waits *waits,
		       dxp_event *event);
/* Starts an asynchronous command behind a wait list: resolves it, waits for space, and posts. */
int host_command_start_after(struct dxp_xpu *x, struct command *c, const dxp_event *wait,
			     uint32_t wait_count, dxp_event *event);
/* Starts likewise a command by which the xPU moves the bytes of m. m becomes PULLED, unless an
 * awaited event has failed. */
int host_command_start_pull(struct dxp_xpu *x, struct command *c, const struct dxp_waits *waits,
			    struct move *m, dxp_event *event);

/* executor.c: events of this host's own work, and notification of nodes that wait for them. */
void executor_init(struct dxp_fabric *f);
void executor_destroy(struct dxp_fabric *f);
dxp_event executor_event(const struct dxp_fabric *f, uint32_t count);
int executor_add(struct dxp_fabric *f, uint32_t *count, struct host_event **out);
/* Notes that node x waits for this PENDING event. */
int executor_notify(struct dxp_fabric *f, uint32_t count, struct host_event *entry,
		    struct dxp_xpu *x);
/* If x waits for this event, queues its notification of success now, on queue pair `qp`, so that
 * it is delivered after the data posted there. Returns true if x waited. */
bool executor_notify_early(struct dxp_fabric *f, struct host_event *entry, const struct dxp_xpu *x,
			   uint8_t qp);
/* Posts what the window has space for; returns how much. */
uint32_t executor_notices_post(struct dxp_fabric *f);

/* move.c: asynchronous transfers. */
int move_start(struct dxp_xpu *x, enum memory_direction direction, uint64_t address, void *local,
	       uint64_t bytes, const struct dxp_waits *waits, dxp_event *event);
/* Advances them; returns the amount of work. */
uint32_t moves_poll(struct dxp_fabric *f);
bool moves_busy(const struct dxp_fabric *f);
/* Continues or fails transfers that wait for a completed event. */
void moves_ended(struct dxp_fabric *f, struct host_event *entry, int status);
/* Notes that node x waits for m's event; notifies x early if the order of the queue pair
 * suffices. */
void move_wanted(struct move *m);
/* Handles the xPU's completion of m, or its loss. */
void move_notified(struct move *m, int status, const struct dxp_event_times *times);
void moves_lost(struct dxp_xpu *x, int status);
/* Cancels all transfers of x; they touch no memory afterwards. */
void moves_close(struct dxp_xpu *x);

/* completion.c */
void completions_destroy(struct dxp_fabric *f);
/* Queues the completion of an event with `notify`. */
void completion_put(struct dxp_fabric *f, dxp_event event, const struct host_event *entry);
/* Queues the start of its command, if requested. */
void completion_begun(struct dxp_fabric *f, dxp_event event, const struct host_event *entry);
/* Makes its node report this lazy event at once. */
void event_hurry(struct dxp_xpu *x, uint32_t count);

/* print.c */
void print_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes);

/* bridge.c: completes the transfers as closed, after CLOSE and once nothing touches their
 * memory. */
void bridges_close(struct dxp_xpu *x);

#endif
