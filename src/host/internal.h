/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of the host library: one node per fabric, under one lock.
 *
 * Lock: `lock` guards the node and everything here. Public calls run between host_fabric_enter and
 * host_fabric_leave. Only host_fabric_wait releases the lock (between polls and during sleep), so
 * state may change during host_fabric_wait.
 *
 * Progress: a waiting call polls the node. The progress thread polls while no call polls. It pauses
 * for a moment after a call, unless an xPU accesses host memory. */
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
/* Queue pairs for PUT, GET and registers, at both ends. They are separate, so that data never
 * queues behind commands, nor short transfers behind long ones. */
#define HOST_QP_DATA 1
#define HOST_QP_LONG 2

/* Context of a descriptor. If the low byte is 0, the context is the address of a struct host_op.
 * Else the low byte is one of these values, above it are 56 bits of data. */
enum host_context {
	HOST_CONTEXT_EVENT = 1, /* command with an event; data: the event without its host */
	HOST_CONTEXT_PROBE,     /* probe; data: node id */
	HOST_CONTEXT_NOTIFY,    /* notification of an event of this host; data: node id */
};

/* Descriptors that a call waits for. The struct is on the caller's stack and must stay valid until
 * `pending` is 0. */
struct host_op {
	alignas(256) uint32_t pending;
	int status; /* first failure */
};

/* An outstanding synchronous command, on the caller's stack. */
struct host_request {
	struct host_op op; /* completion of the NAP */
	struct host_request *next;
	struct dxp_xpu *xpu;
	uint32_t sequence;
	bool done;
	int status;
	struct command_reply *reply;
};

/* A node that waits for an event of this host; after the event, the message that notifies this
 * node. */
struct notice {
	struct notice *next;
	uint64_t event;
	uint16_t node;
	uint8_t qp; /* queue pair of the data before the message */
	int8_t status;
};

struct notice_queue {
	struct notice *first, **end;
};

struct move_list {
	struct move *first, **end;
};

/* Queue of completions. Each requested completion has a reserved entry, so adding never fails. */
struct completions {
	struct dxp_completion *ring;
	uint32_t space; /* a power of two, or 0 */
	uint32_t head, tail;
	uint32_t outstanding; /* requested and not yet completed */
	uint32_t waiters;
	bool woken;
	bool begun; /* true: also report starts of commands */
};

struct dxp_fabric {
	pthread_mutex_t lock;
	_Atomic uint32_t entering; /* threads waiting for the lock */
	struct node *node;
	struct dxp_window *window;
	struct spin spin;
	uint64_t timeout_ns;
	/* Open xPUs, newest first. There are two of one node only if the older one is lost. */
	struct dxp_xpu *xpus;
	struct host_request *requests;
	uint32_t sequence;
	uint32_t event_base;         /* first count of the next opened xPU */
	struct events own;           /* events of this host itself */
	struct notice_queue notices; /* notices to be posted */
	struct notice *spare_notices;
	struct move_list later, ready, running, draining, pulled;
	struct move *spare_moves;
	uint32_t pulls;
	bool waits_changed; /* an xPU was lost or closed: check waiting transfers */
	struct completions completions;
	uint32_t long_waiters; /* threads that have waited long for completions */
	dxp_print_fn print;
	void *print_context;
	/* Number of completions, replies and events so far. A change shows that a poll processed
	 * some. */
	uint32_t ended;

	/* Sleep: one leader at most watches the node's file; other threads wait on `progress`. */
	pthread_cond_t progress, progress_wake;
	uint32_t waiting;
	uint32_t sleepers; /* threads that wait on `progress` */
	bool leader, leader_polls;
	int leader_wakeup, progress_wakeup;
	pthread_t progress_thread;
	bool progress_started, progress_parked, closing;
	uint64_t polled_ns; /* last poll by a call */
	uint64_t looked_ns; /* last poll by any thread */
	/* Total time in which this process did not run; waits are extended by it. */
	uint64_t away_ns;
	uint64_t burst_ns;   /* last time that progress_burst sent commands */
	bool unsent;         /* commands were posted after the last poll */
	bool progress_sends; /* the progress thread checks `unsent` */
	uint64_t watch_ns;   /* time of the next check for silent xPUs */
	uint32_t probe_word, probe_key;
	char manager[64];
	/* The lock of use.c guards these. */
	struct dxp_fabric *next_open;
	int opener; /* process that opened the fabric */
};

struct dxp_xpu {
	struct dxp_fabric *fabric;
	struct dxp_xpu *next;
	uint32_t references;
	uint16_t node;
	struct dxp_target target;            /* target of commands */
	struct dxp_target data[COMMAND_QPS]; /* index: HOST_QP_DATA, HOST_QP_LONG */
	uint32_t memory_key;
	uint32_t hurried;                /* node must report earlier events at once */
	uint64_t scratch, scratch_bytes; /* device memory of fetch.h; 0 bytes: none yet */
	bool scratch_busy;
	struct dxp_xpu_caps caps;
	int status;       /* DXP_OK, or why it is unusable */
	uint32_t awaited; /* calls that wait for it */
	bool probing;
	bool nic; /* kernels have a NIC function */
	uint64_t received_ns;
	struct events events;
	struct dxp_bridge *bridges; /* transfers with unread results */
	struct host_use use;
	struct host_failures *failures; /* failure.c; NULL: none yet */
};

struct dxp_program {
	struct dxp_xpu *xpu;
	uint32_t id;
	int32_t native; /* device driver's code; 0: none */
	char *log;
	void *about;
	size_t about_bytes;
};

/* Size of a public struct whose last field was `field`, in a release without a size argument. */
#define HOST_STRUCT_BYTES(type, field)                                              \
	((offsetof(type, field) + sizeof(((type *)0)->field) + alignof(type) - 1) / \
	 alignof(type) * alignof(type))

/* Copies a public struct into the caller's, which may be of an older or newer version: the bytes
 * that both have, then zeros. */
static inline void host_copy_sized(void *out, size_t out_bytes, const void *from, size_t bytes)
{
	const size_t both = min_u64(out_bytes, bytes);

	memcpy(out, from, both);
	memset((char *)out + both, 0, out_bytes - both);
}

/* error.c: sets the error text for a failure of x; returns `status`. */
int error_xpu(const struct dxp_xpu *x, int status, const char *doing);

/* progress.c */
void host_fabric_enter(struct dxp_fabric *f);
void host_fabric_leave(struct dxp_fabric *f);
uint32_t host_fabric_poll(struct dxp_fabric *f);
uint64_t host_fabric_deadline(const struct dxp_fabric *f);
/* Polls and sleeps until done(context) returns true. DXP_ETIMEDOUT: `deadline_ns` has passed.
 * Releases the lock meanwhile. */
int host_fabric_wait(struct dxp_fabric *f, bool (*done)(void *context), void *context,
		     uint64_t deadline_ns);
/* Wakes threads that wait for completions. */
void host_fabric_ended(struct dxp_fabric *f);

/* progress_thread.c */
int progress_start(struct dxp_fabric *f);
void progress_stop(struct dxp_fabric *f);
/* Wakes the progress thread, because an xPU may access host memory while no call polls. */
void progress_notify(struct dxp_fabric *f);
/* Sends posted commands now, or later in a batch with the following ones. `alone`: sends them now,
 * because the xPU has no other work. */
void progress_burst(struct dxp_fabric *f, bool alone);

/* arrivals.c: processes completions and arrivals in the window; returns how many. */
uint32_t arrivals_process(struct dxp_fabric *f);

/* watch.c */
void watch_look(struct dxp_fabric *f, uint64_t now_ns);
/* Call before and after a wait for x. */
void watch_begin(struct dxp_xpu *x);
void watch_end(struct dxp_xpu *x);
void watch_arm(struct dxp_fabric *f);
void watch_changed(void *fabric, const struct table_change *change);
void watch_session_ended(void *fabric, uint16_t peer, int status);

/* xpu.c */
struct dxp_xpu *xpu_find(const struct dxp_fabric *f, uint16_t node);
/* Returns whether an xPU may access host memory now. */
bool xpus_pull(const struct dxp_fabric *f);
/* Finds an event's ring and entry; NULL: unknown. *x: its xPU; NULL: this host's event. */
struct events *events_of(struct dxp_fabric *f, dxp_event event, struct dxp_xpu **x,
			 struct host_event **entry);
void xpu_end(struct dxp_xpu *x, int status);
/* Applies a descriptor's status to x and returns the status to report. After a transport failure x
 * is lost for this host, even if the node table still lists it. */
int xpu_judge(struct dxp_xpu *x, int status);

/* request.c */
/* Posts one NAP; polls while the window is full. `context`: see enum host_context. */
int request_post(struct dxp_xpu *x, const uint8_t *message, uint32_t bytes, uint64_t context);
/* Sends a synchronous command, sets c->sequence, and waits. Returns the reply's status, or why
 * there is no reply. Sets no error text. */
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
	bool failed; /* one of them has failed */
};
/* Converts a wait list to events that node x can wait for. Other xPUs get commands to signal x if
 * needed. */
int waits_resolve(struct dxp_xpu *x, const dxp_event *wait, uint32_t count,
		  struct command_waits *out);
/* start.c */
/* Initializes a command. Leaves the long member `text` uncleared. */
static inline void command_begin(struct command *c, uint8_t op)
{
	memset(c, 0, offsetof(struct command, text));
	c->text[0] = '\0';
	c->op = op;
}
/* Waits until another command fits. May release the lock. */
int host_command_space(struct dxp_xpu *x);
/* Posts an asynchronous command and records its event. `event` NULL: no handle. */
int host_command_start(struct dxp_xpu *x, struct command *c, const struct command_waits *waits,
		       dxp_event *event);
/* Resolves a wait list, waits for space, then starts the command with host_command_start(). */
int host_command_start_after(struct dxp_xpu *x, struct command *c, const dxp_event *wait,
			     uint32_t wait_count, dxp_event *event);
/* Starts a command like host_command_start_after(). By this command, the xPU moves the bytes of m.
 * m becomes PULLED unless an awaited event has failed. */
int host_command_start_pull(struct dxp_xpu *x, struct command *c, const struct dxp_waits *waits,
			    struct move *m, dxp_event *event);

/* executor.c: events of this host's own work, and notification of nodes that wait for them. */
void executor_init(struct dxp_fabric *f);
void executor_destroy(struct dxp_fabric *f);
dxp_event executor_event(const struct dxp_fabric *f, uint32_t count);
int executor_add(struct dxp_fabric *f, uint32_t *count, struct host_event **out);
/* Records that node x waits for this PENDING event. */
int executor_notify(struct dxp_fabric *f, uint32_t count, struct host_event *entry,
		    struct dxp_xpu *x);
/* If x waits for this event, queues the notification of success on queue pair `qp` now; it arrives
 * after the data posted there. Returns whether x waited. */
bool executor_notify_early(struct dxp_fabric *f, struct host_event *entry, const struct dxp_xpu *x,
			   uint8_t qp);
/* Posts notices while the window has space; returns how many. */
uint32_t executor_notices_post(struct dxp_fabric *f);

/* move.c: asynchronous transfers. */
int move_start(struct dxp_xpu *x, enum memory_direction direction, uint64_t address, void *local,
	       uint64_t bytes, const struct dxp_waits *waits, dxp_event *event);
/* Advances all transfers; returns the amount of work. */
uint32_t moves_poll(struct dxp_fabric *f);
bool moves_busy(const struct dxp_fabric *f);
/* Starts or fails transfers that wait for a completed event. */
void moves_ended(struct dxp_fabric *f, struct host_event *entry, int status);
/* Called when a node waits for the event of m. Notifies the node early if the order of the queue
 * pair permits it. */
void move_wanted(struct move *m);
/* Completes m with the status that the xPU reported, or with that of its loss. */
void move_notified(struct move *m, int status, const struct dxp_event_times *times);
void moves_lost(struct dxp_xpu *x, int status);
/* Cancels all transfers of x. Afterwards they access no memory. */
void moves_close(struct dxp_xpu *x);

/* completion.c */
void completions_destroy(struct dxp_fabric *f);
/* Queues the completion of an event whose `notify` is set. */
void completion_put(struct dxp_fabric *f, dxp_event event, const struct host_event *entry);
/* Queues the start of the event's command, if requested. */
void completion_begun(struct dxp_fabric *f, dxp_event event, const struct host_event *entry);
/* Requests that the node reports this lazy event now. */
void event_hurry(struct dxp_xpu *x, uint32_t count);

/* print.c */
void print_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes);

/* failure.c: keeps the sentence about a failed command, before its EVENT arrives. */
void failure_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes);
/* Returns the sentence about a failed command; NULL: none. */
const char *failure_find(const struct dxp_xpu *x, uint64_t event);

/* bridge.c: completes all transfers of x with DXP_ECLOSED. Call after CLOSE. Returns when nothing
 * accesses their memory. */
void bridges_close(struct dxp_xpu *x);

#endif
