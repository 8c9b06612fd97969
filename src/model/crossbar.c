/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves packets from the sources, one per input, through queues and crossbar to the sinks. */
#include "model/crossbar.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "model/crossbar_internal.h"
#include "model/pcie.h"

/* held at most by a source. With the defaults they take about 80,000 cycles, more than the latency
 * that counts as saturation (crossbar_measure.c). */
#define BACKLOG_PACKETS 8192
#define LOAD_SCALE      1000 /* load_permille of load 1 */

uint64_t model_crossbar_cycles(const struct model_parameters *p)
{
	return model_pcie_cycles(p, (uint64_t)p->mtu_bytes, (uint64_t)p->datapath_bytes);
}

static bool fifo_create(struct model_fifo *f, uint32_t least)
{
	f->size = 1;
	while (f->size < least)
		f->size *= 2;
	f->packets = malloc(f->size * sizeof(*f->packets));
	return f->packets != NULL;
}

static inline uint32_t fifo_count(const struct model_fifo *f)
{
	return f->tail - f->head;
}

static inline struct model_packet fifo_first(const struct model_fifo *f)
{
	return f->packets[f->head & (f->size - 1)];
}

static inline void fifo_add(struct model_fifo *f, struct model_packet packet)
{
	f->packets[f->tail++ & (f->size - 1)] = packet;
}

/* Returns the bound below which a random number means an arrival. The link carries datapath_bytes
 * per cycle, or less if PCIe is slower. */
static uint64_t arrival_threshold(const struct model_parameters *p)
{
	/* link's bytes per second / (bytes of a message x cycles per second) */
	double link = (double)model_pcie_rate(p) * (double)p->load_permille / LOAD_SCALE;
	double chance = link / ((double)p->clock_mhz * (double)(p->mtu_bytes * p->message_packets));

	return chance >= 1 ? UINT64_MAX : (uint64_t)(chance * 9007199254740992.0) << 11;
}

static bool fifos_create(struct model_crossbar *x)
{
	size_t queues = (size_t)x->ports * x->channels;
	bool good = true;

	x->backlog = calloc(queues, sizeof(*x->backlog));
	x->queues = calloc(queues, sizeof(*x->queues));
	x->used = calloc(queues, sizeof(*x->used));
	if (!x->backlog || !x->queues || !x->used)
		return false;
	for (size_t i = 0; i < queues; i++)
		good = fifo_create(&x->backlog[i], BACKLOG_PACKETS) &&
		       fifo_create(&x->queues[i], x->depth) && good;
	for (uint32_t i = 0; i < x->ports; i++)
		good = fifo_create(&x->order[i], BACKLOG_PACKETS) && good;
	return good;
}

struct model_crossbar *model_crossbar_create(const struct model_parameters *p, uint64_t seed)
{
	struct model_crossbar *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->ports = (uint32_t)p->ports;
	x->channels = (uint32_t)p->channels;
	x->depth = (uint32_t)p->depth;
	x->message_packets = (uint32_t)p->message_packets;
	x->transfer = (uint32_t)model_crossbar_cycles(p);
	x->arrival = arrival_threshold(p);
	x->allocator = p->allocator;
	x->in_order = p->source == MODEL_SOURCE_IN_ORDER;
	x->own_port = p->own_port != 0;
	x->generating = true;
	x->rng.state = seed;
	x->source_idle = x->input_idle = x->output_idle =
		x->ports == 64 ? UINT64_MAX : (1ull << x->ports) - 1;
	if (fifos_create(x))
		return x;
	model_crossbar_destroy(x);
	return NULL;
}

void model_crossbar_destroy(struct model_crossbar *x)
{
	for (uint32_t i = 0; x->backlog && i < x->ports * x->channels; i++)
		free(x->backlog[i].packets);
	for (uint32_t i = 0; x->queues && i < x->ports * x->channels; i++)
		free(x->queues[i].packets);
	for (uint32_t i = 0; i < x->ports; i++)
		free(x->order[i].packets);
	free(x->backlog);
	free(x->queues);
	free(x->used);
	free(x);
}

static inline struct model_instant *instant(struct model_crossbar *x, uint64_t cycle)
{
	return &x->wheel[cycle % MODEL_WHEEL];
}

/* Adds a message; a full source drops it, because the load is above saturation. */
static void generate(struct model_crossbar *x, uint32_t input)
{
	uint32_t choices = x->ports - !x->own_port;
	uint32_t to = (uint32_t)rng_below(&x->rng, choices);

	if (!x->own_port && to >= input)
		to++;
	uint32_t channel = to % x->channels;
	struct model_fifo *order = &x->order[input];
	struct model_fifo *backlog = &x->backlog[input * x->channels + channel];
	if (fifo_count(order) + x->message_packets > order->size) {
		x->source_full |= 1ull << input;
		return;
	}
	for (uint32_t i = 0; i < x->message_packets; i++) {
		fifo_add(backlog, (struct model_packet){(uint32_t)x->now, to});
		fifo_add(order, (struct model_packet){0, channel});
	}
	x->sums.generated += x->message_packets;
	x->inside += x->message_packets;
}

/* Returns x->channels if none may send. */
static uint32_t source_choose(struct model_crossbar *x, uint32_t input)
{
	const uint32_t *used = &x->used[input * x->channels];

	if (fifo_count(&x->order[input]) == 0)
		return x->channels;
	if (x->in_order) {
		uint32_t channel = fifo_first(&x->order[input]).to;
		return used[channel] < x->depth ? channel : x->channels;
	}
	for (uint32_t i = 0; i < x->channels; i++) {
		uint32_t channel = (x->source_next[input] + i) % x->channels;
		if (used[channel] < x->depth &&
		    fifo_count(&x->backlog[input * x->channels + channel]) > 0) {
			x->source_next[input] = channel + 1;
			return channel;
		}
	}
	return x->channels;
}

static void source_start(struct model_crossbar *x, uint32_t input)
{
	uint32_t channel = source_choose(x, input);

	if (channel == x->channels)
		return;
	uint32_t queue = input * x->channels + channel;
	struct model_fifo *backlog = &x->backlog[queue];
	x->moving[input] = fifo_first(backlog);
	backlog->head++;
	x->order[input].head++; /* sources in any order use only the number of entries */
	x->used[queue]++;
	x->source_idle &= ~(1ull << input);
	instant(x, x->now + x->transfer)->source_done |= 1ull << input;
}

static void want(struct model_crossbar *x, uint32_t input, const struct model_fifo *queue)
{
	if (fifo_count(queue) == 0)
		return;
	x->wants[fifo_first(queue).to] |= 1ull << input;
	x->changed = true;
}

static void source_finish(struct model_crossbar *x, uint32_t input)
{
	struct model_packet packet = x->moving[input];
	struct model_fifo *queue = &x->queues[input * x->channels + packet.to % x->channels];

	fifo_add(queue, packet);
	if (fifo_count(queue) == 1)
		want(x, input, queue);
	x->source_idle |= 1ull << input;
}

void model_crossbar_cross(struct model_crossbar *x, uint32_t input, uint32_t output)
{
	uint32_t number = input * x->channels + output % x->channels;
	struct model_fifo *queue = &x->queues[number];
	/* crossing, then upload: two transfers */
	uint32_t time = (uint32_t)x->now - fifo_first(queue).born + 2 * x->transfer;
	struct model_instant *end = instant(x, x->now + x->transfer);

	queue->head++;
	x->wants[output] &= ~(1ull << input);
	want(x, input, queue);
	x->crossing[input] = number;
	x->input_idle &= ~(1ull << input);
	x->output_idle &= ~(1ull << output);
	end->input_free |= 1ull << input;
	end->output_free |= 1ull << output;
	instant(x, x->now + 2 * (uint64_t)x->transfer)->uploaded |= 1ull << output;
	x->sums.delivered++;
	x->sums.time += time;
	x->sums.least_time = min_u64(x->sums.least_time, time);
	x->sums.most_time = max_u64(x->sums.most_time, time);
}

static void finish(struct model_crossbar *x)
{
	struct model_instant *now = instant(x, x->now);

	for (uint64_t left = now->source_done; left; left &= left - 1)
		source_finish(x, (uint32_t)__builtin_ctzll(left));
	for (uint64_t left = now->input_free; left; left &= left - 1)
		x->used[x->crossing[__builtin_ctzll(left)]]--;
	if (now->input_free)
		x->changed = true;
	x->inside -= (uint64_t)__builtin_popcountll(now->uploaded);
	x->input_idle |= now->input_free;
	x->output_idle |= now->output_free;
	*now = (struct model_instant){0};
}

void model_crossbar_run(struct model_crossbar *x, uint64_t cycles)
{
	for (uint64_t stop = x->now + cycles; x->now < stop; x->now++) {
		finish(x);
		for (uint32_t i = 0; x->generating && i < x->ports; i++)
			if (rng_next(&x->rng) < x->arrival)
				generate(x, i);
		for (uint64_t left = x->source_idle; left; left &= left - 1)
			source_start(x, (uint32_t)__builtin_ctzll(left));
		if (x->changed)
			model_crossbar_allocate(x);
		x->sums.inside += x->inside;
	}
	x->sums.cycles += cycles;
}

bool model_crossbar_drain(struct model_crossbar *x, uint64_t cycles)
{
	x->generating = false;
	for (uint64_t i = 0; i < cycles && x->inside; i++)
		model_crossbar_run(x, 1);
	return x->inside == 0;
}

const struct model_crossbar_sums *model_crossbar_sums(const struct model_crossbar *x)
{
	return &x->sums;
}

void model_crossbar_reset(struct model_crossbar *x)
{
	x->sums = (struct model_crossbar_sums){.least_time = UINT64_MAX};
}

uint64_t model_crossbar_backlog(const struct model_crossbar *x, bool *full)
{
	uint64_t packets = 0;

	for (uint32_t i = 0; i < x->ports; i++)
		packets += fifo_count(&x->order[i]);
	*full = x->source_full != 0;
	return packets;
}
