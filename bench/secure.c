/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench secure`: the cost of packet protection, for PUT and NAP between two processes, beside
 * TCP and TLS 1.3 over it; and for handshakes: both sides' cryptography on one core. */
#include <time.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/bench.h"
#include "bench/contenders.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/table.h"
#include "seal/seal.h"

#define STREAM_TOTAL (1ull << 30)
#define TRIPS        4000
#define MESSAGES     (1u << 20)
#define HANDSHAKES   4000

static const struct contender contenders[] = {
	CONTENDER_RLTP_AS("none", ""),
	CONTENDER_RLTP_AS("integrity", "integrity"),
	CONTENDER_RLTP_AS("encrypt", "encrypt"),
	CONTENDER_TCP_CUBIC,
	CONTENDER_TLS,
	CONTENDER_KTLS,
};

struct shape {
	const char *name;
	enum table_metric metric;
	enum work_op op;
	uint32_t bytes, depth;
	uint64_t count;
	bool spin;
};

static const struct shape shapes[] = {
	{"PUT 1 MiB, 8 at a time", TABLE_GOODPUT, WORK_PUT, 1 << 20, 8, STREAM_TOTAL >> 20, false},
	{"PUT 4 B", TABLE_ROUND_TRIP, WORK_PUT, 4, 1, TRIPS, true},
	{"NAP 64 B, round trip", TABLE_ROUND_TRIP, WORK_PING, 64, 1, TRIPS, true},
	{"NAP 64 B", TABLE_RATE, WORK_MESSAGE, 64, WORK_DEPTH_MAX, MESSAGES, false},
};

static int lab_run_all(const struct lab *lab, const struct raw_ends *ends, void *context)
{
	const struct bench_options *o = context;
	int status = 0;

	for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
		const struct shape *s = &shapes[i];
		struct table_case c = {
			.bench = "secure",
			.name = s->name,
			.lab = lab,
			.metric = s->metric,
			.work = {.op = s->op,
				 .bytes = s->bytes,
				 .depth = s->depth,
				 .warmup = s->depth == 8 ? 16 : 2000,
				 .count = max_u64(o->quick ? s->count / 8 : s->count, 2),
				 .budget_ns = 4 * S_NS,
				 .spin = s->spin,
				 .payload_crc = o->payload_crc},
			.contenders = contenders,
			.count = ARRAY_COUNT(contenders),
			.reference = 0,
			.options = o,
		};
		status |= table_case_run(&c, ends);
	}
	return status;
}

/* ---- handshakes ---- */

static void hello_fill(uint8_t *frame, uint8_t type)
{
	const struct wire_header h = {.type = type, .header_bytes = WIRE_COMMON_BYTES};
	const struct wire_hello hello = {
		.session = 1, .rwnd = 64, .payload_bytes = 1408, .protect = WIRE_PROTECT_ENCRYPT};

	wire_header_encode(&h, frame);
	wire_hello_encode(&hello, frame + WIRE_COMMON_BYTES);
}

static bool handshake(struct seal *near, struct seal *far)
{
	uint8_t hello[WIRE_HELLO_SEALED_FRAME] = {0}, ack[WIRE_HELLO_SEALED_FRAME] = {0};

	hello_fill(hello, WIRE_HELLO);
	hello_fill(ack, WIRE_HELLO_ACK);
	struct rltp_seal *a = seal_ops.hello(near, hello, 1);
	struct rltp_seal *b = a ? seal_ops.accept(far, hello, 1, false) : NULL;
	bool good = b && seal_ops.answer(b, ack) && seal_ops.finish(a, ack);
	seal_ops.free(a);
	seal_ops.free(b);
	return good;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

/* CPU time gives the rate of one core. */
static int handshakes_run(const struct bench_options *o)
{
	const uint8_t key[FABRIC_KEY_BYTES] = {1};
	const struct seal_options options = {.fabric_key = key, .entropy = rng_entropy_kernel};
	const uint32_t count = o->quick ? HANDSHAKES / 8 : HANDSHAKES;
	struct seal *near = NULL, *far = NULL;
	bool good = seal_create(&options, &near) == DXP_OK && seal_create(&options, &far) == DXP_OK;
	uint64_t begun_ns = cpu_ns();

	for (uint32_t i = 0; i < count && good; i++)
		good = handshake(near, far);
	double ns = (double)(cpu_ns() - begun_ns) / count;
	seal_destroy(near);
	seal_destroy(far);
	if (!good)
		return 1;
	const struct report_row row = {.bench = "secure",
				       .name = "handshake, both sides",
				       .metric = "rate",
				       .unit = "1/s",
				       .value = 1e9 / ns,
				       .contender = "RLTP encrypt",
				       .mean_us = ns / 1000};
	report_row(&row);
	return 0;
}

int bench_secure(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(argc, argv,
					 "PUT, NAP and handshakes with each protection of packets.",
					 BENCH_OPTIONS_LAB, &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "Protection of packets");
	if (o.lab)
		return lab_each(o.lab, lab_run_all, &o);
	status = handshakes_run(&o);
	status |= lab_each("loopback", lab_run_all, &o);
	return status > 1 ? status : status | lab_each("veth-1500", lab_run_all, &o);
}
