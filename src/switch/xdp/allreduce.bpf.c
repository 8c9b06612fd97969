/* SPDX-License-Identifier: BSD-3-Clause */
/* The XDP data plane: short operations of installed groups (kernel.h; docs/reference/inc.md "Two
 * planes"). All other packets pass unchanged. */
#include "switch/xdp/maps.bpf.h"
#include "switch/xdp/packet.bpf.h"
#include "switch/xdp/aggregator.bpf.h"

/* Returns the sending child; -1: none. Not inlined, so that the verifier checks the loop once. */
__attribute__((noinline)) int child_find(const struct kernel_group *g, const struct work *w)
{
	const struct frame *f;

	if (!g || !w)
		return -1;
	f = &w->frame;
	for (__u32 i = 0; i < SWITCH_KERNEL_CHILDREN && i < g->child_count; i++) {
		const struct kernel_child *c = &g->children[i];

		if (c->ip_be != f->from_ip_be || c->port_be != f->from_port_be)
			continue;
		if (f->flags & INC_FLAG_SWITCH)
			return c->is_switch ? (int)i : -1;
		return !c->is_switch && c->first == be32(f->src_rank_be) ? (int)i : -1;
	}
	return -1;
}

INLINE int send_back(struct xdp_md *ctx, struct work *w, __u32 bytes)
{
	struct frame *f = &w->frame;
	__u8 mac[6];
	__u32 ip_be = f->to_ip_be;

	__builtin_memcpy(mac, f->to_mac, 6);
	__builtin_memcpy(f->to_mac, f->from_mac, 6);
	__builtin_memcpy(f->from_mac, mac, 6);
	f->to_ip_be = f->from_ip_be;
	f->from_ip_be = ip_be;
	packet_describe(w, INC_FLAG_RESULT | INC_FLAG_REPEAT);
	return packet_put(ctx, w, INC_QP, bytes) ? XDP_DROP : XDP_TX;
}

INLINE int send_up(struct xdp_md *ctx, struct work *w, const struct kernel_group *g, __u8 flags,
		   __u32 bytes)
{
	struct frame *f = &w->frame;

	__builtin_memcpy(f->to_mac, g->parent_mac, 6);
	__builtin_memcpy(f->from_mac, g->parent_own_mac, 6);
	f->from_ip_be = g->own_ip_be;
	f->to_ip_be = g->parent_ip_be;
	f->from_port_be = be16(ROCE_SOURCE_PORT);
	w->out.src_rank = g->first;
	packet_describe(w, INC_FLAG_SWITCH | flags);
	if (packet_put(ctx, w, INC_QP, bytes))
		return XDP_DROP;
	return bpf_redirect(g->parent_ifindex, 0);
}

/* Sends once per port with children, also back to the last contribution's. */
INLINE int send_down(struct xdp_md *ctx, struct work *w, const struct kernel_group *g, __u32 bytes)
{
	struct frame *f = &w->frame;
	__u32 ip = be32(g->multicast_ip_be), index = g->index;
	void *children;

	f->to_mac[0] = 0x01;
	f->to_mac[1] = 0x00;
	f->to_mac[2] = 0x5e;
	f->to_mac[3] = ip >> 16 & 0x7f;
	f->to_mac[4] = ip >> 8;
	f->to_mac[5] = ip;
	__builtin_memcpy(f->from_mac, g->own_mac, 6);
	f->from_ip_be = g->own_ip_be;
	f->to_ip_be = g->multicast_ip_be;
	f->from_port_be = be16(ROCE_PORT);
	packet_describe(w, INC_FLAG_RESULT);
	if (packet_put(ctx, w, ROCE_QP_MULTICAST, bytes))
		return XDP_DROP;
	if (g->only_ifindex)
		return g->only_ifindex == ctx->ingress_ifindex ? XDP_TX
							       : bpf_redirect(g->only_ifindex, 0);
	children = bpf_map_lookup_elem(&ports, &index);
	return children ? bpf_redirect_map(children, 0, BPF_F_BROADCAST) : XDP_DROP;
}

INLINE __u32 out_bytes(const struct work *w)
{
	return w->out.elements * reduce_bytes(w->out.kind, w->out.kind >> 8);
}

/* Folds after the last contribution: the root sends the result down, others a partial result up. */
INLINE int complete(struct xdp_md *ctx, struct work *w, const struct kernel_group *g,
		    struct kernel_aggregator *s, struct kernel_contributions *c,
		    const struct arrival *a)
{
	int root = g->parent_ip_be == 0;
	__u32 words;

	w->out.kind = s->call.kind;
	w->out.call_elements = s->call.elements;
	w->out.flags = s->flags;
	w->out.status = s->status;
	w->out.src_rank = g->first;
	w->out.elements = w->out.status ? 0 : s->call.kind >> 48;
	words = (out_bytes(w) + 7) / 8;
	if (words)
		reduce_all(c, w, words, g->child_count, (__u16)w->out.kind);
	if (w->out.status)
		count(KERNEL_MISMATCHES);
	if (!aggregator_fold(s, w, a, root, words)) {
		count(KERNEL_STALE);
		return XDP_DROP;
	}
	count(root ? KERNEL_RESULTS : KERNEL_PARTIALS);
	return root ? send_down(ctx, w, g, out_bytes(w)) : send_up(ctx, w, g, 0, out_bytes(w));
}

/* Drops a packet with a wrong ICRC; user space reports malformed ones. */
INLINE int unsound(enum soundness what)
{
	count(what == PACKET_ICRC_WRONG  ? KERNEL_ICRC_WRONG
	      : what == PACKET_MALFORMED ? KERNEL_MALFORMED
					 : KERNEL_PASSED);
	return what == PACKET_ICRC_WRONG ? XDP_DROP : XDP_PASS;
}

INLINE struct arrival arrival_of(const struct frame *f)
{
	return (struct arrival){
		.now_ns = bpf_ktime_get_ns(),
		.kind = packet_kind(f),
		.req_id = be32(f->req_id_be),
		.call_elements = be32(f->call_elements_be),
		.flags = f->flags & (INC_FLAG_SHORT | INC_FLAG_LAST),
		.status = f->status,
	};
}

INLINE int reject_packet(void)
{
	count(KERNEL_REJECTED);
	return XDP_PASS;
}

/* Handles a contribution. What this plane cannot compute is accepted only if its segment is here,
 * as a mismatch. */
INLINE int contribution_receive(struct xdp_md *ctx, struct work *w, const struct kernel_group *g,
				struct kernel_aggregator *s, struct kernel_contributions *c)
{
	struct frame *f = &w->frame;
	struct arrival a = arrival_of(f);
	int fast_bytes = packet_fast_bytes(f), child;
	enum soundness sound;

	if (fast_bytes < 0 && !(s->used && s->req_id == a.req_id)) {
		count(KERNEL_PASSED);
		return XDP_PASS;
	}
	child = child_find(g, w);
	if (child < 0 || child >= SWITCH_KERNEL_CHILDREN)
		return reject_packet();
	sound = packet_copy(ctx, w, g->check_icrc);
	if (sound == PACKET_SOUND && ((fast_bytes >= 0 && !packet_fast_sound(f, fast_bytes)) ||
				      (f->status && !(f->flags & INC_FLAG_SWITCH))))
		sound = PACKET_MALFORMED;
	if (sound != PACKET_SOUND)
		return unsound(sound);
	a.fast = fast_bytes >= 0;
	a.child = child;
	a.bit = 1ull << child;
	a.all = g->child_count >= 64 ? ~0ull : (1ull << (g->child_count & 63)) - 1;
	a.words = (fast_bytes + 7) / 8;

	switch (aggregator_add(s, c, w, &a)) {
	case AGGREGATOR_COMPLETE: count(KERNEL_CONTRIBUTIONS); return complete(ctx, w, g, s, c, &a);
	case AGGREGATOR_KEPT: count(KERNEL_CONTRIBUTIONS); return XDP_DROP;
	case AGGREGATOR_ANSWER: count(KERNEL_REPEATS); return send_back(ctx, w, out_bytes(w));
	case AGGREGATOR_UP_AGAIN:
		count(KERNEL_REPEATS);
		return send_up(ctx, w, g, INC_FLAG_REPEAT, out_bytes(w));
	case AGGREGATOR_STALE: count(KERNEL_STALE); return XDP_DROP;
	case AGGREGATOR_LEFT: count(KERNEL_PASSED); return XDP_PASS;
	default: count(KERNEL_DUPLICATES); return XDP_DROP;
	}
}

/* Stores a result, or leaves it to user space. That receives no multicast, so unexpected copies are
 * dropped. */
INLINE int result_receive(struct xdp_md *ctx, struct work *w, const struct kernel_group *g,
			  struct kernel_aggregator *s)
{
	struct frame *f = &w->frame;
	struct arrival a = arrival_of(f);
	int unwanted = f->to_ip_be == g->own_ip_be ? XDP_PASS : XDP_DROP;
	int fast_bytes = packet_fast_bytes(f);
	__u32 src_rank = be32(f->src_rank_be);
	enum soundness sound;

	if (!g->parent_ip_be || f->from_ip_be != g->parent_ip_be)
		return reject_packet();
	if (!(s->used && s->req_id == a.req_id && s->folded)) {
		count(unwanted == XDP_PASS ? KERNEL_PASSED : KERNEL_STALE);
		return unwanted;
	}
	sound = packet_copy(ctx, w, g->check_icrc);
	if (sound == PACKET_SOUND &&
	    (fast_bytes < 0 ? !f->status : !packet_fast_sound(f, fast_bytes)))
		sound = PACKET_MALFORMED;
	if (sound != PACKET_SOUND)
		return unsound(sound);
	switch (aggregator_finish(s, w, &a, src_rank, f->status ? 0 : be16(f->elements_be))) {
	case AGGREGATOR_DOWN: count(KERNEL_RESULTS); return send_down(ctx, w, g, out_bytes(w));
	case AGGREGATOR_LEFT: return unwanted;
	default: count(KERNEL_DUPLICATES); return XDP_DROP;
	}
}

INLINE int aggregator_data_receive(struct xdp_md *ctx, struct work *w)
{
	struct frame *f = &w->frame;
	__u32 id = be32(f->comm_id_be), at;
	struct kernel_group *g = bpf_map_lookup_elem(&groups, &id);
	struct kernel_contributions *c;
	struct kernel_aggregator *s;
	int result = f->flags & INC_FLAG_RESULT;

	if (!g || (f->to_ip_be != g->own_ip_be && !(result && f->to_ip_be == g->multicast_ip_be &&
						    f->from_ip_be == g->parent_ip_be)))
		return XDP_PASS;
	if (be16(f->epoch_be) != g->epoch || be32(f->qkey_be) != g->qkey)
		return reject_packet();
	at = g->index * SWITCH_KERNEL_AGGREGATORS + be32(f->req_id_be) % SWITCH_KERNEL_AGGREGATORS;
	s = bpf_map_lookup_elem(&aggregators, &at);
	c = bpf_map_lookup_elem(&contributions, &at);
	if (!s || !c)
		return XDP_PASS;
	return result ? result_receive(ctx, w, g, s) : contribution_receive(ctx, w, g, s, c);
}

/* Records MAC addresses and interface of a sound control packet to this switch, except with another
 * Q_Key or a multicast MAC. */
INLINE void neighbour_learn(struct xdp_md *ctx, struct work *w)
{
	const struct frame *f = &w->frame;
	struct kernel_neighbour n = {.ifindex = ctx->ingress_ifindex};
	__u32 zero = 0, ip_be = f->from_ip_be;
	struct kernel_config *own = bpf_map_lookup_elem(&config, &zero);

	if (!own || f->to_ip_be != own->own_ip_be || f->qkey_be != be32(INC_CONTROL_QKEY) ||
	    (f->from_mac[0] | f->to_mac[0]) & MAC_GROUP)
		return;
	__builtin_memcpy(n.mac, f->from_mac, 6);
	__builtin_memcpy(n.own_mac, f->to_mac, 6);
	if (packet_copy(ctx, w, own->check_icrc) == PACKET_SOUND)
		bpf_map_update_elem(&neighbours, &ip_be, &n, BPF_ANY);
}

SEC("xdp") int dxp_allreduce(struct xdp_md *ctx)
{
	__u32 zero = 0;
	struct work *w;

	if (!packet_accepted(ctx))
		return XDP_PASS;
	w = bpf_map_lookup_elem(&works, &zero);
	if (!w || bpf_xdp_load_bytes(ctx, 0, w->frame.to_mac, ETHERNET_BYTES + HEADERS_BYTES))
		return XDP_PASS;
	if (w->frame.kind == INC_DATA)
		return aggregator_data_receive(ctx, w);
	neighbour_learn(ctx, w);
	return XDP_PASS;
}

/* Required; no helper here is GPL-only. */
char program_license[] SEC("license") = "Dual BSD/GPL";
