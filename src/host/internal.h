/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the host library: one node per fabric, turned by whoever waits, under one lock.
 *
 * Lock: `lock` guards everything here and the node; fabric_enter and fabric_leave surround every
 * public call. It is released only in fabric_wait, between turns and while asleep, so whatever a
 * caller keeps across fabric_wait may have changed. Progress: calls turn the node themselves. The
 * keeper thread does it while nobody calls, and stays away while somebody does, or did a moment ago
 * and no xPU reads or writes our memory meanwhile. */
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
/* PUT, GET and registers: they never wait behind a command, nor short ones behind long ones. Own
 * queue pairs, and those of the node that they talk to: order holds within the latter. */
#define HOST_QP_DATA 1
#define HOST_QP_LONG 2

/* The context of a descriptor: a struct host_op where the low byte is 0, else one of these and 56
 * bits of ours. */
enum host_context {
	HOST_CONTEXT_EVENT = 1, /* a command that ends in an event: its name without the host */
	HOST_CONTEXT_PROBE,     /* a sign of life: node id */
	HOST_CONTEXT_TELL,      /* an event of ours that a node was told: node id */
};

/* Descriptors under way that somebody waits for. Lives on the waiter's stack, so the waiter stays
 * until `pending` is 0. */
struct host_op {
	alignas(256) uint32_t pending;
	int status; /* the first failure */
};

/* A synchronous command under way; on the caller's stack. */
struct host_request {
	struct host_op op; /* the NAP */
	struct host_request *next;
	struct dxp_xpu *xpu;
	uint32_t sequence;
	bool done;
	int status;
	struct command_reply *reply;
};

/* A node that waits for an event of this host, or the message that tells it. */
struct tell {
	struct tell *next;
	uint64_t event;
	uint16_t node;
	uint8_t qp; /* the way of the data that it follows */
	int8_t status;
};

struct tell_queue {
	struct tell *first, **end;
};

struct move_list {
	struct move *first, **end;
};

/* Ends that somebody wants told: a ring with room for all that may come, so that telling never
 * fails. */
struct completions {
	struct dxp_completion *ring;
	uint32_t room; /* a power of two, or 0 */
	uint32_t head, tail;
	uint32_t outstanding; /* asked for, not ended */
	uint32_t waiters;
	bool woken;
	bool begun; /* also what has begun */
};

struct dxp_fabric {
	pthread_mutex_t lock;
	_Atomic uint32_t entering; /* threads that want the lock */
	struct node *node;
	struct dxp_window *window;
	struct spin spin;
	uint64_t timeout_ns;
	struct dxp_xpu *
		xpus; /* open ones, newest first; two of one node only when the older one is dead */
	struct host_request *requests;
	uint32_t sequence;
	uint32_t event_base;     /* first count of the next xPU opened */
	struct events own;       /* events whose executor is this host */
	struct tell_queue tells; /* to be posted */
	struct tell *spare_tells;
	struct move_list later, ready, running, draining, pulled;
	struct move *spare_moves;
	uint32_t pulls;     /* moves that are PULLED */
	bool waits_changed; /* of a move whose xPU has ended: look at all that wait */
	struct completions completions;
	uint32_t hurriers; /* threads that have waited long for completions */
	dxp_print_fn print;
	void *print_context;
	uint32_t ended; /* completions, replies and events taken so far: tells sleepers apart from
			   idle turns */

	/* sleeping: at most one leader polls the node's file; the others wait on `progress` */
	pthread_cond_t progress, keeper_wake;
	uint32_t waiting;  /* threads in fabric_wait */
	uint32_t sleepers; /* of those, on `progress` */
	bool leader, leader_polls;
	int leader_bell, keeper_bell;
	pthread_t keeper;
	bool keeper_started, keeper_parked, closing;
	uint64_t turned_ns; /* a program's last turn */
	uint64_t looked_ns; /* anybody's */
	uint64_t
		away_ns; /* time in all in which this process did not run: waits are longer by it */
	uint64_t train_ns; /* when commands were last sent by a call that does not wait */
	bool unsent;       /* some have been posted since, and no turn was made */
	bool keeper_sends; /* the keeper looks for those */
	uint64_t watch_ns; /* next look for silent xPUs */
	uint32_t probe_word, probe_key;
	char manager[64];
};

struct dxp_xpu {
	struct dxp_fabric *fabric;
	struct dxp_xpu *next;
	uint32_t references;
	uint16_t node;
	struct dxp_target target;            /* commands */
	struct dxp_target data[COMMAND_QPS]; /* by queue pair, HOST_QP_DATA and HOST_QP_LONG */
	uint32_t memory_key;
	uint32_t hurried;                /* events before this count are told at once */
	uint64_t scratch, scratch_bytes; /* device memory for packages; 0 bytes: none yet */
	bool scratch_busy;
	struct dxp_xpu_caps caps;
	int status;       /* DXP_OK, or why it can be used no more */
	uint32_t awaited; /* calls that wait for it */
	bool probing;
	bool nic; /* has a function for kernels */
	uint64_t heard_ns;
	struct events events;
	struct dxp_bridge *bridges; /* transfers that were not waited for to the end */
};

struct dxp_program {
	struct dxp_xpu *xpu;
	uint32_t id;
	int32_t native; /* what the device's driver said of it; 0: nothing */
	char *log;
	void *about;
	size_t about_bytes;
};

/* error.c: as error_set, for what an xPU refused or did not do; returns `status`. */
int error_xpu(const struct dxp_xpu *x, int status, const char *doing);

/* progress.c */
void fabric_enter(struct dxp_fabric *f);
void fabric_leave(struct dxp_fabric *f);
uint32_t fabric_turn(struct dxp_fabric *f);
uint64_t fabric_deadline(const struct dxp_fabric *f);
/* Turns until done(context) or the deadline (DXP_ETIMEDOUT). */
int fabric_wait(struct dxp_fabric *f, bool (*done)(void *context), void *context,
		uint64_t deadline_ns);
/* Wakes whoever may be waiting for something that has just ended. */
void fabric_ended(struct dxp_fabric *f);

/* keeper.c */
int keeper_start(struct dxp_fabric *f);
void keeper_stop(struct dxp_fabric *f);
/* Wakes it when it may be needed: an xPU may read our memory while nobody calls. */
void keeper_call(struct dxp_fabric *f);
/* What was just posted leaves now, or together with what follows soon. `alone`: its xPU has nothing
 * else to do, so now. */
void keeper_train(struct dxp_fabric *f, bool alone);

/* arrivals.c: takes what lies in the window; returns how much. */
uint32_t arrivals_take(struct dxp_fabric *f);

/* watch.c */
void watch_look(struct dxp_fabric *f, uint64_t now_ns);
/* Around a wait for x. */
void watch_begin(struct dxp_xpu *x);
void watch_end(struct dxp_xpu *x);
void watch_arm(struct dxp_fabric *f);
void watch_changed(void *fabric, const struct table_change *change);
void watch_session_ended(void *fabric, uint16_t peer, int status);

/* xpu.c */
struct dxp_xpu *xpu_find(const struct dxp_fabric *f, uint16_t node);
/* Does any xPU read or write our memory by itself now? */
bool xpus_pull(const struct dxp_fabric *f);
/* Whose ring holds `event`, and its place there; NULL: it is not known. *x: its xPU, or NULL where
 * it is one of this host. */
struct events *events_of(struct dxp_fabric *f, dxp_event event, struct dxp_xpu **x,
			 struct host_event **slot);
void xpu_end(struct dxp_xpu *x, int status);
/* What the outcome of a descriptor means for the xPU: one that the transport gave up on is lost for
 * this host, whatever the manager still believes. Returns what the caller should report. */
int xpu_judge(struct dxp_xpu *x, int status);

/* request.c */
/* Posts one NAP to the xPU, turning while there is no room. `context` as enum host_context says. */
int request_post(struct dxp_xpu *x, const uint8_t *message, uint32_t bytes, uint64_t context);
/* Sends a synchronous command and waits for the reply; returns the reply's status, or why there is
 * none (error set then). `c` is encoded with its sequence. */
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
/* Turns a caller's wait list into what node x can wait for itself, asking other xPUs to signal it
 * where need be. */
int waits_resolve(struct dxp_xpu *x, const dxp_event *wait, uint32_t count,
		  struct command_waits *out);
/* start.c */
/* An empty command: not all of it is cleared, because it is long. */
static inline void command_begin(struct command *c, uint8_t op)
{
	memset(c, 0, offsetof(struct command, text));
	c->text[0] = '\0';
	c->op = op;
}
/* Waits until there is room for another command. The lock may be released. */
int command_room(struct dxp_xpu *x);
/* Names, posts and remembers an asynchronous command; *event may be NULL: nobody will ask. */
int command_start(struct dxp_xpu *x, struct command *c, const struct command_waits *waits,
		  dxp_event *event);
/* Both: an asynchronous command behind a caller's wait list. */
int command_start_after(struct dxp_xpu *x, struct command *c, const dxp_event *wait,
			uint32_t wait_count, dxp_event *event);
/* The same for the command with which the xPU itself moves the bytes of m: it becomes PULLED,
 * unless something that it waits for has failed. */
int command_start_pull(struct dxp_xpu *x, struct command *c, const struct dxp_waits *waits,
		       struct move *m, dxp_event *event);

/* executor.c: what this host does itself has events, too; nodes that wait for one are told. */
void executor_init(struct dxp_fabric *f);
void executor_destroy(struct dxp_fabric *f);
dxp_event own_event(const struct dxp_fabric *f, uint32_t count);
int own_add(struct dxp_fabric *f, uint32_t *count, struct host_event **out);
/* Node x waits for this one, which is PENDING. */
int own_tell(struct dxp_fabric *f, uint32_t count, struct host_event *slot, struct dxp_xpu *x);
/* All that wait for it and are x: told now that it has ended well, behind what was posted on this
 * queue pair. */
bool own_tell_early(struct dxp_fabric *f, struct host_event *slot, const struct dxp_xpu *x,
		    uint8_t qp);
/* Posts what there is room for; returns how much. */
uint32_t tells_post(struct dxp_fabric *f);

/* move.c: transfers that nobody waits for while they run. */
int move_start(struct dxp_xpu *x, enum memory_direction direction, uint64_t address, void *local,
	       uint64_t bytes, const struct dxp_waits *waits, dxp_event *event);
/* Turns them; returns how much was done. */
uint32_t moves_turn(struct dxp_fabric *f);
bool moves_busy(const struct dxp_fabric *f);
/* An event has ended: moves that wait for it go on, or fail. */
void moves_ended(struct dxp_fabric *f, struct host_event *slot, int status);
/* Node x waits for m's event: it need not wait for a round trip where order is enough. */
void move_wanted(struct move *m);
/* The xPU says that it has done it, or is lost. */
void move_told(struct move *m, int status, const struct dxp_event_times *times);
void moves_lost(struct dxp_xpu *x, int status);
/* Ends all of x; they touch nothing any more afterwards. */
void moves_close(struct dxp_xpu *x);

/* completion.c */
void completions_destroy(struct dxp_fabric *f);
/* One that has `notify` has ended. */
void completion_put(struct dxp_fabric *f, dxp_event event, const struct host_event *slot);
/* It has begun; told where that is wanted. */
void completion_begun(struct dxp_fabric *f, dxp_event event, const struct host_event *slot);
/* Somebody waits for this lazy event: its node shall tell at once. */
void event_hurry(struct dxp_xpu *x, uint32_t count);

/* print.c */
void print_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes);

/* bridge.c: the xPU was told to stop; ends its transfers for their waiters, as closed, once nothing
 * touches their memory any more. */
void bridges_close(struct dxp_xpu *x);

#endif
