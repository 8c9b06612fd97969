/* SPDX-License-Identifier: BSD-3-Clause */
/* Seals and opens packets of sessions with keys. */
#include <stdlib.h>

#include <dxp/status.h>

#include "rltp/endpoint_internal.h"

/* A datagram that cannot be sealed counts as lost; RLTP sends it again. */
size_t protect_seal(struct rltp_session *s, struct datagram *out, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!s->shared->seal->seal(s->seal, &out[i]))
			continue;
		if (kept < i)
			out[kept] = out[i];
		kept++;
	}
	return kept;
}

static void failure_count(struct rltp_endpoint *e, struct rltp_session *s, int status)
{
	switch (status) {
	case DXP_EAUTH: e->counters.seal_wrong++; break;
	case DXP_EEXIST: e->counters.seal_replayed++; break;
	default: s->counters.no_memory++;
	}
}

bool protect_open(struct rltp_endpoint *e, struct rltp_session *s, struct wire_header *h,
		  const struct datagram_arrival *a, struct datagram_arrival *opened)
{
	if (s->state != RLTP_OPEN) {
		e->counters.stale++;
		return false;
	}
	int status = s->shared->seal->open(s->seal, a, opened);
	if (status != DXP_OK) {
		failure_count(e, s, status);
		return false;
	}
	wire_opened_decode(opened->data, h);
	if (session_unconfirmed(s)) {
		free(s->io->handshake);
		s->io->handshake = NULL;
	}
	return true;
}
