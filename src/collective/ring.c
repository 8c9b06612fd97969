/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings. Chunk c travels from member c + 1 around the ring to member c. Each member on the path
 * combines its own contribution. At the end member c has the result of chunk c. An allreduce passes
 * this result on around the ring; a reduce sends it to the root.
 *
 * Segment k of an operation uses half k % 2 of the scratch memory. So the first packets of segment
 * k may arrive while segment k - 1 is combined. They wait until segment k - 2 no longer uses that
 * half. */
#include <stdlib.h>

#include "base/util.h"
#include "collective/build.h"

struct ring {
	const struct plan_request *r;
	struct plan *p;
	struct build_segments segments;
	uint64_t segment;
	/* for each chunk, the last step that combined or copied it */
	uint32_t combined[DXP_GROUP_MEMBERS_MAX];
	/* for each member, the marks of the last two segments */
	uint32_t laps[2][DXP_GROUP_MEMBERS_MAX];
	/* steps of this segment, for each member */
	struct build_lap collected[DXP_GROUP_MEMBERS_MAX];
};

static struct build_chunk chunk_of(const struct plan_request *r, uint32_t c)
{
	uint64_t share = r->count / r->members, longer = r->count % r->members;

	if (r->operation == PLAN_REDUCE_SCATTER)
		return (struct build_chunk){c * r->count, r->count};
	return (struct build_chunk){c * share + min_u64(c, longer), share + (c < longer)};
}

/* Returns the range of elements that a chunk has in this segment; its count is 0 if there are
 * none. */
static struct build_chunk slice_of(const struct ring *g, uint32_t c)
{
	struct build_chunk chunk = chunk_of(g->r, c);
	uint64_t first = min_u64(g->segment * g->segments.slice, chunk.count);

	return (struct build_chunk){chunk.first + first,
				    min_u64(g->segments.slice, chunk.count - first)};
}

/* Returns the step after which `sender` may write to the half of `receiver`'s scratch memory that
 * this segment uses. This is the mark with which the receiver ended the last segment that used the
 * same half. In the first two segments it is the receiver's begin mark.
 *
 * The sender's own mark is used instead if it proves that the half is free: in the first two
 * segments unless `guarded` is set, later if the plan is synchronizing. */
static uint32_t guard(const struct ring *g, uint32_t sender, uint32_t receiver)
{
	bool known = g->segment < 2 ? !g->r->guarded : g->p->synchronizing;

	return g->laps[g->segment % 2][known ? sender : receiver];
}

/* Returns where the completely combined chunk c is stored. */
static struct plan_place result_of(const struct ring *g, uint32_t c, uint64_t first)
{
	uint64_t bytes = g->r->element_bytes;

	if (g->r->operation == PLAN_REDUCE_SCATTER)
		return build_place(PLAN_TO, (first - c * g->r->count) * bytes);
	if (g->r->operation == PLAN_REDUCE && c != g->r->root)
		return build_input(&g->segments, g->segment, g->r->members - 2);
	return build_place(PLAN_TO, first * bytes);
}

static uint32_t next_of(const struct ring *g, uint32_t member)
{
	return (member + 1) % g->r->members;
}

/* Moves chunk c to the next member, which combines it. `hop`: number of the move, 0 .. members -
 * 2. */
static void hop_combine(struct ring *g, uint32_t c, uint32_t hop)
{
	const struct build_chunk slice = slice_of(g, c);
	const uint32_t n = g->r->members, sender = (c + 1 + hop) % n, receiver = next_of(g, sender);
	const uint64_t bytes = g->r->element_bytes;
	const struct plan_place own = build_place(PLAN_FROM, slice.first * bytes);
	const struct plan_place input = build_input(&g->segments, g->segment, hop);
	const bool last = hop == n - 2;

	if (slice.count == 0)
		return;
	const struct plan_step send = {.kind = PLAN_SEND,
				       .member = sender,
				       .peer = receiver,
				       .from = hop ? build_input(&g->segments, g->segment, hop - 1)
						   : own,
				       .to = input,
				       .bytes = slice.count * bytes};
	const uint32_t sent = build_step(
		g->p, &send,
		(uint32_t[]){hop ? g->combined[c] : sender, guard(g, sender, receiver)}, 2);
	const struct plan_step combine = {.kind = PLAN_COMBINE,
					  .member = receiver,
					  .from = own,
					  .to = last ? result_of(g, c, slice.first) : input,
					  .bytes = slice.count * bytes,
					  .inputs = input,
					  .input_count = 1,
					  .divide = last && g->r->average};
	g->combined[c] = build_step(g->p, &combine, (uint32_t[]){receiver, sent}, 2);
	/* The result of an allreduce depends on these steps. So a member that has the result need
	 * not wait for them. */
	if (!g->p->synchronizing)
		build_lap_add(&g->collected[sender], sent);
	if (!g->p->synchronizing && last)
		build_lap_add(&g->collected[receiver], g->combined[c]);
}

/* Moves the result of chunk c to the next member. */
static void hop_copy(struct ring *g, uint32_t c, uint32_t hop)
{
	const struct build_chunk slice = slice_of(g, c);
	const uint32_t n = g->r->members, sender = (c + hop) % n, receiver = next_of(g, sender);
	const struct plan_place at = build_place(PLAN_TO, slice.first * g->r->element_bytes);
	const struct plan_step send = {.kind = PLAN_SEND,
				       .member = sender,
				       .peer = receiver,
				       .from = at,
				       .to = at,
				       .bytes = slice.count * g->r->element_bytes};

	if (slice.count == 0)
		return;
	/* From here on `combined` is the step that copied the chunk last. */
	g->combined[c] = build_step(g->p, &send, (uint32_t[]){g->combined[c]}, 1);
	build_lap_add(&g->collected[sender], g->combined[c]);
	if (hop == n - 2)
		build_lap_add(&g->collected[receiver], g->combined[c]);
}

/* Sends the result of chunk c to the root. */
static void root_send(struct ring *g, uint32_t c)
{
	const struct build_chunk slice = slice_of(g, c);
	const struct plan_step send = {
		.kind = PLAN_SEND,
		.member = c,
		.peer = g->r->root,
		.from = result_of(g, c, slice.first),
		.to = build_place(PLAN_TO, slice.first * g->r->element_bytes),
		.bytes = slice.count * g->r->element_bytes};

	if (slice.count == 0 || c == g->r->root)
		return;
	const uint32_t sent = build_step(g->p, &send, (uint32_t[]){g->combined[c]}, 1);
	build_lap_add(&g->collected[c], sent);
	build_lap_add(&g->collected[g->r->root], sent);
}

static void segment_make(struct ring *g)
{
	const uint32_t n = g->r->members;

	for (uint32_t hop = 0; hop < n - 1; hop++)
		for (uint32_t c = 0; c < n; c++)
			hop_combine(g, c, hop);
	for (uint32_t hop = 0; hop < n - 1 && g->r->operation == PLAN_ALLREDUCE; hop++)
		for (uint32_t c = 0; c < n; c++)
			hop_copy(g, c, hop);
	for (uint32_t c = 0; c < n && g->r->operation == PLAN_REDUCE; c++)
		root_send(g, c);
	for (uint32_t m = 0; m < n; m++) {
		g->p->ends[m] = build_lap_mark(g->p, m, &g->collected[m], g->p->ends[m]);
		g->laps[g->segment % 2][m] = g->p->ends[m];
	}
}

int ring_make(const struct plan_request *r, struct plan *p)
{
	struct ring *g = calloc(1, sizeof(*g));

	if (!g)
		return DXP_ENOMEM;
	g->r = r;
	g->p = p;
	p->synchronizing = r->operation == PLAN_ALLREDUCE;
	int status = build_segments(r, chunk_of(r, 0).count, r->members - 1, &g->segments);
	for (uint32_t m = 0; m < r->members; m++)
		g->laps[0][m] = g->laps[1][m] = m;
	for (; status == DXP_OK && !p->failed && g->segment < g->segments.slices; g->segment++)
		segment_make(g);
	p->scratch_bytes =
		(g->segments.slices > 1 ? 2 : 1) * g->segments.inputs * g->segments.pitch;
	free(g);
	return status;
}
