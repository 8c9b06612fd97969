/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and values of the maps between the XDP program (xdp/allreduce.bpf.c) and plane.h. Also
 * compiled for BPF, so only kernel types. Host order unless named _be.
 *
 * The program computes short segments (INC_FLAG_SHORT, at most SWITCH_KERNEL_BYTES) of `groups`:
 * SUM, MIN, MAX on int32, int64, float, double, and barriers. It records neighbours and passes all
 * else. A segment's header alone decides the plane, so all agree; see docs/reference/inc.md "Two
 * planes" for members that disagree. */
#ifndef SWITCH_KERNEL_H
#define SWITCH_KERNEL_H

#include <linux/types.h>

#define SWITCH_KERNEL_BYTES  256 /* payload of the longest short segment */
#define SWITCH_KERNEL_WORDS  (SWITCH_KERNEL_BYTES / 8)
#define SWITCH_KERNEL_GROUPS 256 /* 32 KiB of contributions each */
/* of a group; one bit each in a word */
#define SWITCH_KERNEL_CHILDREN 64
#define SWITCH_KERNEL_PORTS    64
/* of a group, by the low bit of the segment number */
#define SWITCH_KERNEL_AGGREGATORS 2
/* a new neighbour replaces the least recently used */
#define SWITCH_KERNEL_RECEIVED 4096
/* 239.192/14, and the group id's low 18 bits */
#define SWITCH_MULTICAST_IP   0xefc00000u
#define SWITCH_MULTICAST_MASK 0x0003ffffu
/* by which attached programs are found */
#define SWITCH_KERNEL_NAME "dxp_allreduce"

/* The only value of map `config`. */
struct kernel_config {
	__u32 own_ip_be; /* of the switch; 0: no packet is accepted yet */
	__u32 check_icrc;
};

/* Map `neighbours`, by big-endian IPv4 address: source of the last control packet. */
struct kernel_neighbour {
	/* neighbour's; this switch's, to which it sent */
	__u8 mac[6], own_mac[6];
	__u32 ifindex;
};

struct kernel_child {
	__u32 ip_be;
	__u16 port_be;
	__u16 is_switch;
	__u32 first;
};

/* Map `groups`, by group id. */
struct kernel_group {
	__u32 id, qkey, members, child_count, first;
	/* in map `ports`; aggregator i is index * SWITCH_KERNEL_AGGREGATORS + i */
	__u32 index;
	__u32 own_ip_be;
	__u32 parent_ip_be; /* 0: root */
	__u32 parent_ifindex;
	__u32 multicast_ip_be;
	/* towards all children; 0: several, in map `ports` */
	__u32 only_ifindex;
	__u32 check_icrc;
	__u16 epoch, unused;
	__u8 parent_mac[6], parent_own_mac[6];
	__u8 own_mac[6]; /* of packets to children */
	__u8 unused_too[2];
	struct kernel_child children[SWITCH_KERNEL_CHILDREN];
};

/* Identity of an operation. A contribution with another identity disagrees with the other
 * members. */
struct kernel_call {
	/* packed by packet_kind() */
	__u64 kind;
	__u32 elements;
	__u32 unused;
};

/* `lock` guards all fields; user space reads `seen_ns` without it, to see whether the group is in
 * use. */
struct kernel_aggregator {
#ifdef __bpf__
	struct bpf_spin_lock lock;
#else
	__u32 lock;
#endif
	__u32 req_id;
	__u64 seen_ns;
	__u64 arrived; /* bits of children that contributed */
	__u64 sent_ns; /* partial result last sent to the parent */
	struct kernel_call call;
	__u32 src_rank; /* src_rank of packets with the result */
	__u8 used, folded, has_result, status;
	__u16 elements; /* number of elements in `data` */
	__u8 flags, unused[5];
	/* if `folded`, partial result; if `has_result`, result */
	__u64 data[SWITCH_KERNEL_WORDS];
};

/* Value in map `contributions`, one for each aggregator. It is written under the aggregator's lock,
 * and read when all contributions are there. */
struct kernel_contributions {
	__u64 words[SWITCH_KERNEL_CHILDREN][SWITCH_KERNEL_WORDS];
};

/* Indices in map `counters`, an array per CPU. */
enum kernel_counter {
	KERNEL_CONTRIBUTIONS,
	KERNEL_RESULTS,
	KERNEL_PARTIALS,
	KERNEL_REPEATS,
	KERNEL_DUPLICATES,
	KERNEL_STALE,
	KERNEL_PASSED, /* INC packets to user space */
	KERNEL_MALFORMED,
	KERNEL_ICRC_WRONG,
	KERNEL_REJECTED, /* wrong key, or unknown peer or child */
	KERNEL_MISMATCHES,
	KERNEL_COUNTERS
};

struct kernel_counts {
	__u64 of[KERNEL_COUNTERS];
};

#endif
