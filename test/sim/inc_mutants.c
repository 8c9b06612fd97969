/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the checkers of in-network computing: they must detect each defect that an adapter adds to
 * one node's packets, and pass the correct node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "test/sim/inc_rig.h"

enum mutation {
	SOUND,
	WINDOW_IGNORED,  /* beyond the group's window */
	WRONG_SUM,       /* one bit of a leaf's partial result */
	ANOTHERS_RESULT, /* at one member */
	OLD_RESULT,      /* data of the previous segment */
	/* not the order of the members */
	OTHER_ORDER,
	REPEATS_OTHERS, /* a retransmission differs from the first */
	NEVER_REPEATS,
	WRONG_ICRC,
	FREEZE_BOASTS, /* more results than it has, when the group is frozen */
	FREEZE_HIDES,  /* fewer than it has */
	FREEZE_MUTE,   /* no answer to FREEZE */
};

#define SEEDS 20
/* host with the defect, 1 in a run with deaths; a defect of a leaf is in the first */
#define VICTIM 2
/* hosts, one per leaf; with so few, one is likely ahead */
#define PAIR 2

struct mutant {
	struct inc_sim_tap tap;
	enum mutation what;
	uint32_t leaf, root, victim;
	uint8_t old[2048];
	size_t old_bytes;
	uint32_t old_segment;
};

static void seal(const struct roce_path *path, uint8_t *data, size_t bytes)
{
	const struct roce_piece piece = {data, bytes - ROCE_ICRC_BYTES};
	uint32_t icrc = roce_icrc(path, &piece, 1);

	for (int i = 0; i < 4; i++)
		data[bytes - 4 + (size_t)i] = (uint8_t)(icrc >> 8 * i);
}

static void notify_change(struct mutant *m, uint32_t node, const struct inc_packet *p,
			  uint8_t *payload)
{
	struct inc_control c;
	uint8_t out[INC_CONTROL_BYTES_MAX];

	if (inc_control_decode(p->payload, p->payload_bytes, &c) != DXP_OK)
		return;
	if (m->what == WINDOW_IGNORED && node == m->leaf && p->header.src_rank == m->victim)
		c.window *= 4;
	if (m->what == OTHER_ORDER && p->header.src_rank == 0)
		c.path[0].index = 2;
	if (m->what == OTHER_ORDER && p->header.src_rank == 2)
		c.path[0].index = 0;
	memcpy(payload, out, inc_control_encode(&c, out));
}

static void old_result(struct mutant *m, const struct inc_packet *p, uint8_t *payload)
{
	size_t bytes = p->payload_bytes;

	if (p->header.req_id == m->old_segment && bytes == m->old_bytes) {
		/* the previous segment's data, to the next child */
		memcpy(payload, m->old, bytes);
		return;
	}
	uint8_t now[sizeof(m->old)];
	memcpy(now, payload, bytes);
	if (bytes == m->old_bytes)
		memcpy(payload, m->old, bytes);
	memcpy(m->old, now, bytes);
	m->old_bytes = bytes;
	m->old_segment = p->header.req_id;
}

static bool data_change(struct mutant *m, uint32_t node, const struct roce_path *path,
			const struct inc_packet *p, uint8_t *payload)
{
	bool result = p->header.flags & INC_FLAG_RESULT, any = p->payload_bytes > 0;
	bool repeat = p->header.flags & INC_FLAG_REPEAT;

	if (m->what == WRONG_SUM && node == m->leaf && !result && any)
		payload[0] ^= 1;
	if (m->what == ANOTHERS_RESULT && node == m->leaf && result && any &&
	    path->to_ip == 0x0a000001u + m->victim)
		payload[p->payload_bytes - 1] ^= 0x80;
	if (m->what == OLD_RESULT && node == m->root && result && any)
		old_result(m, p, payload);
	if (m->what == REPEATS_OTHERS && node == m->victim && repeat && any)
		payload[0] ^= 1;
	return !(m->what == NEVER_REPEATS && node == m->victim && repeat);
}

static bool peer_change(struct mutant *m, const struct inc_packet *p, uint8_t *payload)
{
	struct inc_peer peer;

	if ((p->header.kind != INC_FREEZE && p->header.kind != INC_FROZEN) ||
	    inc_peer_decode(p->payload, p->payload_bytes, &peer) != DXP_OK)
		return true;
	peer.next += m->what == FREEZE_BOASTS;
	peer.next -= m->what == FREEZE_HIDES && peer.next > 0;
	inc_peer_encode(&peer, payload);
	return m->what != FREEZE_MUTE;
}

static bool changes(void *context, uint32_t node, const struct roce_path *path, uint8_t *data,
		    size_t bytes)
{
	struct mutant *m = context;
	struct inc_packet p;
	bool leaves = true;

	if (m->what == SOUND || inc_packet_decode(data, bytes, &p) != DXP_OK)
		return true;
	uint8_t *payload = data + (p.payload - data);
	if (p.header.kind == INC_NOTIFY)
		notify_change(m, node, &p, payload);
	else if (p.header.kind == INC_DATA)
		leaves = data_change(m, node, path, &p, payload);
	else if (node == m->victim && m->what >= FREEZE_BOASTS)
		leaves = peer_change(m, &p, payload);
	seal(path, data, bytes);
	if (m->what == WRONG_ICRC && node == m->root)
		data[bytes - 1] ^= 1;
	return leaves;
}

/* Some defects show only in the agreement after a switch's death. */
static void death(struct rig *r, void *context)
{
	const struct inc_job *job = r->jobs[0].job;
	uint32_t *rest = context;

	if (*rest > 0 && job->state == INC_JOB_READY &&
	    inc_sim_now(r->sim) > job->created_ns + *rest) {
		*rest = 0;
		for (uint32_t i = 0; i < inc_sim_switches(r->sim); i++)
			inc_sim_switch_kill(r->sim, i);
	}
}

/* Returns the checkers' first error, or NULL. */
static const char *verdict(enum mutation what, uint64_t seed, bool dies)
{
	static struct rig r;
	static struct mutant m;
	static char text[320];
	struct inc_sim_options o = rig_options(seed);
	struct inc_load_options load = {
		.seed = seed, .calls = dies ? 5000 : 30, .elements_max = 3000};
	struct rng rng = {seed};
	uint32_t rest = dies ? 1000000 + (uint32_t)rng_below(&rng, 50000000) : 0;

	if (what == OLD_RESULT)
		load.elements_max = 8;
	load.outstanding = 2;
	load.grace_ns = dies ? 20 * S_NS : 0;
	o.deadline_ns = dies ? 8 * S_NS : o.deadline_ns;
	o.create_ns = 8 * S_NS;
	if (what == OTHER_ORDER || what == OLD_RESULT) {
		load.collective = INC_ALLREDUCE;
		load.op = DXP_INC_SUM;
		load.type = DXP_INC_DOUBLE;
	}
	o.hop.window = 4;
	o.net.faults =
		(struct sim_faults){.loss_ppm = dies ? 100000 : 20000, .jitter_ns = 5 * US_NS};
	if (dies)
		o.net.tree = (struct inc_tree_options){.hosts = PAIR, .levels = 2, .below = {1, 0}};
	assert_true(rig_make(&r, &o));
	m = (struct mutant){.what = what,
			    .victim = dies ? 1 : VICTIM,
			    .leaf = o.net.tree.hosts,
			    .root = o.net.tree.hosts + 2,
			    .tap.tap = {.changes = changes, .context = &m}};
	struct rig_job *j = rig_job(&r, o.net.tree.hosts, &load);
	inc_sim_tap(r.sim, &m.tap);
	r.step = death;
	r.context = &rest;
	const char *reported = rig_run(&r, 60 * S_NS);
	if (!reported && !dies && (rig_view(j).lost || j->job->state != INC_JOB_READY))
		reported = "a group is lost for nothing";
	if (reported)
		memcpy(text, reported, strlen(reported) + 1);
	rig_free(&r);
	return reported ? text : NULL;
}

static void inc_mutants__sound_one_passes(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const char *text = verdict(SOUND, seed, seed % 2);
		if (text)
			fail_msg("%s", text);
	}
}

/* Checks that the mutant is detected with at least one seed. A defect need not appear in every
 * run. */
static void found(enum mutation what, bool dies)
{
	uint32_t times = 0;
	char first[320] = "";

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const char *text = verdict(what, seed, dies);
		if (text && times++ == 0)
			snprintf(first, sizeof(first), "%s", text);
	}
	print_message("%u of %u: %s\n", times, SEEDS, first);
	assert_true(times > 0);
}

#define FOUND(name, what, dies)                       \
	static void inc_mutants__##name(void **state) \
	{                                             \
		found(what, dies);                    \
	}
FOUND(window_ignored, WINDOW_IGNORED, false)
FOUND(wrong_sum, WRONG_SUM, false)
FOUND(anothers_result, ANOTHERS_RESULT, false)
FOUND(old_result, OLD_RESULT, false)
FOUND(other_order, OTHER_ORDER, false)
FOUND(repeats_others, REPEATS_OTHERS, false)
FOUND(never_repeats, NEVER_REPEATS, false)
FOUND(wrong_icrc, WRONG_ICRC, false)
FOUND(freeze_boasts, FREEZE_BOASTS, true)
FOUND(freeze_hides, FREEZE_HIDES, true)
FOUND(freeze_mute, FREEZE_MUTE, true)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_mutants__sound_one_passes),
		cmocka_unit_test(inc_mutants__window_ignored),
		cmocka_unit_test(inc_mutants__wrong_sum),
		cmocka_unit_test(inc_mutants__anothers_result),
		cmocka_unit_test(inc_mutants__old_result),
		cmocka_unit_test(inc_mutants__other_order),
		cmocka_unit_test(inc_mutants__repeats_others),
		cmocka_unit_test(inc_mutants__never_repeats),
		cmocka_unit_test(inc_mutants__wrong_icrc),
		cmocka_unit_test(inc_mutants__freeze_boasts),
		cmocka_unit_test(inc_mutants__freeze_hides),
		cmocka_unit_test(inc_mutants__freeze_mute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
