/* SPDX-License-Identifier: BSD-3-Clause */
/* SWITCHES: groups of switches in which this xPU is a member for its hosts. A host passes on the
 * members' exchange; each group has a thread (switch_group.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/slot_internal.h"

static void answer(struct tenant *t, uint32_t sequence, int status, const void *part, size_t bytes)
{
	struct command_reply r = {.op = COMMAND_SWITCHES,
				  .sequence = sequence,
				  .status = status,
				  .part_bytes = (uint32_t)bytes};

	if (bytes)
		memcpy(r.part, part, bytes);
	reply_send(t, &r);
}

static void reject(struct tenant *t, uint32_t sequence, int status, const char *why)
{
	answer(t, sequence, status, why, strlen(why));
}

static void wake(void *context)
{
	struct slot *s = context;

	s->hooks->interrupt(s);
}

/* One endpoint for all groups. After a logged failure the next attempt waits, so that no host can
 * fill the log. */
static int endpoint_open(struct slot *s, char why[DXP_INC_WHY_BYTES])
{
	const struct dxp_inc_options options = {.switches = s->switches};
	const uint64_t now_ns = clock_now_ns();

	if (!s->switches) {
		snprintf(why, DXP_INC_WHY_BYTES,
			 "its dxpd knows no switch; start it with --switch");
		return DXP_ENOENT;
	}
	int status = s->inc ? DXP_OK : s->inc_status;
	if (!s->inc && now_ns >= s->inc_retry_ns) {
		status = s->inc_status = dxp_inc_open(&options, &s->inc);
		s->inc_retry_ns = now_ns + XPU_SWITCH_RETRY_NS;
	}
	if (status != DXP_OK)
		snprintf(why, DXP_INC_WHY_BYTES,
			 "cannot use the switch '%.60s' of its --switch: %s; see the log of its "
			 "dxpd",
			 s->switches, dxp_status_text(status));
	return status;
}

uint32_t switches_count(const struct slot *s, const struct tenant *t)
{
	uint32_t count = 0;

	for (const struct switch_member *m = s->switch_members; m; m = m->next)
		count += !m->leaving && (!t || m->tenant == t);
	return count;
}

/* Counts threads, with those of groups that were left: of all hosts, or of a node that may have
 * opened the xPU several times. */
static uint32_t threads_count(const struct slot *s, const struct tenant *of)
{
	uint32_t count = 0;

	for (const struct switch_member *m = s->switch_members; m; m = m->next)
		count += !of || m->tenant->host == of->host;
	return count;
}

/* A host may have as many groups as are then still free, so one host gets half of all, and the next
 * one half of the rest. The same holds for threads. */
static int members_check(const struct tenant *t, char why[DXP_INC_WHY_BYTES])
{
	const uint32_t all = switches_count(t->slot, NULL), own = switches_count(t->slot, t);
	const uint32_t threads = threads_count(t->slot, NULL);

	if (all >= XPU_SWITCH_GROUPS_MAX)
		snprintf(why, DXP_INC_WHY_BYTES,
			 "it is in %u groups of switches, and %u is the limit; destroy groups that "
			 "are not needed",
			 all, XPU_SWITCH_GROUPS_MAX);
	else if (own >= XPU_SWITCH_GROUPS_MAX - all)
		snprintf(why, DXP_INC_WHY_BYTES,
			 "this program has %u groups of switches there and %u are free, which are "
			 "for others; destroy groups that are not needed",
			 own, XPU_SWITCH_GROUPS_MAX - all);
	else if (threads >= XPU_SWITCH_THREADS_MAX ||
		 threads_count(t->slot, t) >= XPU_SWITCH_THREADS_MAX - threads)
		snprintf(why, DXP_INC_WHY_BYTES,
			 "it still ends %u groups of switches that programs have left; create "
			 "the group again in some seconds",
			 threads - all);
	else
		return DXP_OK;
	t->slot->counters.switch_rejected++;
	return DXP_EBUSY;
}

static int member_create(struct tenant *t, const struct command *c, char why[DXP_INC_WHY_BYTES])
{
	struct slot *s = t->slot;
	int status = members_check(t, why);

	if (status == DXP_OK)
		status = endpoint_open(s, why);
	if (status != DXP_OK)
		return status;
	struct switch_member *m = calloc(1, sizeof(*m));
	const struct switch_group_options o = {.inc = s->inc,
					       .owner = t->host,
					       .member = c->member,
					       .members = c->members,
					       .exchange_ns = XPU_SWITCH_EXCHANGE_NS,
					       .wake = wake,
					       .context = s};
	status = m ? switch_group_open(&o, &m->group) : DXP_ENOMEM;
	if (status != DXP_OK) {
		snprintf(why, DXP_INC_WHY_BYTES, "no memory or no thread for another group");
		free(m);
		return status;
	}
	m->tenant = t;
	m->number = c->group;
	m->sequence = c->sequence;
	m->replies = true;
	m->next = s->switch_members;
	s->switch_members = m;
	t->busy++;
	return DXP_OK;
}

static void open_receive(struct tenant *t, const struct command *c)
{
	char why[DXP_INC_WHY_BYTES] = "the group's number is in use";
	int status = tenant_switches_find(t, c->group) ? DXP_EEXIST : member_create(t, c, why);

	if (status != DXP_OK)
		reject(t, c->sequence, status, why);
}

static void share_receive(struct tenant *t, const struct command *c)
{
	struct switch_member *m = tenant_switches_find(t, c->group);
	int status = m && !m->replies ? switch_group_share(m->group, c->data, c->data_bytes)
				      : DXP_EINVAL;

	if (!m) {
		reject(t, c->sequence, DXP_ENOENT,
		       "it has no such group of switches any more; create the group again");
		return;
	}
	if (status != DXP_OK) {
		reject(t, c->sequence, status, "it expects no contributions of this length");
		return;
	}
	m->sequence = c->sequence;
	m->replies = true;
}

static void member_leave(struct switch_member *m)
{
	if (m->leaving)
		return;
	m->leaving = true;
	switch_group_leave(m->group);
	kernel_reduces_cancel(m);
}

void switches_receive(struct tenant *t, const struct command *c)
{
	struct switch_member *m = tenant_switches_find(t, c->group);

	switch (c->what) {
	case SWITCHES_OPEN: open_receive(t, c); break;
	case SWITCHES_SHARE: share_receive(t, c); break;
	default:
		if (m)
			member_leave(m);
		allreduces_cancel(t, &c->group, DXP_ECANCELED);
		answer(t, c->sequence, m ? DXP_OK : DXP_ENOENT, NULL, 0);
	}
}

void switches_leave(const struct tenant *t)
{
	for (struct switch_member *m = t->slot->switch_members; m; m = m->next)
		if (m->tenant == t)
			member_leave(m);
}

/* Answers the SWITCHES command that waits for this step of the creation. */
static void step_answer(struct switch_member *m, const struct switch_news *news)
{
	const char *why = news->why[0] ? news->why : dxp_status_text(news->status);

	if (!m->replies)
		return;
	m->replies = false;
	if (news->own_bytes)
		answer(m->tenant, m->sequence, DXP_OK, news->own, news->own_bytes);
	else if (news->status == DXP_OK)
		answer(m->tenant, m->sequence, DXP_OK, NULL, 0);
	else
		reject(m->tenant, m->sequence, news->status, why);
}

static void member_free(struct switch_member **at)
{
	struct switch_member *m = *at;

	*at = m->next;
	allreduce_detach(m);
	switch_group_close(m->group);
	m->tenant->busy--;
	free(m);
}

/* A group that was not created. If its host waits for no answer, logs the reason. */
static void creation_end(struct switch_member *m, const struct switch_news *news)
{
	if (news->expired) {
		m->tenant->slot->counters.switch_expired++;
		tenant_complain(m->tenant, "SWITCHES: %s", news->why);
	}
	member_leave(m);
}

/* True: its thread has ended. */
static bool news_handle(struct switch_member *m, const struct switch_news *news)
{
	if (news->own_bytes || news->created)
		step_answer(m, news);
	if (news->created) {
		m->created = news->status == DXP_OK;
		if (!m->created)
			creation_end(m, news);
	}
	if (news->reduced && m->reduction)
		allreduce_reduced(m, news->reduce_status, news->elements);
	kernel_reduces_advance(m);
	return news->ended;
}

uint32_t switches_poll(struct slot *s)
{
	struct switch_member **at = &s->switch_members;
	struct switch_news news;
	uint32_t work = 0;

	while (*at) {
		bool ended = false;
		if (switch_group_poll((*at)->group, &news)) {
			ended = news_handle(*at, &news);
			work++;
		}
		if (ended)
			member_free(at);
		else
			at = &(*at)->next;
	}
	return work;
}

void switches_close(struct slot *s)
{
	struct switch_news news;

	for (struct switch_member *m = s->switch_members; m; m = m->next)
		member_leave(m);
	while (s->switch_members) {
		struct switch_member *m = s->switch_members;
		switch_group_stop(m->group);
		if (switch_group_poll(m->group, &news))
			news_handle(m, &news);
		member_free(&s->switch_members);
	}
	for (struct tenant *t = s->tenants; t; t = t->next)
		allreduces_cancel(t, NULL, DXP_ECLOSED);
	dxp_inc_close(s->inc);
	s->inc = NULL;
}
