/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/text.h"
#include "worker/server.h"
#include "xpu/label.h"
#include "xpu/slot_internal.h"

/* starts of one process, if its zygote is lost each time; then its orders fail */
#define STARTS_MAX   3
#define POLL_ANSWERS 256 /* answers per poll, before other work */

static struct worker *worker_create(struct slot *s, struct tenant *t, int *rings_fd)
{
	struct worker *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*rings_fd = descriptor_memory("dxp-worker", sizeof(*c->rings));
	c->rings = MAP_FAILED;
	if (*rings_fd >= 0)
		c->rings = mmap(NULL, sizeof(*c->rings), PROT_READ | PROT_WRITE, MAP_SHARED,
				*rings_fd, 0);
	if (c->rings == MAP_FAILED) {
		log_warn("no memory for a worker's rings: %s; raise the limit of open files "
			 "(ulimit -n), or free memory",
			 strerror(errno));
		if (*rings_fd >= 0)
			close(*rings_fd);
		free(c);
		return NULL;
	}
	c->slot = s;
	c->tenant = t;
	c->rings_fd = c->wakeup_fd = -1;
	c->tail = &c->first;
	c->orders.ring = &c->rings->orders;
	c->answers.ring = &c->rings->answers;
	return c;
}

/* Linux removes the eventfd from the node's epoll set when the process has closed it too. */
static void descriptors_close(struct worker *c)
{
	if (c->rings_fd >= 0)
		close(c->rings_fd);
	if (c->wakeup_fd >= 0)
		close(c->wakeup_fd);
	c->rings_fd = c->wakeup_fd = -1;
}

static void worker_free(struct worker *c)
{
	descriptors_close(c);
	munmap(c->rings, sizeof(*c->rings));
	free(c);
}

static void node_of_slot_wake(void *context)
{
	node_wake(context);
}

static void *thread_main(void *argument)
{
	struct worker *c = argument;
	struct slot *s = c->slot;
	const struct worker_server_options options = {
		.rings = c->rings,
		.engine = s->engine,
		.memory = s->bridged ? NULL : arena_base(s->arena),
		.memory_bytes = arena_bytes(s->arena),
		.windows = arena_tail(s->arena),
		.memory_fd = -1,
		.spin_ns = s->worker_spin_ns,
		.wake = node_of_slot_wake,
		.wake_context = s->node,
	};

	worker_serve(&options);
	return NULL;
}

int worker_open_thread(struct slot *s, struct worker **out)
{
	int fd;
	struct worker *c = worker_create(s, NULL, &fd);

	if (!c)
		return DXP_ENOMEM;
	close(fd);
	int error = pthread_create(&c->thread, NULL, thread_main, c);
	if (error != 0) {
		log_error("cannot start the thread of an engine: %s; raise the limit of processes "
			  "(ulimit -u)",
			  strerror(error));
		worker_free(c);
		return DXP_EIO;
	}
	c->started = true;
	*out = c;
	return DXP_OK;
}

/* One per process: a hostile one could fill a common eventfd. */
static int wakeup_open(struct worker *c)
{
	c->wakeup_fd = descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (c->wakeup_fd < 0) {
		log_warn("cannot create an eventfd for a worker: %s; raise the limit of open "
			 "files (ulimit -n)",
			 strerror(errno));
		return DXP_EIO;
	}
	return node_watch(c->slot->node, c->wakeup_fd);
}

int worker_open_process(struct tenant *t, struct worker **out)
{
	struct slot *s = t->slot;
	int fd;
	struct worker *c = worker_create(s, t, &fd);

	if (!c)
		return DXP_ENOMEM;
	c->id = ++s->worker_last;
	c->rings_fd = fd;
	int status = wakeup_open(c);
	if (status == DXP_OK)
		status = worker_begin(c);
	if (status != DXP_OK && status != DXP_EAGAIN) {
		worker_free(c);
		return status;
	}
	c->started = true;
	*out = c;
	return DXP_OK;
}

bool worker_waits(const struct worker *c)
{
	return c->rings_fd >= 0 && !c->requested;
}

/* An accepted order must not run twice, so the process is not started again. */
static bool has_begun(const struct worker *c)
{
	return atomic_load_explicit(&c->rings->orders.head, memory_order_relaxed) != 0;
}

int worker_begin(struct worker *c)
{
	/* It may have accepted an order before it exited with the zygote. */
	if (has_begun(c))
		return DXP_EIO;
	struct node_entry host;
	char label[WORKER_LABEL_BYTES] = "";

	if (slot_lookup(c->slot, c->tenant->host, &host))
		label_make(host.name, &host.address, label);
	const struct zygote_worker start = {.id = c->id,
					    .host = label,
					    .rings_fd = c->rings_fd,
					    .wakeup_fd = c->wakeup_fd,
					    .memory_fd = c->tenant->memory->fd};
	int status = zygote_start(c->slot->zygote, &start);
	if (status == DXP_OK) {
		c->requested = true;
		c->starts++;
	}
	return status;
}

bool worker_begin_again(struct worker *c)
{
	if (worker_waits(c))
		return true;
	if (c->rings_fd < 0 || c->ends || c->starts >= STARTS_MAX || has_begun(c))
		return false;
	c->requested = false;
	return true;
}

/* Queues an order behind all earlier ones. False: no space. */
static bool order_put(struct worker *c, const struct order *o)
{
	return worker_put(&c->orders, o->kind, &o->parts);
}

static bool of_engine(const struct order *o)
{
	return o->kind == WORKER_RUN || o->kind == WORKER_EDIT;
}

void worker_post(struct worker *c, struct order *o)
{
	o->next = NULL;
	c->commands += of_engine(o);
	*c->tail = o;
	c->tail = &o->next;
	if (!c->unposted && !order_put(c, o))
		c->unposted = o;
	if (!c->unposted && worker_wake(&c->orders))
		c->slot->woke = true;
}

static uint32_t orders_put(struct worker *c)
{
	uint32_t work = 0;

	for (; c->unposted && order_put(c, c->unposted); work++)
		c->unposted = c->unposted->next;
	if (work && worker_wake(&c->orders))
		c->slot->woke = true;
	return work;
}

static void order_pop(struct worker *c, const struct order_end *end)
{
	struct order *o = c->first;

	c->ended++;
	c->commands -= of_engine(o);
	c->first = o->next;
	if (!c->first)
		c->tail = &c->first;
	if (c->unposted == o)
		c->unposted = o->next;
	o->ops->end(o, end);
}

/* A hostile worker can report any time, which only changes the length of its own queue. */
static void run_time_note(struct worker *c, const struct order_end *end)
{
	const uint64_t ns = end->ended_ns > end->started_ns ? end->ended_ns - end->started_ns : 0;

	if (of_engine(c->first))
		c->run_ns += min_u64(ns, XPU_WORK_NS) / 4 - c->run_ns / 4;
}

/* `body`: a copy that the worker cannot change. */
static void done_complete(struct worker *c, char *body, uint32_t bytes)
{
	struct worker_done d;
	struct order_end end = {.ran = true, .text = body + sizeof(d)};

	memcpy(&d, body, sizeof(d));
	if (d.text_bytes > bytes - sizeof(d) || d.text_bytes >= ENGINE_TEXT_BYTES)
		d.text_bytes = 0;
	body[sizeof(d) + d.text_bytes] = '\0';
	end.status = d.status > 0 ? DXP_EDEVICE : d.status;
	end.native = d.native;
	end.started_ns = d.started_ns;
	end.ended_ns = d.ended_ns;
	end.cycles = d.cycles;
	run_time_note(c, &end);
	order_pop(c, &end);
}

/* False: invalid. */
static bool answer_accept(struct worker *c, const struct worker_head *head, void *body)
{
	uint32_t bytes = head->bytes - (uint32_t)sizeof(*head);
	struct order *o = c->first;

	if (!o || o == c->unposted)
		return false;
	switch (head->kind) {
	case WORKER_DONE:
		if (bytes < sizeof(struct worker_done))
			return false;
		done_complete(c, body, bytes);
		return true;
	case WORKER_LOG:
	case WORKER_DATA:
		if (o->ops->data)
			o->ops->data(o, head->kind, body, bytes);
		return true;
	case WORKER_PRINT:
		text_clean(body, bytes, TEXT_OUTPUT, &c->print_last);
		reply_print_send(o->tenant, body, bytes);
		return true;
	default: return false;
	}
}

/* The host reads slowly, so output of its kernels must wait. */
static bool held_up(const struct worker *c)
{
	return c->tenant && !c->tenant->gone &&
	       outbox_count(c->slot->outbox, c->tenant->host) >= XPU_PRINTS_WAIT;
}

static uint32_t answers_dequeue(struct worker *c, uint32_t most)
{
	_Alignas(8) uint8_t message[WORKER_MESSAGE_BYTES + 8];
	const struct worker_head *head = (const void *)message;
	uint32_t dequeued = 0;
	int bytes;

	if (held_up(c))
		return 0;
	for (; dequeued < most && (bytes = worker_dequeue(&c->answers, message)) != 0; dequeued++) {
		if (bytes > 0 && answer_accept(c, head, message + sizeof(*head)))
			continue;
		if (!c->ends)
			log_warn("the answer of a worker does not parse; a kernel has overwritten "
				 "memory of its worker");
		worker_kill(c);
		break;
	}
	return dequeued;
}

uint32_t worker_poll(struct worker *c)
{
	uint32_t work = c->ends ? 0 : answers_dequeue(c, POLL_ANSWERS);

	if (c->rings_fd >= 0 && c->requested && has_begun(c))
		descriptors_close(c);
	if (c->ends && !c->notified)
		worker_kill(c);
	return work + orders_put(c);
}

void worker_kill(struct worker *c)
{
	c->ends = true;
	if (!c->notified && c->tenant && !worker_waits(c))
		c->notified = zygote_kill(c->slot->zygote, c->id) != DXP_EAGAIN;
}

/* `text` explains the failure of the first order. */
static void orders_fail(struct worker *c, int status, const char *text)
{
	uint64_t now_ns = clock_now_ns();
	struct order_end end = {
		.status = status, .started_ns = now_ns, .ended_ns = now_ns, .text = text};

	for (; c->first; end.text = "")
		order_pop(c, &end);
}

void worker_last(struct worker *c)
{
	if (!c->ends)
		answers_dequeue(c, UINT32_MAX);
}

void worker_lost(struct worker *c, int status, const char *text)
{
	c->started = false;
	orders_fail(c, status, text);
}

static uint64_t running_event(const struct worker *c)
{
	const struct order *o = c->first;

	if (!o || o == c->unposted || worker_waits(c) || !of_engine(o))
		return 0;
	return CONTAINER_OF(o, struct work, order)->graph.event;
}

uint32_t worker_begun_notify(struct worker *c, uint64_t now_ns)
{
	uint64_t event = running_event(c);

	if (!event) {
		c->running.seen = false;
		return 0;
	}
	if (!c->running.seen || c->running.ended != c->ended) {
		c->running.ended = c->ended;
		c->running.since_ns = now_ns;
		c->running.seen = true;
		c->running.notified = false;
	}
	if (c->running.notified || now_ns < c->running.since_ns + XPU_BEGUN_NS)
		return 0;
	c->running.notified = true;
	reply_begun_send(c->first->tenant, event);
	return 1;
}

uint64_t worker_begun_deadline(const struct worker *c)
{
	return c->running.seen && !c->running.notified ? c->running.since_ns + XPU_BEGUN_NS
						       : UINT64_MAX;
}

static void thread_stop(struct worker *c)
{
	atomic_store(&c->rings->stop, 1);
	/* A busy thread reads `stop` after its order. */
	if (worker_put(&c->orders, WORKER_STOP, &(struct worker_parts){0}))
		worker_wake(&c->orders);
	pthread_join(c->thread, NULL);
}

void worker_close(struct worker *c)
{
	if (!c)
		return;
	if (!c->tenant && c->started)
		thread_stop(c);
	orders_fail(c, DXP_ECLOSED, "");
	worker_free(c);
}

bool worker_sleeping(struct worker *c)
{
	return worker_sleep_announce(&c->answers) || held_up(c);
}

void worker_resumed(struct worker *c)
{
	worker_sleep_end(&c->answers);
}
