/* SPDX-License-Identifier: BSD-3-Clause */
/* NAP credits. Limits are absolute and only grow, so lost, duplicated or late CREDIT packets do no
 * harm. A sender without credit requests it at growing intervals, which also repairs losses. */
#include <dxp/status.h>

#include "base/util.h"
#include "rltp/internal.h"

static void credit_build(struct rltp_session *s, const struct wire_credit *credit, uint16_t flags,
			 uint64_t now_ns, struct datagram *out)
{
	struct wire_header h;

	transmit_header_begin(s, WIRE_CREDIT, now_ns, &h);
	h.flags |= flags;
	wire_credit_encode(credit, out->header + WIRE_COMMON_BYTES);
	rltp_control_finish(&s->address, &h, WIRE_CREDIT_BYTES * (size_t)credit->count, out);
}

static bool grants_send(struct rltp_session *s, struct datagram *out, uint64_t now_ns)
{
	struct wire_credit credit;

	credit.count =
		s->shared->ops->grants(s->shared->user, s, credit.entries, WIRE_CREDIT_ENTRIES_MAX);
	/* a full packet may leave limits to send */
	s->io->grants_due = credit.count == WIRE_CREDIT_ENTRIES_MAX;
	if (credit.count == 0)
		return false;
	credit_build(s, &credit, 0, now_ns, out);
	s->counters.credits_sent++;
	return true;
}

static bool question_send(struct rltp_session *s, struct datagram *out, uint64_t now_ns)
{
	struct rltp_io *io = s->io;
	struct wire_credit credit;

	credit.count =
		s->shared->ops->wants(s->shared->user, s, credit.entries, WIRE_CREDIT_ENTRIES_MAX);
	if (credit.count == 0) {
		io->credit_request_ns = UINT64_MAX;
		return false;
	}
	credit_build(s, &credit, WIRE_FLAG_AR, now_ns, out);
	io->credit_request_ns = now_ns + io->credit_interval_ns;
	io->credit_interval_ns = min_u64(2 * io->credit_interval_ns, RLTP_CREDIT_REQUEST_MAX_NS);
	s->counters.credits_asked++;
	return true;
}

size_t credits_send(struct rltp_session *s, struct datagram *out, size_t count, uint64_t now_ns)
{
	size_t n = 0;

	while (n < count && s->io->grants_due && grants_send(s, &out[n], now_ns))
		n++;
	if (n < count && now_ns >= s->io->credit_request_ns && question_send(s, &out[n], now_ns))
		n++;
	return n;
}

void credits_receive(struct rltp_session *s, const struct wire_header *h, const uint8_t *body,
		     uint64_t now_ns)
{
	const struct rltp_user_ops *ops = s->shared->ops;
	struct wire_credit credit;

	if (wire_credit_decode(body, h->payload_bytes, &credit) != DXP_OK) {
		s->counters.acks_bad++;
		return;
	}
	for (uint32_t i = 0; i < credit.count; i++) {
		if (h->flags & WIRE_FLAG_AR)
			ops->requested(s->shared->user, s, &credit.entries[i]);
		else
			ops->granted(s->shared->user, s, &credit.entries[i]);
	}
	if (h->flags & WIRE_FLAG_AR)
		rltp_session_grant(s, now_ns);
	else
		s->counters.credits_received++;
}
