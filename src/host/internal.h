/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the host library: one node per fabric, polled by waiting calls, under one lock.
 *
 * Lock: `lock` guards everything here and the node; each public call runs between fabric_enter
 * and fabric_leave. Only fabric_wait releases it, between polls and while asleep, so state may
 * change across fabric_wait. Progress: calls poll the node themselves. The progress thread polls
 * while no call does. After a call's poll it pauses for a moment, unless an xPU reads or writes
 * host memory. */
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
#include "base/limits.h"
#include "host/limits.h"
#include "base/spin.h"
#include "base/util.h"
#include "host/events.h"
#include "nic/user.h"
#include "node/node.h"
#include "wire/command.h"

#define HOST_QP_COMMANDS NODE_SERVICE_QP
/* For PUT, GET and registers: they never wait behind a command, nor short ones behind long ones.
 * Both sides use separate queue pairs: order holds within the peer's. */
#define HOST_QP_DATA 1
#define HOST_QP_LONG 2

/* Context of a descriptor: a struct host_op if the low byte is 0; else one of these and 56 bits
 * of data. */
enum host_context {
	HOST_CONTEXT_EVENT = 1, /* a command with an event: its name without the host */
	HOST_CONTEXT_PROBE,     /* a probe: node id */
	HOST_CONTEXT_TELL,      /* notification of a node of an own event: node id */
};

/* Descriptors under way for a waiting call. On the caller's stack, so it must wait until
 * `pending` is 0. */
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
struct tell {
	struct tell *next;
	uint64_t event;
	uint16_t node;
	uint8_t qp; /* queue pair of the data that it follows */
	int8_t status;
};

struct tell_queue {
	struct tell *first, **end;
};

struct move_list {
	struct move *first, **end;
};

/* Queue of completions. The ring always has space for all outstanding ones, so adding never
 * fails. */
struct completions {
	struct dxp_completion *ring;
	uint32_t room; /* a power of two, or 0 */
	uint32_t head, tail;
	uint32_t outstanding; /* requested, not completed */
	uint32_t waiters;
	bool woken;
	bool begun; /* report starts of commands, too */
};

struct dxp_fabric {
	pthread_mutex_t lock;
	_Atomic uint32_t entering; /* threads that wait for the lock */
	struct node *node;
	struct dxp_window *window;
	struct spin spin;
	uint64_t timeout_ns;
	struct dxp_xpu *
		/* Open ones, newest first. Two of one node only if the older one is dead. */
		xpus;
	struct host_request *requests;
	uint32_t sequence;
	uint32_t event_base;     /* first count of the next xPU opened */
	struct events own;       /* events whose executor is this host */
	struct tell_queue tells; /* to be posted */
	struct tell *spare_tells;
	struct move_list later, ready, running, draining, pulled;
	struct move *spare_moves;
	uint32_t pulls;     /* transfers that are PULLED */
	bool waits_changed; /* an xPU of a waiting transfer has ended: check all */
	struct completions completions;
	uint32_t hurriers; /* threads that have waited long for completions */
	dxp_print_fn print;
	void *print_context;
	/* Completions, replies and events so far: distinguishes a poll with news from an idle
	 * one. */
	uint32_t ended;

	/* Sleep: at most one leader polls the node's file; the others wait on `progress`. */
	pthread_cond_t progress, keeper_wake;
	uint32_t waiting;  /* threads in fabric_wait */
	uint32_t sleepers; /* of those, on `progress` */
	bool leader, leader_polls;
	int leader_bell, keeper_bell;
	pthread_t keeper;
	bool keeper_started, keeper_parked, closing;
	uint64_t turned_ns; /* last poll by a call */
	uint64_t looked_ns; /* last poll by any thread */
	uint64_t
		/* Total time in which this process did not run; waits are extended by it. */
		away_ns;
	uint64_t train_ns; /* when commands were last sent by a call that does not wait */
	bool unsent;       /* commands were posted since the last poll */
	bool keeper_sends; /* the progress thread checks for those */
	uint64_t watch_ns; /* next check for silent xPUs */
	uint32_t probe_word, probe_key;
	char manager[64];
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
	uint64_t heard_ns;
	struct events events;
	struct dxp_bridge *bridges; /* transfers not waited for to the end */
};

struct dxp_program {
	struct dxp_xpu *xpu;
	uint32_t id;
	int32_t native; /* the device driver's code; 0: none */
	char *log;
	void *about;
	size_t about_bytes;
};

/* error.c: sets the error text for a failure of an xPU; returns `status`. */
int error_xpu(const struct dxp_xpu *x, int status, const char *doing);

/* progress.c */
void fabric_enter(struct dxp_fabric *f);
void fabric_leave(struct dxp_fabric *f);
uint32_t fabric_turn(struct dxp_fabric *f);
uint64_t fabric_deadline(const struct dxp_fabric *f);
/* Polls until done(context) or the deadline (DXP_ETIMEDOUT). */
int fabric_wait(struct dxp_fabric *f, bool (*done)(void *context), void *context,
		uint64_t deadline_ns);
/* Wakes all threads that may wait for a completion. */
void fabric_ended(struct dxp_fabric *f);

/* keeper.c */
int keeper_start(struct dxp_fabric *f);
void keeper_stop(struct dxp_fabric *f);
/* Wakes the progress thread: an xPU may read host memory while no call polls. */
void keeper_call(struct dxp_fabric *f);
/* Sends posted commands now, or in a batch with those that follow soon. `alone`: its xPU has no
 * other work, so now. */
void keeper_train(struct dxp_fabric *f, bool alone);

/* arrivals.c: processes completions and arrivals in the window; returns how many. */
uint32_t arrivals_take(struct dxp_fabric *f);

/* watch.c */
void watch_look(struct dxp_fabric *f, uint64_t now_ns);
/* Surround a wait for x. */
void watch_begin(struct dxp_xpu *x);
void watch_end(struct dxp_xpu *x);
void watch_arm(struct dxp_fabric *f);
void watch_changed(void *fabric, const struct table_change *change);
void watch_session_ended(void *fabric, uint16_t peer, int status);

/* xpu.c */
struct dxp_xpu *xpu_find(const struct dxp_fabric *f, uint16_t node);
/* Returns whether an xPU reads or writes host memory on its own now. */
bool xpus_pull(const struct dxp_fabric *f);
/* Finds the ring and entry of `event`; NULL: unknown. *x: its xPU, or NULL for an own event. */
struct events *events_of(struct dxp_fabric *f, dxp_event event, struct dxp_xpu **x,
			 struct host_event **slot);
void xpu_end(struct dxp_xpu *x, int status);
/* Applies a descriptor's outcome to the xPU: after a transport failure it is lost for this host,
 * even if the manager still lists it as alive. Returns the status to report. */
int xpu_judge(struct dxp_xpu *x, int status);

/* request.c */
/* Posts one NAP to the xPU, polling while the window is full. `context`: see enum host_context. */
int request_post(struct dxp_xpu *x, const uint8_t *message, uint32_t bytes, uint64_t context);
/* Sends a synchronous command and waits. Returns the reply's status, or why there is none; sets
 * no error text. Writes the sequence to `c`. */
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
/* Converts a caller's wait list to events that node x can wait for; makes other xPUs signal to x
 * if needed. */
int waits_resolve(struct dxp_xpu *x, const dxp_event *wait, uint32_t count,
		  struct command_waits *out);
/* start.c */
/* Starts an empty command. Clears it only up to `text`, because it is long. */
static inline void command_begin(struct command *c, uint8_t op)
{
	memset(c, 0, offsetof(struct command, text));
	c->text[0] = '\0';
	c->op = op;
}
/* Waits until another command fits. May release the lock. */
int command_room(struct dxp_xpu *x);
/* Names, posts and records an asynchronous command. *event may be NULL: the program keeps no
 * handle. */
int command_start(struct dxp_xpu *x, struct command *c, const struct command_waits *waits,
		  dxp_event *event);
/* Does both: starts an asynchronous command behind a caller's wait list. */
int command_start_after(struct dxp_xpu *x, struct command *c, const dxp_event *wait,
			uint32_t wait_count, dxp_event *event);
/* The same for the command that makes the xPU move the bytes of m: m becomes PULLED, unless an
 * awaited event has failed. */
int command_start_pull(struct dxp_xpu *x, struct command *c, const struct dxp_waits *waits,
		       struct move *m, dxp_event *event);

/* executor.c: events of work done by this host, and notification of the nodes that wait for
 * them. */
void executor_init(struct dxp_fabric *f);
void executor_destroy(struct dxp_fabric *f);
dxp_event own_event(const struct dxp_fabric *f, uint32_t count);
int own_add(struct dxp_fabric *f, uint32_t *count, struct host_event **out);
/* Registers node x as waiting for this PENDING event. */
int own_tell(struct dxp_fabric *f, uint32_t count, struct host_event *slot, struct dxp_xpu *x);
/* Notifies x, if it waits for the event, of success in advance, behind the data posted on this
 * queue pair. Returns whether x waited. */
bool own_tell_early(struct dxp_fabric *f, struct host_event *slot, const struct dxp_xpu *x,
		    uint8_t qp);
/* Posts notifications that the window has space for; returns how many. */
uint32_t tells_post(struct dxp_fabric *f);

/* move.c: asynchronous transfers. */
int move_start(struct dxp_xpu *x, enum memory_direction direction, uint64_t address, void *local,
	       uint64_t bytes, const struct dxp_waits *waits, dxp_event *event);
/* Advances them; returns the amount of work. */
uint32_t moves_turn(struct dxp_fabric *f);
bool moves_busy(const struct dxp_fabric *f);
/* Advances or fails the transfers that wait for a completed event. */
void moves_ended(struct dxp_fabric *f, struct host_event *slot, int status);
/* Handles a node's wait for m's event: notifies it early if the order on the queue pair
 * suffices. */
void move_wanted(struct move *m);
/* Handles the xPU's report about m, or its loss. */
void move_told(struct move *m, int status, const struct dxp_event_times *times);
void moves_lost(struct dxp_xpu *x, int status);
/* Ends all transfers of x; afterwards they touch no memory. */
void moves_close(struct dxp_xpu *x);

/* completion.c */
void completions_destroy(struct dxp_fabric *f);
/* Queues the completion of an event that has `notify`. */
void completion_put(struct dxp_fabric *f, dxp_event event, const struct host_event *slot);
/* Queues the start of a command, if requested. */
void completion_begun(struct dxp_fabric *f, dxp_event event, const struct host_event *slot);
/* Makes the node report this lazy event at once. */
void event_hurry(struct dxp_xpu *x, uint32_t count);

/* print.c */
void print_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes);

/* bridge.c: ends the transfers of an xPU after CLOSE, as closed, once nothing touches their
 * memory. */
void bridges_close(struct dxp_xpu *x);

#endif
