/* SPDX-License-Identifier: BSD-3-Clause */
/* Control plane of the XDP program: loads the embedded program, attaches it to ports, fills its
 * maps as the core installs groups, lists and removes attachments. The kernel removes attachments
 * when the process exits, even by SIGKILL. */
#ifndef SWITCH_PLANE_H
#define SWITCH_PLANE_H

#include "switch/kernel.h"
#include "switch/switch.h"

#define PLANE_WHY_BYTES 256

struct plane_options {
	uint32_t ip;              /* address of the switch */
	const char *const *ports; /* interfaces towards hosts and other switches */
	unsigned port_count;      /* 1 .. SWITCH_KERNEL_PORTS */
	bool native;              /* driver mode; default is generic, which is faster on veth */
	bool no_icrc_check;
};

struct plane;

/* Opens the plane; plane_close frees it. DXP_EUNSUPPORTED: no program in this build, or not
 * permitted here; `why` has the reason and the next step. DXP_ENOENT: no such interface. DXP_EBUSY:
 * another program is attached. DXP_EINVAL: port count. DXP_ENOMEM. */
int plane_open(const struct plane_options *options, struct plane **out, char why[PLANE_WHY_BYTES]);
void plane_close(struct plane *p);

/* Returns the callbacks for the core, valid until plane_close. */
struct sw_kernel plane_kernel(struct plane *p);

/* Calls `row` for each interface of this network namespace with our program attached. DXP_EIO if
 * the interfaces cannot be listed. */
int plane_list(void (*row)(void *context, const char *interface, uint32_t program_id, bool native),
	       void *context);

/* Detaches our program from an interface, also if another process attached it. DXP_ENOENT: it is
 * not attached there. DXP_EIO: the kernel refused; see `why`. */
int plane_remove(const char *interface, char why[PLANE_WHY_BYTES]);

#endif
