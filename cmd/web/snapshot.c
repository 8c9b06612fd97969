/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static enum web_health health_of(const struct node_entry *row, const struct stats_view *v)
{
	if (!row->alive)
		return WEB_DEAD;
	if (!v->missing)
		return WEB_ALIVE;
	return strcmp(v->missing, "no answer") == 0 ? WEB_SILENT : WEB_UNOBSERVED;
}

static uint64_t repeats_of(const uint64_t *totals)
{
	return totals[STATS_SESSION_retransmitted_gap] + totals[STATS_SESSION_retransmitted_probe] +
	       totals[STATS_SESSION_retransmitted_timeout] +
	       totals[STATS_SESSION_retransmitted_busy];
}

/* Returns the increase of a counter per second; 0 if the counter decreased. */
static double growth(uint64_t before, uint64_t after, double seconds)
{
	return after > before ? (double)(after - before) / seconds : 0;
}

static double percent(double part, double of)
{
	return of > 0 ? 100 * part / of : 0;
}

/* If a node has published nothing since the previous reading, it was idle, and its rates are 0. */
static void rates_set(struct web_node *n, const struct web_node *before)
{
	const struct stats_view *v = n->view;

	if (!before || v->missing || before->view->missing ||
	    before->view->node.started_ns != v->node.started_ns)
		return;
	const struct stats_node *a = &before->view->node, *b = &v->node;
	n->rated = true;
	if (b->published_ns <= a->published_ns)
		return;
	const double seconds = (double)(b->published_ns - a->published_ns) / S_NS;
#define GROWTH(field) growth(a->values[field], b->values[field], seconds)
	n->rates = (struct web_rates){
		.received_bytes = GROWTH(STATS_LINK_received_bytes),
		.sent_bytes = GROWTH(STATS_LINK_sent_bytes),
		.received_packets = GROWTH(STATS_LINK_received_datagrams),
		.sent_packets = GROWTH(STATS_LINK_sent_datagrams),
		.drops = GROWTH(STATS_LINK_receive_drops),
		.first_packets = growth(a->totals[STATS_SESSION_sent_packets],
					b->totals[STATS_SESSION_sent_packets], seconds),
	};
#undef GROWTH
	n->rates.repeats_percent =
		percent(growth(repeats_of(a->totals), repeats_of(b->totals), seconds),
			n->rates.first_packets);
}

static void sums_add(struct web_snapshot *s, const struct web_node *n, double *repeats)
{
	s->healths[n->health]++;
	s->xpus += n->entry.kind == MANAGE_XPU;
	s->rates.received_bytes += n->rates.received_bytes;
	s->rates.sent_bytes += n->rates.sent_bytes;
	s->rates.received_packets += n->rates.received_packets;
	s->rates.sent_packets += n->rates.sent_packets;
	s->rates.first_packets += n->rates.first_packets;
	s->rates.drops += n->rates.drops;
	*repeats += n->rates.repeats_percent * n->rates.first_packets / 100;
}

struct web_snapshot *web_snapshot_create(const struct node_entry *rows, size_t count,
					 struct stats_list *stats,
					 const struct web_snapshot *previous)
{
	struct web_snapshot *s = calloc(1, sizeof(*s));
	double repeats = 0;

	if (s)
		s->nodes = calloc(count + 1, sizeof(*s->nodes));
	if (!s || !s->nodes) {
		free(s);
		return NULL;
	}
	atomic_init(&s->references, 1);
	s->sequence = previous ? previous->sequence + 1 : 1;
	s->count = count;
	s->stats = *stats;
	*stats = (struct stats_list){0};
	for (size_t i = 0; i < count; i++) {
		struct web_node *n = &s->nodes[i];
		n->entry = rows[i];
		n->view = &s->stats.views[i];
		n->health = health_of(&rows[i], n->view);
		rates_set(n, web_snapshot_id(previous, rows[i].id));
		sums_add(s, n, &repeats);
	}
	s->rates.repeats_percent = percent(repeats, s->rates.first_packets);
	return s;
}

struct web_snapshot *web_snapshot_hold(struct web_snapshot *s)
{
	if (s)
		atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed);
	return s;
}

void web_snapshot_release(struct web_snapshot *s)
{
	if (!s || atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1)
		return;
	stats_list_free(&s->stats);
	free(s->nodes);
	free(s);
}

const struct web_node *web_snapshot_find(const struct web_snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->nodes[i].entry.name, name) == 0)
			return &s->nodes[i];
	return NULL;
}

static int by_id(const void *key, const void *node)
{
	return (int)*(const uint16_t *)key - (int)((const struct web_node *)node)->entry.id;
}

const struct web_node *web_snapshot_id(const struct web_snapshot *s, uint16_t id)
{
	return s ? bsearch(&id, s->nodes, s->count, sizeof(*s->nodes), by_id) : NULL;
}

const char *web_health_name(enum web_health health)
{
	static const char *const names[WEB_HEALTHS] = {
		[WEB_ALIVE] = "alive",
		[WEB_SILENT] = "silent",
		[WEB_DEAD] = "dead",
		[WEB_UNOBSERVED] = "unobserved",
	};

	return names[health];
}
