/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/notices.h"

#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/ids.h"
#include "xpu/limits.h"

struct notice {
	struct notice *next;
	struct notices *all;
	struct notice_host host;
	uint16_t node;
	int found;           /* status of the last search for the xPU */
	uint32_t magic;      /* of the xPU when first found; 0: not found yet */
	uint64_t begun_ns;   /* time of notice_send() */
	uint64_t unknown_ns; /* first search with DXP_ENOENT; 0: none */
	uint64_t due_ns;     /* lost: time of the next attempt */
	struct command_event event;
};

/* Lost events of a host. */
struct account {
	struct account *next;
	uint32_t owner, count;
};

/* All attempts of an event have the same interval, so the order of losses is the order of due
 * times. */
struct notices {
	const struct notices_hooks *hooks;
	void *context;
	struct notice *lost, **lost_tail;              /* by due time */
	uint32_t count;                                /* number of notices in this list */
	struct account *accounts[XPU_NOTICES_BUCKETS]; /* accounts of the list's events, by owner */
	uint64_t left[(WIRE_NODE_LAST + 64) / 64];     /* a bit per node id: notices_left() */
};

int notices_create(const struct notices_hooks *hooks, void *context, struct notices **out)
{
	struct notices *n = calloc(1, sizeof(*n));

	if (!n)
		return DXP_ENOMEM;
	n->hooks = hooks;
	n->context = context;
	n->lost_tail = &n->lost;
	*out = n;
	return DXP_OK;
}

static struct account **account_find(struct notices *n, uint32_t owner)
{
	struct account **at = &n->accounts[owner % XPU_NOTICES_BUCKETS];

	while (*at && (*at)->owner != owner)
		at = &(*at)->next;
	return at;
}

/* False: memory is short. */
static bool account_add(struct notices *n, uint32_t owner)
{
	struct account **at = account_find(n, owner);

	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (!*at)
			return false;
		(*at)->owner = owner;
	}
	(*at)->count++;
	return true;
}

static void account_remove(struct notices *n, uint32_t owner)
{
	struct account **at = account_find(n, owner), *account = *at;

	if (--account->count > 0)
		return;
	*at = account->next;
	free(account);
}

static struct notice *lost_remove(struct notices *n, struct notice **at)
{
	struct notice *i = *at;

	*at = i->next;
	if (!*at)
		n->lost_tail = at;
	n->count--;
	account_remove(n, i->host.owner);
	return i;
}

void notices_destroy(struct notices *n)
{
	if (!n)
		return;
	while (n->lost)
		free(lost_remove(n, &n->lost));
	free(n);
}

/* Frees the event; its host fails. */
static void fail(struct notice *i, int status)
{
	const struct notices *n = i->all;

	n->hooks->failed(n->context, &i->host, i->node, status);
	free(i);
}

/* Frees it if memory is short. */
static void lost_add(struct notice *i)
{
	struct notices *n = i->all;

	if (!account_add(n, i->host.owner)) {
		fail(i, DXP_ENOMEM);
		return;
	}
	i->due_ns = n->hooks->now_ns(n->context) + XPU_NOTICE_AGAIN_NS;
	i->next = NULL;
	*n->lost_tail = i;
	n->lost_tail = &i->next;
	n->count++;
}

static void sent(void *context, int status)
{
	struct notice *i = context;

	if (status == DXP_OK)
		free(i);
	else
		lost_add(i);
}

void notices_left(struct notices *n, uint16_t node)
{
	n->left[node / 64] |= 1ull << (node % 64);
}

static int search(struct notice *i, uint32_t *magic)
{
	struct notices *n = i->all;
	const uint64_t bit = 1ull << (i->node % 64);
	const int status = n->hooks->find(n->context, i->node, magic);

	if (status != DXP_ENOENT) {
		n->left[i->node / 64] &= ~bit;
		return status;
	}
	if (n->left[i->node / 64] & bit)
		return DXP_EPEERLOST;
	if (i->unknown_ns == 0)
		i->unknown_ns = n->hooks->now_ns(n->context);
	return DXP_ENOENT;
}

/* Frees the event if nothing waits for it any more. */
static void attempt(struct notice *i)
{
	const struct notices *n = i->all;
	uint32_t magic;
	int status = search(i, &magic);

	i->found = status;
	if (status == DXP_EINVAL || (status == DXP_OK && i->magic && i->magic != magic)) {
		free(i);
		return;
	}
	if (status == DXP_OK) {
		i->magic = magic;
		status = n->hooks->send(n->context, i->node, magic, &i->event, sent, i);
	}
	if (status != DXP_OK)
		lost_add(i);
}

void notice_send(struct notices *n, const struct notice_host *host, uint16_t node,
		 const struct command_event *e)
{
	struct notice *i = calloc(1, sizeof(*i));

	if (!i) {
		n->hooks->failed(n->context, host, node, DXP_ENOMEM);
		return;
	}
	i->all = n;
	i->host = *host;
	i->node = node;
	i->event = *e;
	i->begun_ns = n->hooks->now_ns(n->context);
	attempt(i);
}

/* If the other xPU is not alive or has left, its host and this one know it by their tables. */
static void give_up(struct notice *i)
{
	if (i->found == DXP_OK)
		fail(i, DXP_ETIMEDOUT);
	else if (i->found == DXP_EACCESS || i->found == DXP_ENOENT)
		fail(i, i->found);
	else
		free(i);
}

static uint32_t owner_largest(const struct notices *n)
{
	const struct account *largest = NULL;

	for (unsigned i = 0; i < XPU_NOTICES_BUCKETS; i++)
		for (const struct account *a = n->accounts[i]; a; a = a->next)
			if (!largest || a->count > largest->count)
				largest = a;
	return largest->owner;
}

/* Fails the notices of the owner with the most, so that no host uses the space of others. */
static void largest_fail(struct notices *n)
{
	const uint32_t owner = owner_largest(n);
	struct notice **at = &n->lost, *last = NULL;

	while (*at) {
		if ((*at)->host.owner != owner) {
			at = &(*at)->next;
			continue;
		}
		free(last);
		last = lost_remove(n, at);
	}
	fail(last, DXP_EBUSY);
}

/* Returns when the waiting time began. A row that comes late gets the full time, whenever the
 * search began. */
static uint64_t since_ns(const struct notice *i)
{
	return i->found == DXP_ENOENT ? i->unknown_ns : i->begun_ns;
}

uint32_t notices_advance(struct notices *n)
{
	const uint64_t now_ns = n->hooks->now_ns(n->context);
	uint32_t work = 0;

	while (n->count > XPU_NOTICES_MAX)
		largest_fail(n);
	for (; n->lost && n->lost->due_ns <= now_ns; work++) {
		struct notice *i = lost_remove(n, &n->lost);
		if (!n->hooks->needed(n->context, &i->host))
			free(i);
		else if (now_ns - since_ns(i) >= XPU_NOTICE_NS)
			give_up(i);
		else
			attempt(i);
	}
	return work;
}

uint64_t notices_deadline(const struct notices *n)
{
	if (!n->lost)
		return UINT64_MAX;
	return n->count > XPU_NOTICES_MAX ? 0 : n->lost->due_ns;
}
