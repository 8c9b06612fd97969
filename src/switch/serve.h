/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch behind sockets, as `dxp-switch` runs it: the core, its UDP sockets, the XDP plane where
 * it loads, and the event loop. */
#ifndef SWITCH_SERVE_H
#define SWITCH_SERVE_H

#include "switch/switch.h"

enum serve_plane { SERVE_PLANE_AUTO, SERVE_PLANE_USER, SERVE_PLANE_KERNEL };

struct serve_options {
	struct sw_options core; /* `kernel` is filled in here */
	enum serve_plane plane; /* AUTO: XDP if it loads, else user space and a warning */
	/* XDP ports; none: all ports of the bridge with core.ip, or the interface with it. */
	const char *const *ports;
	unsigned port_count;
	bool native;
	uint64_t spin_ns; /* spin after packets before sleeping, about (base/spin.h); at most 1 s */
	const _Atomic int *stop; /* nonzero: stop */
	/* Nonzero: reject new groups, and stop when none is left. May be NULL. */
	const _Atomic int *drain;
	int wake_fd;  /* -1, or an eventfd that wakes the loop after a change of the two above */
	int ready_fd; /* -1, or gets a line when ready, then is closed */
};

/* Runs the switch until `stop` or `drain`. Logs every error with the next step. DXP_EBUSY: the port
 * is in use. DXP_EIO, DXP_ENOENT: the address or a port is missing. DXP_EUNSUPPORTED: plane KERNEL
 * does not load. DXP_EINVAL; DXP_ENOMEM. */
int serve_run(const struct serve_options *options);

#endif
