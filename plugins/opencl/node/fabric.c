/* SPDX-License-Identifier: BSD-3-Clause */
/* The membership of this program in the fabric. It joins when it first queries devices. */
#include <stdio.h>

#include "base/clock.h"
#include "host/use.h"
#include "plugins/opencl/node/device.h"

#define RETRY_NS 5000000000ull /* ns until the next attempt after the manager did not answer */

static struct dxp_fabric *fabric;
static bool closed;
static bool forked; /* true in a forked child of the process that joined */
static uint64_t retry_ns;

struct dxp_fabric *opencl_fabric(void)
{
	return fabric;
}

bool opencl_forked(void)
{
	return forked;
}

/* Prints why joining failed. If there is no fabric, prints it only with DXP_CL_VERBOSE, because
 * most programs can also use other platforms. */
static void hint(int status)
{
	if (status != DXP_ENOENT || settings_get()->verbose)
		fprintf(stderr, "dxp: no OpenCL devices of the fabric: %s\n",
			dxp_fabric_error(NULL));
}

struct dxp_fabric *fabric_join(void)
{
	const struct dxp_fabric_options options = {.timeout_ms = settings_get()->join_ms};

	if (fabric || closed || clock_now_ns() < retry_ns)
		return fabric;
	trace_open();
	use_disable();
	int status = dxp_fabric_open(&options, &fabric);
	if (status == DXP_OK) {
		dxp_completions_begun(fabric, true);
		return fabric;
	}
	fabric = NULL;
	if (status != DXP_ENOENT)
		retry_ns = clock_now_ns() + RETRY_NS;
	hint(status);
	return NULL;
}

void fabric_close(void)
{
	closed = true;
}

struct dxp_fabric *fabric_detach(bool in_child)
{
	struct dxp_fabric *was = fabric;

	forked |= in_child;
	closed = true;
	fabric = NULL;
	return was;
}
