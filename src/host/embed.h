/* SPDX-License-Identifier: BSD-3-Clause */
/* A NIC inside this program, and its functions.
 *
 * Threads: if the NIC has a thread, only that thread accesses the NIC. It also runs the calls that
 * other threads queue. If the NIC has no thread, the program makes all calls from one thread
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
	struct function_memory *mapped; /* memfds that dxp_memory_register mapped */
	/* The window that this function owns; equals base.window. NULL: the node owns the window
	 * (function 0). */
	struct dxp_window *window;
	uint32_t index;
	int user_wakeup; /* eventfd that wakes the user; -1: the NIC has no thread */
	bool foreign;    /* true: memory that the caller owns was registered */
	char label[FABRIC_NAME_BYTES];
};

/* A call that waits for the NIC's thread. It is on the stack of the thread that makes the call. */
struct nic_call {
	struct nic_call *next;
	int (*run)(struct dxp_nic *nic, void *context);
	void *context;
	int status;
	bool done;
};

struct dxp_nic {
	struct node *node;
	struct embedded *functions;
	/* true: function 0 has a user; function 0 itself is open from the start */
	bool physical_used;
	/* closed functions; freed when the NIC no longer uses their memory */
	struct embedded *closed;
	/* memory that open functions have released; freed when the NIC no longer uses it */
	struct function_memory *freed;
	uint64_t timeout_ns;
	uint32_t spin_us;
	char name[FABRIC_NAME_BYTES];

	/* The thread and its queue of calls. */
	pthread_t thread;
	bool threaded;
	_Atomic int stop;
	pthread_mutex_t lock; /* guards `calls`, nic_call.done and `over` */
	pthread_cond_t ended;
	struct nic_call *calls;
	_Atomic bool requested;
	bool over; /* true: the thread has exited */
};

/* embed_thread.c. embed_run: runs a function in the NIC's thread and returns its result. DXP_EIO:
 * the thread has exited. embed_thread_start: DXP_ENOMEM: the thread cannot be created; DXP_EIO: the
 * thread has no file descriptors. */
int embed_run(struct dxp_nic *nic, int (*run)(struct dxp_nic *nic, void *context), void *context);
int embed_thread_start(struct dxp_nic *nic);
void embed_thread_stop(struct dxp_nic *nic);

/* embed.c: frees closed functions and memory that the NIC no longer uses; returns how many. */
uint32_t embed_after_poll(struct dxp_nic *nic);

/* embed_function.c */
void embed_free(struct embedded *e);

#endif
