/* SPDX-License-Identifier: BSD-3-Clause */
/* The ICRC (invariant CRC) of scratch memory, by eight bytes; tables: plane_load.c. */
#ifndef SWITCH_XDP_ICRC_H
#define SWITCH_XDP_ICRC_H

#include "switch/xdp/maps.bpf.h"

/* after the eight bytes of ones at the ICRC's start */
#define ICRC_AFTER_ONES 0xdebb20e3u

const volatile __u32 icrc_table[8][256] SEC(".rodata.icrc");

#define ICRC_LOOK(n, v) (icrc_table[n][(v)&0xff])

/* Returns the ICRC of `bytes` bytes (a multiple of 4) from the IP header on, after icrc_mask. Not
 * inlined, so that the verifier checks the loop once. */
__attribute__((noinline)) __u32 icrc_of(struct work *w, __u32 bytes)
{
	__u32 crc = ICRC_AFTER_ONES, i;

	if (!w)
		return 0;
	for (i = FRAME_OFF_IP / 8; i < sizeof(struct frame) / 8; i++) {
		__u64 word;
		__u32 low, high;

		if (bytes < 8)
			break;
		bytes -= 8;
		word = w->words[i];
		low = (__u32)word ^ crc;
		high = word >> 32;
		crc = ICRC_LOOK(7, low) ^ ICRC_LOOK(6, low >> 8) ^ ICRC_LOOK(5, low >> 16) ^
		      ICRC_LOOK(4, low >> 24) ^ ICRC_LOOK(3, high) ^ ICRC_LOOK(2, high >> 8) ^
		      ICRC_LOOK(1, high >> 16) ^ ICRC_LOOK(0, high >> 24);
	}
	if (bytes >= 4 && i < sizeof(struct frame) / 8) {
		crc ^= (__u32)w->words[i];
		crc = ICRC_LOOK(3, crc) ^ ICRC_LOOK(2, crc >> 8) ^ ICRC_LOOK(1, crc >> 16) ^
		      ICRC_LOOK(0, crc >> 24);
	}
	return ~crc;
}

/* Ones where routers change; Identification 0 and Don't Fragment, as in wire/roce.h. */
INLINE void icrc_mask(struct frame *f)
{
	f->tos = 0xff;
	f->id_be = 0;
	f->fragment_be = be16(0x4000);
	f->ttl = 0xff;
	f->ip_checksum = 0xffff;
	f->udp_checksum = 0xffff;
	f->dest_qp_be |= 0xff;
}

#endif
