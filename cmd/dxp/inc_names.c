/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts numbers of switches to texts. */
#include <stdio.h>

#include <dxp/status.h>

#include "cmd/dxp/inc.h"

#define DATA_CAUSE 128 /* first cause that means: a data packet was rejected with this status */

const char *inc_ip_format(uint32_t ip, char out[IP_BYTES])
{
	snprintf(out, IP_BYTES, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff,
		 ip & 0xff);
	return out;
}

const char *inc_refusal_text(unsigned cause)
{
	if (cause < DATA_CAUSE)
		return inc_cause_text(cause);
	switch (-(int)(cause - DATA_CAUSE)) {
	case DXP_ENOENT: return "data of an unknown group (it was freed, or its lease expired)";
	case DXP_EACCESS:
		return "data with a wrong key, or from an address that is no child of the group";
	case DXP_EINVAL: return "data or a message that is not for a switch";
	case DXP_EMALFORMED: return "data that does not parse";
	case DXP_EBUSY: return "data beyond the rate limit";
	default: return dxp_status_text(-(int)(cause - DATA_CAUSE));
	}
}

const char *inc_mode_text(unsigned mode)
{
	static const char *const names[] = {"node", "socket", "flat"};

	return mode < ARRAY_COUNT(names) ? names[mode] : "?";
}

const char *inc_planes_text(unsigned planes)
{
	if (planes & INC_PLANE_KERNEL)
		return "XDP and user space";
	return "user space";
}
