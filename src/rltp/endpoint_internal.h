/* SPDX-License-Identifier: BSD-3-Clause */
/* What endpoint.c, greeting.c, reset.c and schedule.c share. */
#ifndef RLTP_ENDPOINT_INTERNAL_H
#define RLTP_ENDPOINT_INTERNAL_H

#include "rltp/endpoint.h"

#define RESETS_PENDING 16

struct pending_reset {
	struct wire_address to;
	uint32_t session;
	uint16_t node;
};

struct schedule_entry {
	uint64_t due_ns;
	struct rltp_session *session;
};

struct schedule {
	struct rltp_session *first, *last; /* ready now */
	struct schedule_entry *heap;       /* by due_ns */
	uint32_t count, room;
};

struct rltp_endpoint {
	struct rltp_endpoint_options options;
	struct rltp_shared shared;   /* with all sessions */
	struct rltp_session **peers; /* ordered by node id */
	uint32_t peer_count, peer_room;
	struct schedule schedule;
	uint32_t epoch;  /* of the session opened last */
	uint64_t due_ns; /* when rltp_endpoint_send is called again at the latest, as it was told
			    last */
	struct pending_reset resets[RESETS_PENDING];
	uint32_t reset_count;
	uint64_t reset_window_ns; /* start of the second in which reset_spent were sent */
	uint32_t reset_spent;
	uint32_t hello_second, hello_spent; /* as a session's */
	struct rltp_endpoint_counters counters;
};

/* schedule.c. _reserve: room for so many sessions, DXP_ENOMEM. _at: UINT64_MAX forgets the
 * deadline. _due: moves those that are due to the queue. _take: the first of the queue, or NULL. */
int schedule_reserve(struct schedule *q, uint32_t sessions);
void schedule_free(struct schedule *q);
void schedule_ready(struct schedule *q, struct rltp_session *s);
void schedule_at(struct schedule *q, struct rltp_session *s, uint64_t due_ns);
void schedule_due(struct schedule *q, uint64_t now_ns);
struct rltp_session *schedule_take(struct schedule *q);
void schedule_forget(struct schedule *q, struct rltp_session *s);
uint64_t schedule_deadline(const struct schedule *q);

/* greeting.c */
void greeting_begin(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns);
void greeting_receive(struct rltp_endpoint *e, const struct wire_header *h,
		      const struct link_arrival *a, uint64_t now_ns);
size_t greeting_send(struct rltp_endpoint *e, struct rltp_session *s, struct link_datagram *out,
		     size_t count, uint64_t now_ns);
uint64_t greeting_deadline(const struct rltp_session *s);

/* reset.c: how sessions are told of their end */
void reset_queue(struct rltp_endpoint *e, const struct wire_header *h,
		 const struct wire_address *from);
void reset_receive(struct rltp_endpoint *e, const struct wire_header *h,
		   const struct link_arrival *a);
size_t resets_send(struct rltp_endpoint *e, struct link_datagram *out, size_t count,
		   uint64_t now_ns);
size_t bye_send(struct rltp_endpoint *e, struct rltp_session *s, struct link_datagram *out,
		size_t count, uint64_t now_ns);
void bye_receive(struct rltp_endpoint *e, struct rltp_session *s, const struct wire_header *h,
		 const uint8_t *body);

#endif
