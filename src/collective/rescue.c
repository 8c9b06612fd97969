/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/rescue.h"

static void lost_add(struct rescue *r, uint32_t member, int status, uint64_t done_bytes)
{
	if (r->lost == 0 || r->reason == DXP_EPEERLOST) {
		r->reason = status;
		r->reason_member = member;
	}
	r->differ |= r->lost > 0 && r->done_bytes != done_bytes;
	r->done_bytes = done_bytes;
	r->is_lost[member] = true;
	r->lost++;
}

void rescue_add(struct rescue *r, uint32_t member, enum rescue_state state, int status,
		uint64_t done_bytes)
{
	switch (state) {
	case RESCUE_PENDING: r->pending++; break;
	case RESCUE_LOST: lost_add(r, member, status, done_bytes); break;
	case RESCUE_COMPLETE: r->complete++; break;
	case RESCUE_FAILED: r->failed++; break;
	}
}

enum rescue_step rescue_decide(const struct rescue *r, uint64_t bytes)
{
	if (r->lost == 0)
		return RESCUE_NOTHING;
	if (r->pending > 0)
		return RESCUE_AWAIT;
	if (r->failed > 0)
		return RESCUE_CANCEL;
	if (r->differ || r->complete > 0 || r->done_bytes > bytes)
		return RESCUE_DIFFER;
	return r->done_bytes < bytes ? RESCUE_REST : RESCUE_SETTLE;
}
