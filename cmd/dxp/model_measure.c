/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp model loggp --measure`. A batch of messages, a stream and the shortest round trip
 * give the parameters; longer round trips check them. All measurements call the functions of the
 * benchmarks. Each figure is the least value of several runs. */
#include "cmd/dxp/model_measure.h"

#include <stdio.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/util.h"
#include "bench/contenders.h"
#include "bench/lab.h"
#include "bench/measure.h"
#include "model/least.h"
#include "model/net_rows.h"

#define TRIPS         2000
#define MESSAGES      (1u << 18)
#define STREAM_BYTES  (1u << 20)
#define STREAMS       400
#define BUDGET_NS     (2 * S_NS)
#define WARMUP        2000 /* messages, as in `dxp bench latency` */
#define SMALL_BYTES   8
#define ROUNDS_LEAST  3 /* measurements of each figure */
#define ROUNDS_MOST   8
#define AGREE_PERCENT 25 /* percent by which the two least values of a figure may differ */

static const uint32_t sizes[] = {SMALL_BYTES, 64, 256, 512, 1024, 2048};

/* Measured figures, in ns; FIGURE_BYTE in ns per byte. Half a round trip of each size follows. */
enum { FIGURE_SEND, FIGURE_RECEIVE, FIGURE_GAP, FIGURE_BYTE, FIGURE_TRIP };
#define FIGURES (FIGURE_TRIP + ARRAY_COUNT(sizes))

/* Input of one measurement, and its lab. */
struct measurement {
	const struct lab *lab;
	const struct raw_ends *ends;
	const struct model_parameters *p;
	const struct model_sink *sink;
};

/* Runs one benchmark. Returns false, after a note with the reason, if nothing was measured. */
static bool sample(const struct measurement *w, const struct work *work, struct outcome *out)
{
	static const struct contender rltp = CONTENDER_RLTP;

	measure_run(&rltp, w->ends, work, w->lab->datagram_bytes, out);
	if (out->status == DXP_OK && out->done > 0)
		return true;
	fprintf(stderr, "dxp: messages of %u bytes: %s\n", work->bytes,
		out->status == DXP_OK ? "none completed in time" : dxp_status_text(out->status));
	return false;
}

static struct work work_of(enum work_op op, uint32_t bytes, uint32_t depth, uint64_t count)
{
	return (struct work){.op = op,
			     .bytes = bytes,
			     .depth = depth,
			     .warmup = WARMUP,
			     .count = count,
			     .budget_ns = BUDGET_NS,
			     .spin = op == WORK_PING};
}

/* Measures each figure once: gap and overheads with a batch of messages, G with a stream. */
static bool round_measure(const struct measurement *w, struct model_least *figures)
{
	struct work messages = work_of(WORK_MESSAGE, SMALL_BYTES, WORK_DEPTH_MAX, MESSAGES);
	struct work stream = work_of(WORK_PUT, STREAM_BYTES, 8, STREAMS);
	struct outcome o;

	stream.warmup = 20;
	if (!sample(w, &messages, &o))
		return false;
	model_least_add(&figures[FIGURE_GAP], o.seconds * 1e9 / (double)o.done);
	model_least_add(&figures[FIGURE_SEND], o.near_cpu_ns / (double)o.done);
	model_least_add(&figures[FIGURE_RECEIVE], o.far_cpu_ns / (double)o.done);
	if (!sample(w, &stream, &o))
		return false;
	model_least_add(&figures[FIGURE_BYTE], o.seconds * 1e9 / ((double)o.done * STREAM_BYTES));
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct work ping = work_of(WORK_PING, sizes[i], 1, TRIPS);
		if (!sample(w, &ping, &o))
			return false;
		model_least_add(&figures[FIGURE_TRIP + i], o.p50_us * 1000 / 2);
	}
	return true;
}

/* Returns the figure whose two least values differ most. */
static size_t widest(const struct model_least *figures)
{
	size_t at = 0;

	for (size_t i = 1; i < FIGURES; i++)
		if (model_least_spread(&figures[i]) > model_least_spread(&figures[at]))
			at = i;
	return at;
}

static const char *figure_name(size_t figure, char *out, size_t bytes)
{
	static const char *const names[] = {"o of a sender", "o of a receiver", "g", "G"};

	if (figure < FIGURE_TRIP)
		return names[figure];
	snprintf(out, bytes, "the round trip of %u bytes", sizes[figure - FIGURE_TRIP]);
	return out;
}

/* Repeats until the two least values of every figure agree. Returns false, after a note with the
 * reason, if they never do. */
static bool all_measure(const struct measurement *w, struct model_least *figures)
{
	char name[40];

	for (unsigned i = 0; i < ROUNDS_MOST; i++) {
		if (!round_measure(w, figures))
			return false;
		size_t at = widest(figures);
		if (i + 1 >= ROUNDS_LEAST && model_least_agrees(&figures[at], AGREE_PERCENT))
			return true;
	}
	size_t at = widest(figures);
	fprintf(stderr,
		"dxp: %s: the two least of %d measurements differ by %.0f %%, more than %d %%; "
		"stop other programs and repeat\n",
		figure_name(at, name, sizeof(name)), ROUNDS_MOST, model_least_spread(&figures[at]),
		AGREE_PERCENT);
	return false;
}

static void emit(const struct model_sink *sink, const char *quantity, const char *x,
		 const char *unit, double value, double published)
{
	struct model_row row = model_row_plain("C-05", quantity, unit, value);

	row.published = published;
	snprintf(row.x, sizeof(row.x), "%s", x);
	model_emit(sink, &row);
}

/* Measures and emits the figures, in the process of the lab. In a row "T this NIC", the column
 * "published" holds the measured time. In other rows it holds the value of the source's
 * hardware. */
static int rows_emit(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	struct measurement *w = context;
	struct model_loggp g = model_loggp_of(w->p);
	struct model_least f[FIGURES] = {0};

	w->lab = lab;
	w->ends = ends;
	if (!all_measure(w, f))
		return 1;
	double send = f[FIGURE_SEND].best, receive = f[FIGURE_RECEIVE].best;
	double byte = f[FIGURE_BYTE].best;
	double latency = f[FIGURE_TRIP].best - send - receive - (SMALL_BYTES - 1) * byte;
	emit(w->sink, "o of a sender, Oc + Ods", "", "ns", send,
	     (double)(g.start_ps + g.descriptor_ps) / 1000);
	emit(w->sink, "o of a receiver, Odr", "", "ns", receive, (double)g.receive_ps / 1000);
	emit(w->sink, "g, gap of a message", "", "ns", f[FIGURE_GAP].best, NAN);
	emit(w->sink, "G, gap of a byte", "", "ns/B", byte, (double)g.byte_ps / 1000);
	emit(w->sink, "L, of one hop", "", "ns", latency, (double)g.hop_ps / 1000);
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		char x[24];
		double closed = send + receive + latency + (sizes[i] - 1) * byte;
		snprintf(x, sizeof(x), "%u", sizes[i]);
		emit(w->sink, "T this NIC", x, "ns", closed, f[FIGURE_TRIP + i].best);
		g.bytes = sizes[i];
		emit(w->sink, "T source's NIC", x, "ns", model_loggp_closed(&g, 1) / 1000, NAN);
	}
	fflush(stdout);
	return 0;
}

int model_measure_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	struct measurement w = {.p = p, .sink = sink};

	/* Empties the buffer before the lab forks, because the child process would print it a
	 * second time. */
	fflush(stdout);
	if (lab_run(lab_find("loopback"), rows_emit, &w) != 0)
		return error_set(DXP_EIO,
				 "this NIC could not be measured over loopback; it needs two idle "
				 "cores: stop other programs, or start this under `chrt -r 1`");
	return DXP_OK;
}
