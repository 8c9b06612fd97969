/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch behind sockets: the core, its UDP endpoints, the XDP plane where it may be loaded, and a
 * loop. What `dxp-switch` runs. */
#ifndef SWITCH_SERVE_H
#define SWITCH_SERVE_H

#include "switch/switch.h"

enum serve_plane { SERVE_PLANE_AUTO, SERVE_PLANE_USER, SERVE_PLANE_KERNEL };

struct serve_options {
	struct sw_options core;   /* `kernel` is filled in here */
	enum serve_plane plane;   /* AUTO: XDP if it loads, else user space with a message */
	const char *const *ports; /* for XDP; none: all ports of the bridge that has core.ip, or the
				   * interface that has it */
	unsigned port_count;
	bool native;
	uint64_t spin_ns; /* behind packets, before it sleeps; about (base/spin.h), at most 1 s */
	const _Atomic int *stop; /* not 0: ends */
	/* Not 0: takes no new groups, and ends when it has none any more; NULL: never. */
	const _Atomic int *drain;
	int wake_fd;  /* -1, or an eventfd: written after a change of the two above, ends a sleep */
	int ready_fd; /* -1, or gets a line when packets are taken, and is closed */
};

/* Returns when it is told to. DXP_EBUSY: the port is in use; DXP_EIO, DXP_ENOENT: the address or a
 * port is not there; DXP_EUNSUPPORTED: plane KERNEL and it does not load; DXP_EINVAL; DXP_ENOMEM.
 * All logged with the next step. */
int serve(const struct serve_options *options);

#endif
