/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of allreduces that kernels start: xPUs below one switch, each with a program
 * and a NIC for kernels. */
#ifndef TEST_UNIT_KERNEL_ALLREDUCE_H
#define TEST_UNIT_KERNEL_ALLREDUCE_H

#include <unistd.h>

#include <dxp/device.h>

#include "engine/rv32_clang.h"
#include "test/unit/group_rig.h"
#include "test/unit/switch_process.h"
#include "xpu/cfg.h"

#define FOREVER     1000000000000ull /* polls of a kernel: longer than a test */
#define PLACE_BYTES 4096             /* results of one member, or output of its kernel */

/* `sums` posts `rounds` allreduces without waiting: the first from input to output, the others in
 * place on the output. Then it waits for each. */
static const char source[] =
	"#include <dxp/device.h>\n"
	"#ifdef __riscv\n"
	"#include <dxp/rv32.h>\n"
	"int start(global struct dxp_window *nic, struct dxp_allreduce_descriptor *d)\n"
	"{ struct dxp_target self = dxp_self(nic, 1); dxp_insn_peer_set(&self, 1);\n"
	"  return dxp_insn_allreduce(d); }\n"
	"#else\n"
	"int start(global struct dxp_window *nic, struct dxp_allreduce_descriptor *d)\n"
	"{ return dxp_post_allreduce(nic, 1, d, d->tag); }\n"
	"#endif\n"
	"kernel void sums(global struct dxp_window *nic, global int *out,\n"
	"                 global struct dxp_allreduce_result *results, ulong results_at,\n"
	"                 ulong from, ulong to, ulong count, uint group, uint type,\n"
	"                 uint reduction, uint tag, uint rounds, ulong looks)\n"
	"{ struct dxp_allreduce_descriptor d = {from, to, count, results_at, group, type,\n"
	"                                       reduction, tag};\n"
	"  struct dxp_nic_event e; int status = DXP_OK, worst = DXP_OK; uint done = 0, i;\n"
	"  for (i = 0; i < rounds; i++) {\n"
	"    while ((status = start(nic, &d)) == DXP_EAGAIN) dxp_relax();\n"
	"    d.result += sizeof(*results); d.from = to; d.tag++; }\n"
	"  out[1] = status; dxp_store_release((global uint *)out, rounds); status = DXP_OK;\n"
	"  for (i = 0; i < rounds; i++) {\n"
	"    int one = dxp_allreduce_wait(nic, results + i, tag + i, looks);\n"
	"    done += one == DXP_OK; if (status == DXP_OK) status = one; }\n"
	"  while (dxp_sent_dequeue(nic, &e)) if (e.status < worst) worst = e.status;\n"
	"  out[2] = status; out[3] = done; out[4] = worst; }\n";

/* Output of `sums`. */
struct sums_out {
	uint32_t posted; /* number of posts, when the kernel begins to wait */
	int32_t post;    /* status of the last post */
	int32_t wait;    /* status of the first wait that failed */
	uint32_t done;   /* successful waits */
	int32_t worst;   /* worst status of the completions */
};

struct kernels {
	struct rig r;
	struct test_switch leaf;
	uint32_t members;
	struct dxp_program *programs[MEMBERS];
	uint64_t out[MEMBERS], results[MEMBERS];
	uint32_t tag; /* last tag */
};

static struct kernels world;

UNUSED static void places_clear(struct kernels *k)
{
	static const uint8_t zeros[PLACE_BYTES];

	for (uint32_t m = 0; m < k->members; m++) {
		ok(dxp_mem_write(k->r.xpus[m], k->out[m], zeros, PLACE_BYTES));
		ok(dxp_mem_write(k->r.xpus[m], k->results[m], zeros, PLACE_BYTES));
	}
}

/* Opens the members' xPUs, unless they are open, and allocates what kernels need. */
UNUSED static void members_open(struct kernels *k)
{
	struct dxp_xpu_nic nic;

	for (uint32_t m = 0; m < k->members; m++) {
		struct dxp_xpu **x = &k->r.xpus[m];
		char name[16];
		snprintf(name, sizeof(name), "xpu%u", m + 1);
		if (!*x) {
			*x = daemons_xpu(k->r.fabric, name);
			ok(dxp_mem_alloc(*x, BUFFER_BYTES, &k->r.from[m]));
			ok(dxp_mem_alloc(*x, BUFFER_BYTES, &k->r.to[m]));
		}
		ok(dxp_program_build(*x, source, NULL, &k->programs[m]));
		ok(dxp_xpu_nic(*x, &nic));
		ok(dxp_mem_alloc(*x, PLACE_BYTES, &k->out[m]));
		ok(dxp_mem_alloc(*x, PLACE_BYTES, &k->results[m]));
	}
	places_clear(k);
}

UNUSED static int kernels_open(const char *engine, uint32_t members)
{
	struct kernels *k = &world;

	*k = (struct kernels){.members = members};
	switch_start(&k->leaf, 20, NULL);
	rig_switches[0] = k->leaf.address;
	if (!rig_open(&k->r, engine, members, NULL, 0)) {
		switch_kill(&k->leaf);
		return 1;
	}
	members_open(k);
	return 0;
}

UNUSED static int kernels_close(void **state)
{
	for (uint32_t m = 0; m < world.members; m++)
		dxp_program_release(world.programs[m]);
	rig_close(&world.r);
	switch_kill(&world.leaf);
	return 0;
}

UNUSED static struct dxp_group *kernels_group(struct kernels *k, uint32_t *number)
{
	struct dxp_group *g = group_open(&k->r, k->members, DXP_WAY_SWITCH);

	ok(dxp_group_kernels(g, number));
	return g;
}

UNUSED static struct dxp_argument value_of(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}
#define VALUE(v) value_of(&(v), sizeof(v))

UNUSED static struct dxp_argument buffer_of(uint64_t address)
{
	return (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = address};
}

/* The operations that the kernels of all members execute. */
struct sums {
	uint64_t count;
	uint32_t group, type, reduction, rounds;
	uint64_t looks; /* 0: FOREVER */
};

UNUSED static dxp_event sums_start(struct kernels *k, uint32_t m, const struct sums *s)
{
	const uint64_t looks = s->looks ? s->looks : FOREVER;
	const uint32_t tag = k->tag + 1;
	const struct dxp_argument arguments[] = {{.kind = DXP_ARGUMENT_NIC},
						 buffer_of(k->out[m]),
						 buffer_of(k->results[m]),
						 VALUE(k->results[m]),
						 VALUE(k->r.from[m]),
						 VALUE(k->r.to[m]),
						 VALUE(s->count),
						 VALUE(s->group),
						 VALUE(s->type),
						 VALUE(s->reduction),
						 VALUE(tag),
						 VALUE(s->rounds),
						 VALUE(looks)};
	const struct dxp_launch l = {.program = k->programs[m],
				     .kernel = "sums",
				     .dimensions = 1,
				     .global = {1},
				     .arguments = arguments,
				     .argument_count = ARRAY_COUNT(arguments)};
	dxp_event event;

	ok(dxp_run(k->r.xpus[m], &l, &event));
	return event;
}

UNUSED static struct sums_out out_read(struct kernels *k, uint32_t m)
{
	struct sums_out out;

	ok(dxp_mem_read(k->r.xpus[m], &out, k->out[m], sizeof(out)));
	return out;
}

UNUSED static struct sums_out sums_end(struct kernels *k, uint32_t m, dxp_event event)
{
	ok(dxp_event_wait(k->r.fabric, event, LONG_NS, NULL));
	return out_read(k, m);
}

/* Starts the kernels of all members. */
UNUSED static void all_start(struct kernels *k, const struct sums *s, dxp_event events[MEMBERS])
{
	places_clear(k);
	for (uint32_t m = 0; m < k->members; m++)
		events[m] = sums_start(k, m, s);
}

/* Runs the kernels of all members, all of which must have this status. */
UNUSED static void all_run(struct kernels *k, const struct sums *s, int status)
{
	dxp_event events[MEMBERS];

	all_start(k, s, events);
	for (uint32_t m = 0; m < k->members; m++) {
		const struct sums_out out = sums_end(k, m, events[m]);
		assert_int_equal(out.post, DXP_OK);
		assert_int_equal(out.wait, status);
		assert_int_equal(out.worst, DXP_OK);
		if (status == DXP_OK)
			assert_int_equal(out.done, s->rounds);
	}
	k->tag += s->rounds;
}

/* Waits until the kernel of member m has posted all, and waits itself. */
UNUSED static void posted_await(struct kernels *k, uint32_t m, uint32_t rounds)
{
	const uint64_t end_ns = clock_now_ns() + LONG_NS;

	while (out_read(k, m).posted != rounds) {
		assert_true(clock_now_ns() < end_ns);
		usleep(1000);
	}
}

UNUSED static uint32_t reg(struct kernels *k, uint32_t m, uint32_t index)
{
	uint32_t value;

	ok(dxp_reg_read(k->r.xpus[m], index, &value, 1));
	return value;
}

/* ---- descriptors that the host writes, as a kernel would ---- */

UNUSED static struct dxp_allreduce_descriptor descriptor_of(const struct kernels *k, uint32_t m,
							    uint32_t group)
{
	return (struct dxp_allreduce_descriptor){.from = k->r.from[m],
						 .to = k->r.to[m],
						 .count = 100,
						 .result = k->results[m],
						 .group = group,
						 .type = DXP_INT32,
						 .reduction = DXP_SUM,
						 .tag = 1};
}

UNUSED static int descriptor_write(struct kernels *k, uint32_t m,
				   const struct dxp_allreduce_descriptor *d)
{
	uint32_t words[CFG_ALLREDUCE_WORDS];

	memcpy(words, d, sizeof(words));
	return dxp_reg_write(k->r.xpus[m], DXP_ALLREDUCE_REGISTER, words, ARRAY_COUNT(words));
}

UNUSED static struct dxp_allreduce_result result_read(struct kernels *k, uint32_t m, uint64_t at)
{
	struct dxp_allreduce_result result;

	ok(dxp_mem_read(k->r.xpus[m], &result, at, sizeof(result)));
	return result;
}

/* Waits for a result, and returns its status. */
UNUSED static int result_await(struct kernels *k, uint32_t m,
			       const struct dxp_allreduce_descriptor *d)
{
	const uint64_t end_ns = clock_now_ns() + LONG_NS;
	struct dxp_allreduce_result result;

	while ((result = result_read(k, m, d->result)).tag != d->tag) {
		assert_true(clock_now_ns() < end_ns);
		usleep(1000);
	}
	return (int)-(int64_t)result.error;
}

/* ---- engines ---- */

static const char *engine_used;

/* Prints why, if no engine can run these kernels. */
static bool kernels_possible(void)
{
	if (daemons_opencl() || rv32_clang_there())
		return true;
	printf("skipped: no OpenCL device with memory that this process shares, and no clang for "
	       "rv32\n");
	return false;
}

/* Sets engine_used to the next engine that works here. */
static bool engine_next(void)
{
	if (!engine_used && daemons_opencl())
		engine_used = "ocl";
	else if ((!engine_used || strcmp(engine_used, "ocl") == 0) && rv32_clang_there())
		engine_used = "rv32";
	else
		return false;
	return true;
}

/* Kernels that wait for each other need a thread each. In this process, OpenCL has one for each
 * core, so there are only two members. */
static int world_open(void **state)
{
	const bool threads = strcmp(engine_used, "rv32") == 0 || getenv("DXP_TEST_WORKERS");

	return kernels_open(engine_used, threads ? 3 : 2);
}

#endif
