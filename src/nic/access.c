/* SPDX-License-Identifier: BSD-3-Clause */
/* Access checks for packets and for other users of this NIC (C-10, C-33). */
#include <dxp/status.h>

#include "nic/internal.h"
#include "wire/frame.h"

void access_refused(struct nic *n, struct nic_user *u, uint8_t code)
{
	struct dxp_function_counters none, *c = u ? &u->counts : &none;

	if (u)
		u->counted = true;
	else
		none = (struct dxp_function_counters){0};
	switch (code) {
	case WIRE_NACK_RNR:
	case WIRE_NACK_WAIT:
	case WIRE_NACK_RESOURCE: n->counters.receiver_busy++, c->receiver_busy++; break;
	case WIRE_NACK_MAGIC: n->counters.magic_reject++, c->refused_magic++; break;
	case WIRE_NACK_KEY: n->counters.key_reject++, c->refused_key++; break;
	case WIRE_NACK_RIGHTS: n->counters.rights_reject++, c->refused_rights++; break;
	case WIRE_NACK_BOUNDS: n->counters.bounds_reject++, c->refused_bounds++; break;
	case WIRE_NACK_UNSUPPORTED: n->counters.type_reject++, c->refused_other++; break;
	default: c->refused_other++;
	}
}

static uint64_t waits(struct nic *n, const struct guesses *by)
{
	uint64_t wait_ns = guess_wait(by, &n->guesses, n->now_ns);

	n->counters.key_waits += wait_ns > 0;
	return wait_ns;
}

uint64_t access_key_wait(struct nic *n, struct guesses *by, uint32_t key)
{
	/* Two paths of this NIC may compare the key of one request; the second reveals nothing
	 * new. */
	return key == by->wrong_key || guess_key_known(by, key) ? 0 : waits(n, by);
}

uint64_t access_magic_wait(struct nic *n, const struct guesses *by, uint32_t function, uint32_t qp)
{
	uint32_t stream = function < NIC_FUNCTIONS
				  ? nic_stream_index((uint8_t)function, (uint16_t)qp)
				  : NIC_STREAMS;

	if (stream == NIC_STREAMS || !user_serves(nic_stream_user(n, stream)) ||
	    guess_magic_known(by, stream))
		/* rejected anyway, or the requester knows the magic */
		return 0;
	return waits(n, by);
}

struct nic_user *access_user(struct nic *n, struct guesses *by, uint32_t function, uint32_t qp,
			     uint32_t magic)
{
	bool exists = function < NIC_FUNCTIONS && qp < NIC_QPS_PER_FUNCTION;
	struct nic_function *f = exists ? &n->functions[function] : NULL;
	struct nic_user *u = exists ? f->user_of[qp] : NULL;

	if (!u || !user_serves(u)) {
		access_refused(n, NULL, WIRE_NACK_MAGIC);
		return NULL;
	}
	/* Compares one word, so the time reveals nothing about a wrong value. */
	if (f->qp_magic[qp] != magic) {
		guess_magic_wrong(by, &n->guesses, magic, n->now_ns);
		f->counters[qp].refused++;
		access_refused(n, u, WIRE_NACK_MAGIC);
		return NULL;
	}
	guess_magic_right(by, function * NIC_QPS_PER_FUNCTION + qp);
	return u;
}

/* Once the requester has used the key, access stays permitted. */
static bool permitted(struct nic_region *r, struct guesses *by, uint32_t key)
{
	return !r->guarded || !r->guard.permits || guess_key_known(by, key) ||
	       r->guard.permits(r->guard.context, by->node);
}

uint8_t access_region(struct nic_user *u, struct guesses *by, uint32_t key, uint32_t right,
		      uint64_t offset, uint64_t bytes, struct nic_region **out)
{
	struct nic *n = u->nic;
	struct nic_region *region = region_find(u, key);

	if (!region || !permitted(region, by, key)) {
		guess_key_wrong(by, &n->guesses, key, n->now_ns);
		return WIRE_NACK_KEY;
	}
	guess_key_right(by, key);
	if (!(region->rights & right))
		return WIRE_NACK_RIGHTS;
	if (offset > region->bytes || bytes > region->bytes - offset)
		return WIRE_NACK_BOUNDS;
	uint8_t code = region_reach(region, offset, bytes);
	if (code == 0)
		*out = region;
	return code;
}

uint8_t access_registers(struct nic_user *u, uint32_t bytes, struct nic_register_range *out)
{
	switch (registers_reserve(u, bytes, out)) {
	case DXP_OK: return 0;
	case DXP_EACCESS: return WIRE_NACK_KEY;
	case DXP_ERANGE: return WIRE_NACK_BOUNDS;
	default: return WIRE_NACK_RESOURCE;
	}
}
