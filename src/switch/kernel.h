/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and values of the maps that the XDP program (xdp/allreduce.bpf.c) shares with its control
 * plane in user space (plane.h). Also compiled for BPF, so this file includes only kernel types.
 * Numbers are in host order unless named _be (big-endian).
 *
 * The program computes short segments (INC_FLAG_SHORT, at most SWITCH_KERNEL_BYTES) of the groups
 * in map `groups`: SUM, MIN and MAX on int32, int64, float and double, and barriers. It records
 * neighbours from control packets, and passes all other packets to the kernel. The header of a
 * segment alone decides which plane computes it, so all switches and members agree. If members
 * disagree on an operation, see docs/reference/inc.md "Two planes". */
#ifndef SWITCH_KERNEL_H
#define SWITCH_KERNEL_H

#include <linux/types.h>

#define SWITCH_KERNEL_BYTES  256 /* bytes of payload of the longest short segment */
#define SWITCH_KERNEL_WORDS  (SWITCH_KERNEL_BYTES / 8)
#define SWITCH_KERNEL_GROUPS 256 /* groups; each one takes 32 KiB of contributions */
/* children of a group; a 64-bit word has one bit for each */
#define SWITCH_KERNEL_CHILDREN 64
#define SWITCH_KERNEL_PORTS    64
/* aggregators of a group; the low bit of the segment number selects one */
#define SWITCH_KERNEL_AGGREGATORS 2
/* neighbours that are remembered; a new one replaces the least recently used one */
#define SWITCH_KERNEL_RECEIVED 4096
/* 239.192/14; the low 18 bits of an address equal the low 18 bits of the group id */
#define SWITCH_MULTICAST_IP   0xefc00000u
#define SWITCH_MULTICAST_MASK 0x0003ffffu
/* name by which the control plane finds attached programs */
#define SWITCH_KERNEL_NAME "dxp_allreduce"

/* The only value in map `config`. */
struct kernel_config {
	__u32 own_ip_be; /* address of the switch; 0: the program accepts no packet yet */
	__u32 check_icrc;
};

/* Value in map `neighbours`: where the last control packet came from. The key is the sender's IPv4
 * address, big-endian. */
struct kernel_neighbour {
	/* MAC address of the neighbour; MAC address of this switch to which it sent */
	__u8 mac[6], own_mac[6];
	__u32 ifindex;
};

struct kernel_child {
	__u32 ip_be;
	__u16 port_be;
	__u16 is_switch;
	__u32 first;
};

/* Value in map `groups`. The key is the group id. */
struct kernel_group {
	__u32 id, qkey, members, child_count, first;
	/* index of the group in map `ports`; aggregator i of the group has index *
	 * SWITCH_KERNEL_AGGREGATORS + i */
	__u32 index;
	__u32 own_ip_be;
	__u32 parent_ip_be; /* 0: this switch is the root */
	__u32 parent_ifindex;
	__u32 multicast_ip_be;
	/* interface towards all children; 0: several interfaces, in map `ports` */
	__u32 only_ifindex;
	__u32 check_icrc;
	__u16 epoch, unused;
	__u8 parent_mac[6], parent_own_mac[6];
	__u8 own_mac[6]; /* source MAC address of packets to children */
	__u8 unused_too[2];
	struct kernel_child children[SWITCH_KERNEL_CHILDREN];
};

/* Identity of an operation. A contribution with another identity disagrees with the other
 * members. */
struct kernel_call {
	/* operator, type, collective, short flag, elements and root, packed by packet_kind() */
	__u64 kind;
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
	__u64 arrived; /* one bit for each child whose contribution has arrived */
	__u64 sent_ns; /* time in ns at which the partial result was last sent to the parent */
	struct kernel_call call;
	__u32 src_rank; /* src_rank for packets that carry the result */
	__u8 used, folded, has_result, status;
	__u16 elements; /* number of elements in `data` */
	__u8 flags, unused[5];
	/* partial result if `folded` is set; result if `has_result` is set */
	__u64 data[SWITCH_KERNEL_WORDS];
};

/* Value in map `contributions`, one for each aggregator. It is written under the aggregator's lock,
 * and read when all contributions are there. */
struct kernel_contributions {
	__u64 words[SWITCH_KERNEL_CHILDREN][SWITCH_KERNEL_WORDS];
};

/* Map `counters` has one array for each CPU; these are its indices. */
enum kernel_counter {
	KERNEL_CONTRIBUTIONS,
	KERNEL_RESULTS,
	KERNEL_PARTIALS,
	KERNEL_REPEATS,
	KERNEL_DUPLICATES,
	KERNEL_STALE,
	KERNEL_PASSED, /* INC packets that were passed to user space */
	KERNEL_MALFORMED,
	KERNEL_ICRC_WRONG,
	KERNEL_REJECTED, /* packets with a wrong key, or of an unknown peer or child */
	KERNEL_MISMATCHES,
	KERNEL_COUNTERS
};

struct kernel_counts {
	__u64 of[KERNEL_COUNTERS];
};

#endif
