/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the parts of a hop that need libbpf: the echo, and the kernel's measurement of the
 * switch program. */
#include "bench/inc_hop.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/log.h"
#include "bench/inc_hop_echo.h"
#include "bench/raw_udp.h"
#include "switch/plane_group.h"

#define SWITCH_IP   0x0a0000feu
#define CHILD_IP    0x0a000001u
#define GROUP       1u
#define RUNS        5000
#define FRAME_BYTES 512

/* Returns the link's file descriptor, which keeps the program attached, or a negative value. */
static int attach(const char *name, const char *port, bool native)
{
	LIBBPF_OPTS(bpf_link_create_opts, options,
		    .flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE);
	struct bpf_object *object =
		bpf_object__open_mem(hop_echo_object, hop_echo_object_bytes, NULL);
	int link = -1;

	if (object && bpf_object__load(object) == 0) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, name);

		link = bpf_link_create(bpf_program__fd(program), (int)if_nametoindex(port), BPF_XDP,
				       &options);
	}
	if (link < 0)
		log_warn("%s is not attached to %s: %m", name, port);
	bpf_object__close(object);
	return link;
}

int inc_hop_echo_attach(const char *port, bool native)
{
	return attach("dxp_echo", port, native) < 0 ? DXP_EUNSUPPORTED : DXP_OK;
}

static int pass_link = -1;

int inc_hop_pass_attach(const char *port)
{
	pass_link = attach("dxp_pass", port, true);
	return pass_link < 0 ? DXP_EUNSUPPORTED : DXP_OK;
}

void inc_hop_pass_detach(void)
{
	if (pass_link >= 0)
		close(pass_link);
	pass_link = -1;
}

/* Makes a contribution's frame. The IP checksum is 0; the XDP program does not check it. */
static uint32_t frame_make(uint32_t req_id, size_t payload_bytes, uint8_t out[FRAME_BYTES])
{
	struct roce_path path = {CHILD_IP, SWITCH_IP, ROCE_SOURCE_PORT, ROCE_PORT};
	struct inc_header h = {.comm_id = GROUP,
			       .op = DXP_INC_SUM,
			       .type = DXP_INC_DOUBLE,
			       .req_id = req_id,
			       .call_elements = (uint32_t)payload_bytes / 8,
			       .elements = (uint16_t)(payload_bytes / 8),
			       .kind = INC_DATA,
			       .flags = INC_FLAG_SHORT | INC_FLAG_LAST,
			       .collective = INC_ALLREDUCE};
	static const uint8_t payload[SWITCH_KERNEL_BYTES];
	uint8_t trailer[INC_TRAILER_BYTES], *ip = out + 14;
	struct datagram d = {0};
	uint32_t at = 42;

	memset(out, 0, at);
	inc_packet_encode(&h, ROCE_UD_SEND_ONLY, 0, INC_QP, INC_QP, &path, payload, payload_bytes,
			  &d, trailer);
	memcpy(out + at, d.header, d.header_bytes);
	at += d.header_bytes;
	for (unsigned i = 0; i < d.slice_count; i++) {
		memcpy(out + at, d.slices[i].base, d.slices[i].bytes);
		at += (uint32_t)d.slices[i].bytes;
	}
	put_be16(out + 12, 0x0800);
	ip[0] = 0x45;
	put_be16(ip + 2, (uint16_t)(at - 14));
	put_be16(ip + 6, 0x4000);
	ip[9] = 17;
	put_be32(ip + 12, path.from_ip);
	put_be32(ip + 16, path.to_ip);
	put_be16(ip + 20, path.from_port);
	put_be16(ip + 22, path.to_port);
	put_be16(ip + 24, (uint16_t)(at - 34));
	return at;
}

static bool group_install(struct plane *p)
{
	struct sw_child child = {CHILD_IP, ROCE_SOURCE_PORT, false, 0};
	struct sw_group_view view = {.id = GROUP,
				     .members = 1,
				     .planes = INC_PLANE_KERNEL,
				     .child_count = 1,
				     .children = &child};
	struct kernel_neighbour n = {.ifindex = 1};
	uint32_t ip_be = __builtin_bswap32(CHILD_IP);

	p->port_count = 1;
	p->ports[0].ifindex = 1;
	return bpf_map_update_elem(p->program.neighbours, &ip_be, &n, BPF_ANY) == 0 &&
	       plane_install(p, &view);
}

/* Returns 0 on failure. */
static uint64_t run_ns(const struct plane *p, uint32_t req_id, size_t payload_bytes)
{
	uint8_t frame[FRAME_BYTES], out[FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_out = out,
		    .data_size_out = sizeof(out), .repeat = 1);

	options.data_size_in = frame_make(req_id, payload_bytes, frame);
	if (bpf_prog_test_run_opts(p->program.program, &options) || options.retval != XDP_TX)
		return 0;
	return options.duration;
}

double inc_hop_program_ns(size_t payload_bytes, bool check_icrc)
{
	static uint64_t samples[RUNS];
	struct plane p = {.ip = SWITCH_IP, .check_icrc = check_icrc};
	char why[PLANE_WHY_BYTES];
	double ns = 0;

	if (plane_load(SWITCH_IP, check_icrc, &p.program, why))
		return 0;
	if (group_install(&p)) {
		for (uint32_t i = 0; i < RUNS; i++)
			samples[i] = run_ns(&p, i, payload_bytes);
		ns = (double)raw_percentile(samples, RUNS, 50);
	}
	plane_unload(&p.program);
	return ns;
}
