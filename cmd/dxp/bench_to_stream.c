/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth and message rate of `dxp bench stream|rate --to NODE`: keeps a fixed number of
 * operations outstanding. */
#include <dxp/async.h>
#include <dxp/status.h>

#include "base/clock.h"
#include "cmd/dxp/bench_to.h"

#define DEPTH_MAX   128
#define ROUNDS_MAX  99
#define TOTAL_BYTES (512ull << 20) /* bytes moved by one sample */
#define MESSAGES    (1u << 18)     /* messages of one sample */
#define SMALL_BYTES 64

struct flow {
	const char *name;
	int (*post)(struct bench_to *b, uint64_t offset, uint64_t bytes, dxp_event *event);
	uint64_t bytes; /* bytes of one operation */
	uint32_t depth; /* outstanding operations */
};

/* The buffer stays unchanged until the event completes. So the library sends even short writes as
 * PUTs and does not copy their bytes. */
static const struct dxp_waits late = {.late = true};

static int put_post(struct bench_to *b, uint64_t offset, uint64_t bytes, dxp_event *event)
{
	return dxp_write(b->session.xpu, b->address + offset, b->buffer + offset, bytes, &late,
			 event);
}

static int get_post(struct bench_to *b, uint64_t offset, uint64_t bytes, dxp_event *event)
{
	return dxp_read(b->session.xpu, b->buffer + offset, b->address + offset, bytes, NULL,
			event);
}

static int mark_post(struct bench_to *b, uint64_t offset, uint64_t bytes, dxp_event *event)
{
	return dxp_mark(b->session.xpu, NULL, event);
}

/* Outstanding operations. Invariant: posted - ended <= depth. */
struct window {
	dxp_event events[DEPTH_MAX];
	uint64_t posted, ended;
};

/* Posts operations until `depth` are outstanding or `count` are posted. Stops without an error if
 * there is no space for another operation while some are outstanding. */
static int window_fill(struct bench_to *b, const struct flow *f, struct window *w, uint64_t count)
{
	const uint64_t places = b->bytes / f->bytes;
	int status = DXP_OK;

	while (status == DXP_OK && w->posted < count && w->posted - w->ended < f->depth) {
		status = f->post(b, w->posted % places * f->bytes, f->bytes,
				 &w->events[w->posted % f->depth]);
		w->posted += status == DXP_OK;
	}
	return status == DXP_EAGAIN && w->posted > w->ended ? DXP_OK : status;
}

static int window_wait(struct bench_to *b, const struct flow *f, struct window *w)
{
	return dxp_event_wait(b->session.fabric, w->events[w->ended++ % f->depth], BENCH_TO_WAIT,
			      NULL);
}

/* Runs up to `count` operations for up to budget_ns. Writes how many completed to *done, and the
 * time that they took to *took_ns. */
static int sample(struct bench_to *b, const struct flow *f, uint64_t count, uint64_t *done,
		  uint64_t *took_ns)
{
	const uint64_t begin_ns = clock_now_ns();
	struct window w = {.posted = 0};
	int status = DXP_OK;

	do {
		b->begin_ns = clock_now_ns();
		if (b->begin_ns < begin_ns + b->budget_ns)
			status = window_fill(b, f, &w, count);
		if (status == DXP_OK && w.posted > w.ended)
			status = window_wait(b, f, &w);
	} while (status == DXP_OK && w.posted > w.ended);
	*done = w.ended;
	*took_ns = clock_now_ns() - begin_ns;
	return status;
}

/* Measures a flow in several rounds. Stores the operations per second of each. */
static int rounds_run(struct bench_to *b, const struct flow *f, uint64_t count,
		      double per_s[ROUNDS_MAX])
{
	uint64_t done, took_ns;
	int status =
		/* warm-up, in which the congestion window grows */
		sample(b, f, count / 16 + 1, &done, &took_ns);

	for (uint64_t r = 0; r < b->rounds && status == DXP_OK; r++) {
		status = sample(b, f, count, &done, &took_ns);
		per_s[r] = (double)done * S_NS / (double)took_ns;
	}
	return status;
}

int bench_to_stream(struct bench_to *b)
{
	static const struct flow flows[] = {
		{"PUT 64 KiB, 1 at a time", put_post, 64 << 10, 1},
		{"PUT 1 MiB, 1 at a time", put_post, 1 << 20, 1},
		{"PUT 1 MiB, 8 at a time", put_post, 1 << 20, 8},
		{"PUT 16 MiB, 1 at a time", put_post, 16 << 20, 1},
		{"GET 64 KiB, 1 at a time", get_post, 64 << 10, 1},
		{"GET 1 MiB, 1 at a time", get_post, 1 << 20, 1},
		{"GET 1 MiB, 8 at a time", get_post, 1 << 20, 8},
		{"GET 16 MiB, 1 at a time", get_post, 16 << 20, 1},
	};
	const uint64_t total = b->quick ? TOTAL_BYTES / 10 : TOTAL_BYTES;
	double per_s[ROUNDS_MAX];
	int status = DXP_OK;

	for (size_t i = 0; i < ARRAY_COUNT(flows) && status == DXP_OK; i++) {
		const struct flow *f = &flows[i];
		if (!bench_to_begin(b, f->name, f->bytes))
			continue;
		status = rounds_run(b, f, total / f->bytes, per_s);
		if (status != DXP_OK)
			break;
		struct report_row row = {
			.name = f->name,
			.metric = "payload",
			.unit = "GB/s",
			.value = report_median(per_s, b->rounds) * (double)f->bytes / 1e9,
			.x_name = "bytes",
			.x = (double)f->bytes,
		};
		bench_to_row(b, &row);
	}
	return status;
}

int bench_to_rate(struct bench_to *b)
{
	static const struct flow flows[] = {
		{"commands", mark_post, SMALL_BYTES, DEPTH_MAX},
		{"PUT 64 B", put_post, SMALL_BYTES, DEPTH_MAX},
		{"GET 64 B", get_post, SMALL_BYTES, DEPTH_MAX},
	};
	double per_s[ROUNDS_MAX];
	int status = DXP_OK;

	for (size_t i = 0; i < ARRAY_COUNT(flows) && status == DXP_OK; i++) {
		const struct flow *f = &flows[i];
		if (!bench_to_begin(b, f->name, f->bytes))
			continue;
		status = rounds_run(b, f, b->quick ? MESSAGES / 10 : MESSAGES, per_s);
		if (status != DXP_OK)
			break;
		struct report_row row = {
			.name = f->name,
			.metric = "completed",
			.unit = "M/s",
			.value = report_median(per_s, b->rounds) / 1e6,
		};
		bench_to_row(b, &row);
	}
	return status;
}
