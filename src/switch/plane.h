/* SPDX-License-Identifier: BSD-3-Clause */
/* The XDP plane's keeper: loads the program that is built into this one, attaches it to ports,
 * fills its maps as the core installs groups, and lists and removes what is attached. Attachments
 * end with the process, also when it is killed. */
#ifndef SWITCH_PLANE_H
#define SWITCH_PLANE_H

#include "switch/kernel.h"
#include "switch/switch.h"

#define PLANE_WHY_BYTES 256

struct plane_options {
	uint32_t ip;              /* the switch's own */
	const char *const *ports; /* interfaces towards hosts and other switches */
	unsigned port_count;      /* 1 .. SWITCH_KERNEL_PORTS */
	bool native;              /* in the driver; default generic, which is faster on veth */
	bool no_icrc_check;
};

struct plane;

/* DXP_EUNSUPPORTED: this build has no program, or this kernel or user may not load it; `why` says
 * which and what to do. DXP_ENOENT: no such interface. DXP_EBUSY: another program is attached. */
int plane_open(const struct plane_options *options, struct plane **out, char why[PLANE_WHY_BYTES]);
void plane_close(struct plane *p);

/* What the core is given. Valid until plane_close. */
struct sw_kernel plane_kernel(struct plane *p);

/* Our programs on the interfaces of this network namespace: calls `row` for each. */
int plane_list(void (*row)(void *context, const char *interface, uint32_t program_id, bool native),
	       void *context);

/* Takes ours off an interface, whoever attached it. DXP_ENOENT: none of ours there. */
int plane_remove(const char *interface, char why[PLANE_WHY_BYTES]);

#endif
