/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/notices.h"

#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "xpu/limits.h"

struct notice {
	struct notice *next;
	struct notices *all;
	struct notice_host host;
	uint16_t node;
	bool reached;      /* true: `magic` is known, and the last attempt found the xPU alive */
	uint32_t magic;    /* of the xPU at the first attempt that found it; 0: none has */
	uint64_t begun_ns; /* time of notice_send() */
	uint64_t due_ns;   /* time of the next attempt; 0: not set */
	struct command_event event;
};

struct notices {
	const struct notices_hooks *hooks;
	void *context;
	struct notice *lost; /* to be sent again */
	uint32_t count;      /* length of this list */
	uint64_t next_ns;    /* time when one of them is due, or earlier; UINT64_MAX: none */
};

int notices_create(const struct notices_hooks *hooks, void *context, struct notices **out)
{
	struct notices *n = calloc(1, sizeof(*n));

	if (!n)
		return DXP_ENOMEM;
	n->hooks = hooks;
	n->context = context;
	n->next_ns = UINT64_MAX;
	*out = n;
	return DXP_OK;
}

void notices_destroy(struct notices *n)
{
	if (!n)
		return;
	while (n->lost) {
		struct notice *next = n->lost->next;
		free(n->lost);
		n->lost = next;
	}
	free(n);
}

/* `due_ns`: time of the next attempt; 0: not set yet. */
static void lost_add(struct notice *i, uint64_t due_ns)
{
	struct notices *n = i->all;

	i->due_ns = due_ns;
	n->next_ns = min_u64(n->next_ns, due_ns);
	i->next = n->lost;
	n->lost = i;
	n->count++;
}

static void sent(void *context, int status)
{
	struct notice *i = context;

	if (status == DXP_OK)
		free(i);
	else
		lost_add(i, 0);
}

/* Sends the event; frees it if nothing waits for it any more. */
static void attempt(struct notice *i)
{
	const struct notices *n = i->all;
	uint32_t magic;
	int status = n->hooks->find(n->context, i->node, &magic);

	i->reached = status == DXP_OK;
	if (status == DXP_EINVAL || (i->reached && i->magic && i->magic != magic)) {
		free(i);
		return;
	}
	if (i->reached) {
		i->magic = magic;
		status = n->hooks->send(n->context, i->node, magic, &i->event, sent, i);
	}
	if (status != DXP_OK)
		lost_add(i, 0);
}

void notice_send(struct notices *n, const struct notice_host *host, uint16_t node,
		 const struct command_event *e, uint64_t now_ns)
{
	struct notice *i = n->count < XPU_NOTICES_MAX ? calloc(1, sizeof(*i)) : NULL;

	if (!i) {
		n->hooks->failed(n->context, host, node);
		return;
	}
	i->all = n;
	i->host = *host;
	i->node = node;
	i->event = *e;
	i->begun_ns = now_ns;
	attempt(i);
}

/* Gives up the event. If the other xPU is not alive, its host and this one know it by their
 * tables. */
static void give_up(struct notice *i)
{
	const struct notices *n = i->all;

	if (i->reached)
		n->hooks->failed(n->context, &i->host, i->node);
	free(i);
}

uint32_t notices_advance(struct notices *n, uint64_t now_ns)
{
	struct notice *i = n->lost, *next;
	uint32_t work = 0;

	if (now_ns < n->next_ns)
		return 0;
	n->lost = NULL;
	n->count = 0;
	n->next_ns = UINT64_MAX;
	for (; i; i = next) {
		next = i->next;
		const uint64_t due_ns = i->due_ns ? i->due_ns : now_ns + XPU_NOTICE_AGAIN_NS;
		if (now_ns < due_ns) {
			lost_add(i, due_ns);
			continue;
		}
		work++;
		if (!n->hooks->needed(n->context, &i->host))
			free(i);
		else if (now_ns - i->begun_ns >= XPU_NOTICE_NS)
			give_up(i);
		else
			attempt(i);
	}
	return work;
}

uint64_t notices_deadline(const struct notices *n)
{
	return n->next_ns;
}
