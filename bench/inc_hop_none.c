/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces inc_hop_xdp.c in builds without XDP: only the user-space hop remains. */
#include "bench/inc_hop.h"

#include <dxp/status.h>

int inc_hop_echo_attach(const char *port, bool native)
{
	return DXP_EUNSUPPORTED;
}

int inc_hop_pass_attach(const char *port)
{
	return DXP_EUNSUPPORTED;
}

void inc_hop_pass_detach(void)
{
}

double inc_hop_program_ns(size_t payload_bytes, bool check_icrc)
{
	return 0;
}
