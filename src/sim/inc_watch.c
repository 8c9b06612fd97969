/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions of each member, and results, are in rings by the low bits of a segment's number. */
#include "sim/inc_watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/limits.h"

#define HASH_START 0xcbf29ce484222325ull
#define HASH_PRIME 0x100000001b3ull

struct mark {
	uint32_t segment;
	bool known;
	uint64_t hash;
};

struct side {
	uint32_t next; /* first without a result */
	bool early[INC_WINDOW_MAX * 2];
	uint32_t fence; /* short segment awaited, valid if `fenced` */
	bool fenced;
	struct mark *sent;
};

struct inc_watch {
	struct inc_job *job;
	struct inc_sim_tap tap;
	uint32_t window, ring;
	struct side *sides;
	bool *own; /* by node: switches, and hosts of the job */
	struct mark *results;
	struct inc_watch_view view;
	char wrong[200];
};

static void wrong(struct inc_watch *w, const char *format, ...) PRINTF_LIKE(2, 3);

static void wrong(struct inc_watch *w, const char *format, ...)
{
	va_list arguments;

	if (w->wrong[0])
		return;
	va_start(arguments, format);
	vsnprintf(w->wrong, sizeof(w->wrong), format, arguments);
	va_end(arguments);
}

static uint64_t hash(const struct inc_packet *p)
{
	uint64_t h = HASH_START ^ p->header.status;

	if (p->header.status == 0)
		h ^= (uint64_t)p->header.elements << 8 ^ (uint64_t)p->header.call_elements << 24;
	for (size_t i = 0; i < p->payload_bytes; i++)
		h = (h ^ p->payload[i]) * HASH_PRIME;
	return h;
}

/* Returns true if the segment was recorded before; another packet is then a violation. */
static bool mark_set(struct inc_watch *w, struct mark *ring, const struct inc_packet *p,
		     const char *what, uint32_t member)
{
	struct mark *m = &ring[p->header.req_id % w->ring];
	uint64_t h = hash(p);

	if (m->known && m->segment == p->header.req_id) {
		if (m->hash != h)
			wrong(w, "segment %u: member %u %s", m->segment, member, what);
		return true;
	}
	*m = (struct mark){.segment = p->header.req_id, .known = true, .hash = h};
	return false;
}

static struct side *side_make(struct inc_watch *w, uint32_t member)
{
	struct side *side = &w->sides[member];

	if (!side->sent)
		side->sent = calloc(w->ring, sizeof(*side->sent));
	if (!side->sent)
		wrong(w, "the watch has no memory");
	return side->sent ? side : NULL;
}

static void contribution_watch(struct inc_watch *w, uint32_t member, const struct inc_packet *p)
{
	uint32_t s = p->header.req_id;
	struct side *side = side_make(w, member);
	bool is_short = p->header.flags & INC_FLAG_SHORT;

	if (!side)
		return;
	w->view.contributions++;
	if (seq_before(s, side->next))
		/* It may not have processed that result yet. */
		return;
	if (s - side->next >= w->window)
		wrong(w, "member %u contributes to segment %u, but has results only before %u",
		      member, s, side->next);
	if (is_short && s != side->next)
		wrong(w, "member %u contributes to short segment %u and lacks %u", member, s,
		      side->next);
	if (side->fenced && s != side->fence)
		wrong(w, "member %u contributes to segment %u while short %u has no result", member,
		      s, side->fence);
	side->fenced = is_short;
	side->fence = s;
	w->view.repeats +=
		mark_set(w, side->sent, p, "repeats its contribution with other contents", member);
}

static void result_watch(struct inc_watch *w, uint32_t member, const struct inc_packet *p)
{
	uint32_t s = p->header.req_id;
	struct side *side = side_make(w, member);

	if (!side)
		return;
	w->view.results++;
	if (seq_before(s, side->next) || s - side->next >= w->window)
		return; /* the member ignores it */
	mark_set(w, w->results, p, "receives a second, different result", member);
	side->early[s % (2 * w->window)] = true;
	while (side->early[side->next % (2 * w->window)]) {
		side->early[side->next % (2 * w->window)] = false;
		if (side->fenced && side->fence == side->next)
			side->fenced = false;
		side->next++;
	}
}

/* Returns the member, or the number of members if there is none. */
static uint32_t member_at(const struct inc_watch *w, uint32_t node, uint16_t port)
{
	for (uint32_t i = 0; i < w->job->options.count; i++)
		if (w->job->seats[i].location.host == node &&
		    w->job->seats[i].location.endpoint + ROCE_SOURCE_PORT == port)
			return i;
	return w->job->options.count;
}

static bool of_job(const struct inc_watch *w, const struct inc_packet *p)
{
	return p->header.kind == INC_DATA && p->header.comm_id == w->job->options.id &&
	       p->header.epoch == w->job->options.epoch &&
	       (p->roce.opcode != ROCE_UD_SEND_ONLY || p->roce.qkey == w->job->options.qkey);
}

static bool ready(struct inc_watch *w)
{
	if (w->window == 0 && w->job->state == INC_JOB_READY) {
		w->window = w->job->seats[0].notice.window;
		w->ring = 4 * w->window;
		w->results = calloc(w->ring, sizeof(*w->results));
		if (!w->results)
			wrong(w, "the watch has no memory");
	}
	return w->window > 0 && w->results;
}

static void packet_sent(void *context, uint32_t node, const struct roce_path *path,
			const uint8_t *data, size_t bytes, uint64_t now_ns)
{
	struct inc_watch *w = context;
	struct inc_packet p;

	(void)now_ns;
	if (!w->own[node])
		return;
	if (!roce_icrc_right(path, data, bytes))
		wrong(w, "node %u sends a wrong ICRC", node);
	if (inc_packet_decode(data, bytes, &p) != DXP_OK) {
		wrong(w, "node %u sends a packet that does not parse", node);
		return;
	}
	uint32_t member = of_job(w, &p) && !(p.header.flags & INC_FLAG_RESULT)
				  ? member_at(w, node, path->from_port)
				  : w->job->options.count;
	if (ready(w) && member < w->job->options.count)
		contribution_watch(w, member, &p);
}

static void packet_delivered(void *context, uint32_t node, const struct roce_path *path,
			     const uint8_t *data, size_t bytes, uint64_t now_ns)
{
	struct inc_watch *w = context;
	struct inc_packet p;

	(void)now_ns;
	if (!ready(w) || !roce_icrc_right(path, data, bytes) ||
	    inc_packet_decode(data, bytes, &p) != DXP_OK || !of_job(w, &p) ||
	    !(p.header.flags & INC_FLAG_RESULT))
		return;
	uint32_t member = member_at(w, node, path->from_port);
	if (member < w->job->options.count)
		result_watch(w, member, &p);
}

int inc_watch_create(struct inc_job *job, struct inc_watch **out)
{
	struct inc_watch *w = calloc(1, sizeof(*w));
	struct side *sides = calloc(job->options.count, sizeof(*sides));
	const struct inc_tree *tree = inc_net_tree(inc_sim_net(job->sim));
	bool *own = calloc(tree->node_count, sizeof(*own));

	if (!w || !sides || !own) {
		free(own);
		free(sides);
		free(w);
		return DXP_ENOMEM;
	}
	*w = (struct inc_watch){
		.job = job,
		.sides = sides,
		.own = own,
		.tap = {.tap = {.sent = packet_sent, .delivered = packet_delivered, .context = w}}};
	for (uint32_t i = 0; i < tree->node_count; i++)
		own[i] = i >= tree->options.hosts;
	for (uint32_t i = 0; i < job->options.count; i++)
		own[job->seats[i].location.host] = true;
	inc_sim_tap(job->sim, &w->tap);
	*out = w;
	return DXP_OK;
}

void inc_watch_destroy(struct inc_watch *w)
{
	inc_sim_untap(w->job->sim, &w->tap);
	for (uint32_t i = 0; i < w->job->options.count; i++)
		free(w->sides[i].sent);
	free(w->sides);
	free(w->own);
	free(w->results);
	free(w);
}

const char *inc_watch_wrong(const struct inc_watch *w)
{
	return w->wrong[0] ? w->wrong : NULL;
}

void inc_watch_view(const struct inc_watch *w, struct inc_watch_view *out)
{
	*out = w->view;
}
