/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench inc-hop`, last part of `dxp bench inc`: one hop to a computing switch and back over
 * veth, for a group of one. Alternates XDP (generic, native), user space, and a bare XDP echo. Then
 * measures the XDP program alone by the kernel's clock. */
#include "bench/inc_hop.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "bench/bench.h"
#include "bench/child.h"
#include "bench/inc_end.h"
#include "bench/lab.h"
#include "bench/options.h"
#include "bench/report.h"
#include "switch/kernel.h"

#define SWITCH_IP 0x0a4d0002u /* far address; HOST_IP is near */
#define HOST_IP   0x0a4d0001u
#define GROUP     0x00d09001u
#define QKEY      0x12345678u
#define WARMUP    200
#define TRIPS     4000
#define LOSSES    10 /* discards a sample with so many lost round trips */

static const size_t sizes[] = {8, 256};

struct hop {
	const struct bench_options *options;
	struct inc_end end;
	uint32_t req_id;
};

static struct inc_header header_of(struct hop *h, size_t bytes)
{
	return (struct inc_header){.comm_id = GROUP,
				   .epoch = 1,
				   .op = DXP_INC_SUM,
				   .type = DXP_INC_DOUBLE,
				   .req_id = h->req_id++,
				   .call_elements = (uint32_t)bytes / 8,
				   .elements = (uint16_t)(bytes / 8),
				   .kind = INC_DATA,
				   .flags = INC_FLAG_SHORT | INC_FLAG_LAST,
				   .collective = INC_ALLREDUCE};
}

static bool group_make(struct hop *h, bool kernel)
{
	struct inc_control c = {.sup_comm_type = 1 << INC_ALLREDUCE,
				.sup_op = 1 << DXP_INC_SUM,
				.sup_type = 1 << DXP_INC_DOUBLE,
				.segment_bytes = 1024,
				.window = 2,
				.planes = INC_PLANE_USER | (kernel ? INC_PLANE_KERNEL : 0),
				.path_count = 1,
				.members = 1,
				.true_comm_id = GROUP,
				.qkey = QKEY,
				.lease_ms = 30000,
				.member_ip = HOST_IP,
				.first_ip = HOST_IP,
				.member_port = ROCE_SOURCE_PORT,
				.first_port = ROCE_SOURCE_PORT,
				.path = {{.ip = SWITCH_IP, .children = 1}}};
	struct inc_header header = {.comm_id = INC_COMM_CONTROL, .epoch = 1, .kind = INC_NOTIFY};
	uint8_t payload[INC_CONTROL_BYTES_MAX];
	size_t bytes = inc_control_encode(&c, payload);
	struct inc_packet p;

	for (int tries = 0; tries < 20; tries++) {
		inc_end_send(&h->end, &header, INC_CONTROL_QKEY, payload, bytes);
		while (inc_end_receive(&h->end, false, 50ull * 1000 * 1000, &p))
			if (p.header.kind == INC_NOTIFY)
				return true;
	}
	report_note("inc-hop: the switch rejects the group");
	return false;
}

/* Returns a round trip in ns without the encoding; 0 if lost. */
static uint64_t trip_ns(struct hop *h, int answers, size_t bytes)
{
	static const uint8_t payload[SWITCH_KERNEL_BYTES];
	struct inc_header header = header_of(h, bytes);
	struct inc_ready packet;
	uint64_t began_ns;

	inc_end_make(&h->end, &header, QKEY, payload, bytes, &packet);
	began_ns = clock_now_ns();
	inc_end_give(&h->end, &packet);
	if (recv(answers, h->end.buffer, sizeof(h->end.buffer), 0) < 0)
		return 0;
	return clock_now_ns() - began_ns;
}

static bool sample_measure(struct hop *h, const struct hop_far *far, size_t bytes, uint64_t *ns,
			   size_t count)
{
	bool shared = far->kind == HOP_XDP || far->kind == HOP_XDP_NATIVE;
	int answers = shared ? h->end.shared : h->end.in, losses = 0;
	struct timeval patience = {0, 20000};

	setsockopt(answers, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	for (size_t i = 0; i < WARMUP + count && losses < LOSSES; i++) {
		uint64_t once_ns = trip_ns(h, answers, bytes);

		losses += once_ns == 0;
		if (i >= WARMUP)
			ns[i - WARMUP] = once_ns;
	}
	return losses < LOSSES;
}

static void far_body(int control, void *context)
{
	inc_hop_far_run(control, context);
}

/* Returns the median round trip in us; 0 on failure. */
static double sample_us(struct hop *h, struct hop_far *far, size_t bytes, double *p99_us)
{
	static uint64_t ns[TRIPS];
	size_t count = h->options->quick ? TRIPS / 10 : TRIPS;
	struct child child = {0};
	double us = 0;
	char ready;

	if (child_spawn(far_body, far, &child) != DXP_OK)
		return 0;
	if (read(child.control, &ready, 1) == 1 &&
	    inc_end_open(HOST_IP, ROCE_SOURCE_PORT, SWITCH_IP,
			 SWITCH_MULTICAST_IP | (GROUP & SWITCH_MULTICAST_MASK),
			 &h->end) == DXP_OK) {
		bool echo = far->kind == HOP_ECHO || far->kind == HOP_ECHO_NATIVE;

		h->req_id = 0;
		if ((echo || group_make(h, far->kind != HOP_USER)) &&
		    sample_measure(h, far, bytes, ns, count)) {
			us = (double)raw_percentile(ns, count, 50) / 1000;
			*p99_us = (double)raw_percentile(ns, count, 99) / 1000;
		}
		inc_end_close(&h->end);
	}
	child_end(&child);
	return us;
}

static void row_print(size_t bytes, enum hop_kind kind, double us, double p99_us, double echo_us,
		      unsigned samples)
{
	const struct report_row row = {
		.bench = "inc",
		.name = bytes == 8 ? "hop 8 B" : "hop 256 B",
		.metric = "switch hop",
		.unit = "us",
		.value = us,
		.lab = "one switch",
		.contender = hop_names[kind],
		.peer = echo_us > 0 ? hop_names[HOP_ECHO] : NULL,
		.peer_value = echo_us,
		.x_name = "bytes",
		.x = (double)bytes,
		.p50_us = us,
		.p99_us = p99_us,
		.samples = samples,
	};

	report_row(&row);
}

static bool hop_native(enum hop_kind kind)
{
	return kind == HOP_XDP_NATIVE || kind == HOP_ECHO_NATIVE;
}

static void size_run(struct hop *h, const struct raw_ends *ends, size_t bytes)
{
	double us[HOP_KINDS][BENCH_ROUNDS_MAX], p99_us[HOP_KINDS][BENCH_ROUNDS_MAX];
	unsigned got[HOP_KINDS] = {0};
	double echo_us;

	for (unsigned round = 0; round < h->options->rounds; round++)
		for (int kind = 0; kind < HOP_KINDS; kind++) {
			struct hop_far far = {kind, ends->far_netns, "v1", SWITCH_IP, false};
			double once_us;

			if (!bench_wanted(h->options->only, hop_names[kind]))
				continue;
			if (hop_native(kind) && inc_hop_pass_attach("v0") != DXP_OK)
				continue;
			once_us = sample_us(h, &far, bytes, &p99_us[kind][got[kind]]);
			inc_hop_pass_detach();
			if (once_us > 0)
				us[kind][got[kind]++] = once_us;
		}
	echo_us = got[HOP_ECHO] ? report_median(us[HOP_ECHO], got[HOP_ECHO]) : 0;
	for (int kind = 0; kind < HOP_KINDS; kind++)
		if (got[kind])
			row_print(bytes, kind, report_median(us[kind], got[kind]),
				  report_median(p99_us[kind], got[kind]), echo_us, got[kind]);
}

static void program_print(size_t bytes, bool check_icrc)
{
	double ns = inc_hop_program_ns(bytes, check_icrc);
	const struct report_row row = {
		.bench = "inc",
		.name = bytes == 8 ? "program 8 B" : "program 256 B",
		.metric = "time in the program",
		.unit = "ns",
		.value = ns,
		.contender = check_icrc ? "ICRC checked and made" : "ICRC made",
		.x_name = "bytes",
		.x = (double)bytes,
	};

	if (ns > 0)
		report_row(&row);
}

static int hops_run(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	struct hop h = {.options = context};

	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
		size_run(&h, ends, sizes[i]);
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		program_print(sizes[i], false);
		program_print(sizes[i], true);
	}
	return 0;
}

int inc_hop_run(const struct bench_options *options)
{
	struct bench_options own = *options;

	return lab_run(lab_find("veth-1500"), hops_run, &own);
}

int bench_inc_hop(int argc, char **argv)
{
	struct bench_options options = {.rounds = 5};
	int status = bench_options_parse(
		argc, argv, "One hop to a computing switch and back, over veth.", "o", &options);

	if (status >= 0)
		return status;
	report_begin(options.json, "A group of one: host, switch, host. Round trips.");
	return inc_hop_run(&options);
}
