/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/collective_kernel.h"

#include <string.h>

#include <dxp/device.h>

#include "base/clock.h"
#include "base/util.h"

#define WAIT_NS (120 * S_NS)

static const char source[] =
	"#include <dxp/device.h>\n"
	"kernel void repeat(global struct dxp_window *nic, global uint *out, ulong results,\n"
	"                   ulong at, ulong count, uint group, uint tag, uint runs)\n"
	"{ global struct dxp_allreduce_result *result = (global void *)(out + 2);\n"
	"  struct dxp_allreduce_descriptor d = {at, at, count, results, group, DXP_FLOAT,\n"
	"                                       DXP_SUM, tag};\n"
	"  struct dxp_nic_event e; int status = DXP_OK;\n"
	"  for (uint i = 0; i < runs && status == DXP_OK; i++, d.tag++) {\n"
	"    status = dxp_post_allreduce(nic, 0, &d, i);\n"
	"    if (status == DXP_OK) status = dxp_allreduce_wait(nic, result, d.tag, 1ul << 40);\n"
	"    while (dxp_sent_dequeue(nic, &e)) {} }\n"
	"  out[0] = (uint)-status; }\n";

int collective_kernels_open(struct collective_kernels *k, struct dxp_fabric *fabric,
			    struct dxp_xpu *const *xpus, uint32_t count)
{
	struct dxp_xpu_nic nic;
	int status = DXP_OK;

	k->fabric = fabric;
	k->xpus = xpus;
	while (k->opened < count && status == DXP_OK) {
		const uint32_t m = k->opened;
		status = dxp_xpu_nic(xpus[m], &nic);
		if (status == DXP_OK)
			status = dxp_mem_alloc(xpus[m], 64, &k->results[m]);
		if (status == DXP_OK)
			status = dxp_program_build(xpus[m], source, NULL, &k->programs[m]);
		k->opened += status == DXP_OK || status == DXP_EBUILD;
	}
	return status;
}

void collective_kernels_close(struct collective_kernels *k)
{
	dxp_group_destroy(k->group);
	for (uint32_t m = 0; m < k->opened; m++)
		dxp_program_release(k->programs[m]);
}

int collective_kernels_group(struct collective_kernels *k, uint32_t members)
{
	const struct dxp_group_options o = {.way = DXP_WAY_SWITCH};

	dxp_group_destroy(k->group);
	k->group = NULL;
	k->members = members;
	if (members == 0)
		return DXP_OK;
	int status = dxp_group_create(k->fabric, k->xpus, members, &o, &k->group);
	return status == DXP_OK ? dxp_group_kernels(k->group, &k->number) : status;
}

static struct dxp_argument value(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}
#define VALUE(v) value(&(v), sizeof(v))

static int member_start(struct collective_kernels *k, uint32_t m, uint64_t at, uint64_t bytes,
			uint32_t runs, dxp_event *event)
{
	const uint64_t count = bytes / sizeof(float), results = k->results[m] + 8;
	const uint32_t tag = k->tag + 1;
	const struct dxp_argument arguments[] = {
		{.kind = DXP_ARGUMENT_NIC},
		{.kind = DXP_ARGUMENT_BUFFER, .address = k->results[m]},
		VALUE(results),
		VALUE(at),
		VALUE(count),
		VALUE(k->number),
		VALUE(tag),
		VALUE(runs)};
	const struct dxp_launch launch = {.program = k->programs[m],
					  .kernel = "repeat",
					  .dimensions = 1,
					  .global = {1},
					  .arguments = arguments,
					  .argument_count = ARRAY_COUNT(arguments)};

	return dxp_run(k->xpus[m], &launch, event);
}

int collective_kernels_run(struct collective_kernels *k, const uint64_t *at, uint64_t bytes,
			   uint32_t runs)
{
	dxp_event events[COLLECTIVE_MEMBERS];
	uint32_t started = 0, error;
	int status = DXP_OK;

	while (started < k->members && status == DXP_OK) {
		status = member_start(k, started, at[started], bytes, runs, &events[started]);
		started += status == DXP_OK;
	}
	/* Kernels that wait for one that did not start end with the group. */
	if (status != DXP_OK)
		dxp_group_abort(k->group);
	for (uint32_t m = 0; m < started; m++) {
		int one = dxp_event_wait(k->fabric, events[m], WAIT_NS, NULL);
		status = status == DXP_OK ? one : status;
	}
	for (uint32_t m = 0; m < k->members && status == DXP_OK; m++) {
		status = dxp_mem_read(k->xpus[m], &error, k->results[m], sizeof(error));
		if (status == DXP_OK)
			status = -(int)error;
	}
	k->tag += runs;
	return status;
}
