/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/share.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/util.h"
#include "model/pcie.h"

#define QUANTA_LEAST 20000   /* decisions of the arbiter */
#define QUANTA_MOST  1000000 /* 0.1 s */
#define RUN_TIMES    8       /* length of a run, by the closed form's time */
/* of the worst of eight functions, in standard deviations */
#define Z 2

struct fifo {
	uint32_t *entries;
	uint32_t head, count, size;
};

struct share_run {
	const struct model_parameters *p;
	struct model_share *out;
	/* by function: bytes left of waiting messages */
	struct fifo fifos[MODEL_FUNCTIONS];
	/* Policy `none`: functions in order of doorbells. */
	struct fifo order;
	struct rng rng;
	uint32_t functions, next, poster;
	uint64_t weights, weight[MODEL_FUNCTIONS];
	uint64_t deficit[MODEL_FUNCTIONS];
	uint64_t served[MODEL_FUNCTIONS]; /* messages */
	uint64_t packet_cycles;           /* of a full packet */
};

static bool fifo_create(struct fifo *f, uint32_t size)
{
	*f = (struct fifo){.entries = calloc(size, sizeof(*f->entries)), .size = size};
	return f->entries != NULL;
}

static void fifo_add(struct fifo *f, uint32_t entry)
{
	f->entries[(f->head + f->count++) % f->size] = entry;
}

static void fifo_remove(struct fifo *f)
{
	f->head = (f->head + 1) % f->size;
	f->count--;
}

static void doorbell(struct share_run *r, uint32_t function)
{
	uint32_t bytes = 1 + (uint32_t)rng_below(&r->rng, (uint64_t)r->p->largest_bytes);

	fifo_add(&r->fifos[function], bytes);
	if (r->p->policy == MODEL_SHARE_NONE)
		fifo_add(&r->order, function);
}

/* Rings doorbells: saturated arrivals fill all FIFOs; random ones ring until the chosen function's
 * FIFO is full. */
static void post(struct share_run *r)
{
	if (r->p->arrival == MODEL_ARRIVAL_RANDOM) {
		while (r->fifos[r->poster].count < r->fifos[r->poster].size) {
			doorbell(r, r->poster);
			r->poster = (uint32_t)rng_below(&r->rng, r->functions);
		}
		return;
	}
	for (uint32_t i = 0; i < r->functions; i++)
		while (r->fifos[i].count < r->fifos[i].size)
			doorbell(r, i);
}

/* Returns the send engine's cycles for `bytes` of a message. */
static uint64_t engine_cycles(const struct share_run *r, uint64_t bytes)
{
	uint64_t mtu = (uint64_t)r->p->mtu_bytes, cycles = bytes / mtu * r->packet_cycles;

	if (bytes % mtu)
		cycles += model_pcie_cycles(r->p, bytes % mtu, (uint64_t)r->p->datapath_bytes);
	return cycles;
}

/* Sends up to `most` bytes of a function's first message. Returns the bytes. */
static uint64_t serve(struct share_run *r, uint32_t function, uint64_t most)
{
	struct fifo *f = &r->fifos[function];
	uint32_t *left = &f->entries[f->head];
	uint64_t bytes = min_u64(*left, most);

	*left -= (uint32_t)bytes;
	r->out->bytes[function] += bytes;
	r->out->total_bytes += bytes;
	r->out->cycles += engine_cycles(r, bytes);
	if (*left == 0) {
		fifo_remove(f);
		r->served[function]++;
	}
	return bytes;
}

/* Serves by deficit round robin. */
static void serve_quantum(struct share_run *r, uint32_t function)
{
	uint64_t weight = r->p->policy == MODEL_SHARE_WEIGHTS ? r->weight[function] : 1;
	uint64_t mtu = (uint64_t)r->p->mtu_bytes, *deficit = &r->deficit[function];

	*deficit += (uint64_t)r->p->quantum_bytes * weight;
	while (r->fifos[function].count > 0) {
		const struct fifo *f = &r->fifos[function];
		uint64_t packet = min_u64(f->entries[f->head], mtu);
		if (packet > *deficit)
			return;
		*deficit -= serve(r, function, packet);
	}
	*deficit = 0;
}

static void decide(struct share_run *r)
{
	uint32_t function = r->next;

	if (r->p->policy == MODEL_SHARE_NONE) {
		function = r->order.entries[r->order.head];
		fifo_remove(&r->order);
		serve(r, function, UINT64_MAX);
		return;
	}
	while (r->fifos[function].count == 0)
		function = (function + 1) % r->functions;
	r->next = (function + 1) % r->functions;
	if (r->p->policy == MODEL_SHARE_MESSAGE)
		serve(r, function, UINT64_MAX);
	else if (r->p->policy == MODEL_SHARE_PACKET)
		serve(r, function, (uint64_t)r->p->mtu_bytes);
	else
		serve_quantum(r, function);
}

static uint64_t fair_weight(const struct share_run *r, uint32_t function)
{
	return r->p->policy == MODEL_SHARE_WEIGHTS ? r->weight[function] : 1;
}

/* Returns a function's largest deviation, in ppm of its fair share. */
static uint64_t deviation_ppm(const struct share_run *r)
{
	double unit = (double)r->out->total_bytes / (double)r->weights, most = 0;

	for (uint32_t i = 0; i < r->functions; i++) {
		double fair = unit * (double)fair_weight(r, i);
		double off = ((double)r->out->bytes[i] - fair) / fair;
		most = off > most ? off : -off > most ? -off : most;
	}
	return (uint64_t)(most * 1e6);
}

/* Returns true if a share deviates by more than the tolerance. */
static bool uneven(const struct share_run *r)
{
	double unit = (double)r->out->total_bytes / (double)r->weights;
	double tolerance = (double)r->p->tolerance_permille / 1000;

	for (uint32_t i = 0; i < r->functions; i++) {
		double fair = unit * (double)fair_weight(r, i);
		double off = (double)r->out->bytes[i] - fair;
		if (off > fair * tolerance || -off > fair * tolerance)
			return true;
	}
	return false;
}

static uint64_t jain_ppm(const struct share_run *r)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < r->functions; i++) {
		double rate = (double)r->out->bytes[i] / (double)fair_weight(r, i);
		sum += rate;
		squares += rate * rate;
	}
	return squares > 0 ? (uint64_t)(sum * sum / squares / r->functions * 1e6) : 0;
}

static bool all_served(const struct share_run *r)
{
	for (uint32_t i = 0; i < r->functions; i++)
		if (r->served[i] == 0)
			return false;
	return true;
}

static void run_quanta(struct share_run *r, uint64_t quanta, model_share_fn watch, void *context)
{
	uint64_t show = 4096;
	bool started = false;

	for (uint32_t i = 0; i < r->functions; i++)
		r->weights += fair_weight(r, i);
	for (uint64_t i = 0; i < quanta; i++) {
		post(r);
		decide(r);
		if (uneven(r))
			r->out->settled = r->out->cycles;
		if (!started && (started = all_served(r)))
			r->out->swing_ppm = deviation_ppm(r);
		if (watch && r->out->cycles >= show) {
			r->out->jain_ppm = jain_ppm(r);
			watch(context, r->out);
			while (show <= r->out->cycles)
				show *= 2;
		}
	}
	r->out->quanta = quanta;
	r->out->jain_ppm = jain_ppm(r);
	r->out->level = r->out->settled < r->out->cycles / 2;
}

int model_share_run(const struct model_parameters *p, uint64_t seed, uint64_t quanta,
		    model_share_fn watch, void *context, struct model_share *out)
{
	struct share_run *r = calloc(1, sizeof(*r));
	bool good = r != NULL;

	*out = (struct model_share){0};
	if (good) {
		r->p = p;
		r->out = out;
		r->rng.state = seed;
		r->functions = (uint32_t)p->functions;
		r->packet_cycles =
			model_pcie_cycles(p, (uint64_t)p->mtu_bytes, (uint64_t)p->datapath_bytes);
		for (uint32_t i = 0; i < r->functions; i++) {
			r->weight[i] = i == 0 ? (uint64_t)p->first_weight : 1;
			good = fifo_create(&r->fifos[i], (uint32_t)p->fifo_depth) && good;
		}
		good = fifo_create(&r->order, r->functions * (uint32_t)p->fifo_depth) && good;
	}
	if (good)
		run_quanta(r, quanta, watch, context);
	for (uint32_t i = 0; r && i < r->functions; i++)
		free(r->fifos[i].entries);
	if (r)
		free(r->order.entries);
	free(r);
	return good ? DXP_OK : error_set(DXP_ENOMEM, "out of memory for the FIFOs");
}

/* Returns (z cv / e)^2, the messages after which a share is within e of the fair one. z is Z, cv
 * the sizes' standard deviation by their mean: uniform from 1 to n, (n^2 - 1) / 12 is the variance
 * and (n + 1) / 2 the mean. Functions chosen at random, F of them, add 1 - 1 / F to cv^2. */
static double messages_needed(const struct model_parameters *p)
{
	double n = (double)p->largest_bytes, e = (double)p->tolerance_permille / 1000;
	double spread = (n - 1) / (3 * (n + 1));

	if (p->arrival == MODEL_ARRIVAL_RANDOM)
		spread += 1 - 1 / (double)p->functions;
	return Z * Z * spread / (e * e);
}

/* Returns true if whole messages are served, whatever their size. */
static bool by_message(const struct model_parameters *p)
{
	return p->policy == MODEL_SHARE_MESSAGE || p->policy == MODEL_SHARE_NONE;
}

uint64_t model_share_closed(const struct model_parameters *p)
{
	double cycles =
		(double)model_pcie_cycles(p, (uint64_t)p->mtu_bytes, (uint64_t)p->datapath_bytes);
	double rate = (double)p->mtu_bytes / cycles, functions = (double)p->functions;
	double mean = ((double)p->largest_bytes + 1) / 2, e = (double)p->tolerance_permille / 1000;

	if (by_message(p) || p->arrival == MODEL_ARRIVAL_RANDOM)
		return (uint64_t)(functions * mean / rate * messages_needed(p));
	/* quanta from which on one more changes a share by less than the tolerance e */
	double quantum =
		p->policy == MODEL_SHARE_PACKET ? (double)p->mtu_bytes : (double)p->quantum_bytes;
	return (uint64_t)(functions * quantum / rate / e);
}

uint64_t model_share_quanta(const struct model_parameters *p)
{
	double mean = ((double)p->largest_bytes + 1) / 2, functions = (double)p->functions;
	double quanta = functions * messages_needed(p) * RUN_TIMES;
	double unit =
		p->policy == MODEL_SHARE_PACKET ? (double)p->mtu_bytes : (double)p->quantum_bytes;

	if (!by_message(p) && p->arrival != MODEL_ARRIVAL_RANDOM)
		quanta = functions * 1000 / (double)p->tolerance_permille * RUN_TIMES;
	else if (!by_message(p) && mean > unit)
		quanta *= mean / unit;
	return clamp_u64((uint64_t)quanta, QUANTA_LEAST, QUANTA_MOST);
}
