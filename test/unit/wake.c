/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how users of a window and the NIC sleep and wake each other. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/util.h"
#include "link/udp.h"
#include "node/limits.h"
#include "node/node.h"

#define ROUNDS      3000
#define NOTIFIED_MS 2000 /* ms; later counts as lost */
#define LOOPBACK    "127.0.0.1"
#define LOOKS       20
#define HANDOVERS   201

/* ---- the NIC alone ---- */

struct nic_pair {
	struct nic *nic;
	struct dxp_window *windows[2]; /* of functions 0 and 3 */
};

static struct nic_pair nic_open(void)
{
	const struct nic_options options = {.node = 1, .entropy = rng_entropy_kernel};
	struct nic_pair p;

	assert_int_equal(nic_create(&options, &p.nic), DXP_OK);
	for (int i = 0; i < 2; i++) {
		p.windows[i] = aligned_alloc(4096, sizeof(struct dxp_window));
		assert_non_null(p.windows[i]);
		memset(p.windows[i], 0, sizeof(struct dxp_window));
		assert_int_equal(nic_function_open(p.nic, i ? 3 : 0, p.windows[i]), DXP_OK);
	}
	return p;
}

static void nic_close(struct nic_pair *p)
{
	nic_destroy(p->nic);
	free(p->windows[0]);
	free(p->windows[1]);
}

/* An invalid operation, which completes at once with an error. */
static void post(struct dxp_window *w, uint8_t qp)
{
	const struct dxp_target none = {0};
	const struct dxp_descriptor d = dxp_head(0xff, qp, &none, 0);

	assert_int_equal(dxp_post(w, &d, NULL, NULL), DXP_OK);
}

static void nic_wakes__each_sleep_once(void **state)
{
	struct nic_pair p = nic_open();

	p.windows[1]->user_waits = 1;
	assert_int_equal(nic_wakes(p.nic), 0); /* no event */
	post(p.windows[1], 0);
	assert_int_equal(nic_doorbells(p.nic, 1), 1);
	assert_int_equal(nic_wakes(p.nic), 1u << 3);
	assert_int_equal(nic_wakes(p.nic), 0);
	post(p.windows[1], 0);
	assert_int_equal(nic_doorbells(p.nic, 1), 1);
	/* no new sleep was announced */
	assert_int_equal(nic_wakes(p.nic), 0);
	p.windows[1]->user_waits = 2;
	post(p.windows[0], 0);
	post(p.windows[1], 0);
	assert_int_equal(nic_doorbells(p.nic, 1), 2);
	/* the user of function 0 does not sleep */
	assert_int_equal(nic_wakes(p.nic), 1u << 3);
	nic_close(&p);
}

/* The sleep is announced between the NIC's check and the one behind its fence. */
static void nic_wakes__looks_again_behind_a_fence(void **state)
{
	struct nic_pair p = nic_open();

	post(p.windows[0], 0);
	nic_doorbells(p.nic, 1);
	assert_int_equal(nic_wakes(p.nic), 0);
	p.windows[0]->user_waits = 7;
	post(p.windows[1], 0);
	nic_doorbells(p.nic, 1);
	assert_int_equal(nic_wakes(p.nic), 1); /* for the event of the previous poll */
	p.windows[0]->user_waits = 8;
	/* the check behind the fence finds the event */
	assert_int_equal(nic_wakes(p.nic), 1);
	p.windows[0]->user_waits = 9;
	/* the user checked behind a later fence */
	assert_int_equal(nic_wakes(p.nic), 0);
	nic_close(&p);
}

static void nic_wakes__also_of_its_end(void **state)
{
	struct nic_pair p = nic_open();

	p.windows[1]->user_waits = 1;
	/* no such queue pair: the function stops without a completion */
	post(p.windows[1], 99);
	nic_doorbells(p.nic, 1);
	assert_int_equal(dxp_error(p.windows[1]), DXP_EINVAL);
	assert_int_equal(nic_wakes(p.nic), 1u << 3);
	nic_close(&p);
}

static void nic_sleep_announce__in_every_window(void **state)
{
	struct nic_pair p = nic_open();

	assert_true(nic_sleep_announce(p.nic));
	assert_int_equal(p.windows[0]->need_wakeup, 1);
	assert_int_equal(p.windows[1]->need_wakeup, 1);
	nic_sleep_end(p.nic);
	assert_int_equal(p.windows[0]->need_wakeup, 0);
	assert_int_equal(p.windows[1]->need_wakeup, 0);
	post(p.windows[1], 0);
	assert_false(nic_sleep_announce(p.nic));
	nic_sleep_end(p.nic);
	/* no sleep while a sleeping user has an unread event */
	nic_doorbells(p.nic, 1);
	assert_int_equal(nic_wakes(p.nic), 0);
	p.windows[1]->user_waits = 1;
	assert_false(nic_sleep_announce(p.nic));
	nic_sleep_end(p.nic);
	assert_int_equal(nic_wakes(p.nic), 1u << 3);
	assert_true(nic_sleep_announce(p.nic));
	nic_sleep_end(p.nic);
	nic_close(&p);
}

/* ---- a node in its loop ---- */

struct engine {
	struct node *node;
	struct node_loop loop;
	struct node *nodes[1];
	_Atomic int stop;
	pthread_t thread;
};

static void *engine_run(void *context)
{
	struct engine *e = context;

	node_loop_run(&e->loop);
	return NULL;
}

static void engine_start(struct engine *e, uint32_t spin_ns)
{
	struct node_options options = {.name = "wake", .static_id = 1};

	*e = (struct engine){0};
	assert_int_equal(address_parse(LOOPBACK, 0, &options.bind), DXP_OK);
	assert_int_equal(node_open(&options, &e->node), DXP_OK);
	e->nodes[0] = e->node;
	e->loop = (struct node_loop){
		.nodes = e->nodes, .count = 1, .spin_ns = spin_ns, .stop = &e->stop};
}

static void engine_thread(struct engine *e)
{
	assert_int_equal(pthread_create(&e->thread, NULL, engine_run, e), 0);
}

static void engine_stop(struct engine *e)
{
	e->stop = 1;
	node_wake(e->node);
	pthread_join(e->thread, NULL);
	node_close(e->node);
}

static bool event_wait(struct dxp_window *w, int fd, uint32_t sleep)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct dxp_nic_event event;
	uint64_t count;

	__atomic_store_n(&w->user_waits, sleep, __ATOMIC_RELAXED);
	dxp_fence();
	bool there = dxp_sent_dequeue(w, &event);
	if (!there) {
		/* a timeout is a lost wakeup */
		assert_int_equal(poll(&p, 1, NOTIFIED_MS), 1);
		there = dxp_sent_dequeue(w, &event);
	}
	__atomic_store_n(&w->user_waits, 0, __ATOMIC_RELAXED);
	if (read(fd, &count, sizeof(count)) < 0)
		count = 0;
	return there;
}

static void node_loop__both_sleep_and_no_wake_is_lost(void **state)
{
	const uint32_t spins[] = {UINT32_MAX, 1000, 20000};
	struct engine e;
	struct rng r = {1};

	for (size_t k = 0; k < ARRAY_COUNT(spins); k++) {
		int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		engine_start(&e, spins[k]);
		node_user_fd(e.node, 0, fd);
		engine_thread(&e);
		for (uint32_t i = 1; i <= ROUNDS; i++) {
			post(node_window(e.node), 0);
			node_wake(e.node);
			bool reported = false;
			for (int again = 0; again < 3 && !reported; again++)
				reported = event_wait(node_window(e.node), fd,
						      4 * i + (uint32_t)again);
			assert_true(reported);
			for (uint64_t spin = rng_below(&r, 3000); spin > 0; spin--)
				dxp_relax();
		}
		engine_stop(&e);
		close(fd);
	}
}

/* ---- a node that wakes a thread on its own core ---- */

struct shared_core {
	sem_t go;
	_Atomic bool wanted;
	bool woke;
	_Atomic uint32_t rounds; /* since the wakeup */
};

static uint32_t core_service(void *context)
{
	struct shared_core *c = context;

	c->rounds++;
	if (!atomic_exchange(&c->wanted, false))
		return 0;
	c->rounds = 0;
	c->woke = true;
	sem_post(&c->go);
	return 1;
}

static bool core_woke(void *context)
{
	struct shared_core *c = context;
	bool woke = c->woke;

	c->woke = false;
	return woke;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void first_core_only(cpu_set_t *before)
{
	cpu_set_t one;
	int first = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(*before), before), 0);
	while (!CPU_ISSET(first, before))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* The node yields its core to the woken thread before its usual polls. */
static void node_loop__yields_its_core_to_the_woken_thread(void **state)
{
	struct shared_core c = {0};
	uint32_t rounds[HANDOVERS];
	const struct sched_param none = {0};
	struct engine e;
	cpu_set_t before;

	first_core_only(&before);
	assert_int_equal(sem_init(&c.go, 0, 0), 0);
	engine_start(&e, S_NS);
	e.loop.service = core_service;
	e.loop.woke = core_woke;
	e.loop.service_context = &c;
	engine_thread(&e);
	/* SCHED_BATCH never preempts, so the thread runs only if the node yields */
	assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &none), 0);
	for (int i = 0; i < HANDOVERS; i++) {
		c.wanted = true;
		assert_int_equal(sem_wait(&c.go), 0);
		rounds[i] = c.rounds;
	}
	engine_stop(&e);
	sem_destroy(&c.go);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
	sched_setaffinity(0, sizeof(before), &before);
	qsort(rounds, HANDOVERS, sizeof(rounds[0]), by_size);
	assert_in_range(rounds[HANDOVERS / 2], 0, NODE_YIELD_POLLS / 2);
}

static uint64_t thread_cpu_ns(pthread_t thread)
{
	struct timespec t;
	clockid_t clock;

	assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

/* Returns the CPU time of the node's thread during `ns`, in thousandths of the elapsed time. */
static uint64_t cpu_in(struct engine *e, uint64_t ns)
{
	const struct timespec pause = {.tv_nsec = (long)ns};
	uint64_t begin = thread_cpu_ns(e->thread), begin_ns = clock_now_ns();

	nanosleep(&pause, NULL);
	return 1000 * (thread_cpu_ns(e->thread) - begin) / (clock_now_ns() - begin_ns);
}

/* Checked LOOKS times, as a busy machine may delay a sleep. */
static bool sleeps(struct engine *e)
{
	for (int i = 0; i < LOOKS; i++)
		if (cpu_in(e, 300 * MS_NS) < 10 &&
		    dxp_load_acquire(&node_window(e->node)->need_wakeup) == 1)
			return true;
	return false;
}

/* Armed, it handles posts without a wakeup; disarmed, it sleeps without CPU time. */
static void node_arm__polls_only_while_armed(void **state)
{
	struct engine e;
	struct dxp_nic_event event;

	engine_start(&e, UINT32_MAX);
	engine_thread(&e);
	assert_true(sleeps(&e));
	node_arm(e.node, 1);
	node_arm(e.node, 1);
	node_arm(e.node, -1);
	for (int i = 0; i < 100; i++) {
		post(node_window(e.node), 0);
		int status = DXP_ETIMEDOUT;
		uint64_t end_ns = clock_now_ns() + 120 * S_NS;
		while (status != DXP_OK && clock_now_ns() < end_ns)
			status = dxp_sent_wait(node_window(e.node), &event, 1000);
		assert_int_equal(status, DXP_OK);
	}
	/* the armed node still polls and needs no wakeup; its CPU time would not show that, because
	 * a polling node yields */
	assert_int_equal(dxp_load_acquire(&node_window(e.node)->need_wakeup), 0);
	node_arm(e.node, -1);
	assert_true(sleeps(&e));
	engine_stop(&e);
}

/* A level wakes the node until the descriptor is read, an edge once. */
static void link_watch__ends_the_sleep(void **state)
{
	struct link_options options = {0};
	const uint64_t one = 1;
	uint64_t count;
	struct link *l;

	assert_int_equal(address_parse(LOOPBACK, 0, &options.bind), DXP_OK);
	assert_int_equal(link_open(&options, &l), DXP_OK);
	for (int edge = 0; edge < 2; edge++) {
		int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		assert_int_equal(link_watch(l, fd, edge), DXP_OK);
		assert_false(link_wait(l, 0));
		assert_false(link_watched(l));
		for (int i = 0; i < 3; i++) {
			assert_int_equal(write(fd, &one, sizeof(one)), sizeof(one));
			uint64_t begin_ns = clock_now_ns();
			assert_false(link_wait(l, begin_ns + 10 * S_NS));
			assert_true(clock_now_ns() < begin_ns + 5 * S_NS);
			assert_int_equal(link_watched(l), !edge);
			assert_false(link_watched(l));
		}
		/* still unread: only a level ends this wait */
		const uint64_t patience_ns = edge ? 20 * MS_NS : 5 * S_NS;
		uint64_t begin_ns = clock_now_ns();
		link_wait(l, begin_ns + patience_ns);
		assert_int_equal(clock_now_ns() >= begin_ns + patience_ns, edge);
		assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
		link_unwatch(l, fd);
		assert_int_equal(write(fd, &one, sizeof(one)), sizeof(one));
		begin_ns = clock_now_ns();
		link_wait(l, begin_ns + 5 * MS_NS);
		assert_true(clock_now_ns() >= begin_ns + 5 * MS_NS);
		close(fd);
		link_watched(l);
	}
	link_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic_wakes__each_sleep_once),
		cmocka_unit_test(nic_wakes__looks_again_behind_a_fence),
		cmocka_unit_test(nic_wakes__also_of_its_end),
		cmocka_unit_test(nic_sleep_announce__in_every_window),
		cmocka_unit_test(node_loop__both_sleep_and_no_wake_is_lost),
		cmocka_unit_test(node_loop__yields_its_core_to_the_woken_thread),
		cmocka_unit_test(node_arm__polls_only_while_armed),
		cmocka_unit_test(link_watch__ends_the_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
