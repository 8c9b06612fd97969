/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages that members exchange by the caller's bootstrap while they create a group: a hello,
 * then an outcome. The bootstrap may pass any bytes, for example those of a hostile host, so each
 * field is checked before its use. No I/O. */
#ifndef INC_EXCHANGE_H
#define INC_EXCHANGE_H

#include <stdint.h>

#include <dxp/inc.h>

struct hello {
	uint32_t ip, switch_ip;
	uint16_t port, segment_bytes;
	uint8_t framing, able; /* able: this member has memory for the group */
	uint8_t reach;         /* enum inc_reach of this member's switch */
	uint8_t unused; /* not checked: earlier releases send any value, also in unused_too */
	/* Only the values of member 0 are used: */
	uint16_t epoch;
	uint16_t unused_too;
	uint32_t id, qkey;
};

/* Outcome of a group's creation at one member. All members exchange their outcomes, so that all
 * agree. */
struct outcome {
	int32_t status;
	uint32_t cause, cause_ip, silent;
	uint32_t multicast_lost; /* multicast does not reach the member */
};

/* Checks the hellos of all members, of which number `member` must be `own`. All members have the
 * same hellos, so all get the same status: DXP_OK; DXP_ENOMEM, DXP_ENOENT or DXP_EIO if a member
 * lacks memory or its switch; DXP_EINVAL if a hello is not valid. *why has the reason. */
int exchange_hellos_check(const struct hello *hellos, uint32_t count, uint32_t member,
			  const struct hello *own, char why[DXP_INC_WHY_BYTES]);

/* Checks the outcomes of all members, of which number `member` must be `own`. Returns DXP_OK, or
 * the first failure in the order of member numbers, because member 0 knows most. *sender is the
 * member that failed; `count`: none, or the outcomes are not valid, with the reason in *why. */
int exchange_outcomes_judge(struct outcome *outcomes, uint32_t count, uint32_t member,
			    const struct outcome *own, uint32_t *sender,
			    char why[DXP_INC_WHY_BYTES]);

#endif
