/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that polls an embedded NIC, and runs calls for other threads. */
#include <signal.h>

#include "host/embed.h"
#include "host/internal.h"

static struct nic_call *calls_run(struct dxp_nic *nic)
{
	pthread_mutex_lock(&nic->lock);
	struct nic_call *list = nic->calls;
	nic->calls = NULL;
	atomic_store_explicit(&nic->requested, false, memory_order_relaxed);
	pthread_mutex_unlock(&nic->lock);
	return list;
}

/* Completes all queued calls. If `status` is DXP_OK, runs them. Otherwise they fail with
 * `status`. */
static uint32_t calls_end(struct dxp_nic *nic, int status)
{
	uint32_t count = 0;

	for (struct nic_call *c = calls_run(nic), *next; c; c = next, count++) {
		next = c->next;
		int result = status == DXP_OK ? c->run(nic, c->context) : status;
		pthread_mutex_lock(&nic->lock);
		c->status = result;
		c->done = true; /* the waiting thread owns the call and may free it from now on */
		pthread_cond_broadcast(&nic->ended);
		pthread_mutex_unlock(&nic->lock);
	}
	return count;
}

static uint32_t serve(void *context)
{
	struct dxp_nic *nic = context;
	uint32_t work = embed_after_poll(nic);

	if (atomic_load_explicit(&nic->requested, memory_order_acquire))
		work += calls_end(nic, DXP_OK);
	return work;
}

static uint64_t serve_deadline(void *context)
{
	struct dxp_nic *nic = context;

	return atomic_load_explicit(&nic->requested, memory_order_acquire) ? 0 : UINT64_MAX;
}

static void *thread_main(void *context)
{
	struct dxp_nic *nic = context;
	uint32_t spin_ns = function_spin_ns(nic->spin_us);
	struct node_loop loop = {.nodes = &nic->node,
				 .count = 1,
				 .spin_ns = spin_ns ? spin_ns : UINT32_MAX,
				 .service = serve,
				 .service_deadline = serve_deadline,
				 .service_context = nic,
				 .stop = &nic->stop};
	int status = node_loop_run(&loop);

	pthread_mutex_lock(&nic->lock);
	nic->over = true;
	pthread_mutex_unlock(&nic->lock);
	calls_end(nic, status == DXP_OK ? DXP_ECLOSED : status);
	return NULL;
}

int embed_run(struct dxp_nic *nic, int (*run)(struct dxp_nic *nic, void *context), void *context)
{
	struct nic_call call = {.run = run, .context = context};

	if (!nic->threaded)
		return run(nic, context);
	pthread_mutex_lock(&nic->lock);
	if (nic->over) {
		pthread_mutex_unlock(&nic->lock);
		return DXP_EIO;
	}
	call.next = nic->calls;
	nic->calls = &call;
	atomic_store_explicit(&nic->requested, true, memory_order_release);
	pthread_mutex_unlock(&nic->lock);
	node_wake(nic->node);
	pthread_mutex_lock(&nic->lock);
	while (!call.done)
		pthread_cond_wait(&nic->ended, &nic->lock);
	pthread_mutex_unlock(&nic->lock);
	return call.status;
}

static int nothing(struct dxp_nic *nic, void *context)
{
	return DXP_OK;
}

int embed_thread_start(struct dxp_nic *nic)
{
	sigset_t all, old;

	/* The new thread inherits this mask, so signals arrive only in the program's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	nic->threaded = true;
	int error = pthread_create(&nic->thread, NULL, thread_main, nic);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error) {
		nic->threaded = false;
		return error_set(DXP_ENOMEM, "cannot start a thread; raise \"ulimit -u\"");
	}
	int status = embed_run(nic, nothing, NULL);
	if (status == DXP_OK)
		return status;
	embed_thread_stop(nic);
	return error_set(status, "the NIC's thread has no file descriptors; raise \"ulimit -n\"");
}

static int stop_set(struct dxp_nic *nic, void *context)
{
	nic->stop = 1;
	return DXP_OK;
}

void embed_thread_stop(struct dxp_nic *nic)
{
	if (!nic->threaded)
		return;
	embed_run(nic, stop_set, NULL);
	pthread_join(nic->thread, NULL);
	nic->threaded = false;
}
