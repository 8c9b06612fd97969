/* SPDX-License-Identifier: BSD-3-Clause */
/* Returns every UDP packet to port 4791 to its sender as fast as XDP can: the reference for the
 * in-kernel switch. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define ETHERNET_BYTES 14
#define UDP_END        42

SEC("xdp") int dxp_echo(struct xdp_md *ctx)
{
	__u8 *p = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;
	__u8 address[6];

	if (p + UDP_END > end || p[12] != 8 || p[13] || p[14] != 0x45 || p[23] != 17 ||
	    p[36] != 4791 >> 8 || p[37] != (4791 & 0xff))
		return XDP_PASS;
	__builtin_memcpy(address, p, 6);
	__builtin_memcpy(p, p + 6, 6);
	__builtin_memcpy(p + 6, address, 6);
	__builtin_memcpy(address, p + ETHERNET_BYTES + 12, 4);
	__builtin_memcpy(p + ETHERNET_BYTES + 12, p + ETHERNET_BYTES + 16, 4);
	__builtin_memcpy(p + ETHERNET_BYTES + 16, address, 4);
	return XDP_TX;
}

/* Passes every packet. A veth's near end needs an XDP program to receive packets of the native
 * echo. */
SEC("xdp") int dxp_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char program_license[] SEC("license") = "Dual BSD/GPL";
