/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts rejections, and answers within limits: no peer can make a switch flood hosts, or use up
 * all answers. */
#include "switch/core.h"

#include <dxp/status.h>

/* limiter_charge counts events, and saves unused rate for up to SWITCH_BURST_NS. */
static bool limiter_allows(const struct limiter *l, uint64_t now_ns)
{
	return l->next_ns <= now_ns;
}

static void limiter_charge(struct limiter *l, uint64_t per_s, uint64_t now_ns)
{
	uint64_t saved_ns = now_ns > SWITCH_BURST_NS ? now_ns - SWITCH_BURST_NS : 0;

	l->next_ns = max_u64(l->next_ns, saved_ns) + S_NS / (per_s ? per_s : 1);
}

static unsigned source_of(const struct sw *s, uint32_t ip)
{
	return ((ip ^ s->hash_seed) * 0x9e3779b1u >> 16) % SWITCH_SOURCES;
}

bool reject_answer_allowed(struct sw *s, uint32_t ip, uint64_t now_ns)
{
	struct limiter *of = &s->answered_of[source_of(s, ip)];

	if (!limiter_allows(&s->answered, now_ns) || !limiter_allows(of, now_ns)) {
		s->counters.limited++;
		return false;
	}
	limiter_charge(&s->answered, s->options.refused_per_s, now_ns);
	limiter_charge(of, s->options.refused_per_s / SWITCH_SOURCE_SHARE, now_ns);
	return true;
}

static bool source_allowed(struct sw *s, struct limiter *of, uint64_t per_s, uint64_t now_ns)
{
	if (!limiter_allows(of, now_ns)) {
		s->counters.limited++;
		return false;
	}
	limiter_charge(of, per_s, now_ns);
	return true;
}

bool reject_query_allowed(struct sw *s, uint32_t ip, uint64_t now_ns)
{
	return source_allowed(s, &s->limited_of[source_of(s, ip)], SWITCH_QUERIES_PER_S, now_ns);
}

bool reject_kill_allowed(struct sw *s, uint32_t ip, uint64_t now_ns)
{
	return source_allowed(s, &s->kills_of[source_of(s, ip)], SWITCH_KILLS_PER_S, now_ns);
}

static void rejection_note(struct rejection *r, uint32_t ip, uint32_t group, uint64_t now_ns)
{
	r->count++;
	r->last_ns = now_ns;
	r->last_ip = ip;
	r->last_group = group;
}

bool reject_cause(struct sw *s, unsigned cause, uint32_t ip, uint32_t group, uint64_t now_ns)
{
	rejection_note(&s->causes[cause], ip, group, now_ns);
	return reject_answer_allowed(s, ip, now_ns);
}

void reject_send(struct sw *s, const struct inc_header *about, uint32_t qkey, uint32_t ip,
		 uint16_t port, int status)
{
	struct message *m = message_new(s);

	if (!m)
		return;
	m->header = *about;
	m->header.kind = INC_REFUSED;
	m->header.flags = INC_FLAG_RESULT;
	m->header.status = (uint8_t)-status;
	m->header.elements = 0;
	m->path = (struct roce_path){s->options.ip, ip, port, ROCE_PORT};
	m->qkey = qkey;
	m->bytes = 0;
}

void reject_packet(struct sw *s, const struct arrival *a, const struct rejecting *what,
		   bool send_rejected)
{
	struct inc_header about = a->packet->header;

	about.comm_id = what->group;
	s->counters.refused++;
	rejection_note(&s->statuses[-what->status], a->path->from_ip, what->group, a->now_ns);
	if (send_rejected && reject_answer_allowed(s, a->path->from_ip, a->now_ns))
		reject_send(s, &about, what->qkey, a->path->from_ip, a->path->from_port,
			    what->status);
}

void reject_data(struct sw *s, const struct arrival *a, int status, bool send_rejected)
{
	const struct inc_packet *p = a->packet;

	reject_packet(s, a, &(struct rejecting){p->header.comm_id, p->roce.qkey, status},
		      send_rejected);
}
