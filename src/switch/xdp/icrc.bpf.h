/* SPDX-License-Identifier: BSD-3-Clause */
/* The ICRC (invariant CRC) of the packet in scratch memory, computed eight bytes at a time.
 * plane_load.c fills the tables. */
#ifndef SWITCH_XDP_ICRC_H
#define SWITCH_XDP_ICRC_H

#include "switch/xdp/maps.bpf.h"

/* value of the CRC register after the eight bytes of ones with which the ICRC begins */
#define ICRC_AFTER_ONES 0xdebb20e3u

const volatile __u32 icrc_table[8][256] SEC(".rodata.icrc");

#define ICRC_LOOK(n, v) (icrc_table[n][(v)&0xff])

/* Returns the ICRC of `bytes` bytes (a multiple of 4) from the IP header on. Call icrc_mask before.
 * Not inlined, so that the verifier checks the loop only once. */
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

/* Sets the bits of fields that routers change to ones, as the ICRC requires. The IP field
 * Identification becomes 0 and Don't Fragment is set, as in user space (wire/roce.h). */
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
