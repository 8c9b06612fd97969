/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks access by packets and by other functions of this NIC. Counts each rejection at its target
 * (C-10, C-33). */
#include <dxp/status.h>

#include "nic/internal.h"
#include "wire/frame.h"

void access_refused(struct nic *n, struct nic_function *f, uint8_t code)
{
	struct dxp_function_counters none, *c = f ? &f->counts : &none;

	if (f)
		f->counted = true;
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

struct nic_function *access_function(struct nic *n, uint32_t function, uint32_t qp, uint32_t magic)
{
	bool exists = function < NIC_FUNCTIONS && qp < NIC_QPS_PER_FUNCTION;
	struct nic_function *f = exists ? &n->functions[function] : NULL;

	if (!f || !function_serves(f)) {
		access_refused(n, NULL, WIRE_NACK_MAGIC);
		return NULL;
	}
	/* One comparison of whole words takes the same time for all wrong magics. */
	if (f->qp_magic[qp] != magic) {
		f->counters[qp].refused++;
		access_refused(n, f, WIRE_NACK_MAGIC);
		return NULL;
	}
	return f;
}

uint8_t access_region(struct nic_function *f, uint32_t key, uint32_t right, uint64_t offset,
		      uint64_t bytes, struct nic_region **out)
{
	struct nic_region *region = region_find(f->nic, f->index, key);

	if (!region)
		return WIRE_NACK_KEY;
	if (!(region->rights & right))
		return WIRE_NACK_RIGHTS;
	if (offset > region->bytes || bytes > region->bytes - offset)
		return WIRE_NACK_BOUNDS;
	uint8_t code = region_reach(region, offset, bytes);
	if (code == 0)
		*out = region;
	return code;
}

uint8_t access_registers(struct nic_function *f, uint32_t bytes, struct nic_register_range *out)
{
	switch (registers_reserve(f, bytes, out)) {
	case DXP_OK: return 0;
	case DXP_EACCESS: return WIRE_NACK_KEY;
	case DXP_ERANGE: return WIRE_NACK_BOUNDS;
	default: return WIRE_NACK_RESOURCE;
	}
}
