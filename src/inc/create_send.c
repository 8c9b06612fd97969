/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of a group's creation. All members send QUERYs, and NOTIFIEDs to member 0. Member 0 sends
 * NOTIFYs and KILLs down the tree, and failure notices. */
#include <dxp/status.h>

#include "inc/create_internal.h"
#include "inc/internal.h"

static void control_add(const struct inc_create *c, struct inc_batch *out,
			const struct inc_header *h, const struct inc_control *n, uint32_t to_ip,
			uint16_t to_port)
{
	const struct inc_member *own = &c->o.members[c->o.member];
	struct roce_path path = {own->ip, to_ip, own->port, to_port};
	uint8_t payload[INC_CONTROL_BYTES_MAX];
	size_t bytes = inc_packet_control_encode(h, n, payload);

	inc_packet_encode(h, ROCE_UD_SEND_ONLY, INC_CONTROL_QKEY, INC_QP, INC_QP, &path, payload,
			  bytes, &out->datagrams[out->count], out->trailers[out->count]);
	out->from_ports[out->count++] = own->port;
	segment_batch_inline(out);
}

static struct inc_header header_of(const struct inc_create *c, enum inc_kind kind, uint32_t member)
{
	return (struct inc_header){
		.src_rank = member,
		.comm_id = INC_COMM_CONTROL,
		.epoch = c->o.epoch,
		.kind = (uint8_t)kind,
		.flags = c->o.framing == DXP_INC_COMPAT ? INC_FLAG_COMPAT : 0,
	};
}

static void query_send(struct inc_create *c, struct inc_batch *out, uint64_t now_ns)
{
	struct inc_header h = header_of(c, INC_QUERY, c->o.member);

	if (c->query_gap_ns > INC_QUERY_NS)
		h.flags |= INC_FLAG_REPEAT;
	control_add(c, out, &h, &c->o.first, c->o.switches[c->o.member], ROCE_PORT);
	c->query_ns = now_ns + c->query_gap_ns;
	c->query_gap_ns = min_u64(2 * c->query_gap_ns, INC_QUERY_MAX_NS);
}

static void notified_send(struct inc_create *c, struct inc_batch *out)
{
	struct inc_header h = header_of(c, INC_NOTIFIED, c->o.member);

	control_add(c, out, &h, &c->notice, c->o.members[0].ip, c->o.members[0].port);
	c->owes_notified = false;
}

static void notify_send(struct inc_create *c, struct inc_batch *out, enum inc_kind kind,
			uint32_t member)
{
	struct inc_header h = header_of(c, kind, member);
	struct inc_control n = create_tree_notice(c, member);

	control_add(c, out, &h, &n, c->root_ip, ROCE_PORT);
}

/* Sends a failure notice, so that the member need not wait for its time limit. */
static void bad_news_send(struct inc_create *c, struct inc_batch *out, uint32_t member)
{
	struct inc_header h = header_of(c, INC_NOTIFY, member);
	struct inc_control n = c->o.first;

	h.status = (uint8_t)-c->status;
	n.fail_cause = c->notice.fail_cause;
	n.cause_ip = c->notice.cause_ip;
	control_add(c, out, &h, &n, c->o.members[member].ip, c->o.members[member].port);
}

static void round_send(struct inc_create *c, struct inc_batch *out, uint64_t now_ns)
{
	bool failed = c->state == CREATE_FAILED;

	if (now_ns < c->round_ns)
		return;
	for (; c->round_member < c->o.count && !batch_full(out); c->round_member++) {
		if (failed && c->round_member != 0)
			bad_news_send(c, out, c->round_member);
		else if (!failed && !c->ways[c->round_member].notified)
			notify_send(c, out, INC_NOTIFY, c->round_member);
	}
	if (c->round_member < c->o.count)
		return;
	c->round_member = 0;
	c->round_ns = now_ns + c->round_gap_ns;
	c->round_gap_ns = min_u64(2 * c->round_gap_ns, INC_QUERY_MAX_NS);
}

size_t inc_create_send(struct inc_create *c, struct inc_batch *out, uint64_t now_ns)
{
	size_t before = out->count;

	create_tick(c, now_ns);
	if (c->owes_notified && !batch_full(out))
		notified_send(c, out);
	if (c->state == CREATE_QUERY && now_ns >= c->query_ns && !batch_full(out))
		query_send(c, out, now_ns);
	if (c->o.member == 0 && (c->state == CREATE_NOTIFY || c->state == CREATE_FAILED))
		round_send(c, out, now_ns);
	return out->count - before;
}

size_t inc_create_kill(const struct inc_create *c, uint32_t *next, struct inc_batch *out)
{
	size_t before = out->count;

	if (c->root_ip == 0)
		*next = c->o.count;
	for (; *next < c->o.count && !batch_full(out); ++*next) {
		struct inc_header h = header_of(c, INC_KILL, *next);
		struct inc_control n = create_tree_notice(c, *next);
		control_add(c, out, &h, &n, c->root_ip, ROCE_PORT);
	}
	return out->count - before;
}
