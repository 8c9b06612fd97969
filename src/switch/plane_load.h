/* SPDX-License-Identifier: BSD-3-Clause */
/* The XDP program, loaded: its maps and what is written to them. Attaches nothing. */
#ifndef SWITCH_PLANE_LOAD_H
#define SWITCH_PLANE_LOAD_H

#include <stddef.h>

#include "switch/plane.h"

struct bpf_object;

struct plane_program {
	struct bpf_object *object;
	int program; /* file descriptors; the object's */
	int neighbours, groups, slots, ports, counters;
};

/* DXP_EUNSUPPORTED: it may not be loaded here; `why` says the reason and what to do. */
int plane_load(uint32_t own_ip, bool check_icrc, struct plane_program *out,
	       char why[PLANE_WHY_BYTES]);
void plane_unload(struct plane_program *p);

/* Sum over CPUs. */
void plane_counts(const struct plane_program *p, uint64_t counts[KERNEL_COUNTERS]);

/* The compiled program, as the build made it. */
extern const unsigned char plane_object[];
extern const size_t plane_object_bytes;

#endif
