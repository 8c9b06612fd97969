/* SPDX-License-Identifier: BSD-3-Clause */
/* Two to four hosts, all to all, while hosts restart, paths break in one direction and heal, peers
 * are forgotten and told of again, and receivers take no events for a while. Whatever happens, each
 * operation ends exactly once, in the order of its queue pair and with a status that what happened
 * allows; what ended well is in place; NAPs are never repeated nor out of order; the accounts of
 * every NIC agree; and once the network is well again, everything ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "sim/sim.h"
#include "test/support/invariants.h"

#define SEEDS      60
#define HOSTS_MAX  4
#define QPS        2
#define OPERATIONS 120  /* that each host posts in its life */
#define PLACE      6000 /* bytes of one operation's place in memory */
#define NAP_HEAD   16

struct operation {
	uint8_t op, qp, to; /* enum nic_op; own queue pair; host */
	uint32_t bytes;
	bool ended, good, delivered; /* the completion was taken, and said success; the receiver
					took the NAP */
};

struct host {
	uint8_t *source,
		*target; /* OPERATIONS places of its own; and for each host that writes here */
	uint32_t source_key, target_key;
	struct operation operations[OPERATIONS];
	uint32_t posted, first; /* first: posted by this process */
	uint32_t next[QPS];     /* operation that must end next there */
	uint32_t nap_seen[HOSTS_MAX]
			 [QPS]; /* by sender: 1 + number of the operation received last */
	uint64_t stalled_until_ns;
};

struct stress {
	struct sim *sim;
	struct rng rng;
	struct host hosts[HOSTS_MAX];
	uint32_t count, steps;
	bool faults; /* operations may fail */
	bool old;    /* numbers are about to wrap */
	struct rng secrets;
	char wrong[160];
};

static void wrong(struct stress *t, const char *what, uint32_t host, uint32_t number)
{
	if (!t->wrong[0])
		snprintf(t->wrong, sizeof(t->wrong), "host %u, operation %u: %s", host, number,
			 what);
}

static uint8_t pattern(uint32_t host, uint32_t number, uint32_t i)
{
	return (uint8_t)(host * 71 + number * 131 + i * 13 + (i >> 8) * 7 + 1);
}

static uint8_t *target_place(struct stress *t, uint32_t host, uint32_t from, uint32_t number)
{
	return t->hosts[host].target + ((size_t)from * OPERATIONS + number) * PLACE;
}

static void host_register(struct stress *t, uint32_t i)
{
	struct nic *n = sim_nic(t->sim, i);
	struct host *h = &t->hosts[i];

	assert_int_equal(nic_region_register(n, h->source, OPERATIONS * PLACE, NIC_REMOTE_READ,
					     &h->source_key),
			 DXP_OK);
	assert_int_equal(nic_region_register(n, h->target, HOSTS_MAX * OPERATIONS * PLACE,
					     NIC_REMOTE_WRITE, &h->target_key),
			 DXP_OK);
}

static void host_prepare(struct stress *t, uint32_t i)
{
	struct host *h = &t->hosts[i];

	h->source = malloc(OPERATIONS * PLACE);
	h->target = calloc(HOSTS_MAX * OPERATIONS, PLACE);
	assert_true(h->source && h->target);
	for (uint32_t k = 0; k < OPERATIONS; k++) {
		for (uint32_t b = 0; b < PLACE; b++)
			h->source[k * PLACE + b] = pattern(i, k, b);
		uint32_t roll = (uint32_t)rng_below(&t->rng, 10);
		uint8_t op = roll < 3 ? NIC_OP_PUT : roll < 6 ? NIC_OP_GET : NIC_OP_NAP;
		uint32_t most = op == NIC_OP_NAP ? NIC_INLINE_BYTES_MAX - NAP_HEAD : PLACE;
		h->operations[k] = (struct operation){
			.op = op,
			.qp = (uint8_t)rng_below(&t->rng, QPS),
			.to = (uint8_t)((i + 1 + rng_below(&t->rng, t->count - 1)) % t->count),
			.bytes =
				1 + (uint32_t)rng_below(&t->rng, rng_below(&t->rng, 3) ? 64 : most),
		};
	}
	host_register(t, i);
}

static int nap_post(struct stress *t, uint32_t i, uint32_t k, const struct nic_target *to)
{
	const struct operation *op = &t->hosts[i].operations[k];
	uint8_t data[NIC_INLINE_BYTES_MAX];

	for (uint32_t b = 0; b < op->bytes; b++)
		data[b] = pattern(i, k, b);
	return nic_user_nap(sim_window(t->sim, i), op->qp, to, data, op->bytes, 1 + k, k);
}

static int operation_post(struct stress *t, uint32_t i, uint32_t k)
{
	struct host *h = &t->hosts[i];
	const struct operation *op = &h->operations[k];
	struct host *peer = &t->hosts[op->to];
	struct nic_target to = sim_target(t->sim, op->to, op->qp);
	uint32_t half = op->bytes / 2;
	struct nic_entry own = {0, op->bytes, 0}, remote[2];
	struct nic_lists lists = {&own, remote, 1, half ? 2 : 1};
	bool put = op->op == NIC_OP_PUT;

	if (op->op == NIC_OP_NAP)
		return nap_post(t, i, k, &to);
	uint64_t place = put ? ((uint64_t)i * OPERATIONS + k) * PLACE : (uint64_t)k * PLACE;
	own.key = put ? h->source_key : h->target_key;
	own.offset = put ? (uint64_t)k * PLACE : ((uint64_t)i * OPERATIONS + k) * PLACE;
	remote[0] = (struct nic_entry){place, op->bytes - half,
				       put ? peer->target_key : peer->source_key};
	remote[1] = (struct nic_entry){place + op->bytes - half, half, remote[0].key};
	return put ? nic_user_put(sim_window(t->sim, i), op->qp, &to, &lists, k)
		   : nic_user_get(sim_window(t->sim, i), op->qp, &to, &lists, k);
}

static bool status_allowed(const struct stress *t, int status)
{
	switch (status) {
	case DXP_OK: return true;
	case DXP_EACCESS: /* key or magic of a process that is gone */
	case DXP_ETIMEDOUT:
	case DXP_EPEERRESET:
	case DXP_EPEERLOST:
	case DXP_ENOENT: return t->faults;
	default: return false;
	}
}

static void place_check(struct stress *t, uint32_t i, uint32_t k)
{
	const struct operation *op = &t->hosts[i].operations[k];
	bool put = op->op == NIC_OP_PUT;
	const uint8_t *place = target_place(t, put ? op->to : i, i, k);

	for (uint32_t b = 0; b < op->bytes; b++)
		if (place[b] != pattern(put ? i : op->to, k, b))
			wrong(t, "ended well, but its data is not in place", i, k);
}

static void completion_take(struct stress *t, uint32_t i, const struct nic_event *e)
{
	struct host *h = &t->hosts[i];
	uint32_t k = (uint32_t)e->context, *next = &h->next[e->qp];

	while (*next < h->posted && h->operations[*next].qp != e->qp)
		++*next;
	if (k != *next || k >= h->posted || h->operations[k].ended)
		wrong(t, "ended twice or out of order", i, k);
	else if (!status_allowed(t, e->status))
		wrong(t, dxp_status_name(e->status), i, k);
	else if (e->status == DXP_OK && h->operations[k].op != NIC_OP_NAP)
		place_check(t, i, k);
	++*next;
	if (k < OPERATIONS) {
		h->operations[k].ended = true;
		h->operations[k].good = e->status == DXP_OK;
	}
}

static void nap_take(struct stress *t, uint32_t i, const struct nic_event *e, const uint8_t *data)
{
	uint32_t from = e->src_node - 1u, k = (uint32_t)e->imm - 1;

	if (from >= t->count || e->qp >= QPS || k >= t->hosts[from].posted ||
	    t->hosts[from].operations[k].to != i || t->hosts[from].operations[k].qp != e->qp ||
	    t->hosts[from].operations[k].bytes != e->bytes) {
		wrong(t, "a NAP that nobody sent", i, k);
		return;
	}
	if (k + 1 <= t->hosts[i].nap_seen[from][e->qp])
		wrong(t, "a NAP came twice or out of order", from, k);
	t->hosts[i].nap_seen[from][e->qp] = k + 1;
	t->hosts[from].operations[k].delivered = true;
	for (uint32_t b = 0; b < e->bytes; b++)
		if (data[b] != pattern(from, k, b))
			wrong(t, "a NAP is not what was sent", from, k);
}

static void events_take(struct stress *t, uint32_t i)
{
	struct nic_window *w = sim_window(t->sim, i);
	const struct nic_event *received;
	struct nic_event event;
	const uint8_t *data;

	while (nic_user_sent(w, &event))
		completion_take(t, i, &event);
	if (sim_now(t->sim) < t->hosts[i].stalled_until_ns)
		return;
	while ((received = nic_user_received_peek(w, &data)) != NULL) {
		nap_take(t, i, received, data);
		nic_user_received_release(w);
	}
}

static bool step(void *context)
{
	struct stress *t = context;
	bool finished = true;

	for (uint32_t i = 0; i < t->count; i++) {
		struct host *h = &t->hosts[i];
		events_take(t, i);
		while (h->posted < OPERATIONS && operation_post(t, i, h->posted) == DXP_OK)
			h->posted++;
		for (uint32_t k = h->first; k < OPERATIONS && finished; k++)
			finished = h->operations[k].ended;
		const char *broken =
			t->steps % 16 == i ? invariants_broken(sim_nic(t->sim, i)) : NULL;
		if (broken)
			wrong(t, broken, i, UINT32_MAX);
	}
	t->steps++;
	return finished || t->wrong[0];
}

/* A new process: what the old one posted ends nowhere, and its keys are void. */
static void host_restart(struct stress *t, uint32_t i)
{
	struct host *h = &t->hosts[i];

	assert_int_equal(sim_restart(t->sim, i, rng_below(&t->rng, 2)), DXP_OK);
	host_register(t, i);
	h->first = h->posted;
	for (int q = 0; q < QPS; q++)
		h->next[q] = h->posted;
}

static void mishap(struct stress *t)
{
	uint32_t a = (uint32_t)rng_below(&t->rng, t->count);
	uint32_t b = (a + 1 + (uint32_t)rng_below(&t->rng, t->count - 1)) % t->count;

	switch (rng_below(&t->rng, 7)) {
	case 0: host_restart(t, a); break;
	case 1:
	case 2: sim_blackhole(t->sim, a, b, true); break;
	case 3: sim_blackhole(t->sim, a, b, false); break;
	case 4: nic_peer_lost(sim_nic(t->sim, a), (uint16_t)(b + 1), DXP_EPEERLOST); break;
	case 5: assert_int_equal(sim_introduce(t->sim, a, b), DXP_OK); break;
	default: t->hosts[a].stalled_until_ns = sim_now(t->sim) + rng_below(&t->rng, 5 * MS_NS);
	}
}

static void network_heal(struct stress *t)
{
	sim_heal(t->sim);
	for (uint32_t i = 0; i < t->count; i++) {
		t->hosts[i].stalled_until_ns = 0;
		for (uint32_t k = 0; k < t->count; k++)
			if (i != k)
				assert_int_equal(sim_introduce(t->sim, i, k), DXP_OK);
	}
}

/* A NAP that ended well was delivered, unless the process that got it is gone. */
static void deliveries_check(struct stress *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		for (uint32_t k = 0; k < OPERATIONS; k++) {
			const struct operation *op = &t->hosts[i].operations[k];
			if (op->op == NIC_OP_NAP && op->good && !op->delivered &&
			    t->hosts[op->to].first == 0)
				wrong(t, "a NAP ended well and never came", i, k);
		}
	}
}

/* Numbers that soon wrap: whatever counts packets, doorbells, events and reads; ids of messages
 * only where no session ends, since both sides must agree on them. */
static void indices_age(struct stress *t, uint32_t i)
{
	struct nic *n = sim_nic(t->sim, i);
	struct nic_function *f = &n->functions[0];
	uint32_t old = UINT32_MAX - (uint32_t)rng_below(&t->rng, 60);

	f->consumer = f->sent_index = f->received_index = old;
	atomic_store(&f->window->producer, old);
	atomic_store(&f->window->consumer, old);
	atomic_store(&f->window->sent.consumer, old);
	atomic_store(&f->window->received.consumer, old);
	for (struct nic_peer *p = n->peers; p; p = p->next) {
		p->read_id = UINT32_MAX - 200;
		for (uint32_t q = 0; q < QPS && !t->faults; q++)
			tx_stream_get(p, q)->next = tx_stream_get(p, q)->una =
				rx_stream_get(p, q)->next = UINT32_MAX - 10;
	}
}

/* First packet numbers (the first of two words) just before the wrap, the rest as the seed says. */
static void entropy_edge(void *context, void *out, uint64_t bytes)
{
	const uint32_t edge = UINT32_MAX - 20;

	entropy_rng(context, out, bytes);
	if (bytes == 8)
		memcpy(out, &edge, sizeof(edge));
}

static struct sim_options options_draw(struct rng *r, uint64_t seed)
{
	struct sim_options o = {.seed = seed};

	o.hosts = 2 + (uint32_t)rng_below(r, HOSTS_MAX - 1);
	o.delay_ns = 1000 + rng_below(r, 100 * US_NS);
	o.faults.jitter_ns = rng_below(r, 3) ? 0 : rng_below(r, o.delay_ns);
	o.faults.loss_ppm = (uint32_t)(rng_below(r, 2) ? 0 : rng_below(r, 100000));
	o.faults.duplicate_ppm = (uint32_t)rng_below(r, 50000);
	o.faults.reorder_ppm = (uint32_t)rng_below(r, 50000);
	const uint32_t windows[] = {0, 1, 2, 17, RLTP_WINDOW_MAX};
	o.window_packets = windows[rng_below(r, ARRAY_COUNT(windows))];
	o.start_ns = rng_below(r, 2) ? 0 : ((1ull << 32) * WIRE_TS_NS) - rng_below(r, 20 * MS_NS);
	return o;
}

static void stress_run(struct stress *t, uint64_t seed)
{
	struct rng draw = {seed};
	struct sim_options o = options_draw(&draw, seed);

	t->rng.state = ~seed;
	t->count = o.hosts;
	t->faults = rng_below(&draw, 4) != 0;
	t->old = rng_below(&draw, 2);
	t->secrets.state = seed;
	if (t->old) {
		o.entropy = entropy_edge;
		o.entropy_context = &t->secrets;
	}
	assert_int_equal(sim_create(&o, &t->sim), DXP_OK);
	for (uint32_t i = 0; i < t->count; i++)
		host_prepare(t, i);
	for (uint32_t i = 0; i < t->count && t->old; i++)
		indices_age(t, i);
	bool finished = false;
	for (int i = 0; i < 40 && t->faults && !finished; i++) {
		uint64_t slice_ns = rng_below(&t->rng, 4) ? rng_below(&t->rng, 500 * US_NS)
							  : rng_below(&t->rng, 2 * S_NS);
		finished = sim_run(t->sim, slice_ns, step, t);
		mishap(t);
	}
	network_heal(t);
	if (!sim_run(t->sim, 120 * S_NS, step, t))
		wrong(t, "not all operations end", UINT32_MAX, UINT32_MAX);
	deliveries_check(t);
}

static void stress_close(struct stress *t)
{
	sim_destroy(t->sim);
	for (uint32_t i = 0; i < t->count; i++) {
		free(t->hosts[i].source);
		free(t->hosts[i].target);
	}
}

static void stress__seeds(void **state)
{
	const char *one = getenv("DXP_SEED"), *most = getenv("DXP_SEEDS");
	uint64_t first = one ? strtoull(one, NULL, 0) : 1;
	uint64_t last = one ? first : most ? strtoull(most, NULL, 0) : SEEDS;
	static struct stress t;

	for (uint64_t seed = first; seed <= last; seed++) {
		t = (struct stress){0};
		stress_run(&t, seed);
		stress_close(&t);
		if (t.wrong[0])
			fail_msg("seed %llu: %s\nreplay: DXP_SEED=%llu build/test/test-sim-stress",
				 (unsigned long long)seed, t.wrong, (unsigned long long)seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stress__seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
