/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduces that kernels start, for `dxp bench collective`. */
#ifndef BENCH_COLLECTIVE_KERNEL_H
#define BENCH_COLLECTIVE_KERNEL_H

#include <stdint.h>

#include <dxp/async.h>
#include <dxp/collective.h>

#define COLLECTIVE_MEMBERS 8

struct collective_kernels {
	struct dxp_fabric *fabric;
	struct dxp_xpu *const *xpus;
	uint32_t opened; /* xPUs with program and NIC */
	struct dxp_program *programs[COLLECTIVE_MEMBERS];
	uint64_t results[COLLECTIVE_MEMBERS]; /* device addresses */
	struct dxp_group *group;
	uint32_t number, members; /* of the group */
	uint32_t tag;             /* last tag of all members */
};

/* Builds the kernel and opens a NIC on each xPU. `k` is zeroed. DXP_EUNSUPPORTED: kernels of these
 * xPUs have no NIC. Close it also after a failure. */
int collective_kernels_open(struct collective_kernels *k, struct dxp_fabric *fabric,
			    struct dxp_xpu *const *xpus, uint32_t count);
void collective_kernels_close(struct collective_kernels *k);

/* Makes a group of the first xPUs, in place of the last one. 0 members: only ends that one. */
int collective_kernels_group(struct collective_kernels *k, uint32_t members);

/* Lets the kernels sum `bytes` of floats at `at`, in place, `runs` times one after another. */
int collective_kernels_run(struct collective_kernels *k, const uint64_t *at, uint64_t bytes,
			   uint32_t runs);

#endif
