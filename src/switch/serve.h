/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch with sockets, for `dxp-switch`: core, UDP, XDP plane if possible, event loop. */
#ifndef SWITCH_SERVE_H
#define SWITCH_SERVE_H

#include "switch/input.h"
#include "switch/switch.h"

enum serve_plane { SERVE_PLANE_AUTO, SERVE_PLANE_USER, SERVE_PLANE_KERNEL };

struct serve_options {
	struct sw_options core; /* serve_run sets `kernel` */
	/* SERVE_PLANE_AUTO: XDP, else a warning and user space */
	enum serve_plane plane;
	/* Interfaces for XDP; none: all ports of the bridge with core.ip, or the interface with
	 * it. */
	const char *const *ports;
	unsigned port_count;
	bool native;
	/* Weights of forwarded and computed packets in the arbiter (input.h); 0 stands for 1. */
	uint8_t weights[INPUT_CLASSES];
	int socket_priority; /* of link_options; 0 .. 6 */
	const char *user;    /* to run as, see privileges_drop */
	/* FABRIC_KEY_BYTES, to read counters at UDP port `stats_port`; NULL: no reader. */
	const uint8_t *key;
	uint16_t stats_port;
	/* after packets, approximately (base/spin.h); at most 1 s */
	uint64_t spin_ns;
	const _Atomic int *stop;
	/* Nonzero: rejects new groups, and stops without groups. May be NULL. */
	const _Atomic int *drain;
	int wake_fd; /* eventfd after a change of *stop or *drain; -1: none */
	/* Gets one line when the switch is ready, then closes; -1: none. */
	int ready_fd;
};

/* Runs until *stop, or until *drain without groups. Errors are logged with the next step:
 * DXP_EBUSY: the port is in use; DXP_EIO, DXP_ENOENT: address, port or user is missing;
 * DXP_EUNSUPPORTED: SERVE_PLANE_KERNEL, but no plane; DXP_EINVAL; DXP_ENOMEM. */
int serve_run(const struct serve_options *options);

#endif
