/* SPDX-License-Identifier: BSD-3-Clause */
/* Control plane of the XDP program: loads the embedded program, attaches it to ports, fills its
 * maps with the groups of the core, lists and removes attachments. When the process exits, even by
 * SIGKILL, the kernel removes its attachments. */
#ifndef SWITCH_PLANE_H
#define SWITCH_PLANE_H

#include "switch/kernel.h"
#include "switch/switch.h"

#define PLANE_WHY_BYTES 256

struct plane_options {
	uint32_t ip;
	const char *const *ports; /* interfaces towards hosts and switches */
	unsigned port_count;      /* 1 .. SWITCH_KERNEL_PORTS */
	bool native;              /* driver mode; else generic mode, which is faster on veth */
	bool no_icrc_check;
};

struct plane;

/* Opens the plane. DXP_EUNSUPPORTED: no program in this build, or not permitted; `why` has the
 * reason and the next step. DXP_ENOENT: no such interface. DXP_EBUSY: another program is attached.
 * DXP_EINVAL: port count. DXP_ENOMEM. */
int plane_open(const struct plane_options *options, struct plane **out, char why[PLANE_WHY_BYTES]);
void plane_close(struct plane *p);

/* Returns callbacks for the core, valid until plane_close. */
struct sw_kernel plane_kernel(struct plane *p);

/* Calls `row` for each interface of this network namespace to which this XDP program is attached.
 * DXP_EIO: interfaces cannot be listed. */
int plane_list(void (*row)(void *context, const char *interface, uint32_t program_id, bool native),
	       void *context);

/* Detaches this XDP program from an interface, even if another process attached it. DXP_ENOENT: it
 * is not attached. DXP_EIO: the kernel failed; see `why`. */
int plane_remove(const char *interface, char why[PLANE_WHY_BYTES]);

#endif
