/* SPDX-License-Identifier: BSD-3-Clause */
/* Control plane of the embedded XDP program: loads and attaches it, fills its maps, lists and
 * removes attachments. These go when the process exits, even by SIGKILL. */
#ifndef SWITCH_PLANE_H
#define SWITCH_PLANE_H

#include "switch/kernel.h"
#include "switch/switch.h"

#define PLANE_WHY_BYTES 256

struct plane_options {
	uint32_t ip;
	const char *const *ports; /* interfaces towards hosts and switches */
	unsigned port_count;      /* 1 .. SWITCH_KERNEL_PORTS */
	/* driver mode of XDP; false: generic mode, faster on veth */
	bool native;
	bool no_icrc_check;
};

struct plane;

/* DXP_EUNSUPPORTED: no program in this build, or it may not be loaded; `why` has the reason and the
 * next step. DXP_ENOENT: no such interface. DXP_EBUSY: another program is attached. DXP_EINVAL:
 * port_count. DXP_ENOMEM. */
int plane_open(const struct plane_options *options, struct plane **out, char why[PLANE_WHY_BYTES]);
void plane_close(struct plane *p);

/* Returns the callbacks for the core, valid until plane_close. */
struct sw_kernel plane_kernel(struct plane *p);

/* Interfaces of this network namespace with an XDP program of this name. DXP_EIO: they cannot be
 * listed. */
int plane_list(void (*row)(void *context, const char *interface, uint32_t program_id, bool native),
	       void *context);

/* Detaches the program, even of another process. DXP_ENOENT: not attached. DXP_EIO: `why` has the
 * reason. */
int plane_remove(const char *interface, char why[PLANE_WHY_BYTES]);

#endif
