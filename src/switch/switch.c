/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch: options, lifetime, dispatch of packets, leases. */
#include "switch/core.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "wire/limits.h"

_Static_assert(SWITCH_MEMORY_DEFAULT >= 2ull * SWITCH_WINDOW_DEFAULT * SWITCH_SEGMENT_DEFAULT * 16 *
						SWITCH_GROUPS_DEFAULT,
	       "memory for all groups, of a leaf with 16 hosts");

static uint32_t power_of_two_from(uint32_t v)
{
	uint32_t power = 1;

	while (power < v)
		power *= 2;
	return power;
}

static bool options_sound(const struct sw_options *o)
{
	if (o->ip == 0 || o->parent_count > INC_PARENTS_MAX || o->groups_max > SWITCH_GROUPS_MAX ||
	    o->window > INC_WINDOW_MAX || o->segment_bytes > SWITCH_SEGMENT_MAX ||
	    o->segment_bytes % 16 != 0 || memchr(o->name, 0, sizeof(o->name)) == NULL)
		return false;
	for (unsigned i = 0; i < o->parent_count; i++) {
		if (o->parents[i] == 0 || o->parents[i] == o->ip)
			return false;
		for (unsigned j = 0; j < i; j++)
			if (o->parents[i] == o->parents[j])
				return false;
	}
	return true;
}

static void options_fill(struct sw_options *o)
{
	if (o->groups_max == 0)
		o->groups_max = SWITCH_GROUPS_DEFAULT;
	if (o->memory_max == 0)
		o->memory_max = SWITCH_MEMORY_DEFAULT;
	if (o->lease_ms == 0)
		o->lease_ms = SWITCH_LEASE_MS;
	if (o->segment_bytes == 0)
		o->segment_bytes = SWITCH_SEGMENT_DEFAULT;
	if (o->window == 0)
		o->window = SWITCH_WINDOW_DEFAULT;
	if (o->modes == 0)
		o->modes = 1u << DXP_INC_NODE | 1u << DXP_INC_SOCKET | 1u << DXP_INC_FLAT;
	if (o->refused_per_s == 0)
		o->refused_per_s = SWITCH_REJECTED_PER_S;
}

int switch_create(const struct sw_options *options, uint64_t now_ns, struct sw **out)
{
	if (!options_sound(options))
		return DXP_EINVAL;

	struct sw *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->options = *options;
	options_fill(&s->options);
	crc32_shift_make(&s->shift, s->options.segment_bytes);
	s->started_ns = now_ns;
	s->expire_ns = s->timer_ns = UINT64_MAX;
	s->hash_seed = (uint32_t)(now_ns ^ now_ns >> 32) * 0x85ebca6bu ^ options->ip;
	s->rng.state = now_ns ^ (uint64_t)s->hash_seed << 32;
	s->bucket_mask = power_of_two_from(s->options.groups_max) - 1;
	s->message_space = SWITCH_MESSAGES_MIN;
	s->groups = calloc(s->options.groups_max, sizeof(struct sw_group *));
	s->buckets = calloc(s->bucket_mask + 1, sizeof(struct sw_group *));
	s->messages = calloc(s->message_space, sizeof(*s->messages));
	if (!s->groups || !s->buckets || !s->messages) {
		switch_destroy(s);
		return DXP_ENOMEM;
	}
	*out = s;
	return DXP_OK;
}

void switch_destroy(struct sw *s)
{
	if (!s)
		return;
	while (s->group_count > 0)
		group_free(s, s->groups[s->group_count - 1]);
	rc_table_close(&s->numbers);
	free(s->answers);
	free(s->messages);
	free(s->buckets);
	free(s->groups);
	free(s);
}

static void inquiry_receive(struct sw *s, const struct arrival *a)
{
	const struct inc_packet *p = a->packet;
	struct inc_inquiry q;
	struct inc_answer answer;
	uint8_t *rows;

	if (inc_inquiry_decode(p->payload, p->payload_bytes, &q) != DXP_OK) {
		s->counters.malformed++;
		return;
	}
	if (!reject_answer_allowed(s, a->path->from_ip, a->now_ns))
		return;

	struct message *m = message_answer_new(s, &rows);

	if (!m)
		return;
	switch_answer_to(s, &q, a->path->from_ip, a->now_ns, &answer);
	m->header = (struct inc_header){
		.kind = INC_ANSWER, .comm_id = INC_COMM_CONTROL, .req_id = p->header.req_id};
	m->path =
		(struct roce_path){s->options.ip, a->path->from_ip, ROCE_PORT, a->path->from_port};
	m->qkey = INC_CONTROL_QKEY;
	m->bytes = (uint16_t)inc_answer_encode(&answer, rows);
}

static void control_receive(struct sw *s, const struct arrival *a)
{
	const struct inc_packet *p = a->packet;

	if (p->roce.qkey != INC_CONTROL_QKEY) {
		reject_data(s, a, DXP_EACCESS, false);
		return;
	}
	switch (p->header.kind) {
	case INC_QUERY: control_query_receive(s, a); break;
	case INC_NOTIFY:
	case INC_KILL: control_notify_receive(s, a); break;
	case INC_RENEW: control_renew_receive(s, a); break;
	case INC_INQUIRE: inquiry_receive(s, a); break;
	/* not for switches */
	default: reject_data(s, a, DXP_EINVAL, false);
	}
}

void switch_receive(struct sw *s, const uint8_t *data, size_t bytes, const struct roce_path *path,
		    uint64_t now_ns)
{
	struct inc_packet p;
	struct arrival a = {&p, path, now_ns};
	/* Only port 4791. Answers to hosts go elsewhere, so they cannot loop between switches. */
	bool own = path->to_port == ROCE_PORT, rc = own && rc_packet(data, bytes);
	int status = rc ? DXP_OK : own ? inc_packet_decode(data, bytes, &p) : DXP_ENOENT;

	s->counters.received++;
	if (status != DXP_OK) {
		*(status == DXP_ENOENT ? &s->counters.foreign : &s->counters.malformed) += 1;
		return;
	}
	if (!s->options.no_icrc_check && !roce_icrc_right(path, data, bytes)) {
		s->counters.icrc_wrong++;
		return;
	}
	if (rc)
		connection_receive(s, data, bytes, path, now_ns);
	else if (p.header.kind == INC_DATA)
		aggregator_data_receive(s, &a);
	else if (p.header.kind == INC_REFUSED)
		control_rejected_receive(s, &a);
	else
		control_receive(s, &a);
}

/* ---- leases ---- */

static uint64_t lease_end_ns(const struct sw_group *g)
{
	return g->used_ns +
	       (group_ready(g) ? g->lease_ns : min_u64(g->lease_ns, SWITCH_UNREADY_NS));
}

static void kernel_use_note(struct sw *s, struct sw_group *g)
{
	const struct sw_kernel *k = &s->options.kernel;

	if (g->in_kernel && k->last_ns)
		g->used_ns = max_u64(g->used_ns, k->last_ns(k->context, g->id));
}

void switch_expire(struct sw *s, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	if (now_ns < s->expire_ns)
		return;
	for (uint32_t i = s->group_count; i > 0; i--) {
		struct sw_group *g = s->groups[i - 1];

		if (now_ns >= lease_end_ns(g))
			kernel_use_note(s, g);
		if (now_ns >= lease_end_ns(g)) {
			s->counters.expired++;
			group_free(s, g);
		} else {
			next_ns = min_u64(next_ns, lease_end_ns(g));
		}
	}
	s->expire_ns = next_ns;
}

uint64_t switch_deadline(const struct sw *s)
{
	if (s->output_first || s->message_first != s->message_end)
		return 0;
	return min_u64(s->expire_ns, connections_deadline(s));
}

void switch_emit(struct sw *s, bool on)
{
	s->drained = on;
}

void switch_counters(const struct sw *s, struct sw_counters *out)
{
	*out = s->counters;
}
