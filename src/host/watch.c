/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects that an xPU is lost: by the node table, by a transport failure, or by a probe. A probe is
 * sent if a call or an event waits for the xPU, and nothing arrives from it. The probe reads
 * register 0, and fails after RLTP_DEAD_NS. So a wait ends within 5 s after a crash, even without
 * the manager. */
#include "base/util.h"
#include "base/clock.h"
#include "host/internal.h"

static void probe(struct dxp_xpu *x)
{
	struct dxp_fabric *f = x->fabric;
	const struct dxp_entry word = {
		.offset = 0, .bytes = sizeof(f->probe_word), .key = f->probe_key};
	uint64_t context = (uint64_t)x->node << 8 | HOST_CONTEXT_PROBE;

	/* If the window is full, its outstanding requests detect the loss, so this probe is not
	 * needed. */
	x->probing =
		nic_user_cfg_read(f->window, HOST_QP_DATA, &x->target, 0, &word, context) == DXP_OK;
}

void watch_look(struct dxp_fabric *f, uint64_t now_ns)
{
	bool awaited = false;

	for (struct dxp_xpu *x = f->xpus; x; x = x->next) {
		if (x->status != DXP_OK || (!x->awaited && !x->events.pending))
			continue;
		awaited = true;
		if (!x->probing && now_ns - x->received_ns >= HOST_PROBE_NS)
			probe(x);
	}
	f->watch_ns = awaited ? now_ns + HOST_WATCH_NS : UINT64_MAX;
}

void watch_arm(struct dxp_fabric *f)
{
	if (f->watch_ns == UINT64_MAX)
		f->watch_ns = clock_now_ns() + HOST_WATCH_NS;
}

void watch_begin(struct dxp_xpu *x)
{
	x->awaited++;
	watch_arm(x->fabric);
}

void watch_end(struct dxp_xpu *x)
{
	x->awaited--;
}

/* Handles the close of a session, even if it was idle. Messages of the xPU to this host may be
 * lost, so no command may wait for them. If the peer closed the session in order, the node table
 * reports this. */
void watch_session_ended(void *fabric, uint16_t peer, int status)
{
	struct dxp_xpu *x = xpu_find(fabric, peer);

	if (x && status != DXP_ECLOSED)
		xpu_end(x, status == DXP_EPEERRESET ? DXP_EPEERRESET : DXP_EPEERLOST);
}

void watch_changed(void *fabric, const struct table_change *change)
{
	struct dxp_xpu *x = xpu_find(fabric, change->entry.id);

	if (!x)
		return;
	if (change->what & TABLE_LOST)
		xpu_end(x, change->what & TABLE_GRANT ? DXP_EACCESS : DXP_EPEERLOST);
	else if (change->what & TABLE_RESTARTED)
		xpu_end(x, DXP_EPEERRESET);
}
