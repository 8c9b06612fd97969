/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries switches: INQUIRE and ANSWER over UDP. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "cmd/dxp/inc.h"
#include "link/udp.h"

#define TRIES  5
#define TRY_NS (200ull * MS_NS)

struct inc_client {
	struct link *link;
	uint32_t own_ip;
	uint16_t own_port;
	uint32_t number; /* number of the query, which the answer contains too */
};

int inc_client_open(uint32_t own_ip, struct inc_client **out)
{
	struct link_options options = {
		.bind = address_v4(own_ip, 0), .whole = true, .unconnected = true, .no_gro = true};
	struct inc_client *a = calloc(1, sizeof(*a));
	struct udp_address own;

	if (!a)
		return DXP_ENOMEM;
	int status = link_open(&options, &a->link);
	if (status != DXP_OK) {
		free(a);
		return status;
	}
	link_address(a->link, &own);
	a->own_ip = own_ip;
	a->own_port = own.port;
	*out = a;
	return DXP_OK;
}

void inc_client_close(struct inc_client *a)
{
	if (!a)
		return;
	link_close(a->link);
	free(a);
}

static void question_send(struct inc_client *a, uint32_t switch_ip, const struct inc_inquiry *q)
{
	const struct roce_path path = {.from_ip = a->own_ip,
				       .to_ip = switch_ip,
				       .from_port = a->own_port,
				       .to_port = ROCE_PORT};
	const struct inc_header header = {
		.kind = INC_INQUIRE, .comm_id = INC_COMM_CONTROL, .req_id = a->number};
	uint8_t payload[INC_INQUIRY_BYTES], trailer[INC_TRAILER_BYTES];
	struct datagram d;

	size_t bytes = inc_inquiry_encode(q, payload);
	inc_packet_encode(&header, ROCE_UD_SEND_ONLY, INC_CONTROL_QKEY, INC_QP, INC_QP, &path,
			  payload, bytes, &d, trailer);
	link_send(a->link, &d, 1);
}

/* Decodes a packet. Returns false if it is not the answer to this query. */
static bool answer_decode(const struct inc_client *a, const struct datagram_arrival *arrival,
			  uint32_t switch_ip, const struct inc_inquiry *q, struct inc_answer *out)
{
	const struct udp_address from = address_v4(switch_ip, ROCE_PORT);
	const struct roce_path path = {.from_ip = switch_ip,
				       .to_ip = a->own_ip,
				       .from_port = ROCE_PORT,
				       .to_port = a->own_port};
	struct inc_packet p;

	return address_equal(&arrival->from, &from) &&
	       roce_icrc_right(&path, arrival->data, arrival->bytes) &&
	       inc_packet_decode(arrival->data, arrival->bytes, &p) == DXP_OK &&
	       p.header.kind == INC_ANSWER && p.header.req_id == a->number &&
	       inc_answer_decode(p.payload, p.payload_bytes, out) == DXP_OK &&
	       out->section == q->section && out->first == q->first;
}

int inc_client_query(struct inc_client *a, uint32_t switch_ip, const struct inc_inquiry *q,
		     struct inc_answer *out)
{
	struct datagram_arrival arrival;

	a->number++;
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t end_ns = clock_now_ns() + TRY_NS;
		question_send(a, switch_ip, q);
		while (clock_now_ns() < end_ns) {
			if (link_receive(a->link, &arrival, 1) == 0)
				link_wait(a->link, end_ns);
			else if (answer_decode(a, &arrival, switch_ip, q, out))
				return DXP_OK;
		}
	}
	return DXP_ETIMEDOUT;
}

/* ---- a whole tree ---- */

static size_t row_bytes(enum inc_section section)
{
	return section == INC_SECTION_GROUPS ? sizeof(struct inc_group_row)
					     : sizeof(struct inc_refusal_row);
}

/* Reads all rows of a section, page by page. Rows added or removed meanwhile may be missed or
 * duplicated. The caller frees *rows. */
static int rows_read(struct inc_client *a, uint32_t switch_ip, enum inc_section section,
		     void **rows, size_t *count)
{
	struct inc_inquiry q = {.section = (uint8_t)section};
	struct inc_answer answer;
	size_t bytes = row_bytes(section);

	*rows = NULL;
	*count = 0;
	do {
		q.first = (uint32_t)*count;
		if (inc_client_query(a, switch_ip, &q, &answer) != DXP_OK)
			return DXP_OK; /* shows the rows that have arrived */
		char *more = realloc(*rows, (*count + answer.count + 1) * bytes);
		if (!more)
			return DXP_ENOMEM;
		memcpy(more + *count * bytes, answer.groups, answer.count * bytes);
		*rows = more;
		*count += answer.count;
	} while (answer.count > 0 && *count < answer.total);
	return DXP_OK;
}

static int switch_read(struct inc_client *a, enum inc_section section, struct inc_switch_view *v)
{
	const struct inc_inquiry q = {.section = INC_SECTION_SWITCH};
	struct inc_answer answer;
	void *rows = NULL;
	int status = DXP_OK;

	if (inc_client_query(a, v->ip, &q, &answer) != DXP_OK) {
		v->silent = true;
		return DXP_OK;
	}
	v->row = answer.self;
	if (section == INC_SECTION_GROUPS) {
		status = rows_read(a, v->ip, section, &rows, &v->group_count);
		v->groups = rows;
	} else if (section == INC_SECTION_REFUSALS) {
		status = rows_read(a, v->ip, section, &rows, &v->refusal_count);
		v->refusals = rows;
	}
	return status;
}

static void parent_add(struct inc_tree *t, uint32_t ip, unsigned above)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->switches[i].ip == ip)
			return;
	if (t->count < INC_TREE_MAX)
		t->switches[t->count++] = (struct inc_switch_view){.ip = ip, .above = above};
}

int inc_tree_read(struct inc_client *a, uint32_t switch_ip, enum inc_section section,
		  struct inc_tree *out)
{
	memset(out, 0, sizeof(*out));
	parent_add(out, switch_ip, 0);
	for (size_t i = 0; i < out->count; i++) {
		struct inc_switch_view *v = &out->switches[i];
		int status = switch_read(a, section, v);
		if (status != DXP_OK)
			return status;
		for (unsigned p = 0; !v->silent && p < v->row.parent_count; p++)
			parent_add(out, v->row.parents[p], v->above + 1);
	}
	return DXP_OK;
}

void inc_client_tree_free(struct inc_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->switches[i].groups);
		free(t->switches[i].refusals);
	}
	t->count = 0;
}
