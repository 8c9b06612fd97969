/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides how an allreduce ends whose switches are lost, from the reports of its members. Pure:
 * src/host/group_rescue.c collects the reports and posts the commands. */
#ifndef COLLECTIVE_RESCUE_H
#define COLLECTIVE_RESCUE_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/collective.h>

/* State of a member's command. LOST: it lost the switches and waits for the host. */
enum rescue_state { RESCUE_PENDING, RESCUE_LOST, RESCUE_COMPLETE, RESCUE_FAILED };

struct rescue {
	uint32_t lost, pending, failed, complete; /* numbers of members */
	uint64_t done_bytes;                      /* of the members that lost the switches */
	bool differ;                              /* true: their numbers differ */
	/* Reason of the loss, and the member that reported it. DXP_EPEERLOST only if no member
	 * knows more. */
	int reason;
	uint32_t reason_member;
	bool is_lost[DXP_GROUP_MEMBERS_MAX];
};

/* Adds the state of one member to *r, which was zero at the start. LOST: `status` is the reason,
 * and `done_bytes` bytes of the result are complete. */
void rescue_add(struct rescue *r, uint32_t member, enum rescue_state state, int status,
		uint64_t done_bytes);

enum rescue_step {
	RESCUE_NOTHING, /* no member has lost the switches */
	RESCUE_AWAIT,   /* members have not reported yet */
	RESCUE_CANCEL,  /* a member has failed, so the lost commands fail too */
	RESCUE_DIFFER,  /* members have different parts of the result: the operation fails */
	RESCUE_REST,    /* everything after done_bytes continues by ring or tree */
	RESCUE_SETTLE,  /* all members have the whole result */
};
/* `bytes`: length of the result. */
enum rescue_step rescue_decide(const struct rescue *r, uint64_t bytes);

#endif
