/* SPDX-License-Identifier: BSD-3-Clause */
/* Silence of the network for 2.9 s closes no session and fails no operation or lease, but a lost
 * peer is detected. A stopped process resumes sessions that its peers keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "node/limits.h"
#include "rltp/internal.h"
#include "sim/sim.h"
#include "test/sim/fabric.h"
#include "test/sim/rig.h"
#include "xpu/limits.h"

#define SILENCE_NS (2900 * MS_NS)
#define PHASE_NS   (50 * MS_NS)
#define PHASES_NS  (2 * FABRIC_RENEW_NS)

enum direction { BOTH, THERE, BACK, DIRECTIONS };

static bool cuts(enum direction direction, enum direction way)
{
	return direction == BOTH || direction == way;
}

/* ---- sessions ---- */

static void rig_cut(struct rig *r, enum direction direction, bool on)
{
	net_blackhole(r->net, 0, 1, on && cuts(direction, THERE));
	net_blackhole(r->net, 1, 0, on && cuts(direction, BACK));
}

/* 3000 bytes: more than one packet. */
static void rig_talk(struct rig *r, uint64_t pause_ns, uint64_t duration_ns)
{
	for (uint64_t passed_ns = 0; passed_ns < duration_ns; passed_ns += pause_ns) {
		rig_post(r, 0, 1, 3000);
		rig_run(r, pause_ns);
	}
}

enum { OPEN = 1, TALKS = 2, AWAITS = 4, LOADS = 8 };

static void session_survives(enum direction direction, uint64_t phase_ns, uint32_t load)
{
	struct rig *r = rig_make(2, 1408);
	bool talks = load & TALKS;

	if (load & OPEN)
		rig_open(r, 0, 1);
	if ((load & AWAITS) && (load & OPEN)) {
		rig_session(r, 0, 1)->awaited = 1;
		rig_post(r, 0, 1, 100); /* node 0 awaits an answer */
	}
	rig_talk(r, 50 * MS_NS, talks ? phase_ns : 0);
	rig_run(r, talks ? 0 : phase_ns);
	rig_cut(r, direction, true);
	if (!talks)
		rig_post(r, 0, 1, 3000);
	rig_talk(r, 50 * MS_NS, talks ? SILENCE_NS : 0);
	rig_run(r, talks ? 0 : SILENCE_NS);
	rig_cut(r, direction, false);
	rig_session(r, 0, 1)->awaited = 0;
	assert_true(rig_finish(r, 0, S_NS));
	assert_int_equal(r->nodes[0].ok, r->nodes[0].posted);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_OPEN);
	once_check(r);
	rig_destroy(r);
}

static void silence__of_2900_ms_ends_no_session(void **state)
{
	for (enum direction d = BOTH; d < DIRECTIONS; d++)
		for (uint64_t phase_ns = 0; phase_ns < PHASES_NS; phase_ns += PHASE_NS)
			for (uint32_t load = 0; load < LOADS; load++)
				session_survives(d, phase_ns + 7 * MS_NS, load);
}

/* The network becomes silent at any phase between two keepalives, so up to one keepalive period is
 * added to the silence. The session stays open. */
static void silence__counts_from_the_last_keepalive(void **state)
{
	for (uint64_t phase_ns = 0; phase_ns < 2 * RLTP_PING_NS; phase_ns += 5 * MS_NS) {
		struct rig *r = rig_make(2, 1408);
		rig_open(r, 0, 1);
		rig_session(r, 0, 1)->awaited = 1;
		rig_post(r, 0, 1, 100);
		rig_run(r, S_NS + phase_ns);
		rig_cut(r, BOTH, true);
		rig_run(r, SILENCE_NS);
		rig_cut(r, BOTH, false);
		rig_run(r, S_NS);
		assert_int_equal(rig_session(r, 0, 1)->state, RLTP_OPEN);
		rig_cut(r, BOTH, true); /* a loss is still detected */
		rig_run(r, RLTP_DEAD_NS + 10 * MS_NS);
		assert_int_equal(rig_session(r, 0, 1)->state, RLTP_IDLE);
		rig_destroy(r);
	}
}

static bool session_watch(struct rig *r, struct rltp_session *s, bool on)
{
	uint64_t now_ns = net_now(r->net);
	bool watched = rltp_endpoint_watch(r->nodes[0].endpoint, s, on, now_ns, now_ns);

	net_touch(r->net, r->nodes[0].host_index);
	return watched;
}

/* A watched session pings although it is idle, and closes soon after answers stop. A session that
 * is no longer watched does not ping. */
static void silence__is_noticed_by_a_watched_session(void **state)
{
	struct rig *r = rig_make(2, 1408);
	struct rltp_session *s;

	rig_open(r, 0, 1);
	s = rig_session(r, 0, 1);
	rig_run(r, 30 * S_NS);
	assert_null(s->io);
	assert_true(session_watch(r, s, true));
	rig_run(r, 20 * S_NS);
	assert_int_equal(s->state, RLTP_OPEN);
	assert_true(net_now(r->net) - s->received_ns < RLTP_DEAD_NS);
	assert_false(session_watch(r, s, false));
	rig_run(r, 20 * S_NS);
	assert_null(s->io);
	rig_cut(r, BOTH, true);
	rig_run(r, 20 * S_NS);
	assert_int_equal(s->state, RLTP_OPEN);
	assert_true(session_watch(r, s, true));
	rig_run(r, RLTP_DEAD_NS - 10 * MS_NS);
	assert_int_equal(s->state, RLTP_OPEN);
	rig_run(r, 20 * MS_NS);
	assert_int_equal(s->state, RLTP_IDLE);
	assert_false(session_watch(r, s, true));
	rig_destroy(r);
}

/* ---- NICs: PUT, GET, and registers ---- */

#define NIC_BYTES (1u << 20)

struct nics {
	struct sim *sim;
	uint8_t *memory[2];
	uint32_t key[2];
	struct dxp_nic_event event;
	uint32_t posted, ended;
};

static uint32_t cfg_value;

static uint8_t cfg_read(void *context, uint16_t node, uint32_t first, uint32_t count,
			uint32_t *values)
{
	values[0] = cfg_value;
	return 0;
}

static uint8_t cfg_write(void *context, uint16_t node, uint32_t first, uint32_t count,
			 const uint32_t *values)
{
	cfg_value += values[0]; /* a sum shows a second execution */
	return 0;
}

static const struct nic_cfg_ops cfg_ops = {cfg_read, cfg_write};

static void nics_open(struct nics *n)
{
	/* 1 MiB in 80 ms */
	struct sim_options o = {.seed = 3, .hosts = 2, .rate_bps = 100000000, .cfg = &cfg_ops};

	*n = (struct nics){0};
	o.backlog_bytes = 65536;
	assert_int_equal(sim_create(&o, &n->sim), DXP_OK);
	for (uint32_t i = 0; i < 2; i++) {
		n->memory[i] = calloc(1, 2 * NIC_BYTES);
		assert_non_null(n->memory[i]);
		for (uint32_t k = 0; k < NIC_BYTES; k++)
			n->memory[i][k] = (uint8_t)(k * 31 + i);
		nic_region_register(sim_nic(n->sim, i), 0, n->memory[i], 2 * NIC_BYTES,
				    NIC_REMOTE_READ | NIC_REMOTE_WRITE, &n->key[i]);
	}
}

static void nics_close(struct nics *n)
{
	sim_destroy(n->sim);
	free(n->memory[0]);
	free(n->memory[1]);
}

enum nic_work { WORK_PUT, WORK_GET, WORK_CFG, WORKS };

static void work_post(struct nics *n, enum nic_work work)
{
	static const uint32_t one = 1;
	struct dxp_target to = sim_target(n->sim, 1, 0);
	struct dxp_entry local = {0, NIC_BYTES, n->key[0]},
			 remote = {NIC_BYTES, NIC_BYTES, n->key[1]};
	struct nic_lists lists = {&local, &remote, 1, 1};
	struct dxp_window *w = sim_window(n->sim, 0);
	int status = DXP_OK;

	switch (work) {
	case WORK_PUT: status = nic_user_put(w, 1, &to, &lists, n->posted); break;
	case WORK_GET:
		local.offset = NIC_BYTES;
		remote.offset = 0;
		status = nic_user_get(w, 1, &to, &lists, n->posted);
		break;
	default: status = nic_user_cfg_write(w, 1, &to, 0, &one, 1, n->posted);
	}
	assert_int_equal(status, DXP_OK);
	n->posted++;
}

static bool work_ended(void *context)
{
	struct nics *n = context;

	if (!dxp_sent_dequeue(sim_window(n->sim, 0), &n->event))
		return false;
	assert_int_equal(n->event.status, DXP_OK);
	n->ended++;
	return true;
}

static void nics_cut(struct nics *n, enum direction direction, bool on)
{
	sim_blackhole(n->sim, 0, 1, on && cuts(direction, THERE));
	sim_blackhole(n->sim, 1, 0, on && cuts(direction, BACK));
}

static bool never(void *context)
{
	work_ended(context);
	return false;
}

static void nics_survive(struct nics *n, enum nic_work work, enum direction d, uint64_t phase_ns)
{
	uint32_t before = cfg_value;

	memset(n->memory[0] + NIC_BYTES, 0, NIC_BYTES);
	memset(n->memory[1] + NIC_BYTES, 0, NIC_BYTES);
	work_post(n, work);
	sim_run(n->sim, phase_ns, never, n);
	nics_cut(n, d, true);
	sim_run(n->sim, SILENCE_NS, never, n);
	nics_cut(n, d, false);
	while (n->ended < n->posted)
		assert_true(sim_run(n->sim, 10 * S_NS, work_ended, n));
	if (work == WORK_PUT)
		assert_memory_equal(n->memory[1] + NIC_BYTES, n->memory[0], NIC_BYTES);
	if (work == WORK_GET)
		assert_memory_equal(n->memory[0] + NIC_BYTES, n->memory[1], NIC_BYTES);
	assert_int_equal(cfg_value, before + (work == WORK_CFG));
}

static void silence__of_2900_ms_ends_no_transfer(void **state)
{
	struct nics n;

	nics_open(&n);
	for (enum nic_work work = WORK_PUT; work < WORKS; work++)
		for (enum direction d = BOTH; d < DIRECTIONS; d++)
			for (uint64_t phase_ns = 0; phase_ns < 90 * MS_NS; phase_ns += 5 * MS_NS)
				nics_survive(&n, work, d,
					     work == WORK_CFG ? phase_ns / 1000 : phase_ns);
	nics_close(&n);
}

/* ---- leases ---- */

static struct fabric *fabric_of_two(void)
{
	struct fabric *f = fabric_create(1, GRANTS_ANY);

	fabric_manager_start(f);
	fabric_member_start(f, fabric_member_add(f, MANAGE_HOST));
	fabric_member_start(f, fabric_member_add(f, MANAGE_XPU));
	return f;
}

static void member_cut(struct fabric_member *m, enum direction direction, bool on)
{
	m->mute = on && cuts(direction, THERE);
	m->deaf = on && cuts(direction, BACK);
}

static void lease_survives(enum direction direction, uint64_t phase_ns)
{
	struct fabric *f = fabric_of_two();

	fabric_run(f, phase_ns);
	member_cut(&f->members[1], direction, true);
	fabric_run(f, SILENCE_NS);
	member_cut(&f->members[1], direction, false);
	for (int i = 0; i < 50; i++) {
		fabric_run(f, 100 * MS_NS);
		assert_int_equal(registry_counters(f->registry)->died, 0);
		assert_int_not_equal(member_state(f->members[1].m), MEMBER_ALONE);
	}
	fabric_check(f);
	fabric_destroy(f);
}

static void silence__of_2900_ms_ends_no_lease(void **state)
{
	for (enum direction d = BOTH; d < DIRECTIONS; d++)
		for (uint64_t phase_ns = 0; phase_ns < PHASES_NS; phase_ns += PHASE_NS / 2)
			lease_survives(d, phase_ns);
}

/* The silence occurs during a join and an operator's request. */
static void silence__of_2900_ms_ends_no_question(void **state)
{
	struct fabric *f = fabric_of_two();

	for (uint64_t phase_ns = 0; phase_ns < S_NS; phase_ns += PHASE_NS) {
		f->loss_ppm = 0;
		fabric_run(f, phase_ns);
		f->loss_ppm = 1000000;
		struct query_options options = {.manager = f->manager,
						.kind = QUERY_NODES,
						.entropy = rng_entropy_rng,
						.entropy_context = &f->rng};
		memcpy(options.key, f->options.key, sizeof(options.key));
		query_destroy(f->query);
		assert_int_equal(query_create(&options, f->now_ns, &f->query), DXP_OK);
		fabric_run(f, SILENCE_NS);
		f->loss_ppm = 0;
		fabric_run(f, 2 * S_NS);
		assert_true(query_done(f->query));
		assert_int_equal(query_status(f->query), DXP_OK);
		assert_int_equal(registry_counters(f->registry)->died, 0);
	}
	fabric_destroy(f);
}

/* ---- stopped processes ---- */

/* Renewals wait in its socket, so no node is declared dead. */
static void silence__of_a_stopped_manager_kills_no_node(void **state)
{
	struct fabric *f = fabric_of_two();

	fabric_run(f, 2 * S_NS);
	fabric_stop(f, 20 * S_NS, NULL);
	fabric_run(f, S_NS);
	assert_int_equal(registry_counters(f->registry)->died, 0);
	fabric_run(f, 10 * S_NS);
	assert_int_equal(registry_counters(f->registry)->died, 0);
	fabric_check(f);
	fabric_destroy(f);
}

/* After a stopped member was declared dead, the manager restores it with its id and incarnation. */
static void silence__of_a_stopped_member_is_no_new_incarnation(void **state)
{
	struct fabric *f = fabric_of_two();
	struct fabric_member *host = &f->members[0];
	enum log_level level;

	fabric_run(f, 2 * S_NS);
	uint16_t id = member_id(host->m);
	member_notice(host->m, &level);
	fabric_stop(f, 40 * S_NS, host);
	assert_int_equal(registry_counters(f->registry)->died, 1);
	fabric_run(f, 500 * MS_NS);
	assert_int_equal(member_state(host->m), MEMBER_JOINED);
	/* users get no notice */
	assert_null(member_notice(host->m, &level));
	assert_int_equal(member_id(host->m), id);
	assert_int_equal(registry_counters(f->registry)->joined, 2);
	fabric_check(f);
	fabric_destroy(f);
}

/* Node 1 keeps the session for a minute, so all messages arrive. */
static void stopped_resumes(uint64_t stopped_ns, uint64_t phase_ns)
{
	struct rig *r = rig_make(2, 1408);
	struct rltp_peer_info info = {.node = 1,
				      .incarnation = r->nodes[0].incarnation,
				      .payload_bytes = 1408,
				      .patience_ns = FABRIC_HOST_KEEP_NS};

	net_address(0, &info.address);
	assert_int_equal(rltp_endpoint_peer(r->nodes[1].endpoint, &info, net_now(r->net)), DXP_OK);
	rig_open(r, 0, 1);
	for (int i = 0; i < 20; i++) {
		rig_post(r, 0, 1, 20000);
		rig_post(r, 1, 0, 20000);
	}
	rig_run(r, phase_ns);
	net_stall(r->net, 0, stopped_ns);
	rig_run(r, stopped_ns / 2);
	for (int i = 0; i < 20; i++)
		rig_post(r, 1, 0, 500);
	rig_run(r, stopped_ns - stopped_ns / 2);
	assert_true(rig_finish(r, 0, 3 * S_NS));
	assert_true(rig_finish(r, 1, 3 * S_NS));
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(r->nodes[i].ok, r->nodes[i].posted);
	once_check(r);
	rig_destroy(r);
}

static void silence__of_a_stopped_host_ends_no_session(void **state)
{
	static const uint64_t seconds[] = {1, 3, 4, 5, 10, 30, 59};

	for (size_t i = 0; i < ARRAY_COUNT(seconds); i++)
		for (uint64_t phase_ns = 0; phase_ns < MS_NS; phase_ns += 100 * US_NS)
			stopped_resumes(seconds[i] * S_NS, phase_ns);
}

/* The session is lost, and both nodes are notified. */
static void silence__of_more_than_a_minute_ends_the_session(void **state)
{
	struct rig *r = rig_make(2, 1408);
	struct rltp_peer_info info = {.node = 1,
				      .incarnation = r->nodes[0].incarnation,
				      .payload_bytes = 1408,
				      .patience_ns = FABRIC_HOST_KEEP_NS};

	net_address(0, &info.address);
	assert_int_equal(rltp_endpoint_peer(r->nodes[1].endpoint, &info, net_now(r->net)), DXP_OK);
	rig_open(r, 0, 1);
	net_stall(r->net, 0, 65 * S_NS);
	rig_post(r, 1, 0, 500);
	/* sent on the old session when the process runs again */
	rig_post(r, 0, 1, 500);
	rig_run(r, FABRIC_HOST_KEEP_NS - S_NS);
	assert_int_equal(r->nodes[1].timed_out, 0);
	rig_run(r, 3 * S_NS);
	assert_int_equal(r->nodes[1].timed_out, 1);
	assert_true(rig_finish(r, 0, 5 * S_NS));
	assert_int_equal(r->nodes[0].reset, 1);
	messages_work(r, 0, 1);
	messages_work(r, 1, 0);
	rig_destroy(r);
}

/* The process first sends a probe, and declares the peer lost soon after. */
static void silence__of_our_own_hides_no_death(void **state)
{
	struct rig *r = rig_make(2, 1408);

	rig_open(r, 0, 1);
	rig_cut(r, BOTH, true);
	rig_post(r, 0, 1, 500);
	rig_run(r, 3 * S_NS);
	net_stall(r->net, 0, 10 * S_NS);
	rig_run(r, 10 * S_NS + RLTP_ACTIVE_NS / 2);
	assert_int_equal(r->nodes[0].timed_out, 0);
	rig_run(r, RLTP_DEAD_NS);
	assert_int_equal(r->nodes[0].timed_out, 1);
	rig_destroy(r);
}

/* Stops of this process extend the deadline only RLTP_AWAY_MAX times. */
static void silence__is_not_excused_for_ever(void **state)
{
	struct rig *r = rig_make(2, 1408);
	uint64_t begin_ns = net_now(r->net);

	rig_open(r, 0, 1);
	rig_cut(r, BOTH, true);
	rig_post(r, 0, 1, 500);
	while (r->nodes[0].timed_out == 0) {
		net_stall(r->net, 0, 2 * S_NS);
		rig_run(r, 2 * S_NS + 200 * MS_NS);
		assert_true(net_now(r->net) - begin_ns < (RLTP_AWAY_MAX + 5) * 2200 * MS_NS);
	}
	assert_true(net_now(r->net) - begin_ns > RLTP_AWAY_MAX * 2200 * MS_NS);
	rig_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence__of_2900_ms_ends_no_session),
		cmocka_unit_test(silence__counts_from_the_last_keepalive),
		cmocka_unit_test(silence__is_noticed_by_a_watched_session),
		cmocka_unit_test(silence__of_2900_ms_ends_no_transfer),
		cmocka_unit_test(silence__of_2900_ms_ends_no_lease),
		cmocka_unit_test(silence__of_2900_ms_ends_no_question),
		cmocka_unit_test(silence__of_a_stopped_manager_kills_no_node),
		cmocka_unit_test(silence__of_a_stopped_member_is_no_new_incarnation),
		cmocka_unit_test(silence__of_a_stopped_host_ends_no_session),
		cmocka_unit_test(silence__of_more_than_a_minute_ends_the_session),
		cmocka_unit_test(silence__of_our_own_hides_no_death),
		cmocka_unit_test(silence__is_not_excused_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
