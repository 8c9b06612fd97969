/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/probe.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/datagram.h"

#define LONG_EVERY  4 /* each 4th probe of a path is a long one */
#define LONG_LOSSES 2 /* long probes without answer before a shorter length is tried */

/* Lengths to try below that of the interface, in bytes of UDP payload. They fit jumbo frames,
 * common tunnels, Ethernet, and the shortest IPv6 path. */
static const uint16_t lengths[] = {8952, 4032, 1472, 1452, 1372, 1232};

void probe_init(struct probe *p, uint64_t number, uint64_t now_ns)
{
	*p = (struct probe){.number = number, .due_ns = now_ns + PROBE_INTERVAL_NS};
}

/* ---- which peers ---- */

static struct probe_path *path_find(struct probe *p, uint16_t node)
{
	for (unsigned i = 0; i < p->count; i++)
		if (p->paths[i].node == node)
			return &p->paths[i];
	return NULL;
}

static void path_begin(struct probe_path *path, const struct probe_view *view,
		       const struct node_entry *peer)
{
	*path = (struct probe_path){.node = peer->id, .incarnation = peer->incarnation};
	memcpy(path->name, peer->name, sizeof(path->name));
	path->limit_bytes = path->long_bytes = view->limit(view->context, &peer->address);
}

/* Returns the peer with this id, or NULL if it is not to be measured. */
static const struct node_entry *peer_find(const struct probe_view *view, uint16_t id)
{
	const struct node_entry *e = view->next(view->context, (uint16_t)(id - 1));

	return e && e->id == id ? e : NULL;
}

/* Removes the paths of peers that are gone, and restarts the measurement of restarted peers. */
static void paths_check(struct probe *p, const struct probe_view *view)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < p->count; i++) {
		const struct node_entry *peer = peer_find(view, p->paths[i].node);
		if (!peer)
			continue;
		if (peer->incarnation != p->paths[i].incarnation)
			path_begin(&p->paths[i], view, peer);
		if (kept != i)
			p->paths[kept] = p->paths[i];
		kept++;
	}
	p->count = kept;
}

/* Returns the next peer in circular order of ids that has no path, or NULL. */
static const struct node_entry *peer_next(struct probe *p, const struct probe_view *view)
{
	uint16_t after = p->last;

	for (unsigned wraps = 0; wraps < 2;) {
		const struct node_entry *e = view->next(view->context, after);
		if (!e) {
			after = 0;
			wraps++;
			continue;
		}
		if (!path_find(p, e->id))
			return e;
		after = e->id;
	}
	return NULL;
}

/* Gives free entries to peers without a path. If there is no free entry, one peer gets the entry of
 * a path that has had PROBE_ROUNDS probes. */
static void paths_fill(struct probe *p, const struct probe_view *view)
{
	const struct node_entry *peer;

	while (p->count < PROBE_PATHS && (peer = peer_next(p, view)) != NULL) {
		p->last = peer->id;
		path_begin(&p->paths[p->count++], view, peer);
	}
	for (unsigned i = 0; p->count == PROBE_PATHS && i < p->count; i++) {
		if (p->paths[i].probes < PROBE_ROUNDS)
			continue;
		peer = peer_next(p, view);
		if (!peer)
			return;
		p->last = peer->id;
		path_begin(&p->paths[i], view, peer);
		return;
	}
}

/* ---- probes ---- */

/* Adds the outcome of a short probe to the last PROBE_WINDOW ones. */
static void outcome_add(struct probe_path *path, bool answered)
{
	path->outcomes = path->outcomes << 1 | answered;
	if (path->judged < PROBE_WINDOW)
		path->judged++;
}

static void answer_missed(struct probe *p)
{
	struct probe_path *path = &p->paths[p->current];

	if (!p->outstanding || p->current >= p->count)
		return;
	p->outstanding = false;
	if (!p->is_long) {
		path->unanswered++;
		outcome_add(path, false);
		return;
	}
	path->recheck = true;
	if (++path->long_lost < LONG_LOSSES || path->unanswered > 0)
		return;
	for (unsigned i = 0; i < ARRAY_COUNT(lengths); i++) {
		if (lengths[i] < path->long_bytes) {
			path->long_bytes = lengths[i];
			path->long_lost = 0;
			return;
		}
	}
}

/* Returns true if the path has just lost a long probe, or has lost short ones but is not blocked
 * yet. */
static bool path_urgent(const struct probe_path *path)
{
	return path->recheck || (path->unanswered > 0 && path->unanswered < PROBE_BLOCKED);
}

/* Chooses the path of the next probe: the same path again if it is urgent, so that a blocked path
 * is found soon; otherwise the next path in circular order. Returns false if there is none. */
static bool path_choose(struct probe *p, uint64_t now_ns)
{
	if (p->current < p->count && path_urgent(&p->paths[p->current]))
		return true;
	for (unsigned i = 1; i <= p->count; i++) {
		unsigned next = (p->current + i) % p->count;
		if (now_ns >= p->paths[next].pause_ns) {
			p->current = next;
			return true;
		}
	}
	return false;
}

size_t probe_send(struct probe *p, const struct probe_view *view, struct datagram *out,
		  uint64_t now_ns)
{
	p->due_ns = now_ns + PROBE_INTERVAL_NS;
	answer_missed(p);
	if (view->node == WIRE_NODE_NONE)
		return 0;
	paths_check(p, view);
	paths_fill(p, view);
	if (!path_choose(p, now_ns))
		return 0;
	struct probe_path *path = &p->paths[p->current];
	const struct node_entry *peer = peer_find(view, path->node);
	if (!peer)
		return 0;
	p->is_long = !path->recheck && path->unanswered == 0 &&
		     path->probes % LONG_EVERY == LONG_EVERY - 1 &&
		     path->long_bytes > PROBE_BYTES_MIN;
	const size_t bytes =
		probe_encode(++p->number, p->is_long ? path->long_bytes : PROBE_BYTES_MIN,
			     view->node, path->node, view->mac, p->frame);
	datagram_place(out, &peer->address, p->frame, bytes);
	path->probes++;
	path->recheck = false;
	p->sent_ns = now_ns;
	p->outstanding = true;
	return 1;
}

/* ---- arrivals ---- */

static void reply_process(struct probe *p, uint16_t from, const struct probe_reply *reply,
			  uint64_t arrived_ns, uint64_t now_ns)
{
	struct probe_path *path = &p->paths[p->current];

	if (!p->outstanding || p->current >= p->count || path->node != from ||
	    reply->number != p->number)
		return;
	p->outstanding = false;
	path->answered_ns = now_ns;
	path->pause_ns = now_ns + reply->pause_s * S_NS;
	path->unanswered = 0;
	if (p->is_long) {
		path->long_lost = 0;
		path->answered_bytes = path->long_bytes;
		return;
	}
	outcome_add(path, true);
	const uint64_t rtt_ns = arrived_ns > p->sent_ns ? arrived_ns - p->sent_ns : 1;
	path->srtt_ns = path->srtt_ns ? path->srtt_ns - path->srtt_ns / 8 + rtt_ns / 8 : rtt_ns;
	path->recent_ns[path->recent++ % PROBE_RECENT] = rtt_ns;
	path->min_rtt_ns = path->min_rtt_ns ? min_u64(path->min_rtt_ns, rtt_ns) : rtt_ns;
}

/* Counts one PROBE. Returns false if there are too many to check their MACs. */
static bool check_allowed(struct probe *p, uint64_t now_ns)
{
	if (now_ns - p->second_ns >= S_NS) {
		p->replies_before = now_ns - p->second_ns < 2 * S_NS ? p->replies : 0;
		p->replies = 0;
		p->checks = 0;
		p->second_ns = now_ns;
	}
	return p->checks++ < PROBE_CHECKS_PER_S;
}

/* Counts one answer, after check_allowed. Returns false above the limit. Sets *pause_s to the pause
 * that the answer demands. */
static bool reply_allowed(struct probe *p, uint8_t *pause_s)
{
	if (p->replies >= PROBE_REPLIES_PER_S)
		return false;
	p->replies++;
	*pause_s = (uint8_t)min_u64(max_u64(p->replies, p->replies_before) / PROBE_REPLIES_UNPAUSED,
				    UINT8_MAX);
	return true;
}

size_t probe_receive(struct probe *p, const struct probe_view *view,
		     const struct datagram_arrival *a, struct datagram *out, uint64_t now_ns)
{
	struct probe_reply reply;
	struct wire_header header;
	struct manage_body body;
	const bool is_probe = a->data[WIRE_OFF_TYPE] == WIRE_PROBE;

	/* Checks the rate before the MAC, so that a flood costs little. Forged PROBEs do not count
	 * as answers. */
	if (is_probe && !check_allowed(p, now_ns))
		return 0;
	if (manage_open(a->data, a->bytes, view->mac, &header, &body) != DXP_OK ||
	    header.dst_node != view->node)
		return 0;
	if (is_probe) {
		if (probe_decode(body, &reply.number) != DXP_OK ||
		    !reply_allowed(p, &reply.pause_s))
			return 0;
		/* An outstanding long probe has left already, so its frame may be overwritten. */
		const size_t bytes = probe_reply_encode(&reply, view->node, header.src_node,
							view->mac, p->frame);
		datagram_place(out, &a->from, p->frame, bytes);
		return 1;
	}
	if (header.type == WIRE_PROBE_REPLY && probe_reply_decode(body, &reply) == DXP_OK)
		reply_process(p, header.src_node, &reply, a->stamped ? a->arrived_ns : now_ns,
			      now_ns);
	return 0;
}

/* ---- results ---- */

static enum stats_path_state path_state(const struct probe_path *path)
{
	if (path->unanswered >= PROBE_BLOCKED)
		return STATS_PATH_BLOCKED;
	return path->answered_ns ? STATS_PATH_OPEN : STATS_PATH_UNKNOWN;
}

static void row_fill(const struct probe_path *path, struct stats_path *row, uint64_t now_ns)
{
	*row = (struct stats_path){.node = path->node,
				   .state = (uint8_t)path_state(path),
				   .sent = path->judged,
				   .answered = (uint64_t)__builtin_popcountll(path->outcomes),
				   .srtt_ns = path->srtt_ns,
				   .min_rtt_ns = path->min_rtt_ns,
				   .answered_bytes = path->answered_bytes,
				   .limit_bytes = path->limit_bytes};
	if (path->answered_ns)
		row->age_ns = max_u64(now_ns - path->answered_ns, 1);
	memcpy(row->peer, path->name, sizeof(row->peer));
}

void probe_page_fill(const struct probe *p, struct stats_page *page, uint64_t now_ns)
{
	uint32_t from = page->first;

	page->published = true;
	for (;;) {
		const struct probe_path *lowest = NULL;
		for (unsigned i = 0; i < p->count; i++)
			if (p->paths[i].node >= from &&
			    (!lowest || p->paths[i].node < lowest->node))
				lowest = &p->paths[i];
		if (!lowest)
			return;
		if (page->count == STATS_PAGE_ROWS) {
			page->next = lowest->node;
			return;
		}
		row_fill(lowest, &page->paths[page->count++], now_ns);
		from = lowest->node + 1u;
	}
}
