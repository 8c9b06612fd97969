/* SPDX-License-Identifier: BSD-3-Clause */
#include "inc/exchange.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "inc/endpoint.h"
#include "inc/limits.h"
#include "wire/inc_compat.h"
#include "wire/limits.h"

_Static_assert(sizeof(struct hello) == 28 && sizeof(struct outcome) == 20, "no padding");

static int changed(char why[DXP_INC_WHY_BYTES])
{
	snprintf(
		why, DXP_INC_WHY_BYTES,
		"the exchange between the members changed this member's message; check the program "
		"that passes the messages on");
	return DXP_EINVAL;
}

/* Returns true for addresses that a host can have. */
static bool address_sound(uint32_t ip)
{
	return ip != 0 && ip < 0xe0000000u; /* neither multicast nor reserved */
}

static bool id_sound(const struct hello *h)
{
	return h->id != 0 &&
	       h->id < (h->framing == DXP_INC_COMPAT ? INC_COMPAT_COMM : INC_COMM_CONTROL);
}

static bool hello_sound(const struct hello *h)
{
	return address_sound(h->ip) && address_sound(h->switch_ip) && h->port >= ROCE_SOURCE_PORT &&
	       h->segment_bytes <= INC_SEGMENT_MAX && h->able <= 1 && id_sound(h);
}

static int hello_check(const struct hello *h, const struct hello *first,
		       char why[DXP_INC_WHY_BYTES])
{
	if (h->framing != first->framing || h->framing > DXP_INC_COMPAT ||
	    h->reach >= INC_REACHES) {
		snprintf(why, DXP_INC_WHY_BYTES,
			 "the members request different framings, or have different releases; use "
			 "the same on all hosts");
		return DXP_EINVAL;
	}
	if (!hello_sound(h)) {
		snprintf(why, DXP_INC_WHY_BYTES,
			 "a member's message has an address, id or length that is out of range; "
			 "use the same release on all hosts");
		return DXP_EINVAL;
	}
	return DXP_OK;
}

/* Returns true if another member has this member's address, so that it would get its packets. */
static bool address_shared(const struct hello *hellos, uint32_t count, uint32_t member,
			   const struct hello *own)
{
	for (uint32_t i = 0; i < count; i++)
		if (i != member && hellos[i].ip == own->ip && hellos[i].port == own->port)
			return true;
	return false;
}

static int reach_check(const struct hello *hellos, uint32_t count, char why[DXP_INC_WHY_BYTES])
{
	for (uint32_t i = 0; i < count; i++) {
		const struct hello *h = &hellos[i];
		if (h->reach == INC_REACH_YES)
			continue;
		why_unreached(h->reach, h->ip, h->switch_ip, why);
		return h->reach == INC_REACH_NO_SOCKET ? DXP_EIO : DXP_ENOENT;
	}
	return DXP_OK;
}

int exchange_hellos_check(const struct hello *hellos, uint32_t count, uint32_t member,
			  const struct hello *own, char why[DXP_INC_WHY_BYTES])
{
	int status = DXP_OK;

	if (memcmp(&hellos[member], own, sizeof(*own)) != 0)
		return changed(why);
	for (uint32_t i = 0; i < count && status == DXP_OK; i++)
		status = hello_check(&hellos[i], &hellos[0], why);
	for (uint32_t i = 0; i < count && status == DXP_OK; i++)
		if (!hellos[i].able) {
			snprintf(why, DXP_INC_WHY_BYTES,
				 "a member has no memory for another group");
			status = DXP_ENOMEM;
		}
	if (status == DXP_OK && address_shared(hellos, count, member, own)) {
		snprintf(why, DXP_INC_WHY_BYTES,
			 "two members have the same endpoint; use one endpoint for each member");
		status = DXP_EINVAL;
	}
	return status == DXP_OK ? reach_check(hellos, count, why) : status;
}

int exchange_outcomes_judge(struct outcome *outcomes, uint32_t count, uint32_t member,
			    const struct outcome *own, uint32_t *sender,
			    char why[DXP_INC_WHY_BYTES])
{
	*sender = count;
	if (memcmp(&outcomes[member], own, sizeof(*own)) != 0)
		return changed(why);
	for (uint32_t i = 0; i < count; i++) {
		struct outcome *o = &outcomes[i];
		if (o->silent >= count)
			o->silent = i;
		if (o->status == DXP_OK)
			continue;
		*sender = i;
		return o->status < 0 ? o->status : DXP_EINVAL;
	}
	return DXP_OK;
}
