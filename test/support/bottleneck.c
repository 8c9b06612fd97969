/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/bottleneck.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "rltp/limits.h"
#include "base/util.h"

enum event_kind { EVENT_SEND, EVENT_QUEUE, EVENT_ARRIVE, EVENT_TIMER, EVENT_ACK, EVENT_LOSS };

struct bottleneck_event {
	uint64_t at_ns, serial;
	/* an acknowledgement has the time of the newest packet that it acknowledges */
	uint64_t sent_ns;
	uint32_t flow;
	/* packets that an acknowledgement covers; marked packets among them */
	uint32_t count, marked;
	uint8_t kind; /* enum event_kind */
};

static bool earlier(const struct bottleneck_event *a, const struct bottleneck_event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->serial < b->serial;
}

static void push(struct bottleneck *b, struct bottleneck_event e)
{
	if (b->events == b->space) {
		b->space = b->space ? 2 * b->space : 1024;
		b->heap = realloc(b->heap, b->space * sizeof(*b->heap));
		if (!b->heap)
			abort();
	}
	e.serial = b->serial++;
	uint32_t i = b->events++;
	for (; i > 0 && earlier(&e, &b->heap[(i - 1) / 2]); i = (i - 1) / 2)
		b->heap[i] = b->heap[(i - 1) / 2];
	b->heap[i] = e;
}

static struct bottleneck_event pop(struct bottleneck *b)
{
	struct bottleneck_event first = b->heap[0], last = b->heap[--b->events];
	uint32_t i = 0;

	for (uint32_t child; (child = 2 * i + 1) < b->events; i = child) {
		if (child + 1 < b->events && earlier(&b->heap[child + 1], &b->heap[child]))
			child++;
		if (!earlier(&b->heap[child], &last))
			break;
		b->heap[i] = b->heap[child];
	}
	b->heap[i] = last;
	return first;
}

static uint64_t service_ns(const struct bottleneck *b, uint64_t rate_bps)
{
	return b->options.packet_bytes * S_NS / rate_bps;
}

static bool hungry(const struct bottleneck *b, const struct bottleneck_flow *f)
{
	bool idle = b->now_ns >= b->options.idle_from_ns && b->now_ns < b->options.idle_to_ns;

	return b->now_ns >= f->start_ns && !idle;
}

static void packet_send(struct bottleneck *b, uint32_t index)
{
	struct bottleneck_flow *f = &b->flow[index];

	if (f->inflight == 0)
		cc_resume(&f->cc, b->now_ns);
	f->inflight++;
	f->sent++;
	pace_spend(&f->pace, b->options.packet_bytes, b->now_ns);
	f->access_free_ns =
		max_u64(f->access_free_ns, b->now_ns) + service_ns(b, b->options.access_bps);
	push(b, (struct bottleneck_event){.at_ns = f->access_free_ns,
					  .kind = EVENT_QUEUE,
					  .flow = index,
					  .sent_ns = b->now_ns});
}

/* Sends at most one batch, so that other flows can send too. */
static void flow_quantum(struct bottleneck *b, uint32_t index)
{
	struct bottleneck_flow *f = &b->flow[index];

	if (!hungry(b, f))
		return;
	if (!f->hello_done) {
		uint64_t wait = b->busy_until_ns > b->now_ns ? b->busy_until_ns - b->now_ns : 0;
		cc_handshake_done(&f->cc, b->options.delay_ns + wait);
		f->hello_done = true;
	}
	for (int i = 0; i < DATAGRAM_BATCH; i++) {
		if (f->inflight >= cc_window(&f->cc)) {
			f->limited = true;
			return;
		}
		if (!pace_ready(&f->pace, b->now_ns)) {
			f->limited = true;
			push(b, (struct bottleneck_event){.at_ns = pace_deadline(&f->pace),
							  .kind = EVENT_SEND,
							  .flow = index});
			return;
		}
		packet_send(b, index);
	}
	push(b,
	     (struct bottleneck_event){.at_ns = b->now_ns + 1, .kind = EVENT_SEND, .flow = index});
}

static void packet_queue(struct bottleneck *b, const struct bottleneck_event *e)
{
	const struct bottleneck_options *o = &b->options;
	uint64_t service = service_ns(b, o->rate_bps);
	uint64_t wait = b->busy_until_ns > b->now_ns ? b->busy_until_ns - b->now_ns : 0;
	uint32_t length = (uint32_t)((wait + service - 1) / service);
	struct bottleneck_event next = {.flow = e->flow, .sent_ns = e->sent_ns, .kind = EVENT_LOSS};

	b->arrivals++;
	b->queue_sum += length;
	b->queue_most = (uint32_t)max_u64(b->queue_most, length);
	next.at_ns = b->now_ns + wait + o->delay_ns + RLTP_REORDER_MIN_NS;
	if (length >= o->queue_packets) {
		b->flow[e->flow].dropped++;
	} else {
		b->busy_until_ns = b->now_ns + wait + service;
		next.marked = o->mark_packets && length > o->mark_packets;
		if (rng_chance_ppm(&b->rng, o->loss_ppm)) {
			b->flow[e->flow].lost++;
		} else {
			next.kind = EVENT_ARRIVE;
			next.at_ns = b->busy_until_ns + o->delay_ns / 2;
		}
	}
	push(b, next);
}

static void acknowledge(struct bottleneck *b, uint32_t index)
{
	struct bottleneck_flow *f = &b->flow[index];

	push(b, (struct bottleneck_event){.at_ns = b->now_ns + b->options.delay_ns / 2 +
						   b->options.host_ns,
					  .kind = EVENT_ACK,
					  .flow = index,
					  .sent_ns = f->newest_sent_ns + (b->now_ns - f->newest_ns),
					  .count = f->arrived,
					  .marked = f->arrived_marked});
	f->arrived = f->arrived_marked = 0;
	f->ack_timers++;
}

static void packet_arrive(struct bottleneck *b, const struct bottleneck_event *e)
{
	struct bottleneck_flow *f = &b->flow[e->flow];

	f->delivered++;
	f->arrived++;
	f->arrived_marked += e->marked;
	f->newest_sent_ns = e->sent_ns;
	f->newest_ns = b->now_ns;
	if (f->arrived >= b->options.ack_every)
		acknowledge(b, e->flow);
	else if (f->arrived == 1)
		push(b, (struct bottleneck_event){.at_ns = b->now_ns + RLTP_ACK_DELAY_NS,
						  .kind = EVENT_TIMER,
						  .flow = e->flow,
						  .count = f->ack_timers});
}

static uint32_t sample(struct bottleneck *b, const struct bottleneck_event *e)
{
	uint64_t delay = b->now_ns - b->options.host_ns - e->sent_ns +
			 rng_below(&b->rng, b->options.noise_ns);

	if (rng_chance_ppm(&b->rng, b->options.spike_ppm))
		delay += rng_below(&b->rng, b->options.spike_ns);
	return (uint32_t)delay;
}

static void acknowledged(struct bottleneck *b, const struct bottleneck_event *e)
{
	struct bottleneck_flow *f = &b->flow[e->flow];
	uint32_t delay = sample(b, e);
	uint64_t rtt = delay + b->options.host_ns;

	f->srtt_ns = f->srtt_ns ? (7 * f->srtt_ns + rtt) / 8 : rtt;
	struct cc_ack ack = {
		.now_ns = b->now_ns,
		.acked = e->count,
		.inflight = f->inflight,
		.delay_ns = delay,
		.rtt_ns = (uint32_t)rtt,
		.marked = (uint16_t)e->marked,
		.rx_level = b->options.rx_level,
		.limited = f->limited,
	};
	f->limited = false;
	f->inflight -= e->count;
	cc_acked(&f->cc, &ack);
	pace_set(&f->pace, cc_window_fine(&f->cc), b->options.packet_bytes, (uint32_t)f->srtt_ns);
}

static void handle(struct bottleneck *b, const struct bottleneck_event *e)
{
	struct bottleneck_flow *f = &b->flow[e->flow];

	switch ((enum event_kind)e->kind) {
	case EVENT_QUEUE: packet_queue(b, e); return;
	case EVENT_ARRIVE: packet_arrive(b, e); return;
	case EVENT_TIMER:
		if (e->count == f->ack_timers && f->arrived > 0)
			acknowledge(b, e->flow);
		return;
	case EVENT_ACK: acknowledged(b, e); break;
	case EVENT_LOSS:
		cc_lost(&f->cc, 1, f->inflight, b->now_ns);
		f->inflight--;
		break;
	case EVENT_SEND: break;
	}
	flow_quantum(b, e->flow);
}

void bottleneck_create(struct bottleneck *b, const struct bottleneck_options *options)
{
	memset(b, 0, sizeof(*b));
	b->options = *options;
	b->rng.state = options->seed;
	for (uint32_t i = 0; i < options->flows; i++) {
		cc_init(&b->flow[i].cc, options->kind, options->most, 0);
		pace_init(&b->flow[i].pace);
	}
}

void bottleneck_destroy(struct bottleneck *b)
{
	free(b->heap);
	b->heap = NULL;
}

void bottleneck_run(struct bottleneck *b, uint64_t until_ns)
{
	/* Wakes all flows at their start times, and again after the pause without data. */
	for (uint32_t i = 0; i < b->options.flows; i++) {
		uint64_t at = max_u64(b->flow[i].start_ns, b->now_ns);
		push(b, (struct bottleneck_event){.at_ns = at, .kind = EVENT_SEND, .flow = i});
		if (b->options.idle_to_ns > at)
			push(b, (struct bottleneck_event){.at_ns = b->options.idle_to_ns,
							  .kind = EVENT_SEND,
							  .flow = i});
	}
	while (b->events > 0 && b->heap[0].at_ns <= until_ns) {
		struct bottleneck_event e = pop(b);
		b->now_ns = e.at_ns;
		handle(b, &e);
	}
	b->now_ns = until_ns;
}

void bottleneck_reset(struct bottleneck *b)
{
	for (uint32_t i = 0; i < b->options.flows; i++) {
		struct bottleneck_flow *f = &b->flow[i];
		f->sent = f->delivered = f->dropped = f->lost = 0;
	}
	b->queue_sum = b->arrivals = 0;
	b->queue_most = 0;
}

double bottleneck_utilisation(const struct bottleneck *b, uint64_t span_ns)
{
	uint64_t packets = 0;

	for (uint32_t i = 0; i < b->options.flows; i++)
		packets += b->flow[i].delivered;
	return (double)packets * (double)service_ns(b, b->options.rate_bps) / (double)span_ns;
}

double bottleneck_drops(const struct bottleneck *b)
{
	uint64_t sent = 0, dropped = 0;

	for (uint32_t i = 0; i < b->options.flows; i++) {
		sent += b->flow[i].sent;
		dropped += b->flow[i].dropped;
	}
	return sent ? (double)dropped / (double)sent : 0;
}

double bottleneck_fairness(const struct bottleneck *b, uint32_t flows)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < flows; i++) {
		double x = (double)b->flow[i].delivered;
		sum += x;
		squares += x * x;
	}
	return squares > 0 ? sum * sum / (flows * squares) : 0;
}

double bottleneck_queue(const struct bottleneck *b)
{
	return b->arrivals ? (double)b->queue_sum / (double)b->arrivals : 0;
}
