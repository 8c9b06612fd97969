/* SPDX-License-Identifier: BSD-3-Clause */
/* Control plane of the XDP program. Loads the embedded program, attaches it to ports, fills its
 * maps with the groups of the core, and lists and removes attachments. When the process exits, even
 * by SIGKILL, the kernel removes its attachments. */
#ifndef SWITCH_PLANE_H
#define SWITCH_PLANE_H

#include "switch/kernel.h"
#include "switch/switch.h"

#define PLANE_WHY_BYTES 256

struct plane_options {
	uint32_t ip;
	const char *const *ports; /* names of the interfaces towards hosts and switches */
	unsigned port_count;      /* 1 .. SWITCH_KERNEL_PORTS */
	/* true: driver mode of XDP; false: generic mode, which is faster on veth */
	bool native;
	bool no_icrc_check;
};

struct plane;

/* Opens the plane. DXP_EUNSUPPORTED: this build has no program, or the process may not load it;
 * `why` gets the reason and the next step. DXP_ENOENT: no such interface. DXP_EBUSY: another
 * program is attached. DXP_EINVAL: port_count is out of range. DXP_ENOMEM. */
int plane_open(const struct plane_options *options, struct plane **out, char why[PLANE_WHY_BYTES]);
void plane_close(struct plane *p);

/* Returns the callbacks for the core, valid until plane_close. */
struct sw_kernel plane_kernel(struct plane *p);

/* Calls `row` for each interface of this network namespace to which an XDP program of this name is
 * attached. DXP_EIO: the interfaces cannot be listed. */
int plane_list(void (*row)(void *context, const char *interface, uint32_t program_id, bool native),
	       void *context);

/* Detaches the XDP program from an interface, even if another process attached it. DXP_ENOENT: it
 * is not attached. DXP_EIO: the kernel failed; `why` gets the reason. */
int plane_remove(const char *interface, char why[PLANE_WHY_BYTES]);

#endif
