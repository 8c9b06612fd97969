/* SPDX-License-Identifier: BSD-3-Clause */
/* `dxp bench registers`: times 1 .. 1024 accesses to 4-byte CFG registers. A host accesses
 * an xPU over loopback: singly, each after the previous answer; in blocks; and, writes only, in a
 * list without waits. A kernel accesses its own node, as many at once as it has descriptors.
 * Reference: a raw 4-byte round trip. Writes go to task registers, without effect until TASK_GO,
 * and are read back. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <dxp/device.h>
#include <dxp/mmd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/bench.h"
#include "bench/fabric.h"
#include "bench/options.h"
#include "bench/raw_udp.h"
#include "bench/report.h"
#include "engine/ocl_library.h"
#include "xpu/cfg.h"

#define REGISTERS_MAX  1024
#define STEPS          11   /* 1, 2, 4 ... REGISTERS_MAX */
#define ACCESSES       4096 /* per sample, in whole repetitions */
#define ACCESSES_QUICK 512
#define PINGS          500
#define WAIT_NS        (60 * S_NS)

/* Registers written in rotation: the task's values, without TASK_GO. */
#define FIRST CFG_TASK_SRC_LO
#define COUNT (CFG_TASK_GO - CFG_TASK_SRC_LO)

static const char kernels[] =
	"#include <dxp/device.h>\n"
	"#define LOOKS 4000000000ul\n"
	"kernel void accesses(global struct dxp_window *nic, global int *failed, int write,\n"
	"                     uint first, uint registers, uint count, uint repeats,\n"
	"                     struct dxp_entry to)\n"
	"{\n"
	"	const struct dxp_target self = dxp_self(nic, 0);\n"
	"	struct dxp_nic_event event;\n"
	"	*failed = 0;\n"
	"	for (uint r = 0; r < repeats; r++)\n"
	"		for (uint posted = 0, done = 0; done < count && !*failed;) {\n"
	"			uint at = first + posted % registers;\n"
	"			int status = posted == count ? DXP_EAGAIN\n"
	"				: write ? dxp_post_cfg_write(nic, 0, &self, at, &posted, "
	"1, 0)\n"
	"				: dxp_post_cfg_read(nic, 0, &self, at, &to, 0);\n"
	"			if (status == DXP_OK) { posted++; continue; }\n"
	"			if (status == DXP_EAGAIN) status = dxp_sent_wait(nic, &event, "
	"LOOKS);\n"
	"			if (status == DXP_OK) status = event.status;\n"
	"			*failed = status;\n"
	"			done++;\n"
	"		}\n"
	"}\n";

enum way { HOST, HOST_LIST, HOST_BLOCKS, KERNEL, WAYS };
static const char *const way_names[WAYS] = {"host, one at a time", "host, in a list",
					    "host, in blocks", "kernel"};
static const char ping_name[] = "raw UDP round trip";

struct registers {
	const struct bench_options *options;
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpu;
	struct dxp_program *program; /* NULL: kernels cannot run here */
	struct dxp_xpu_nic nic;
	/* device address of read results, then the kernel's status */
	uint64_t memory;
	/* us per step, by way, read (0) or write (1), step, round */
	double us[WAYS][2][STEPS][BENCH_ROUNDS_MAX];
	double ping_us[BENCH_ROUNDS_MAX];
};

static bool failed(const char *what)
{
	log_error("bench registers: %s: %s", what, dxp_fabric_error(NULL));
	return false;
}

/* ---- one sample ---- */

static int host_access(struct registers *b, bool write, uint32_t count, uint32_t block)
{
	const uint32_t first = write ? FIRST : 0, span = write ? COUNT : CFG_COUNT;
	uint32_t values[CFG_COUNT];
	int status = DXP_OK;

	for (uint32_t done = 0; done < count && status == DXP_OK;) {
		uint32_t at = done % span;
		uint32_t n = (uint32_t)min_u64(min_u64(block, span - at), count - done);
		for (uint32_t i = 0; write && i < n; i++)
			values[i] = done + i;
		status = write ? dxp_reg_write(b->xpu, first + at, values, n)
			       : dxp_reg_read(b->xpu, first + at, values, n);
		done += n;
	}
	return status;
}

static int list_write(struct registers *b, uint32_t count)
{
	struct dxp_reg_value list[REGISTERS_MAX];

	for (uint32_t i = 0; i < count; i++)
		list[i] = (struct dxp_reg_value){.index = FIRST + i % COUNT, .value = i};
	return dxp_reg_write_list(b->xpu, list, count);
}

static bool host_sample(struct registers *b, enum way way, bool write, uint32_t count,
			uint32_t repeats, double *us)
{
	const uint32_t block = way == HOST_BLOCKS ? CFG_COUNT : 1;
	uint64_t begin_ns = clock_now_ns();
	int status = DXP_OK;

	for (uint32_t i = 0; i < repeats && status == DXP_OK; i++)
		status = way == HOST_LIST ? list_write(b, count)
					  : host_access(b, write, count, block);
	*us = (double)(clock_now_ns() - begin_ns) / 1e3 / repeats;
	return status == DXP_OK || failed("a register access of the host");
}

static struct dxp_argument value(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}
#define VALUE(v) value(&(v), sizeof(v))

static bool kernel_sample(struct registers *b, bool write, uint32_t count, uint32_t repeats,
			  double *us)
{
	const uint32_t first = write ? FIRST : 0, span = write ? COUNT : CFG_COUNT;
	const int writes = write;
	const struct dxp_entry to = {
		.offset = b->memory, .bytes = sizeof(uint32_t), .key = b->nic.memory_key};
	const struct dxp_argument arguments[] = {
		{.kind = DXP_ARGUMENT_NIC},
		{.kind = DXP_ARGUMENT_BUFFER, .address = b->memory + 256},
		VALUE(writes),
		VALUE(first),
		VALUE(span),
		VALUE(count),
		VALUE(repeats),
		VALUE(to),
	};
	const struct dxp_launch launch = {.program = b->program,
					  .kernel = "accesses",
					  .dimensions = 1,
					  .global = {1},
					  .arguments = arguments,
					  .argument_count = ARRAY_COUNT(arguments)};
	struct dxp_event_times times;
	dxp_event event;
	int32_t result = 0;

	if (dxp_run(b->xpu, &launch, &event) != DXP_OK ||
	    dxp_event_wait(b->fabric, event, WAIT_NS, &times) != DXP_OK ||
	    dxp_mem_read(b->xpu, &result, b->memory + 256, sizeof(result)) != DXP_OK)
		return failed("the kernel");
	*us = (double)(times.ended_ns - times.started_ns) / 1e3 / repeats;
	if (result != DXP_OK)
		log_error("bench registers: a register access of the kernel: %s",
			  dxp_status_text(result));
	return result == DXP_OK;
}

static bool written(struct registers *b, uint32_t count)
{
	uint32_t values[COUNT], least = (uint32_t)min_u64(count, COUNT);

	if (dxp_reg_read(b->xpu, FIRST, values, COUNT) != DXP_OK)
		return failed("reading back");
	for (uint32_t i = count - least; i < count; i++)
		if (values[i % COUNT] != i) {
			log_error("bench registers: register %d holds %u after write %u",
				  FIRST + (int)(i % COUNT), values[i % COUNT], i);
			return false;
		}
	return true;
}

static bool cleared(struct registers *b)
{
	const uint32_t none[COUNT] = {[0 ... COUNT - 1] = UINT32_MAX};

	return dxp_reg_write(b->xpu, FIRST, none, COUNT) == DXP_OK || failed("a register write");
}

static bool sample(struct registers *b, enum way way, bool write, unsigned step, double *us)
{
	const uint32_t count = 1u << step;
	const uint32_t accesses = b->options->quick ? ACCESSES_QUICK : ACCESSES;
	const uint32_t repeats = (uint32_t)max_u64(accesses / count, 1);

	if (write && !cleared(b))
		return false;
	bool good = way == KERNEL ? kernel_sample(b, write, count, repeats, us)
				  : host_sample(b, way, write, count, repeats, us);
	return good && (!write || written(b, count));
}

static bool ping_sample(struct registers *b, double *us)
{
	static uint64_t trips_ns[PINGS];
	struct raw_ping_options o = {.payload_bytes = 4, .warmup = PINGS / 5, .count = PINGS};

	if (address_parse("127.0.0.1", 0, &o.ends.near) != DXP_OK)
		return false;
	o.ends.far = o.ends.near;
	if (raw_ping(&o, trips_ns) != DXP_OK)
		return false;
	*us = (double)raw_percentile(trips_ns, PINGS, 50) / 1e3;
	return true;
}

/* ---- all measurements ---- */

static bool wanted(const struct registers *b, enum way way, bool write)
{
	return (way != KERNEL || b->program) && (way != HOST_LIST || write) &&
	       bench_wanted(b->options->only, way_names[way]) &&
	       bench_wanted(b->options->only_case, write ? "write" : "read");
}

static bool round_run(struct registers *b, unsigned round)
{
	if (!ping_sample(b, &b->ping_us[round]))
		return false;
	for (unsigned step = 0; step < STEPS; step++)
		for (int way = 0; way < WAYS; way++)
			for (int write = 0; write < 2; write++)
				if (wanted(b, way, write) &&
				    !sample(b, way, write, step, &b->us[way][write][step][round]))
					return false;
	return true;
}

static void row_print(struct registers *b, enum way way, bool write, unsigned step)
{
	const unsigned rounds = b->options->rounds;
	char name[32];
	struct report_row row = {
		.bench = "registers",
		.name = name,
		.lab = way == KERNEL ? "own node" : "loopback",
		.contender = way_names[way],
		.metric = "time",
		.unit = "us",
		.value = report_median(b->us[way][write][step], rounds),
		.peer = ping_name,
		.peer_value = report_median(b->ping_us, rounds),
		.x_name = "registers",
		.x = 1u << step,
		.samples = rounds,
	};

	snprintf(name, sizeof(name), "%s %u", write ? "write" : "read", 1u << step);
	report_row(&row);
}

/* The raw round trip is the same for any number of accesses. */
static void ping_print(struct registers *b, bool write, unsigned step)
{
	char name[32];
	const struct report_row row = {
		.bench = "registers",
		.name = name,
		.lab = "loopback",
		.contender = ping_name,
		.metric = "time",
		.unit = "us",
		.value = report_median(b->ping_us, b->options->rounds),
		.x_name = "registers",
		.x = 1u << step,
		.samples = b->options->rounds,
	};

	snprintf(name, sizeof(name), "%s %u", write ? "write" : "read", 1u << step);
	report_row(&row);
}

static bool ping_wanted(const struct registers *b, bool write)
{
	return bench_wanted(b->options->only, ping_name) &&
	       bench_wanted(b->options->only_case, write ? "write" : "read");
}

/* Builds the kernel. Without OpenCL only the host's rows are printed. */
static bool kernel_build(struct registers *b)
{
	const struct ocl_library *cl;

	if (ocl_library_get(&cl) != DXP_OK) {
		report_note("kernel: skipped: no OpenCL on this machine");
		return true;
	}
	return dxp_program_build(b->xpu, kernels, NULL, &b->program) == DXP_OK &&
	       dxp_xpu_nic(b->xpu, &b->nic) == DXP_OK;
}

static bool rows_run(struct registers *b)
{
	if (dxp_mem_alloc(b->xpu, 4096, &b->memory) != DXP_OK || !kernel_build(b))
		return failed("preparing the xPU");
	for (unsigned round = 0; round < b->options->rounds; round++)
		if (!round_run(b, round))
			return false;
	for (int write = 1; write >= 0; write--)
		for (int way = 0; way < WAYS; way++)
			for (unsigned step = 0; step < STEPS; step++)
				if (wanted(b, way, write))
					row_print(b, way, write, step);
	for (int write = 1; write >= 0; write--)
		for (unsigned step = 0; step < STEPS; step++)
			if (ping_wanted(b, write))
				ping_print(b, write, step);
	return true;
}

static int inside_run(void *context)
{
	/* static because it is large; this function runs once */
	static struct registers b;
	bool good = false;

	b.options = context;
	if (dxp_fabric_open(NULL, &b.fabric) == DXP_OK &&
	    dxp_xpu_open(b.fabric, "xpu1", &b.xpu) == DXP_OK)
		good = rows_run(&b);
	else
		failed("joining");
	if (b.program)
		dxp_program_release(b.program);
	dxp_xpu_close(b.xpu);
	dxp_fabric_close(b.fabric);
	return good ? 0 : 1;
}

int bench_registers(int argc, char **argv)
{
	struct bench_options o;
	int status = bench_options_parse(
		argc, argv, "1 to 1024 accesses to CFG registers beside a raw UDP round trip.",
		"oc", &o);

	if (status >= 0)
		return status;
	report_begin(o.json, "CFG registers of an xPU");
	return fabric_run(1, "64M", inside_run, &o);
}
