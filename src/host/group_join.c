/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the members of a group join a group of switches, and leave it. The members exchange data
 * when they create the group; this host passes it on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/group.h"
#include "host/internal.h"

#define ROUNDS_MAX 16 /* steps of an exchange; a client of switches needs at most 10 */

/* The messages of one step of the exchange: one for each member. */
struct step {
	const struct dxp_group *g;
	uint32_t number;
	const bool *stop;
	char *why;
	struct command commands[DXP_GROUP_MEMBERS_MAX];
	struct command_reply replies[DXP_GROUP_MEMBERS_MAX];
	int status[DXP_GROUP_MEMBERS_MAX];
	uint8_t all[COMMAND_PACKAGE_BYTES]; /* contributions of all members */
	uint32_t all_bytes;
};

void group_member_why(const struct dxp_group *g, uint32_t member, const char *why,
		      char out[GROUP_WHY_BYTES])
{
	snprintf(out, GROUP_WHY_BYTES, "member %u (xPU '%.40s'): %.190s", member,
		 g->xpus[member]->caps.name, why);
}

static void step_call(struct step *s, enum command_switches what)
{
	const struct request_set set = {.xpus = s->g->xpus,
					.count = s->g->members,
					.commands = s->commands,
					.replies = s->replies,
					.status = s->status,
					.timeout_ns = HOST_REPLY_NS,
					.stop = s->stop};

	memset(s->replies, 0, sizeof(s->replies));
	for (uint32_t m = 0; m < s->g->members; m++) {
		struct command *c = &s->commands[m];
		command_begin(c, COMMAND_SWITCHES);
		c->group = s->number;
		c->what = (uint8_t)what;
		if (what == SWITCHES_OPEN) {
			c->member = (uint16_t)m;
			c->members = (uint16_t)s->g->members;
		} else if (what == SWITCHES_SHARE) {
			c->data = s->all;
			c->data_bytes = s->all_bytes;
		}
	}
	host_fabric_enter(s->g->fabric);
	request_call_all(&set);
	host_fabric_leave(s->g->fabric);
}

/* Returns false, with the reason, if a member has failed. */
static bool step_succeeded(struct step *s)
{
	char why[DXP_INC_WHY_BYTES];

	for (uint32_t m = 0; m < s->g->members; m++) {
		const struct command_reply *r = &s->replies[m];
		if (s->status[m] == DXP_OK)
			continue;
		snprintf(why, sizeof(why), "%.*s", (int)min_u64(r->part_bytes, sizeof(why) - 1),
			 (const char *)r->part);
		group_member_why(s->g, m, why[0] ? why : dxp_status_text(s->status[m]), s->why);
		return false;
	}
	return true;
}

/* Collects the contributions. Returns false if the members do not agree about the step. */
static bool step_collect(struct step *s)
{
	const uint32_t one = s->replies[0].part_bytes;

	s->all_bytes = 0;
	for (uint32_t m = 0; m < s->g->members; m++) {
		if (s->replies[m].part_bytes != one || s->all_bytes + one > sizeof(s->all)) {
			group_member_why(s->g, m,
					 "it differs from member 0 in the exchange of the group; "
					 "run one release of dxpd on all machines",
					 s->why);
			return false;
		}
		memcpy(s->all + s->all_bytes, s->replies[m].part, one);
		s->all_bytes += one;
	}
	return true;
}

static bool exchange(struct step *s)
{
	step_call(s, SWITCHES_OPEN);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		if (!step_succeeded(s) || !step_collect(s))
			return false;
		if (s->all_bytes == 0)
			return true;
		step_call(s, SWITCHES_SHARE);
	}
	snprintf(s->why, GROUP_WHY_BYTES,
		 "the exchange of the members does not end; run one release of dxpd on all "
		 "machines");
	return false;
}

static struct step *step_create(const struct dxp_group *g, uint32_t number)
{
	struct step *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->g = g;
	s->number = number;
	return s;
}

bool group_join(const struct dxp_group *g, uint32_t number, const bool *stop,
		char why[GROUP_WHY_BYTES])
{
	struct step *s = step_create(g, number);

	if (!s) {
		snprintf(why, GROUP_WHY_BYTES, "out of memory");
		return false;
	}
	s->stop = stop;
	s->why = why;
	bool joined = exchange(s);
	if (!joined) {
		s->stop = NULL;
		step_call(s, SWITCHES_CLOSE);
	}
	free(s);
	return joined;
}

void group_leave(const struct dxp_group *g, uint32_t number)
{
	struct step *s = step_create(g, number);

	/* Without memory, the members stay in the group until this host closes the xPUs. */
	if (s)
		step_call(s, SWITCHES_CLOSE);
	free(s);
}
