/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/fault.h"

#include "base/bytes.h"
#include "base/util.h"
#include "wire/frame.h"

#define NO_HOST UINT32_MAX
/* ns: beyond the assumed lifetime of a datagram, 60 s */
#define LATE_NS       (61 * S_NS)
#define LATE_SPAN_NS  (30 * S_NS)
#define EXTENSION_MAX 64

static bool chance(struct rng *r, uint32_t ppm)
{
	return ppm > 0 && rng_chance_ppm(r, ppm);
}

void sim_fault_batch(struct sim_fault_state *state)
{
	state->batch_to = state->batch_host = NO_HOST;
}

static bool concerns(const struct sim_faults *f, const struct sim_packet *p)
{
	uint8_t type = p->data[WIRE_OFF_TYPE];

	if (f->only_from != 0 && (p->from >= 64 || !(f->only_from >> p->from & 1)))
		return false;
	switch (f->only) {
	case SIM_ONLY_ACKS: return type == WIRE_ACK;
	case SIM_ONLY_HELLOS: return type == WIRE_HELLO || type == WIRE_HELLO_ACK;
	case SIM_ONLY_LAST: return get_be16(p->data + WIRE_OFF_FLAGS) & WIRE_FLAG_LAST;
	case SIM_ONLY_REPEATS: return get_be16(p->data + WIRE_OFF_FLAGS) & WIRE_FLAG_RTX;
	default: return true;
	}
}

static bool batch_lost(const struct sim_faults *f, struct sim_fault_state *state,
		       const struct sim_packet *p, struct sim_counters *counters)
{
	if (state->batch_host != p->to) {
		bool refused = chance(&state->rng, f->reject_ppm);
		state->batch_host = p->to;
		state->batch_to = refused || chance(&state->rng, f->batch_ppm) ? p->to : NO_HOST;
		counters->refused += refused;
	}
	return state->batch_to == p->to;
}

static bool burst_lost(const struct sim_faults *f, struct sim_fault_state *state, uint32_t from)
{
	bool *in = &state->bursting[from];

	if (f->burst_ppm == 0)
		return false;
	*in = *in ? !chance(&state->rng, f->burst_end_ppm) : chance(&state->rng, f->burst_ppm);
	return *in && chance(&state->rng, f->burst_loss_ppm);
}

static void bit_flip(struct sim_fault_state *state, uint8_t *from, uint32_t bytes)
{
	from[rng_below(&state->rng, bytes)] ^= (uint8_t)(1u << rng_below(&state->rng, 8));
}

static void damage(const struct sim_faults *f, struct sim_fault_state *state, struct sim_packet *p,
		   struct sim_counters *counters)
{
	struct rng *r = &state->rng;
	uint32_t header = (uint32_t)min_u64(p->bytes, (p->data[0] & 0xf) * 8u);

	counters->corrupted +=
		chance(r, f->corrupt_ppm) ? (bit_flip(state, p->data, p->bytes), 1) : 0;
	counters->corrupted += chance(r, f->header_ppm) ? (bit_flip(state, p->data, header), 1) : 0;
	if (chance(r, f->payload_ppm) && p->bytes > header) {
		bit_flip(state, p->data + header, p->bytes - header);
		counters->corrupted++;
	}
	if (chance(r, f->length_ppm)) {
		bit_flip(state, p->data + WIRE_OFF_LEN, 2);
		counters->corrupted++;
	}
	if (chance(r, f->truncate_ppm)) {
		p->bytes = (uint32_t)rng_below(r, p->bytes);
		counters->truncated++;
	}
	if (chance(r, f->extend_ppm)) {
		uint32_t more = 1 + (uint32_t)rng_below(r, EXTENSION_MAX);
		for (uint32_t i = 0; i < more; i++)
			p->data[p->bytes++] = (uint8_t)rng_next(r);
		counters->extended++;
	}
}

struct sim_fate sim_fault_decide(const struct sim_faults *f, struct sim_fault_state *state,
				 struct sim_packet *packet, struct sim_counters *counters)
{
	struct rng *r = &state->rng;
	struct sim_fate fate = {.delay_ns = rng_below(r, f->jitter_ns)};
	bool lost = ++state->count == f->drop_nth;

	if (concerns(f, packet)) {
		lost |= chance(r, f->loss_ppm);
		lost |= burst_lost(f, state, packet->from);
		lost |= batch_lost(f, state, packet, counters);
	}
	if (lost) {
		counters->lost++;
		fate.lost = true;
		return fate;
	}
	damage(f, state, packet, counters);
	if (chance(r, f->reorder_ppm)) {
		fate.delay_ns += rng_below(r, f->reorder_ns);
		counters->reordered++;
	}
	if (chance(r, f->duplicate_ppm)) {
		fate.again_ns[fate.again_count++] = fate.delay_ns + rng_below(r, f->reorder_ns);
		counters->duplicated++;
	}
	if (chance(r, f->late_ppm)) {
		fate.again_ns[fate.again_count++] = LATE_NS + rng_below(r, LATE_SPAN_NS);
		counters->late++;
	}
	return fate;
}
