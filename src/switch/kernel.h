/* SPDX-License-Identifier: BSD-3-Clause */
/* What the XDP program (xdp/allreduce.bpf.c) and its keeper in user space share: the maps' keys and
 * values. Compiled for BPF too, so it includes nothing but the kernel's types. All numbers are in
 * the order of the host unless a name ends in _be.
 *
 * The program takes short segments (INC_FLAG_SHORT, at most SWITCH_KERNEL_BYTES) of SUM, MIN, MAX
 * on int32, int64, float and double, and barriers, of groups in the map `groups`; it learns
 * neighbours from control packets; it passes everything else on untouched. Which plane a segment
 * belongs to follows from its header alone, so all switches of a tree and all members agree; where
 * members disagree on the call, docs/inc.md "Two planes" says how all learn of it. */
#ifndef SWITCH_KERNEL_H
#define SWITCH_KERNEL_H

#include <linux/types.h>

#define SWITCH_KERNEL_BYTES    256 /* payload of a short segment */
#define SWITCH_KERNEL_WORDS    (SWITCH_KERNEL_BYTES / 8)
#define SWITCH_KERNEL_GROUPS   256 /* 32 KiB of contributions each */
#define SWITCH_KERNEL_CHILDREN 64  /* one bit each in a 64-bit word */
#define SWITCH_KERNEL_PORTS    64
#define SWITCH_KERNEL_SLOTS    2           /* by the low bit of the segment's number */
#define SWITCH_KERNEL_HEARD    4096        /* neighbours kept; the longest unheard goes first */
#define SWITCH_MULTICAST_IP    0xefc00000u /* 239.192/14 and the low 18 bits of the group's id */
#define SWITCH_MULTICAST_MASK  0x0003ffffu
#define SWITCH_KERNEL_NAME     "dxp_allreduce" /* of the program, by which it is found */

/* Map `config`, one entry. */
struct kernel_config {
	__u32 own_ip_be; /* of the switch; 0: nothing is ours yet */
	__u32 check_icrc;
};

/* Map `neighbours`: IPv4 address (be) -> where it was last heard, from control packets. */
struct kernel_neighbour {
	__u8 mac[6], own_mac[6]; /* its, and that of ours it wrote to */
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
	__u32 index; /* of its slots: index * SWITCH_KERNEL_SLOTS + low bit; of its ports */
	__u32 own_ip_be;
	__u32 parent_ip_be; /* 0: root */
	__u32 parent_ifindex;
	__u32 multicast_ip_be; /* where results go */
	__u32 only_ifindex;    /* all children are behind this port; 0: several, see map `ports` */
	__u32 check_icrc;
	__u16 epoch, unused;
	__u8 parent_mac[6], parent_own_mac[6];
	__u8 own_mac[6]; /* towards the children */
	__u8 unused_too[2];
	struct kernel_child children[SWITCH_KERNEL_CHILDREN];
};

/* What a call is: two contributions that differ in it disagree. */
struct kernel_call {
	__u64 kind; /* op, type, collective, short or not, elements, root */
	__u32 elements;
	__u32 unused;
};

/* Map `slots`. Everything is read and written under the lock but `seen_ns`, by which user space
 * knows that the group lives. */
struct kernel_slot {
#ifdef __bpf__
	struct bpf_spin_lock lock;
#else
	__u32 lock;
#endif
	__u32 req_id;
	__u64 seen_ns;
	__u64 arrived; /* a bit for each child */
	__u64 sent_ns; /* when the partial result was last sent up */
	struct kernel_call call;
	__u32 src_rank; /* of the result */
	__u8 used, folded, has_result, status;
	__u16 elements; /* in data */
	__u8 flags, unused[5];
	__u64 data[SWITCH_KERNEL_WORDS]; /* folded: the partial result; has_result: the result */
};

/* Map `contributions`, one for each slot: written under its lock, read when all are there. */
struct kernel_contributions {
	__u64 words[SWITCH_KERNEL_CHILDREN][SWITCH_KERNEL_WORDS];
};

/* Map `counters`, one struct for each CPU: an array of these. */
enum kernel_counter {
	KERNEL_CONTRIBUTIONS,
	KERNEL_RESULTS,
	KERNEL_PARTIALS,
	KERNEL_REPEATS,
	KERNEL_DUPLICATES,
	KERNEL_STALE,
	KERNEL_PASSED, /* ours, left to user space */
	KERNEL_MALFORMED,
	KERNEL_ICRC_WRONG,
	KERNEL_REFUSED, /* wrong key, stranger, unknown child */
	KERNEL_MISMATCHES,
	KERNEL_COUNTERS
};

struct kernel_counts {
	__u64 of[KERNEL_COUNTERS];
};

#endif
