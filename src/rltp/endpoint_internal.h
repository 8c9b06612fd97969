/* SPDX-License-Identifier: BSD-3-Clause */
/* What endpoint.c and greeting.c share. */
#ifndef RLTP_ENDPOINT_INTERNAL_H
#define RLTP_ENDPOINT_INTERNAL_H

#include "rltp/endpoint.h"

#define RESETS_PENDING 16

struct pending_reset {
	struct wire_address to;
	uint32_t session;
	uint16_t node;
};

struct rltp_endpoint {
	struct rltp_endpoint_options options;
	struct rltp_shared shared;   /* with all sessions */
	struct rltp_session **peers; /* ordered by node id */
	uint32_t peer_count, peer_room;
	struct rltp_session *active;
	uint32_t epoch; /* of the session opened last */
	struct pending_reset resets[RESETS_PENDING];
	uint32_t reset_count;
	uint64_t reset_window_ns; /* start of the second in which reset_spent were sent */
	uint32_t reset_spent;
	struct rltp_endpoint_counters counters;
};

void session_activate(struct rltp_endpoint *e, struct rltp_session *s);

/* greeting.c */
void greeting_begin(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);
void greeting_receive(struct rltp_endpoint *e, const struct wire_header *h,
		      const struct link_arrival *a, uint64_t now_ns);
size_t greeting_send(struct rltp_endpoint *e, struct rltp_session *s, struct link_datagram *out,
		     size_t count, uint64_t now_ns);
uint64_t greeting_deadline(const struct rltp_session *s);
void reset_queue(struct rltp_endpoint *e, const struct wire_header *h,
		 const struct wire_address *from);
void reset_receive(struct rltp_endpoint *e, const struct wire_header *h, const uint8_t *body);
size_t resets_send(struct rltp_endpoint *e, struct link_datagram *out, size_t count,
		   uint64_t now_ns);

#endif
