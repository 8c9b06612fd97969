/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares ways to send a kernel's results, as figure 1 of the patent does (P-03). The same kernel
 * computes the same blocks on one xPU; each goes to a second xPU.
 *
 *   device-driven   one launch: the kernel computes a block, PUTs it itself, waits for completion
 *   CPU-driven      for each block: the host launches the kernel, waits, starts a SEND, waits
 *   CPU, queued     the host posts the same commands at once; their wait lists order them
 *
 * Finally the last block is read back and compared. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <dxp/device.h>
#include <dxp/mmd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/fabric.h"
#include "bench/nic.h"
#include "bench/report.h"
#include "bench/table.h"
#include "engine/ocl_library.h"

#define CASE         "block of a kernel"
#define BLOCKS       256
#define BLOCKS_QUICK 32
#define BYTES_MAX    65536
#define WAIT_NS      (60 * S_NS)

static const uint32_t sizes[] = {64, 4096, BYTES_MAX};

static const char kernels[] =
	"#include <dxp/device.h>\n"
	"#define LOOKS 4000000000ul\n"
	"void compute(global uint *block, uint words, uint number)\n"
	"{ for (uint i = 0; i < words; i++) block[i] = (number * 2654435761u) ^ (i * 40503u); }\n"
	"kernel void block_make(global uint *block, uint words, uint number)\n"
	"{ compute(block, words, number); }\n"
	"kernel void blocks_send(global uint *block, uint words, uint count, global int *failed,\n"
	"                global struct dxp_window *nic, struct dxp_target to,\n"
	"                struct dxp_entry from, struct dxp_entry there)\n"
	"{\n"
	"	struct dxp_nic_event event;\n"
	"	*failed = 0;\n"
	"	for (uint number = 0; number < count && !*failed; number++) {\n"
	"		compute(block, words, number);\n"
	"		int status = dxp_post_put(nic, 0, &to, &from, &there, 0, 0, 0);\n"
	"		if (status == DXP_OK) status = dxp_sent_wait(nic, &event, LOOKS);\n"
	"		*failed = status == DXP_OK ? event.status : status;\n"
	"	}\n"
	"}\n";

enum way { DEVICE, CPU, CPU_QUEUED, WAYS };
static const char *const way_names[WAYS] = {"device-driven", "CPU-driven", "CPU-driven, queued"};

struct driven {
	const struct bench_options *options;
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpus[2];
	struct dxp_xpu_nic nics[2];
	struct dxp_program *program;
	/* device addresses: the block on each xPU, and a flag of a failed PUT */
	uint64_t blocks[2], failed;
	double us[WAYS][BENCH_ROUNDS_MAX];
};

static struct dxp_argument value(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}
#define VALUE(v) value(&(v), sizeof(v))
#define BUFFER(address_)                                         \
	{                                                        \
		.kind = DXP_ARGUMENT_BUFFER, .address = address_ \
	}

static int launch(struct driven *d, const char *kernel, const struct dxp_argument *arguments,
		  uint32_t count, const dxp_event *after, dxp_event *event)
{
	const struct dxp_launch l = {.program = d->program,
				     .kernel = kernel,
				     .dimensions = 1,
				     .global = {1},
				     .arguments = arguments,
				     .argument_count = count,
				     .wait = after,
				     .wait_count = after != NULL};

	return dxp_run(d->xpus[0], &l, event);
}

static int device_driven(struct driven *d, uint32_t bytes, uint32_t count)
{
	const uint32_t words = bytes / 4;
	const struct dxp_target to = {.node = d->nics[1].node,
				      .function = d->nics[1].function,
				      .magic = d->nics[1].qp_magic[0]};
	const struct dxp_entry from = {d->blocks[0], bytes, d->nics[0].memory_key};
	const struct dxp_entry there = {d->blocks[1], bytes, d->nics[1].memory_key};
	const struct dxp_argument arguments[] = {
		BUFFER(d->blocks[0]),       VALUE(words), VALUE(count), BUFFER(d->failed),
		{.kind = DXP_ARGUMENT_NIC}, VALUE(to),    VALUE(from),  VALUE(there)};
	int32_t failed = 0;
	dxp_event event;
	int status = launch(d, "blocks_send", arguments, ARRAY_COUNT(arguments), NULL, &event);

	if (status == DXP_OK)
		status = dxp_event_wait(d->fabric, event, WAIT_NS, NULL);
	if (status == DXP_OK)
		status = dxp_mem_read(d->xpus[0], &failed, d->failed, sizeof(failed));
	return status == DXP_OK ? failed : status;
}

/* `after`: the previous block's SEND, or NULL */
static int block_post(struct driven *d, uint32_t bytes, uint32_t number, const dxp_event *after,
		      dxp_event *computed, dxp_event *sent)
{
	const uint32_t words = bytes / 4;
	const struct dxp_argument arguments[] = {BUFFER(d->blocks[0]), VALUE(words), VALUE(number)};
	int status = launch(d, "block_make", arguments, ARRAY_COUNT(arguments), after, computed);
	const struct dxp_transfer t = {.from_address = d->blocks[0],
				       .to_address = d->blocks[1],
				       .bytes = bytes,
				       .wait = computed,
				       .wait_count = 1};

	return status == DXP_OK ? dxp_send(d->xpus[0], d->xpus[1], &t, sent) : status;
}

static int cpu_driven(struct driven *d, uint32_t bytes, uint32_t count)
{
	int status = DXP_OK;

	for (uint32_t number = 0; number < count && status == DXP_OK; number++) {
		const uint32_t words = bytes / 4;
		const struct dxp_argument arguments[] = {BUFFER(d->blocks[0]), VALUE(words),
							 VALUE(number)};
		const struct dxp_transfer t = {
			.from_address = d->blocks[0], .to_address = d->blocks[1], .bytes = bytes};
		dxp_event event;
		status = launch(d, "block_make", arguments, ARRAY_COUNT(arguments), NULL, &event);
		if (status == DXP_OK)
			status = dxp_event_wait(d->fabric, event, WAIT_NS, NULL);
		if (status == DXP_OK)
			status = dxp_send(d->xpus[0], d->xpus[1], &t, &event);
		if (status == DXP_OK)
			status = dxp_event_wait(d->fabric, event, WAIT_NS, NULL);
	}
	return status;
}

static int cpu_queued(struct driven *d, uint32_t bytes, uint32_t count)
{
	dxp_event computed[BLOCKS], sent[BLOCKS];
	uint32_t posted = 0;
	int status = DXP_OK;

	for (; posted < count && status == DXP_OK; posted += status == DXP_OK)
		status = block_post(d, bytes, posted, posted ? &sent[posted - 1] : NULL,
				    &computed[posted], &sent[posted]);
	for (uint32_t i = 0; i < posted; i++) {
		int one = dxp_event_wait(d->fabric, computed[i], WAIT_NS, NULL);
		if (one == DXP_OK)
			one = dxp_event_wait(d->fabric, sent[i], WAIT_NS, NULL);
		status = status == DXP_OK ? one : status;
	}
	return status;
}

static int (*const ways[WAYS])(struct driven *d, uint32_t bytes, uint32_t count) = {
	[DEVICE] = device_driven, [CPU] = cpu_driven, [CPU_QUEUED] = cpu_queued};

/* Checks that the second xPU has block `number`, then zeroes it. */
static bool arrived(struct driven *d, uint32_t bytes, uint32_t number)
{
	static uint32_t there[BYTES_MAX / 4];

	if (dxp_mem_read(d->xpus[1], there, d->blocks[1], bytes) != DXP_OK)
		return false;
	for (uint32_t i = 0; i < bytes / 4; i++)
		if (there[i] != ((number * 2654435761u) ^ (i * 40503u)))
			return false;
	memset(there, 0, bytes);
	return dxp_mem_write(d->xpus[1], d->blocks[1], there, bytes) == DXP_OK;
}

static bool sample_run(struct driven *d, enum way way, uint32_t bytes, double *us)
{
	const uint32_t count = d->options->quick ? BLOCKS_QUICK : BLOCKS;
	uint64_t begin_ns = clock_now_ns();
	int status = ways[way](d, bytes, count);

	*us = (double)(clock_now_ns() - begin_ns) / 1e3 / count;
	if (status != DXP_OK)
		log_error("bench nic: %s: %s (%s)", way_names[way], dxp_status_text(status),
			  dxp_fabric_error(NULL));
	else if (!arrived(d, bytes, count - 1))
		log_error("bench nic: %s: the last block did not arrive", way_names[way]);
	else
		return true;
	return false;
}

static void rows_print(struct driven *d, uint32_t bytes)
{
	const unsigned rounds = d->options->rounds;
	char name[64], size[TABLE_BYTES_TEXT];
	double reference = report_median(d->us[CPU], rounds);

	snprintf(name, sizeof(name), "%s, %s", CASE, table_bytes(bytes, size));
	for (int way = 0; way < WAYS; way++) {
		const struct report_row row = {.bench = "nic",
					       .name = name,
					       .lab = "two xPUs",
					       .contender = way_names[way],
					       .metric = "time of a block",
					       .unit = "us",
					       .value = report_median(d->us[way], rounds),
					       .peer = way == CPU ? NULL : way_names[CPU],
					       .peer_value = reference,
					       .x_name = "bytes",
					       .x = bytes,
					       .samples = rounds};
		report_row(&row);
	}
}

static bool size_run(struct driven *d, uint32_t bytes)
{
	double unused;

	for (int way = 0; way < WAYS; way++) /* runs each way once, to compile the kernels */
		if (!sample_run(d, way, bytes, &unused))
			return false;
	for (unsigned round = 0; round < d->options->rounds; round++)
		for (int way = 0; way < WAYS; way++)
			if (!sample_run(d, way, bytes, &d->us[way][round]))
				return false;
	rows_print(d, bytes);
	return true;
}

static int xpus_open(struct driven *d)
{
	static const char *const names[] = {"xpu1", "xpu2"};
	int status = dxp_fabric_open(NULL, &d->fabric);

	for (int i = 0; i < 2 && status == DXP_OK; i++) {
		status = dxp_xpu_open(d->fabric, names[i], &d->xpus[i]);
		if (status == DXP_OK)
			status = dxp_xpu_nic(d->xpus[i], &d->nics[i]);
		if (status == DXP_OK)
			status = dxp_mem_alloc(d->xpus[i], BYTES_MAX, &d->blocks[i]);
	}
	if (status == DXP_OK)
		status = dxp_mem_alloc(d->xpus[0], sizeof(int32_t), &d->failed);
	if (status == DXP_OK)
		status = dxp_program_build(d->xpus[0], kernels, NULL, &d->program);
	return status;
}

static int inside_run(void *context)
{
	static struct driven d; /* zeroed; this function runs once */
	bool good;

	d.options = context;
	good = xpus_open(&d) == DXP_OK;
	if (!good)
		log_error("bench nic: %s", dxp_fabric_error(NULL));
	for (size_t i = 0; i < ARRAY_COUNT(sizes) && good; i++)
		good = size_run(&d, sizes[i]);
	if (d.program)
		dxp_program_release(d.program);
	for (int i = 0; i < 2; i++)
		dxp_xpu_close(d.xpus[i]);
	dxp_fabric_close(d.fabric);
	return good ? 0 : 1;
}

/* A polling kernel keeps its core for a whole slice of real-time priority (100 ms). The NICs need
 * that core for each block, so all processes of this case use the normal scheduler. */
static int normal_priority_run(const struct bench_options *o)
{
	const struct sched_param normal = {.sched_priority = 0};
	struct sched_param before;
	int policy = sched_getscheduler(0);
	bool changed = policy >= 0 && policy != SCHED_OTHER && sched_getparam(0, &before) == 0 &&
		       sched_setscheduler(0, SCHED_OTHER, &normal) == 0;
	int status = fabric_run(2, "64M", inside_run, (void *)o);

	if (changed && sched_setscheduler(0, policy, &before) != 0)
		log_warn("bench nic: the real-time priority is lost: %s", strerror(errno));
	return status;
}

int nic_driven_run(const struct bench_options *o)
{
	const struct ocl_library *cl;
	const struct report_row absent = {.bench = "nic",
					  .name = CASE,
					  .lab = "two xPUs",
					  .contender = way_names[DEVICE],
					  .metric = "time of a block",
					  .unit = "us",
					  .note = "skipped: no OpenCL on this machine"};

	if (!bench_wanted(o->only_case, CASE) || o->only)
		return 0;
	if (ocl_library_get(&cl) != DXP_OK) {
		report_row(&absent);
		return 0;
	}
	return normal_priority_run(o);
}
