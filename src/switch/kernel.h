/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and values of the maps that the XDP program (xdp/allreduce.bpf.c) shares with its control
 * plane in user space (plane.h). Also compiled for BPF, so it includes only kernel types. Numbers
 * are in host order unless named _be.
 *
 * The program computes short segments (INC_FLAG_SHORT, at most SWITCH_KERNEL_BYTES) of groups in
 * the map `groups`: SUM, MIN and MAX on int32, int64, float and double, and barriers. It records
 * neighbours from control packets, and passes all other packets to the kernel. Only a segment's
 * header decides its plane, so all switches and members agree. If members disagree on an operation,
 * see docs/reference/inc.md "Two planes". */
#ifndef SWITCH_KERNEL_H
#define SWITCH_KERNEL_H

#include <linux/types.h>

#define SWITCH_KERNEL_BYTES       256 /* bytes of payload of a short segment */
#define SWITCH_KERNEL_WORDS       (SWITCH_KERNEL_BYTES / 8)
#define SWITCH_KERNEL_GROUPS      256 /* groups: 32 KiB of contributions for each */
#define SWITCH_KERNEL_CHILDREN    64  /* children: one bit each of 64 */
#define SWITCH_KERNEL_PORTS       64
#define SWITCH_KERNEL_AGGREGATORS 2 /* aggregators: low bit of the segment number */
/* neighbours; a new one replaces the least recently used */
#define SWITCH_KERNEL_RECEIVED 4096
#define SWITCH_MULTICAST_IP    0xefc00000u /* 239.192/14, and the low 18 bits of the group id */
#define SWITCH_MULTICAST_MASK  0x0003ffffu
#define SWITCH_KERNEL_NAME     "dxp_allreduce" /* the control plane finds programs by it */

/* Value of the only entry of map `config`. */
struct kernel_config {
	__u32 own_ip_be; /* address of the switch; 0: accepts no packet yet */
	__u32 check_icrc;
};

/* Map `neighbours`: IPv4 address (be) -> link of its last control packet. */
struct kernel_neighbour {
	__u8 mac[6], own_mac[6]; /* MAC of the neighbour; MAC of the switch to which it sent */
	__u32 ifindex;
};

struct kernel_child {
	__u32 ip_be;
	__u16 port_be;
	__u16 is_switch;
	__u32 first;
};

/* Map `groups`: group id -> this. */
struct kernel_group {
	__u32 id, qkey, members, child_count, first;
	/* index of its port map; its aggregators are at index * SWITCH_KERNEL_AGGREGATORS + low
	 * bit */
	__u32 index;
	__u32 own_ip_be;
	__u32 parent_ip_be; /* 0: root */
	__u32 parent_ifindex;
	__u32 multicast_ip_be;
	__u32 only_ifindex; /* port of all children; 0: there are several, in map `ports` */
	__u32 check_icrc;
	__u16 epoch, unused;
	__u8 parent_mac[6], parent_own_mac[6];
	__u8 own_mac[6]; /* source MAC towards children */
	__u8 unused_too[2];
	struct kernel_child children[SWITCH_KERNEL_CHILDREN];
};

/* Identity of an operation. Contributions with another identity disagree with it. */
struct kernel_call {
	__u64 kind; /* operator, type, collective, short flag, elements, root */
	__u32 elements;
	__u32 unused;
};

/* Entry of map `aggregators`. `lock` guards all fields. User space reads `seen_ns` without the
 * lock, to find out whether the group is in use. */
struct kernel_aggregator {
#ifdef __bpf__
	struct bpf_spin_lock lock;
#else
	__u32 lock;
#endif
	__u32 req_id;
	__u64 seen_ns;
	__u64 arrived; /* bit per child */
	__u64 sent_ns; /* last partial result sent to the parent */
	struct kernel_call call;
	__u32 src_rank; /* src_rank of packets with the result */
	__u8 used, folded, has_result, status;
	__u16 elements; /* number of elements in `data` */
	__u8 flags, unused[5];
	__u64 data[SWITCH_KERNEL_WORDS]; /* partial result (folded) or result (has_result) */
};

/* Map `contributions`, one per aggregator: written under its lock, read when complete. */
struct kernel_contributions {
	__u64 words[SWITCH_KERNEL_CHILDREN][SWITCH_KERNEL_WORDS];
};

/* Map `counters`: an array per CPU, with this index. */
enum kernel_counter {
	KERNEL_CONTRIBUTIONS,
	KERNEL_RESULTS,
	KERNEL_PARTIALS,
	KERNEL_REPEATS,
	KERNEL_DUPLICATES,
	KERNEL_STALE,
	KERNEL_PASSED, /* INC packets passed to user space */
	KERNEL_MALFORMED,
	KERNEL_ICRC_WRONG,
	KERNEL_REJECTED, /* wrong key, unknown peer or child */
	KERNEL_MISMATCHES,
	KERNEL_COUNTERS
};

struct kernel_counts {
	__u64 of[KERNEL_COUNTERS];
};

#endif
