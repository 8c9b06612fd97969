/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the XDP program by BPF_PROG_TEST_RUN, as switch 10.0.0.254 with children 10.0.0.1, .2, ...
 * on lo. Include cmocka.h first. */
#ifndef TEST_UNIT_XDP_RIG_H
#define TEST_UNIT_XDP_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <net/if.h>

#include <bpf/bpf.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "switch/plane_group.h"

#define SWITCH_IP  0x0a0000feu
#define PARENT_IP  0x0a0000fdu
#define CHILD_IP   0x0a000000u /* child i: CHILD_IP + 1 + i */
#define GROUP      0x12345678u
#define QKEY       0xabcdef01u
#define EPOCH      7
#define ETHERNET   14
#define IP         20
#define UDP        8
#define FRAME_MAX  2048
#define ETH_IPV4   0x0800
#define ACT_DROP   1
#define ACT_PASS   2
#define ACT_TX     3
#define ACT_ELSE   4 /* redirected */
#define LOCAL_PORT 1 /* ifindex of lo */

struct rig {
	struct plane plane;
	struct sw_child children[SWITCH_KERNEL_CHILDREN];
};

struct xdp_frame {
	uint8_t bytes[FRAME_MAX];
	uint32_t count;
};

static const uint8_t rig_switch_mac[6] = {2, 0, 0, 0, 0, 0xfe};

static inline void rig_neighbour(struct rig *r, uint32_t ip, uint32_t ifindex)
{
	struct kernel_neighbour n = {.mac = {2, 0, 0, 0, 0, (uint8_t)ip}, .ifindex = ifindex};
	uint32_t ip_be = __builtin_bswap32(ip);

	memcpy(n.own_mac, rig_switch_mac, 6);
	assert_int_equal(bpf_map_update_elem(r->plane.program.neighbours, &ip_be, &n, BPF_ANY), 0);
}

/* Skips if BPF programs cannot be loaded. */
static inline int rig_setup(void **state)
{
	char why[PLANE_WHY_BYTES];
	struct rig *r = calloc(1, sizeof(*r));

	if (!r)
		return -1;
	if (plane_load(SWITCH_IP, true, &r->plane.program, why)) {
		printf("skipped: %s\n", why);
		exit(77);
	}
	r->plane.ip = SWITCH_IP;
	r->plane.check_icrc = true;
	r->plane.port_count = 2;
	r->plane.ports[0].ifindex = LOCAL_PORT;
	r->plane.ports[1].ifindex = 9999; /* to the parent */
	for (uint32_t i = 0; i < SWITCH_KERNEL_CHILDREN; i++)
		rig_neighbour(r, CHILD_IP + 1 + i, LOCAL_PORT);
	rig_neighbour(r, PARENT_IP, 9999);
	*state = r;
	return 0;
}

static inline int rig_teardown(void **state)
{
	struct rig *r = *state;

	plane_unload(&r->plane.program);
	free(r);
	return 0;
}

/* Root if `parent_ip` is 0. */
static inline void rig_group(struct rig *r, uint32_t children, uint32_t parent_ip)
{
	struct sw_group_view view = {.id = GROUP,
				     .qkey = QKEY,
				     .members = children,
				     .parent_ip = parent_ip,
				     .epoch = EPOCH,
				     .planes = INC_PLANE_USER | INC_PLANE_KERNEL,
				     .child_count = children,
				     .children = r->children};

	for (uint32_t i = 0; i < children; i++)
		r->children[i] = (struct sw_child){CHILD_IP + 1 + i, ROCE_SOURCE_PORT, false, i};
	assert_true(plane_install(&r->plane, &view));
}

static inline struct inc_header rig_header(uint32_t member, uint32_t req_id, enum dxp_inc_op op,
					   enum dxp_inc_type type, uint16_t elements)
{
	return (struct inc_header){
		.src_rank = member,
		.comm_id = GROUP,
		.epoch = EPOCH,
		.op = (uint8_t)op,
		.type = (uint8_t)type,
		.req_id = req_id,
		.call_elements = elements,
		.elements = elements,
		.kind = INC_DATA,
		.flags = INC_FLAG_SHORT | INC_FLAG_LAST,
		.collective = op == DXP_INC_NOOP ? INC_BARRIER : INC_ALLREDUCE,
	};
}

static inline struct roce_path rig_path(uint32_t member)
{
	return (struct roce_path){CHILD_IP + 1 + member, SWITCH_IP, ROCE_SOURCE_PORT, ROCE_PORT};
}

static inline void rig_checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	put_be16(ip + 10, 0);
	for (int i = 0; i < IP; i += 2)
		sum += get_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	put_be16(ip + 10, (uint16_t)~sum);
}

static inline void rig_frame(const struct inc_header *h, const struct roce_path *path,
			     uint32_t qkey, const void *payload, size_t bytes,
			     struct xdp_frame *out)
{
	uint8_t trailer[INC_TRAILER_BYTES], *p = out->bytes, *ip = p + ETHERNET;
	struct datagram d = {0};
	uint32_t at = ETHERNET + IP + UDP;

	inc_packet_encode(h, ROCE_UD_SEND_ONLY, qkey, INC_QP, INC_QP, path, payload, bytes, &d,
			  trailer);
	memset(p, 0, at);
	memcpy(p + at, d.header, d.header_bytes);
	at += d.header_bytes;
	for (unsigned i = 0; i < d.slice_count; i++) {
		memcpy(p + at, d.slices[i].base, d.slices[i].bytes);
		at += (uint32_t)d.slices[i].bytes;
	}
	memcpy(p, rig_switch_mac, 6);
	p[6] = 2;
	p[11] = (uint8_t)path->from_ip;
	put_be16(p + 12, ETH_IPV4);
	ip[0] = 0x45;
	put_be16(ip + 2, (uint16_t)(at - ETHERNET));
	put_be16(ip + 6, 0x4000);
	ip[8] = 64;
	ip[9] = 17;
	put_be32(ip + 12, path->from_ip);
	put_be32(ip + 16, path->to_ip);
	rig_checksum(ip);
	put_be16(ip + IP, path->from_port);
	put_be16(ip + IP + 2, path->to_port);
	put_be16(ip + IP + 4, (uint16_t)(at - ETHERNET - IP));
	out->count = at;
}

/* Returns the action. */
static inline int rig_run(struct rig *r, const struct xdp_frame *in, struct xdp_frame *out)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = in->bytes, .data_size_in = in->count,
		    .data_out = out->bytes, .data_size_out = sizeof(out->bytes), .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(r->plane.program.program, &options), 0);
	out->count = options.data_size_out;
	return (int)options.retval;
}

static inline int rig_send(struct rig *r, const struct inc_header *h, uint32_t member,
			   const void *payload, size_t bytes, struct xdp_frame *out)
{
	struct roce_path path = rig_path(member);
	struct xdp_frame in;

	rig_frame(h, &path, QKEY, payload, bytes, &in);
	return rig_run(r, &in, out);
}

/* Decodes a frame as a receiver does, and checks it from the IP header to the ICRC. */
static inline void rig_decode(const struct xdp_frame *f, struct inc_packet *out,
			      struct roce_path *path)
{
	const uint8_t *ip = f->bytes + ETHERNET;
	uint8_t copy[IP];

	memcpy(copy, ip, IP);
	rig_checksum(copy);
	assert_memory_equal(copy, ip, IP);
	assert_int_equal(get_be16(ip + 2), f->count - ETHERNET);
	assert_int_equal(get_be16(ip + 4), 0);
	assert_int_equal(get_be16(ip + 6), 0x4000);
	assert_int_equal(ip[8], 64);
	assert_int_equal(get_be16(ip + IP + 4), f->count - ETHERNET - IP);
	assert_int_equal(get_be16(ip + IP + 6), 0);
	*path = (struct roce_path){get_be32(ip + 12), get_be32(ip + 16), get_be16(ip + IP),
				   get_be16(ip + IP + 2)};
	assert_true(roce_icrc_right(path, ip + IP + UDP, f->count - ETHERNET - IP - UDP));
	assert_int_equal(inc_packet_decode(ip + IP + UDP, f->count - ETHERNET - IP - UDP, out),
			 DXP_OK);
	assert_int_equal(out->roce.qkey, QKEY);
	assert_int_equal(out->roce.psn, out->header.req_id & 0xffffff);
}

static inline uint64_t rig_count(struct rig *r, enum kernel_counter which)
{
	uint64_t counts[KERNEL_COUNTERS];

	plane_counts(&r->plane.program, counts);
	return counts[which];
}

#endif
