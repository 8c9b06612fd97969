/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts for the user that explain why a group was not created. */
#include <stdio.h>

#include <dxp/status.h>

#include "inc/endpoint.h"

#define IP_BYTES 16

static const char *ip_text(uint32_t ip, char out[IP_BYTES])
{
	snprintf(out, IP_BYTES, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
	return out;
}

void why_unreached(enum inc_reach reach, uint32_t host_ip, uint32_t switch_ip,
		   char why[DXP_INC_WHY_BYTES])
{
#define REACH_TEXT(name, text) text,
	static const char *const texts[] = {INC_REACH_LIST(REACH_TEXT)};
#undef REACH_TEXT
	char a[IP_BYTES], b[IP_BYTES];

	snprintf(why, DXP_INC_WHY_BYTES, "no answer through switch %s to host %s: %s",
		 ip_text(switch_ip, a), ip_text(host_ip, b), texts[reach % INC_REACHES]);
}

void why_text(const struct outcome *o, uint32_t member, const struct inc_member *members,
	      const uint32_t *switches, char why[DXP_INC_WHY_BYTES])
{
	char a[IP_BYTES], b[IP_BYTES];
	uint32_t silent = o->silent;

	if (o->cause != 0)
		snprintf(why, DXP_INC_WHY_BYTES, "switch %s rejects the group: %s",
			 ip_text(o->cause_ip, a), inc_cause_text(o->cause));
	else if (o->status == DXP_ENOENT)
		snprintf(why, DXP_INC_WHY_BYTES,
			 "no answer through switch %s, the switch of host %s; check that "
			 "dxp-switch runs there and reaches the switches above it (\"dxp inc\")",
			 ip_text(switches[silent], a), ip_text(members[silent].ip, b));
	else if (o->status == DXP_EUNSUPPORTED)
		snprintf(why, DXP_INC_WHY_BYTES,
			 "no switch is above all hosts (the switch of host %s is %s); give each "
			 "dxp-switch its --parent",
			 ip_text(members[member].ip, b), ip_text(switches[member], a));
	else
		snprintf(why, DXP_INC_WHY_BYTES, "host %s: %s", ip_text(members[member].ip, b),
			 dxp_status_text(o->status));
}
