/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "worker/print.h"
#include "worker/server_internal.h"

static void done(struct worker_server *s, struct worker_done *d)
{
	const struct worker_parts parts = {d, s->text, sizeof(*d), d->text_bytes};

	server_answer(s, WORKER_DONE, &parts);
	s->options.wake(s->options.wake_context);
}

/* A recent failed order had an event that this order needs. */
static bool needs_failed(const struct worker_server *s, const uint64_t *needs, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < COMMAND_WAITS_MAX; i++)
		for (uint32_t k = 0; k < WORKER_QUEUE_MAX; k++)
			if (s->failed[k] == needs[i])
				return true;
	return false;
}

static void failed_note(struct worker_server *s, uint64_t event)
{
	if (event)
		s->failed[s->failed_next++ % WORKER_QUEUE_MAX] = event;
}

static int edit(struct worker_server *s, const struct worker_edit *from)
{
	const struct engine_edit e = {
		.op = from->op,
		.memory = s->options.memory,
		.memory_bytes = s->options.memory_bytes,
		.from = from->from,
		.to = from->to,
		.data = worker_edit_data(from),
		.data_bytes = from->data_bytes,
		.rect = from->rect,
	};
	return engine_edit(s->options.engine, &e);
}

static int run_do(struct worker_server *s, struct worker_run *run, uint32_t bytes)
{
	int status = DXP_EMALFORMED;

	if (run->bytes == bytes)
		status = needs_failed(s, worker_run_needs(run), run->need_count)
				 ? DXP_ECANCELED
				 : worker_launch(s, run);
	if (status != DXP_OK)
		failed_note(s, run->event);
	return status;
}

static int edit_do(struct worker_server *s, const struct worker_edit *e, uint32_t bytes)
{
	int status = DXP_EMALFORMED;

	if (e->bytes == bytes)
		status = needs_failed(s, e->needs, e->need_count) ? DXP_ECANCELED : edit(s, e);
	if (status != DXP_OK)
		failed_note(s, e->event);
	return status;
}

/* Maps the file of device memory at this range of the reserved addresses. */
static int range_map(struct worker_server *s, const struct worker_range *r)
{
	void *at = mmap(s->options.memory + r->address, r->bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_FIXED, s->options.memory_fd, (off_t)r->address);

	if (at == MAP_FAILED)
		return DXP_ENOMEM;
	/* the daemon counts the file's pages one by one */
	madvise(at, r->bytes, MADV_NOHUGEPAGE);
	return DXP_OK;
}

static int range_unmap(struct worker_server *s, const struct worker_range *r)
{
	void *at = mmap(s->options.memory + r->address, r->bytes, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	return at == MAP_FAILED ? DXP_ENOMEM : DXP_OK;
}

static int order_do(struct worker_server *s, uint32_t kind, void *body, uint32_t bytes)
{
	switch (kind) {
	case WORKER_RUN: return run_do(s, body, bytes);
	case WORKER_EDIT: return edit_do(s, body, bytes);
	case WORKER_PART: return worker_build_part(s, body, bytes);
	case WORKER_BUILD: return worker_build(s, body);
	case WORKER_RELEASE: return worker_release(s, body);
	case WORKER_FETCH: return worker_fetch(s, body);
	case WORKER_MAP: return range_map(s, body);
	case WORKER_UNMAP: return range_unmap(s, body);
	default: return DXP_OK;
	}
}

/* Before the kernel's DONE. */
static void print_report(struct worker_server *s)
{
	size_t bytes;
	const char *text;

	while ((text = worker_print_dequeue(s->options.print, &bytes)))
		server_answer_data(s, WORKER_PRINT, text, bytes);
}

static void order_serve(struct worker_server *s, struct worker_head *head)
{
	struct worker_done d = {.started_ns = clock_now_ns()};

	s->text[0] = '\0';
	s->options.engine->native = 0;
	d.status = order_do(s, head->kind, head + 1, head->bytes - (uint32_t)sizeof(*head));
	d.ended_ns = clock_now_ns();
	d.native = d.status == DXP_OK ? 0 : s->options.engine->native;
	d.text_bytes = (uint32_t)strlen(s->text);
	if (head->kind == WORKER_RUN && d.status == DXP_OK)
		d.cycles = s->options.engine->cycles;
	if (s->options.print && head->kind == WORKER_RUN)
		print_report(s);
	done(s, &d);
}

static void server_loop(struct worker_server *s)
{
	struct worker_head *head = (void *)s->message;
	int bytes;

	for (;;) {
		worker_wait(&s->orders, s->options.spin_ns);
		bytes = worker_dequeue(&s->orders, s->message);
		if (bytes <= 0 || head->kind == WORKER_STOP ||
		    atomic_load_explicit(&s->options.rings->stop, memory_order_relaxed))
			return;
		order_serve(s, head);
	}
}

void worker_serve(const struct worker_server_options *options)
{
	struct worker_server *s = calloc(1, sizeof(*s));

	if (!s) {
		log_error("not enough memory for a worker; start dxpd with fewer slots, or free "
			  "memory");
		return;
	}
	s->options = *options;
	s->orders.ring = &options->rings->orders;
	s->answers.ring = &options->rings->answers;
	server_loop(s);
	worker_programs_free(s);
	free(s);
}
