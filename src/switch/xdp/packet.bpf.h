/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets between frame and scratch memory: filter, lengths, ICRC, and the packet to send. */
#ifndef SWITCH_XDP_PACKET_H
#define SWITCH_XDP_PACKET_H

#include "switch/xdp/icrc.bpf.h"
#include "switch/xdp/maps.bpf.h"
#include "switch/xdp/reduce.bpf.h"

#define MAC_GROUP     0x01 /* multicast bit of a MAC address' first byte */
#define ETHER_IPV4    0x0800
#define IP_VERSION    0x45 /* version 4, 5 words: no options */
#define IP_DF         0x4000
#define IP_TTL        64
#define IP_UDP        17
#define BTH_PAD_MASK  0x30
#define BTH_TVER_MASK 0x0f

/* Returns 1 for unfragmented IPv4 without options, UDP 4791, a UD SEND with the tag. Reads in
 * place, so other packets cost only this. */
INLINE int packet_accepted(const struct xdp_md *ctx)
{
	const __u8 *p = (const __u8 *)(long)ctx->data;
	const __u8 *end = (const __u8 *)(long)ctx->data_end;

	if (p + ETHERNET_BYTES + HEADERS_BYTES + ROCE_ICRC_BYTES > end)
		return 0;
	return p[12] == ETHER_IPV4 >> 8 && p[13] == (ETHER_IPV4 & 0xff) && p[14] == IP_VERSION &&
	       (p[20] & 0xbf) == 0 && p[21] == 0 && p[23] == IP_UDP && p[36] == ROCE_PORT >> 8 &&
	       p[37] == (ROCE_PORT & 0xff) && p[42] == ROCE_UD_SEND_ONLY &&
	       p[62] == INC_TAG >> 24 && p[63] == (INC_TAG >> 16 & 0xff) &&
	       p[64] == (INC_TAG >> 8 & 0xff) && p[65] == (INC_TAG & 0xff);
}

/* Returns `kind` of struct kernel_call. */
INLINE __u64 packet_kind(const struct frame *f)
{
	return f->op | f->type << 8 | f->collective << 16 |
	       (__u64)(f->flags & INC_FLAG_SHORT) << 24 | (__u64)be16(f->root_be) << 32 |
	       (__u64)be16(f->elements_be) << 48;
}

/* Returns the payload; -1: not computed by this plane. */
INLINE int packet_fast_bytes(const struct frame *f)
{
	__u32 elements = be16(f->elements_be), bytes = reduce_bytes(f->op, f->type);

	if (!(f->flags & INC_FLAG_SHORT))
		return -1;
	if (f->collective == INC_BARRIER)
		return elements ? -1 : 0;
	if (f->collective != INC_ALLREDUCE && f->collective != INC_REDUCE)
		return -1;
	if (bytes == 0 || elements > SWITCH_KERNEL_BYTES / bytes)
		return -1;
	return elements * bytes;
}

enum soundness { PACKET_SOUND, PACKET_MALFORMED, PACKET_ICRC_WRONG, PACKET_LONG };

/* Copies the rest of the frame to `w`; checks lengths and ICRC. */
INLINE enum soundness packet_copy(struct xdp_md *ctx, struct work *w, int check_icrc)
{
	struct frame *f = &w->frame;
	__u32 frame_bytes = ctx->data_end - ctx->data;
	__u32 ip_bytes = be16(f->ip_bytes_be), rest;

	if (ip_bytes < HEADERS_BYTES + ROCE_ICRC_BYTES || ip_bytes % 4 ||
	    ip_bytes > frame_bytes - ETHERNET_BYTES ||
	    be16(f->udp_bytes_be) != ip_bytes - IP_BYTES || f->bth_flags & BTH_TVER_MASK)
		return PACKET_MALFORMED;
	rest = ip_bytes - HEADERS_BYTES;
	if (rest > FRAME_SPACE)
		return PACKET_LONG;
	if (bpf_xdp_load_bytes(ctx, ETHERNET_BYTES + HEADERS_BYTES, f->payload, rest))
		return PACKET_MALFORMED;
	if (check_icrc) {
		__u32 at = (FRAME_OFF_IP + ip_bytes - ROCE_ICRC_BYTES) / 4;

		icrc_mask(f);
		if (at >= sizeof(struct frame) / 4 ||
		    icrc_of(w, ip_bytes - ROCE_ICRC_BYTES) != w->halves[at])
			return PACKET_ICRC_WRONG;
	}
	return PACKET_SOUND;
}

/* Checks the payload's length against the header; with a status it may be empty. */
INLINE int packet_fast_sound(const struct frame *f, int fast_bytes)
{
	int bytes = be16(f->ip_bytes_be) - HEADERS_BYTES - ROCE_ICRC_BYTES;

	return !(f->bth_flags & BTH_PAD_MASK) && (bytes == fast_bytes || (f->status && bytes == 0));
}

INLINE __u16 ip_checksum(const struct work *w)
{
	__u32 sum = 0;

#pragma unroll
	for (int i = 0; i < IP_BYTES / 2; i++)
		sum += w->shorts[FRAME_OFF_IP / 2 + i];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Writes the MPI header from w->out. */
INLINE void packet_describe(struct work *w, __u8 direction)
{
	struct frame *f = &w->frame;

	f->op = w->out.kind;
	f->type = w->out.kind >> 8;
	f->collective = w->out.kind >> 16;
	f->root_be = be16((__u16)(w->out.kind >> 32));
	f->call_elements_be = be32(w->out.call_elements);
	f->elements_be = be16(w->out.elements);
	f->src_rank_be = be32(w->out.src_rank);
	f->kind = INC_DATA;
	f->flags = w->out.flags | direction;
	f->status = w->out.status;
}

/* Addresses, MPI header, `bytes` of payload; the frame's length changes. Nonzero: not sent. */
INLINE int packet_put(struct xdp_md *ctx, struct work *w, __u32 dest_qp, __u32 bytes)
{
	struct frame *f = &w->frame;
	__u32 ip_bytes, at, frame_bytes = ctx->data_end - ctx->data;

	if (bytes > SWITCH_KERNEL_BYTES)
		return -1;
	ip_bytes = HEADERS_BYTES + bytes + ROCE_ICRC_BYTES;
	f->ip_bytes_be = be16(ip_bytes);
	f->udp_bytes_be = be16(ip_bytes - IP_BYTES);
	f->bth_flags = 0;
	f->pkey_be = 0xffff;
	f->dest_qp_be = be32(dest_qp);
	f->psn_be = f->req_id_be & be32(0xffffff);
	f->source_qp_be = be32(INC_QP);
	icrc_mask(f);
	at = (FRAME_OFF_PAYLOAD + bytes) / 4;
	w->halves[at] = icrc_of(w, HEADERS_BYTES + bytes);
	f->tos = 0;
	f->ttl = IP_TTL;
	f->ip_checksum = 0;
	f->udp_checksum = 0;
	f->dest_qp_be = be32(dest_qp);
	f->ip_checksum = ip_checksum(w);
	if (frame_bytes != ETHERNET_BYTES + ip_bytes &&
	    bpf_xdp_adjust_tail(ctx, (int)(ETHERNET_BYTES + ip_bytes - frame_bytes)))
		return -1;
	return bpf_xdp_store_bytes(ctx, 0, f->to_mac, ETHERNET_BYTES + ip_bytes);
}

#endif
