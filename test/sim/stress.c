/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs hundreds of worlds (test/support/world.h). Each world has hosts, a path, faults and mishaps
 * drawn from its seed: every fault of the simulator, alone and combined. After the network
 * recovers, everything completes within 20 timeouts.
 *
 *   DXP_SEED=n         runs only seed n
 *   DXP_SEEDS=n        number of seeds (400; with a sanitizer, which is slow, 60)
 *   DXP_SEED_FIRST=n   first seed (1) */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <malloc.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "test/support/sanitizer.h"
#include "test/support/world.h"

#define SEEDS (SANITIZED_ADDRESS || SANITIZED_THREAD ? 60 : 400)

#define SLICES       40
#define LIVENESS_NS  (20 * RLTP_RTO_MAX_NS)
#define HELD_BACK    12 /* while copies of old datagrams arrive */
#define LATE_NS      (95 * S_NS)
#define HOUR_NS      (3600 * S_NS)
#define FAILURES_MAX 20 /* failed seeds until the program stops */
/* per host and its network: three times the largest use seen */
#define MEMORY_MAX     (12u << 20)
#define DATAGRAM       1538
#define UPDATE_PACKETS 64 /* per key of a protected session */

/* Allocated now, and at most, by the wrapped functions. */
static struct {
	uint64_t live, most;
} memory;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void __real_free(void *p);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void __wrap_free(void *p);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

static void *memory_note(void *p)
{
	memory.live += malloc_usable_size(p);
	memory.most = max_u64(memory.most, memory.live);
	return p;
}

void *__wrap_malloc(size_t bytes)
{
	return memory_note(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return memory_note(__real_calloc(count, bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return memory_note(__real_aligned_alloc(alignment, bytes));
}

void *__wrap_realloc(void *p, size_t bytes)
{
	memory.live -= malloc_usable_size(p);
	return memory_note(__real_realloc(p, bytes));
}

void __wrap_free(void *p)
{
	memory.live -= malloc_usable_size(p);
	__real_free(p);
}

struct stress {
	struct world world;
	struct rng rng;
	struct rng secrets;
	bool mishaps;   /* restarts, blackholes and the like */
	bool may_fail;  /* by mishaps, or so much loss that a session may close */
	bool old;       /* packet numbers and indices are close to their wrap */
	uint32_t edges; /* first packet numbers drawn */
	struct sim_options options;
};

/* Sets indices close to their wrap. Message ids only if no session can close, because both peers
 * must agree. */
static void indices_age(struct stress *t, uint32_t i)
{
	struct nic *n = sim_nic(t->world.sim, i);
	struct nic_user *u = &n->users[0];
	uint32_t old = UINT32_MAX - (uint32_t)rng_below(&t->rng, 60);

	u->consumer = u->sent_index = u->received_index = old;
	dxp_store_release(&u->window->producer, old);
	dxp_store_release(&u->window->consumer, old);
	dxp_store_release(&u->window->sent_consumer, old);
	dxp_store_release(&u->window->received_consumer, old);
	for (struct nic_peer *p = n->peers; p; p = p->next) {
		stream_work_get(p)->read_id = UINT32_MAX - 200;
		for (uint32_t q = 0; q < WORLD_QPS && !t->may_fail; q++)
			stream_tx_get(p, q)->next = stream_tx_get(p, q)->una =
				stream_rx_get(p, q)->next = UINT32_MAX - 10;
	}
}

/* The first word of 8 bytes is a first packet number, just before the wrap. Later sessions get
 * random ones, which alone identify late packets of earlier sessions. */
static void entropy_edge(void *context, void *out, uint64_t bytes)
{
	struct stress *t = context;
	const uint32_t edge = UINT32_MAX - 20;

	rng_entropy_rng(&t->secrets, out, bytes);
	if (bytes == 8 && t->edges++ < t->options.hosts)
		memcpy(out, &edge, sizeof(edge));
}

static uint32_t ppm(struct rng *r, uint32_t one_in, uint32_t most)
{
	return rng_below(r, one_in) ? 0 : (uint32_t)rng_below(r, most);
}

static struct sim_faults faults_draw(struct rng *r, uint64_t delay_ns)
{
	struct sim_faults f = {.only = rng_below(r, 2)
					       ? SIM_ONLY_ALL
					       : (enum sim_only)rng_below(r, SIM_ONLY_KINDS)};

	f.loss_ppm = ppm(r, 2, f.only == SIM_ONLY_ALL ? 200000 : 600000);
	f.burst_ppm = ppm(r, 4, 20000);
	f.burst_end_ppm = 50000 + (uint32_t)rng_below(r, 500000);
	f.burst_loss_ppm = 500000 + (uint32_t)rng_below(r, 500000);
	f.batch_ppm = ppm(r, 6, 100000);
	f.reject_ppm = ppm(r, 6, 100000);
	f.only_from = rng_below(r, 4) ? 0 : 1ull << rng_below(r, WORLD_HOSTS);
	f.duplicate_ppm = ppm(r, 2, 50000);
	f.late_ppm = ppm(r, 4, 20000);
	f.reorder_ppm = ppm(r, 2, 100000);
	f.jitter_ns = rng_below(r, 3) ? 0 : rng_below(r, delay_ns);
	f.corrupt_ppm = ppm(r, 3, 30000);
	f.header_ppm = ppm(r, 6, 30000);
	f.payload_ppm = ppm(r, 6, 30000);
	f.length_ppm = ppm(r, 6, 30000);
	f.truncate_ppm = ppm(r, 3, 10000);
	f.extend_ppm = ppm(r, 6, 30000);
	return f;
}

/* A timeout has about 20 transmissions, so losing a third closes no session. */
static bool harsh(const struct sim_faults *f)
{
	return f->burst_ppm > 0 || f->loss_ppm > 300000;
}

/* Draws no protection, integrity or encryption, by thirds; keys change often. */
static void protection_draw(struct sim_options *o, uint64_t seed)
{
	struct rng r = {~seed * 3};

	o->protect = (uint8_t)rng_below(&r, WIRE_PROTECT_LAST + 1);
	o->update_packets = UPDATE_PACKETS;
	o->long_frames = rng_below(&r, 2);
}

static void options_draw(struct stress *t, struct rng *r, uint64_t seed)
{
	const uint32_t windows[] = {0, 1, 2, 17, WIRE_WINDOW_MAX};
	const uint32_t sockets[] = {0, 0, 16384, 212992};
	struct sim_options *o = &t->options;

	*o = (struct sim_options){.seed = seed};
	o->hosts = 2 + (uint32_t)rng_below(r, WORLD_HOSTS - 1);
	o->delay_ns = 1000 + rng_below(r, 100 * US_NS);
	o->faults = faults_draw(r, o->delay_ns);
	o->window_packets = windows[rng_below(r, ARRAY_COUNT(windows))];
	o->start_ns = rng_below(r, 2) ? 0 : ((1ull << 32) * WIRE_TS_NS) - rng_below(r, 20 * MS_NS);
	o->rate_bps = rng_below(r, 2) ? 0 : 100000000ull << rng_below(r, 8);
	o->queue_bytes = rng_below(r, 2) ? 0 : DATAGRAM * (4 + (uint32_t)rng_below(r, 200));
	o->mark_bytes = rng_below(r, 2) ? 0 : DATAGRAM * (1 + (uint32_t)rng_below(r, 20));
	o->backlog_bytes = rng_below(r, 3) ? 0 : DATAGRAM * (1 + (uint32_t)rng_below(r, 100));
	o->socket_bytes = sockets[rng_below(r, ARRAY_COUNT(sockets))];
	o->poll_ns = rng_below(r, 2) ? 0 : rng_below(r, 20 * US_NS);
	protection_draw(o, seed);
	if (t->old) {
		o->entropy = entropy_edge;
		o->entropy_context = t;
	}
}

/* Steps the wall clock of `host` by an hour or not at all, and makes it drift. Only the reported
 * ages of time stamps may change. */
static void clock_mishap(struct stress *t, uint32_t host)
{
	int64_t step_ns = rng_below(&t->rng, 2) ? (int64_t)HOUR_NS : -(int64_t)HOUR_NS;

	net_wall_clock(sim_net(t->world.sim), host, rng_below(&t->rng, 2) ? step_ns : 0,
		       (int32_t)rng_below(&t->rng, 1000) - 500);
}

static void mishap(struct stress *t)
{
	struct world *w = &t->world;
	struct net *n = sim_net(w->sim);
	uint32_t a = (uint32_t)rng_below(&t->rng, w->count);
	uint32_t b = (a + 1 + (uint32_t)rng_below(&t->rng, w->count - 1)) % w->count;
	struct sim_faults faults;

	switch (rng_below(&t->rng, 12)) {
	case 0: assert_int_equal(world_restart(w, a, rng_below(&t->rng, 2)), DXP_OK); break;
	case 1:
	case 2: sim_blackhole(w->sim, a, b, true); break;
	case 3: sim_blackhole(w->sim, a, b, false); break;
	case 4: nic_peer_lost(sim_nic(w->sim, a), (uint16_t)(b + 1), DXP_EPEERLOST); break;
	case 5: assert_int_equal(sim_introduce(w->sim, a, b), DXP_OK); break;
	case 6: net_stall(n, a, rng_below(&t->rng, 50 * MS_NS)); break;
	case 7: net_mtu(n, a, b, 200 + (uint32_t)rng_below(&t->rng, 1200)); break;
	case 8: net_mtu(n, a, b, 0); break;
	case 9: clock_mishap(t, a); break;
	case 10:
		faults = faults_draw(&t->rng, t->options.delay_ns);
		net_faults_set(n, &faults);
		break;
	default: w->hosts[a].stalled_until_ns = sim_now(w->sim) + rng_below(&t->rng, 5 * MS_NS);
	}
}

static void network_heal(struct stress *t)
{
	struct world *w = &t->world;

	sim_heal(w->sim);
	for (uint32_t i = 0; i < w->count; i++) {
		w->hosts[i].stalled_until_ns = 0;
		for (uint32_t k = 0; k < w->count; k++)
			if (i != k)
				assert_int_equal(sim_introduce(w->sim, i, k), DXP_OK);
	}
}

/* Runs while copies older than a minute arrive. */
static void late_run(struct stress *t)
{
	struct world *w = &t->world;

	for (w->until = WORLD_OPERATIONS - HELD_BACK + 1; w->until <= WORLD_OPERATIONS;
	     w->until++) {
		sim_run(w->sim, LATE_NS / HELD_BACK, NULL, NULL);
		if (!sim_run(w->sim, LIVENESS_NS, world_step, w))
			world_wrong(w, "late copies keep operations from ending", WORLD_NONE,
				    WORLD_NONE);
	}
}

static void stress_run(struct stress *t, uint64_t seed)
{
	struct rng draw = {seed};
	struct world *w = &t->world;
	bool finished = false;

	t->rng.state = ~seed;
	t->secrets.state = seed;
	t->mishaps = rng_below(&draw, 4) != 0;
	t->old = rng_below(&draw, 2);
	options_draw(t, &draw, seed);
	bool late = t->options.faults.late_ppm > 0;
	t->may_fail = t->mishaps || harsh(&t->options.faults);
	assert_int_equal(world_create(w, &t->options, t->may_fail), DXP_OK);
	w->until -= late ? HELD_BACK : 0;
	for (uint32_t i = 0; i < w->count && t->old; i++)
		indices_age(t, i);
	for (int i = 0; i < SLICES && !finished; i++) {
		uint64_t slice_ns = rng_below(&t->rng, 4) ? rng_below(&t->rng, 500 * US_NS)
							  : rng_below(&t->rng, 2 * S_NS);
		finished = sim_run(w->sim, slice_ns, world_step, w);
		if (t->mishaps)
			mishap(t);
	}
	network_heal(t);
	if (!sim_run(w->sim, LIVENESS_NS, world_step, w))
		world_wrong(w, "not all operations end", WORLD_NONE, WORLD_NONE);
	if (late && !w->wrong[0])
		late_run(t);
	world_finish(w);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void stress__seeds(void **state)
{
	uint64_t one = number_of("DXP_SEED", 0);
	uint64_t first = one ? one : number_of("DXP_SEED_FIRST", 1);
	uint64_t count = one ? 1 : number_of("DXP_SEEDS", SEEDS);
	static struct stress t;
	unsigned failed = 0;

	for (uint64_t seed = first; seed < first + count && failed < FAILURES_MAX; seed++) {
		uint64_t before = memory.live;
		t = (struct stress){0};
		memory.most = before;
		stress_run(&t, seed);
		if ((memory.most - before) / t.world.count > MEMORY_MAX)
			world_wrong(&t.world, "more memory than bounds allow", WORLD_NONE,
				    WORLD_NONE);
		world_destroy(&t.world);
		if (memory.live > before)
			world_wrong(&t.world, "memory is lost", WORLD_NONE, WORLD_NONE);
		if (!t.world.wrong[0])
			continue;
		failed++;
		print_message("seed %llu: %s\nreplay: DXP_SEED=%llu build/test/test-sim-stress\n",
			      (unsigned long long)seed, t.world.wrong, (unsigned long long)seed);
	}
	print_message("%llu seeds from %llu on\n", (unsigned long long)count,
		      (unsigned long long)first);
	if (failed > 0)
		fail_msg("%u seeds failed", failed);
}

static void stress__same_seed_same_trace(void **state)
{
	uint64_t hash[3];
	static struct stress t;

	for (uint32_t i = 0; i < 3; i++) {
		t = (struct stress){0};
		stress_run(&t, i < 2 ? 77 : 78);
		hash[i] = sim_trace_hash(t.world.sim);
		world_destroy(&t.world);
	}
	assert_true(hash[0] == hash[1]);
	assert_true(hash[0] != hash[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stress__same_seed_same_trace),
		cmocka_unit_test(stress__seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
