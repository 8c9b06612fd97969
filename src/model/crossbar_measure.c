/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures loads as BookSim does (warm-up, batches, confidence intervals), then knee and
 * saturation. Decisions use integers, so all machines agree. */
#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/crossbar.h"
#include "model/pcie.h"

#define BATCH_CYCLES  20000
#define BATCHES_LEAST 10
#define BATCHES_WARM  20
/* latency above saturation, by the latency without load */
#define SATURATED_TIMES 20
/* latency of the knee, by the latency at IDLE_PERMILLE */
#define KNEE_TIMES      2
#define IDLE_PERMILLE   50
#define KNEE_STEP       5 /* permille */
#define CYCLES_MOST     2000000
#define SATURATION_WARM 200000

/* Mean cycles; 1/10000 of the link's rate. */
struct batch {
	uint64_t latency, throughput;
};

/* Sums of the batches' values, and of their squares. */
struct moments {
	uint64_t count, sum, squares;
};

static void moments_add(struct moments *m, uint64_t value)
{
	m->count++;
	m->sum += value;
	m->squares += value * value;
}

/* Returns true if the 95 % confidence interval of the mean is within 1 %: 2 sigma / sqrt(n) <= mean
 * / 100. */
static bool moments_narrow(const struct moments *m)
{
	uint64_t spread = m->count * m->squares - m->sum * m->sum;

	return m->count >= BATCHES_LEAST && spread <= m->sum * m->sum / 40000 * (m->count - 1);
}

/* Returns true at 3 standard errors from `bound`: more batches will not move the mean past it. */
static bool moments_decided(const struct moments *m, uint64_t bound)
{
	uint64_t at = bound * m->count, off = max_u64(at, m->sum) - min_u64(at, m->sum);

	return m->count >= BATCHES_LEAST &&
	       off / 3 * (off / 3) * (m->count - 1) > m->count * m->squares - m->sum * m->sum;
}

/* Cycles that are not simulated: idle_cycles (1 byte, no queueing) minus its three transfers. */
static int64_t idle_offset(const struct model_parameters *p)
{
	uint64_t one = model_pcie_cycles(p, 1, (uint64_t)p->datapath_bytes);

	return p->idle_cycles - (int64_t)(3 * one);
}

static uint64_t latency_of(const struct model_parameters *p, uint64_t time)
{
	return (uint64_t)((int64_t)time + idle_offset(p));
}

/* Returns the payload per port and cycle, divided by the link's, times `scale`. */
static uint64_t throughput_of(const struct model_parameters *p, const struct model_crossbar_sums *s,
			      uint64_t scale)
{
	double bytes = (double)s->delivered * (double)p->mtu_bytes * (double)p->clock_mhz;
	double link = (double)s->cycles * (double)p->ports * (double)model_pcie_rate(p);

	return link > 0 ? (uint64_t)(bytes / link * (double)scale) : 0;
}

static struct batch batch_run(struct model_crossbar *x, const struct model_parameters *p)
{
	model_crossbar_reset(x);
	model_crossbar_run(x, BATCH_CYCLES);
	const struct model_crossbar_sums *s = model_crossbar_sums(x);
	uint64_t time = s->delivered ? s->time / s->delivered : 0;

	return (struct batch){latency_of(p, time), throughput_of(p, s, 10000)};
}

static bool moved(uint64_t a, uint64_t b)
{
	return max_u64(a, b) - min_u64(a, b) > max_u64(a, b) / 100;
}

/* Returns true if the latency exceeds its limit, or a source is full. */
static bool past(struct model_crossbar *x, const struct model_parameters *p, uint64_t latency)
{
	bool full;

	model_crossbar_backlog(x, &full);
	return full || latency > SATURATED_TIMES * latency_of(p, 3 * model_crossbar_cycles(p));
}

/* Runs until two consecutive batches differ by less than 1 %. */
static struct batch warm_up(struct model_crossbar *x, const struct model_parameters *p)
{
	struct batch last = batch_run(x, p), now = last;

	for (unsigned i = 1; i < BATCHES_WARM && !past(x, p, now.latency); i++) {
		now = batch_run(x, p);
		if (!moved(now.latency, last.latency) && !moved(now.throughput, last.throughput))
			break;
		last = now;
	}
	return now;
}

/* Measures a load; stops when the latency is surely above or below `bound` (0: none). */
static int measure(const struct model_parameters *p, uint64_t seed, uint64_t cycles_most,
		   uint64_t bound, struct model_crossbar_point *out)
{
	struct model_crossbar *x = model_crossbar_create(p, seed);
	struct moments latency = {0}, throughput = {0};
	uint64_t cycles = BATCHES_WARM * BATCH_CYCLES;

	if (!x)
		return error_set(DXP_ENOMEM, "out of memory for the queues; lower depth or ports");
	struct batch b = warm_up(x, p);
	out->saturated = past(x, p, b.latency);
	while (!out->saturated && cycles < cycles_most) {
		b = batch_run(x, p);
		cycles += BATCH_CYCLES;
		out->saturated = past(x, p, b.latency);
		moments_add(&latency, b.latency);
		moments_add(&throughput, b.throughput);
		if (moments_narrow(&latency) && moments_narrow(&throughput))
			break;
		if (bound && moments_decided(&latency, bound))
			break;
	}
	if (latency.count == 0) {
		moments_add(&latency, b.latency);
		moments_add(&throughput, b.throughput);
	}
	out->latency_mcycles = latency.sum * 1000 / latency.count;
	out->throughput_ppm = throughput.sum * 100 / throughput.count;
	out->cycles = cycles;
	model_crossbar_destroy(x);
	return DXP_OK;
}

int model_crossbar_measure(const struct model_parameters *p, uint64_t seed, uint64_t cycles_most,
			   struct model_crossbar_point *out)
{
	return measure(p, seed, cycles_most, 0, out);
}

int model_crossbar_knee(const struct model_parameters *p, uint64_t seed, uint64_t *knee_ppm)
{
	struct model_parameters at = *p;
	struct model_crossbar_point point;
	int64_t low = IDLE_PERMILLE, high = 1000;

	at.load_permille = low;
	int status = model_crossbar_measure(&at, seed, CYCLES_MOST, &point);
	uint64_t bound = KNEE_TIMES * point.latency_mcycles;
	while (!status && high - low > KNEE_STEP) {
		at.load_permille = (low + high) / 2;
		status = measure(&at, seed, CYCLES_MOST, bound / 1000, &point);
		if (point.saturated || point.latency_mcycles >= bound)
			high = at.load_permille;
		else
			low = at.load_permille;
	}
	*knee_ppm = (uint64_t)high * 1000;
	return status;
}

int model_crossbar_saturation(const struct model_parameters *p, uint64_t seed,
			      uint64_t *saturation_ppm)
{
	struct model_parameters at = *p;

	at.load_permille = 1000;
	struct model_crossbar *x = model_crossbar_create(&at, seed);
	struct moments throughput = {0};

	if (!x)
		return error_set(DXP_ENOMEM, "out of memory for the queues; lower depth or ports");
	model_crossbar_run(x, SATURATION_WARM);
	for (uint64_t cycles = 0; cycles < CYCLES_MOST; cycles += BATCH_CYCLES) {
		moments_add(&throughput, batch_run(x, &at).throughput);
		if (moments_narrow(&throughput))
			break;
	}
	*saturation_ppm = throughput.sum * 100 / throughput.count;
	model_crossbar_destroy(x);
	return DXP_OK;
}
