/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps, and a packet in scratch memory. */
#ifndef SWITCH_XDP_MAPS_H
#define SWITCH_XDP_MAPS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "switch/kernel.h"
#include "wire/inc.h"

#define INLINE static inline __attribute__((always_inline))

#define be16(v) __builtin_bswap16(v)
#define be32(v) __builtin_bswap32(v)

/* payload, pad and ICRC at MTU 1500, by 8 */
#define FRAME_SPACE 1424

/* A packet from its Ethernet header on, which BPF helpers copy. The two leading bytes align all
 * fields, so the layout equals the layout on the wire (asserted below). */
struct frame {
	__u8 unused[2];
	__u8 to_mac[6], from_mac[6];
	__u16 ether_type_be;

	__u8 version, tos;
	__u16 ip_bytes_be, id_be, fragment_be;
	__u8 ttl, protocol;
	__u16 ip_checksum;
	__u32 from_ip_be, to_ip_be;

	__u16 from_port_be, to_port_be, udp_bytes_be, udp_checksum;

	__u8 opcode, bth_flags;
	__u16 pkey_be;
	__u32 dest_qp_be; /* the top byte is reserved, ones in the ICRC */
	__u32 psn_be;
	__u32 qkey_be, source_qp_be;

	__u32 tag_be, src_rank_be, comm_id_be;
	__u16 epoch_be;
	__u8 op, type;
	__u32 req_id_be, call_elements_be;
	__u16 elements_be, root_be;
	__u8 kind, flags, status, collective;

	__u64 payload[FRAME_SPACE / 8];
};

#define FRAME_OFF_ETHERNET 2
#define FRAME_OFF_IP       16
#define FRAME_OFF_PAYLOAD  96
#define ETHERNET_BYTES     (FRAME_OFF_IP - FRAME_OFF_ETHERNET)
/* IP header to payload */
#define HEADERS_BYTES (FRAME_OFF_PAYLOAD - FRAME_OFF_IP)
#define IP_BYTES      20

_Static_assert(__builtin_offsetof(struct frame, version) == FRAME_OFF_IP, "IP");
_Static_assert(__builtin_offsetof(struct frame, opcode) == FRAME_OFF_IP + 28, "BTH");
_Static_assert(__builtin_offsetof(struct frame, qkey_be) == FRAME_OFF_IP + 28 + 12, "DETH");
_Static_assert(__builtin_offsetof(struct frame, req_id_be) ==
		       __builtin_offsetof(struct frame, tag_be) + INC_OFF_REQ_ID,
	       "MPI header");
_Static_assert(__builtin_offsetof(struct frame, kind) ==
		       __builtin_offsetof(struct frame, tag_be) + INC_OFF_KIND,
	       "MPI header");
_Static_assert(__builtin_offsetof(struct frame, payload) == FRAME_OFF_PAYLOAD, "payload");

/* Header fields of the packet to send. They are written under the aggregator's lock. */
struct outgoing {
	__u64 kind;
	__u32 call_elements, src_rank;
	__u16 elements;
	__u8 flags, status;
};

struct work {
	union {
		struct frame frame;
		__u64 words[sizeof(struct frame) / 8];
		__u32 halves[sizeof(struct frame) / 4];
		__u16 shorts[sizeof(struct frame) / 2];
	};
	struct outgoing out;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_config);
} config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SWITCH_KERNEL_RECEIVED);
	__type(key, __u32);
	__type(value, struct kernel_neighbour);
} neighbours SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SWITCH_KERNEL_GROUPS);
	__type(key, __u32);
	__type(value, struct kernel_group);
} groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SWITCH_KERNEL_GROUPS *SWITCH_KERNEL_AGGREGATORS);
	__type(key, __u32);
	__type(value, struct kernel_aggregator);
} aggregators SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SWITCH_KERNEL_GROUPS *SWITCH_KERNEL_AGGREGATORS);
	__type(key, __u32);
	__type(value, struct kernel_contributions);
} contributions SEC(".maps");

/* For each group index, the interfaces of the group's children. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SWITCH_KERNEL_GROUPS);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_DEVMAP);
			__uint(max_entries, SWITCH_KERNEL_PORTS);
			__type(key, __u32);
			__type(value, __u32);
		});
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_counts);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct work);
} works SEC(".maps");

INLINE void count(enum kernel_counter counter)
{
	__u32 zero = 0;
	struct kernel_counts *counts = bpf_map_lookup_elem(&counters, &zero);

	if (counts)
		counts->of[counter]++;
}

#endif
