/* SPDX-License-Identifier: BSD-3-Clause */
/* A NIC inside this program, and its functions.
 *
 * Threads: a NIC with a thread is touched by that thread only; other threads queue calls, which
 * it runs between polls. Without one, the program makes all calls from one thread
 * (dxp/function.h). */
#ifndef HOST_EMBED_H
#define HOST_EMBED_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/function.h"
#include "node/node.h"
#include "wire/limits.h"

struct embedded {
	struct dxp_function base;
	struct dxp_nic *nic;
	struct embedded *next;
	struct function_memory *mapped; /* files passed to dxp_memory_register */
	/* base.window, owned here; NULL: function 0's, owned by the node */
	struct dxp_window *window;
	uint32_t index;
	int user_wakeup; /* -1 without a thread */
	bool foreign;    /* memory of the caller was registered */
	char label[FABRIC_NAME_BYTES];
};

/* A call for the NIC's thread, on the caller's stack. */
struct nic_call {
	struct nic_call *next;
	int (*run)(struct dxp_nic *nic, void *context);
	void *context;
	int status;
	bool done;
};

struct dxp_nic {
	struct node *node;
	struct embedded *functions;    /* open ones */
	bool physical_used;            /* function 0, open from the start, is in use */
	struct embedded *closed;       /* freed when nothing points into their memory */
	struct function_memory *freed; /* likewise, memory of open functions */
	uint64_t timeout_ns;
	uint32_t spin_us;
	char name[FABRIC_NAME_BYTES];

	/* The thread, and its queue of calls. */
	pthread_t thread;
	bool threaded;
	_Atomic int stop;
	pthread_mutex_t lock; /* guards the list of calls, `done` and `over` */
	pthread_cond_t ended;
	struct nic_call *calls;
	_Atomic bool requested; /* there are queued calls */
	bool over;              /* the thread has exited */
};

/* embed_thread.c: runs a call in the thread that owns the node; returns its result. DXP_EIO: the
 * thread has exited. */
int embed_run(struct dxp_nic *nic, int (*run)(struct dxp_nic *nic, void *context), void *context);
int embed_thread_start(struct dxp_nic *nic);
void embed_thread_stop(struct dxp_nic *nic);

/* embed.c: frees closed functions and memory after a poll; returns the amount of work. */
uint32_t embed_after_poll(struct dxp_nic *nic);

/* embed_function.c */
void embed_free(struct embedded *e);

#endif
