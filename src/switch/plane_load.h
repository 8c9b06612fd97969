/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the XDP program and its maps, without attaching. */
#ifndef SWITCH_PLANE_LOAD_H
#define SWITCH_PLANE_LOAD_H

#include <stddef.h>

#include "switch/plane.h"

struct bpf_object;

struct plane_program {
	struct bpf_object *object;
	/* `object` owns this and the maps' descriptors */
	int program;
	int neighbours, groups, aggregators, ports, counters;
};

/* DXP_EUNSUPPORTED: `why` has the reason and the next step. */
int plane_load(uint32_t own_ip, bool check_icrc, struct plane_program *out,
	       char why[PLANE_WHY_BYTES]);
void plane_unload(struct plane_program *p);

/* Sums over all CPUs. */
void plane_counts(const struct plane_program *p, uint64_t counts[KERNEL_COUNTERS]);

/* Embedded by the build. */
extern const unsigned char plane_object[];
extern const size_t plane_object_bytes;

#endif
