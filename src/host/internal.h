/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of the host library: one node per fabric, guarded by one lock.
 *
 * Lock: `lock` guards the node and all state here. Public functions run between host_fabric_enter
 * and host_fabric_leave. Only host_fabric_wait releases the lock (between polls and during sleep).
 * So state may change during host_fabric_wait.
 *
 * Progress: a call that waits polls the node. The progress thread polls while no call does. After a
 * call, it pauses for a moment, unless an xPU accesses host memory. */
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
/* Queue pairs for PUT, GET and registers, with the same number at both ends. They are separate, so
 * that data does not wait behind commands. Short transfers do not wait behind long ones either. */
#define HOST_QP_DATA 1
#define HOST_QP_LONG 2

/* Context of a descriptor. If its low byte is 0, the context is the address of a struct host_op.
 * Otherwise its low byte is one of these values, and the upper 56 bits are data. */
enum host_context {
	HOST_CONTEXT_EVENT = 1, /* command with an event; data: the event's name without its host */
	HOST_CONTEXT_PROBE,     /* probe; data: node id */
	HOST_CONTEXT_NOTIFY,    /* notification of an event of this host; data: node id */
};

/* Descriptors that a call waits for. The struct is on the caller's stack, or in a struct move. It
 * must stay valid until `pending` is 0. */
struct host_op {
	alignas(256) uint32_t pending;
	int status; /* status of the first descriptor that failed */
};

/* A synchronous command that waits for its reply. It is on the caller's stack. */
struct host_request {
	struct host_op op; /* completion of the NAP that carries the command */
	struct host_request *next;
	struct dxp_xpu *xpu;
	uint32_t sequence;
	bool done;
	int status;
	struct command_reply *reply;
	const bool *stop; /* see struct request_set */
};

/* A node that waits for an event of this host. After the event, this is the message that notifies
 * the node. */
struct notice {
	struct notice *next;
	uint64_t event;
	uint16_t node;
	/* queue pair for the message; the same as for the data, so that the message arrives after
	 * the data */
	uint8_t qp;
	int8_t status;
};

struct notice_queue {
	struct notice *first, **end;
};

struct move_list {
	struct move *first, **end;
};

/* Queue of completions. Each requested completion has a reserved entry, so adding it cannot
 * fail. */
struct completions {
	struct dxp_completion *ring;
	uint32_t space; /* entries of `ring`: a power of two, or 0 */
	uint32_t head, tail;
	uint32_t outstanding; /* completions that were requested and have not arrived */
	uint32_t waiters;
	bool woken;
	bool begun; /* true: starts of commands are reported too */
};

struct dxp_fabric {
	pthread_mutex_t lock;
	_Atomic uint32_t entering; /* number of threads that wait for the lock */
	struct node *node;
	struct dxp_window *window;
	struct spin spin;
	uint64_t timeout_ns;
	/* Open xPUs, newest first. If two of them have the same node, the older one is lost. */
	struct dxp_xpu *xpus;
	struct host_request *requests;
	uint32_t sequence;
	uint32_t event_base;         /* count of the first event of the next xPU that is opened */
	struct events own;           /* events of this host itself */
	struct notice_queue notices; /* notices to be posted */
	struct notice *spare_notices;
	struct move_list later, ready, running, draining, pulled;
	struct move *spare_moves;
	uint32_t pulls;
	/* true: an xPU was lost or closed, so waiting transfers must be checked */
	bool waits_changed;
	struct completions completions;
	uint32_t long_waiters; /* number of threads that have waited long for completions */
	dxp_print_fn print;
	void *print_context;
	/* Number of completions, replies and events so far. If a poll changes this number, it
	 * processed some of these. */
	uint32_t ended;
	/* Number of reports of lost switches; `lost` is signalled when it grows. */
	uint32_t losses;
	pthread_cond_t lost;
	uint32_t switch_groups; /* number of the last group of switches */

	/* Sleep: at most one waiting thread, the leader, watches the node's file. The other threads
	 * wait on `progress`. */
	pthread_cond_t progress, progress_wake;
	uint32_t waiting;
	uint32_t sleepers; /* number of threads that wait on `progress` */
	bool leader, leader_polls;
	int leader_wakeup, progress_wakeup;
	pthread_t progress_thread;
	bool progress_started, progress_parked, closing;
	uint64_t polled_ns; /* time of the last poll by a call */
	uint64_t looked_ns; /* time of the last poll by any thread */
	/* Total time in which this process did not run, in ns. Time limits of waits are extended by
	 * it. */
	uint64_t away_ns;
	uint64_t burst_ns;   /* time at which progress_burst last sent commands */
	bool unsent;         /* true: commands were posted after the last poll */
	bool progress_sends; /* true: the progress thread checks `unsent` */
	uint64_t watch_ns;   /* time of the next check for silent xPUs */
	uint32_t probe_word, probe_key;
	char manager[64];
	/* The lock in use.c guards the following two: */
	struct dxp_fabric *next_open;
	int opener; /* id of the process that opened the fabric */
};

struct dxp_xpu {
	struct dxp_fabric *fabric;
	struct dxp_xpu *next;
	uint32_t references;
	uint16_t node;
	struct dxp_target target; /* queue pair of the node that receives commands */
	/* queue pairs for data; index: HOST_QP_DATA, HOST_QP_LONG */
	struct dxp_target data[COMMAND_QPS];
	uint32_t memory_key;
	/* events before this count must be reported at once by the node */
	uint32_t hurried;
	uint64_t scratch, scratch_bytes; /* transit buffer (fetch.h); 0 bytes: not allocated yet */
	bool scratch_busy;
	struct dxp_xpu_caps caps;
	int status;       /* DXP_OK, or the reason why the xPU cannot be used */
	uint32_t awaited; /* number of calls that wait for this xPU */
	bool probing;
	bool nic; /* true: kernels can use a NIC function */
	uint64_t received_ns;
	struct events events;
	struct dxp_bridge *bridges; /* transfers of bridge.c that the program has not waited for */
	struct host_use use;
	struct host_failures *failures; /* failure.c; NULL: none yet */
	struct host_cycles *cycles;     /* cycles.c; NULL: none yet */
};

struct dxp_program {
	struct dxp_xpu *xpu;
	uint32_t id;
	int32_t native; /* error code of the device's driver; 0: none */
	char *log;
	void *about;
	size_t about_bytes;
};

/* Size that a public struct had in the older releases whose functions took no size argument.
 * `field` was the last field of the struct then. */
#define HOST_STRUCT_BYTES(type, field)                                              \
	((offsetof(type, field) + sizeof(((type *)0)->field) + alignof(type) - 1) / \
	 alignof(type) * alignof(type))

/* Copies a public struct to the caller's struct, which may be of an older or newer version. Copies
 * the bytes that both versions have, and fills the rest with zeros. */
static inline void host_copy_sized(void *out, size_t out_bytes, const void *from, size_t bytes)
{
	const size_t both = min_u64(out_bytes, bytes);

	memcpy(out, from, both);
	memset((char *)out + both, 0, out_bytes - both);
}

/* error.c: sets the error text for a failure of `x` while `doing` something; returns `status`. */
int error_xpu(const struct dxp_xpu *x, int status, const char *doing);

/* progress.c */
void host_fabric_enter(struct dxp_fabric *f);
void host_fabric_leave(struct dxp_fabric *f);
uint32_t host_fabric_poll(struct dxp_fabric *f);
uint64_t host_fabric_deadline(const struct dxp_fabric *f);
/* Polls and sleeps until done(context) returns true. DXP_ETIMEDOUT: `deadline_ns` has passed.
 * Releases the lock while it polls or sleeps. */
int host_fabric_wait(struct dxp_fabric *f, bool (*done)(void *context), void *context,
		     uint64_t deadline_ns);
/* Wakes threads in host_fabric_wait, because something has completed. */
void host_fabric_ended(struct dxp_fabric *f);

/* progress_thread.c */
int progress_start(struct dxp_fabric *f);
void progress_stop(struct dxp_fabric *f);
/* Wakes the progress thread, because an xPU may access host memory while no call polls. */
void progress_notify(struct dxp_fabric *f);
/* Sends posted commands. It sends them now if the xPU has no other work (`alone`), or if the last
 * burst is some time ago. Otherwise it sends them later, in a batch with the commands that
 * follow. */
void progress_burst(struct dxp_fabric *f, bool alone);

/* arrivals.c: processes the completions and arrivals in the window; returns how many there were. */
uint32_t arrivals_process(struct dxp_fabric *f);

/* watch.c */
void watch_look(struct dxp_fabric *f, uint64_t now_ns);
/* watch_begin, watch_end: call before and after a wait for `x`. */
void watch_begin(struct dxp_xpu *x);
void watch_end(struct dxp_xpu *x);
void watch_arm(struct dxp_fabric *f);
void watch_changed(void *fabric, const struct table_change *change);
void watch_session_ended(void *fabric, uint16_t peer, int status);

/* xpu.c */
struct dxp_xpu *xpu_find(const struct dxp_fabric *f, uint16_t node);
/* Returns true if an xPU may access host memory now. */
bool xpus_pull(const struct dxp_fabric *f);
/* Finds the ring and the entry of an event; NULL: unknown. *x is the xPU of the event, or NULL for
 * an event of this host. */
struct events *events_of(struct dxp_fabric *f, dxp_event event, struct dxp_xpu **x,
			 struct host_event **entry);
void xpu_end(struct dxp_xpu *x, int status);
/* Applies the status of a descriptor to `x`, and returns the status to report. After a transport
 * failure, `x` is lost for this host, even if the node table still lists it. */
int xpu_judge(struct dxp_xpu *x, int status);

/* request.c */
/* Posts one NAP; polls while the window is full. `context`: see enum host_context. */
int request_post(struct dxp_xpu *x, const uint8_t *message, uint32_t bytes, uint64_t context);
/* Sends a synchronous command and waits for the reply; sets c->sequence. Returns the status in the
 * reply, or the reason why there is no reply. Sets no error text. */
int request_call(struct dxp_xpu *x, struct command *c, struct command_reply *reply,
		 uint64_t timeout_ns);
/* One command to each of `count` xPUs, at most DXP_GROUP_MEMBERS_MAX. */
struct request_set {
	struct dxp_xpu *const *xpus;
	uint32_t count;
	struct command *commands;
	struct command_reply *replies;
	int *status;         /* set as the results of request_call() */
	uint64_t timeout_ns; /* ns, for all together */
	/* If another thread sets this and calls host_fabric_ended(), the wait for replies ends, and
	 * statuses are DXP_ECLOSED. NULL: nothing ends it early. */
	const bool *stop;
};
/* Sends the commands and waits for all replies. */
void request_call_all(const struct request_set *set);
void request_fail(struct dxp_fabric *f, const struct dxp_xpu *x, int status);

/* memory.c */
enum memory_direction { MEMORY_WRITE, MEMORY_READ };
int memory_move(struct dxp_xpu *x, enum memory_direction direction, uint64_t address, void *local,
		uint64_t bytes);

/* waits.c */
struct command_waits {
	uint64_t events[COMMAND_WAITS_MAX];
	uint8_t count;
	bool failed; /* true: one of the events has failed */
};
/* Converts a wait list to events that node `x` can wait for. If needed, sends commands to other
 * xPUs, so that they signal their events to `x`. */
int waits_resolve(struct dxp_xpu *x, const dxp_event *wait, uint32_t count,
		  struct command_waits *out);
/* start.c */
/* Initializes a command. Clears all fields except most of `text`, because `text` is long. */
static inline void command_begin(struct command *c, uint8_t op)
{
	memset(c, 0, offsetof(struct command, text));
	c->text[0] = '\0';
	c->op = op;
}
/* Waits until the xPU has space for another command. May release the lock. */
int host_command_space(struct dxp_xpu *x);
/* Posts an asynchronous command and records its event. `event` NULL: the program gets no handle. */
int host_command_start(struct dxp_xpu *x, struct command *c, const struct command_waits *waits,
		       dxp_event *event);
/* Resolves a wait list, waits for space, then starts the command with host_command_start(). */
int host_command_start_after(struct dxp_xpu *x, struct command *c, const dxp_event *wait,
			     uint32_t wait_count, dxp_event *event);
/* Does what host_command_start_after() does, for a command by which the xPU performs the transfer
 * `m`. State of `m` becomes PULLED, unless an event that it waits for has failed. */
int host_command_start_pull(struct dxp_xpu *x, struct command *c, const struct dxp_waits *waits,
			    struct move *m, dxp_event *event);

/* executor.c: events of this host, and messages to nodes that wait for them. */
void executor_init(struct dxp_fabric *f);
void executor_destroy(struct dxp_fabric *f);
dxp_event executor_event(const struct dxp_fabric *f, uint32_t count);
int executor_add(struct dxp_fabric *f, uint32_t *count, struct host_event **out);
/* Records that node `x` waits for this PENDING event of this host. */
int executor_notify(struct dxp_fabric *f, uint32_t count, struct host_event *entry,
		    struct dxp_xpu *x);
/* If `x` waits for this event, queues a success message to `x` on queue pair `qp` now. The message
 * arrives after the data that was posted there before. Returns true if `x` waited. */
bool executor_notify_early(struct dxp_fabric *f, struct host_event *entry, const struct dxp_xpu *x,
			   uint8_t qp);
/* Posts queued messages to nodes while the window has space; returns how many. */
uint32_t executor_notices_post(struct dxp_fabric *f);

/* move.c: asynchronous transfers. */
int move_start(struct dxp_xpu *x, enum memory_direction direction, uint64_t address, void *local,
	       uint64_t bytes, const struct dxp_waits *waits, dxp_event *event);
/* Advances all transfers; returns how many steps were done. */
uint32_t moves_poll(struct dxp_fabric *f);
bool moves_busy(const struct dxp_fabric *f);
/* Starts the transfers that waited for this event. If the event failed, they fail too. */
void moves_ended(struct dxp_fabric *f, struct host_event *entry, int status);
/* Called when a node starts to wait for the event of `m`. Notifies the node early if the queue
 * pair's order guarantees that the message arrives after the data. */
void move_wanted(struct move *m);
/* Completes `m` with the status that the xPU reported. If the xPU is lost, `status` is the
 * reason. */
void move_notified(struct move *m, int status, const struct dxp_event_times *times);
void moves_lost(struct dxp_xpu *x, int status);
/* Cancels all transfers of `x`. After the return, they access no memory. */
void moves_close(struct dxp_xpu *x);

/* completion.c */
void completions_destroy(struct dxp_fabric *f);
/* Queues the completion of an event that has `notify` set. */
void completion_put(struct dxp_fabric *f, dxp_event event, const struct host_event *entry);
/* Queues the start of the command of this event, if starts are requested. */
void completion_begun(struct dxp_fabric *f, dxp_event event, const struct host_event *entry);
/* Requests that the node reports the completion of this lazy event at once. */
void event_hurry(struct dxp_xpu *x, uint32_t count);

/* print.c */
void print_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes);

/* failure.c: keeps the sentence about a failed command. It arrives before the EVENT of this
 * command. */
void failure_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes);
/* Returns the sentence about a failed command; NULL: there is none. */
const char *failure_find(const struct dxp_xpu *x, uint64_t event);

/* cycles.c: keeps the cycles of a launch, which arrive before its EVENT. */
void cycles_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes);

/* bridge.c: completes all transfers of `x`; those that are pending get DXP_ECLOSED. Call it after
 * the command CLOSE. Returns when nothing accesses the memory of these transfers. */
void bridges_close(struct dxp_xpu *x);

#endif
