/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements a hop's far end, a process of its own. */
#include "bench/inc_hop.h"

#include <unistd.h>

#include <dxp/status.h>

#include "bench/child.h"
#include "switch/serve.h"

const char *const hop_names[HOP_KINDS] = {
	"switches, XDP", "switches, XDP native",  "switches, user space",
	"bare XDP echo", "bare XDP echo, native",
};

static void echo_run(int control, const struct hop_far *far)
{
	if (inc_hop_echo_attach(far->port, far->kind == HOP_ECHO_NATIVE) != DXP_OK)
		return;
	if (write(control, "\n", 1) == 1)
		for (;;)
			pause();
}

void inc_hop_far_run(int control, const struct hop_far *far)
{
	static const _Atomic int stop;
	struct serve_options options = {
		.core = {.name = "hop", .ip = far->ip, .no_icrc_check = far->no_icrc_check},
		.plane = far->kind == HOP_USER ? SERVE_PLANE_USER : SERVE_PLANE_KERNEL,
		.native = far->kind == HOP_XDP_NATIVE,
		.ports = &far->port,
		.port_count = far->kind == HOP_USER ? 0 : 1,
		.stop = &stop,
		.wake_fd = -1,
		.ready_fd = control,
	};

	if (child_netns_enter(far->netns) != DXP_OK)
		return;
	if (far->kind == HOP_ECHO || far->kind == HOP_ECHO_NATIVE)
		echo_run(control, far);
	else
		serve_run(&options);
}
