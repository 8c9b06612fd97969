/* SPDX-License-Identifier: BSD-3-Clause */
/* A NIC inside this program and its functions.
 *
 * Threads: with a thread of its own only that thread touches the node; other threads hand it calls,
 * which it makes between two turns. Without one whoever calls is the only one, as dxp/function.h
 * asks of him. */
#ifndef HOST_EMBED_H
#define HOST_EMBED_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/function.h"
#include "node/node.h"

struct embedded {
	struct dxp_function base;
	struct dxp_nic *nic;
	struct embedded *next;
	struct function_memory *mapped; /* of files that dxp_memory_register was given */
	struct dxp_window *window;      /* as base.window; ours; NULL: function 0's, the node's */
	uint32_t index;
	int user_bell; /* -1 without a thread */
	bool foreign;  /* regions in memory of the caller have been registered */
	char label[FABRIC_NAME_BYTES];
};

/* Something for the NIC's thread to do. On the caller's stack. */
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
	bool physical_used;            /* function 0, open from the start, has been given out */
	struct embedded *closed;       /* until nothing points into their memory */
	struct function_memory *freed; /* the same, of open functions */
	uint64_t timeout_ns;
	uint32_t spin_us;
	char name[FABRIC_NAME_BYTES];

	/* the thread, and what it is asked to do */
	pthread_t thread;
	bool threaded;
	_Atomic int stop;
	pthread_mutex_t lock; /* of the list of calls, `done` and `over` */
	pthread_cond_t ended;
	struct nic_call *calls;
	_Atomic bool asked; /* there are calls */
	bool over;          /* the thread has ended */
};

/* embed_thread.c: runs it where the node may be touched, and returns what it returned. DXP_EIO: the
 * thread has ended. */
int nic_run(struct dxp_nic *nic, int (*run)(struct dxp_nic *nic, void *context), void *context);
int nic_thread_start(struct dxp_nic *nic);
void nic_thread_stop(struct dxp_nic *nic);

/* embed.c: what is left to do after each turn; returns how much that was. */
uint32_t nic_after_turn(struct dxp_nic *nic);

/* embed_function.c */
void embedded_free(struct embedded *e);

#endif
