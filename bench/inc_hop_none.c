/* SPDX-License-Identifier: BSD-3-Clause */
/* In builds without XDP: a hop through user space is all there is. */
#include "bench/inc_hop.h"

#include <dxp/status.h>

int hop_echo_attach(const char *port, bool native)
{
	return DXP_EUNSUPPORTED;
}

double hop_program_ns(size_t payload_bytes, bool check_icrc)
{
	return 0;
}
