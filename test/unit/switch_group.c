/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the thread of an xPU's group of switches ends by itself if its host does not continue
 * the creation, and soon if its host leaves. */
#include "test/unit/inc_endpoint_rig.h"

#include "base/clock.h"
#include "inc/endpoint.h"
#include "switch/plane.h"
#include "wire/roce.h"
#include "xpu/switch_group.h"

#define WAIT_NS  (120 * S_NS)
#define NEVER_NS (86400 * S_NS)

static void wake(void *context)
{
	(void)context;
}

static struct switch_group *group_open(struct dxp_inc *inc, uint64_t exchange_ns)
{
	const struct switch_group_options o = {
		.inc = inc, .members = 2, .exchange_ns = exchange_ns, .wake = wake};
	struct switch_group *g = NULL;

	assert_int_equal(switch_group_open(&o, &g), DXP_OK);
	return g;
}

/* Waits for news of one kind. */
static struct switch_news news_await(struct switch_group *g, bool ended)
{
	const uint64_t until_ns = clock_now_ns() + WAIT_NS;
	struct switch_news news = {0}, sum = {0};

	while (!(ended ? sum.ended : sum.own_bytes > 0)) {
		if (clock_now_ns() > until_ns)
			fail_msg("no news within %llu s", WAIT_NS / S_NS);
		if (!switch_group_poll(g, &news)) {
			usleep(1000);
			continue;
		}
		if (news.own_bytes)
			sum = news;
		if (news.created) {
			sum.status = news.status;
			sum.expired = news.expired;
			memcpy(sum.why, news.why, sizeof(sum.why));
			switch_group_leave(g);
		}
		sum.ended = news.ended;
	}
	return sum;
}

/* Passes on the own message, and an invented one of a second member. */
static void hellos_pass(struct switch_group *g, const struct switch_news *news)
{
	struct hello hellos[2];

	assert_int_equal(news->own_bytes, sizeof(hellos[0]));
	memcpy(&hellos[0], news->own, sizeof(hellos[0]));
	hellos[1] = hellos[0];
	hellos[1].ip ^= 0x80;
	assert_int_equal(switch_group_share(g, (const uint8_t *)hellos, sizeof(hellos)), DXP_OK);
}

static void switch_group__the_host_does_not_continue(void **state)
{
	struct bench b;

	bench_open(&b);
	struct dxp_inc *inc = inc_open(&b);
	struct switch_group *g = group_open(inc, 20 * MS_NS);
	const struct switch_news end = news_await(g, true);
	assert_int_not_equal(end.status, DXP_OK);
	assert_true(end.expired);
	assert_non_null(strstr(end.why, "create the group again"));
	switch_group_close(g);
	dxp_inc_close(inc);
	bench_close(&b);
}

static void switch_group__the_host_leaves_in_the_exchange(void **state)
{
	struct bench b;

	bench_open(&b);
	struct dxp_inc *inc = inc_open(&b);
	struct switch_group *g = group_open(inc, NEVER_NS);
	news_await(g, false);
	switch_group_leave(g);
	assert_false(news_await(g, true).expired);
	switch_group_close(g);
	dxp_inc_close(inc);
	bench_close(&b);
}

/* The second member never answers, and the time limit of the creation is a day. */
static void switch_group__the_host_leaves_in_the_creation(void **state)
{
	struct dxp_inc_options o = {.create_ns = NEVER_NS};
	struct dxp_inc *inc = NULL;
	struct bench b;

	bench_open(&b);
	o.switches = b.text;
	assert_int_equal(dxp_inc_open(&o, &inc), DXP_OK);
	struct switch_group *g = group_open(inc, NEVER_NS);
	const struct switch_news own = news_await(g, false);
	hellos_pass(g, &own);
	switch_group_leave(g);
	news_await(g, true);
	switch_group_close(g);
	dxp_inc_close(inc);
	bench_close(&b);
}

/* ---- the test of multicast ---- */

int __wrap_plane_open(const struct plane_options *options, struct plane **out,
		      char why[PLANE_WHY_BYTES]);
struct sw_kernel __wrap_plane_kernel(struct plane *p);
void __wrap_plane_close(struct plane *p);

/* An XDP plane that has no space for any group. Members then still test whether its multicast
 * arrives. */
int __wrap_plane_open(const struct plane_options *options, struct plane **out,
		      char why[PLANE_WHY_BYTES])
{
	static uint8_t plane;

	*out = (struct plane *)(void *)&plane;
	return DXP_OK;
}

static bool group_refuse(void *context, const struct sw_group *g)
{
	return false;
}

struct sw_kernel __wrap_plane_kernel(struct plane *p)
{
	return (struct sw_kernel){.install = group_refuse};
}

void __wrap_plane_close(struct plane *p)
{
}

/* A second member that takes part in the creation of the group, until the members test multicast.
 * From then on it only answers that it is late. */
struct late_member {
	struct dxp_inc *inc;
	struct switch_group *first;
	unsigned exchanges;
	atomic_bool over;
};

/* Passes the messages of both members on. */
static int late_exchange(void *context, const void *own, void *all, size_t bytes)
{
	struct late_member *late = context;

	if (late->exchanges < 2) {
		const struct switch_news news = news_await(late->first, false);
		assert_int_equal(news.own_bytes, bytes);
		memcpy(all, news.own, bytes);
		memcpy((uint8_t *)all + bytes, own, bytes);
		assert_int_equal(switch_group_share(late->first, all, 2 * bytes), DXP_OK);
	}
	if (++late->exchanges < 2)
		return 0;
	while (!late->over)
		usleep(1000);
	return -1;
}

static void *late_run(void *context)
{
	struct late_member *late = context;
	const struct dxp_inc_bootstrap boot = {1, 2, late_exchange, late};
	struct dxp_inc_group *group = NULL;
	char why[DXP_INC_WHY_BYTES];

	dxp_inc_group_create(late->inc, &boot, NULL, &group, why);
	return NULL;
}

static unsigned operations_open(struct dxp_inc *inc)
{
	pthread_mutex_lock(&inc->lock);
	const unsigned count = inc->groups ? inc->groups->open_operations : 0;
	pthread_mutex_unlock(&inc->lock);
	return count;
}

/* The barrier that tests multicast waits for the second member for ever. */
static void switch_group__the_host_leaves_in_the_test_of_multicast(void **state)
{
	const uint64_t until_ns = clock_now_ns() + WAIT_NS;
	struct late_member late = {.over = false};
	pthread_t thread;
	struct bench b;

	bench_open_plane(&b, SERVE_PLANE_KERNEL);
	struct dxp_inc *inc = inc_open(&b);
	late.inc = inc_open(&b);
	late.first = group_open(inc, NEVER_NS);
	assert_int_equal(pthread_create(&thread, NULL, late_run, &late), 0);
	while (operations_open(inc) == 0) {
		assert_true(clock_now_ns() < until_ns);
		usleep(1000);
	}
	switch_group_leave(late.first);
	news_await(late.first, true);
	late.over = true;
	pthread_join(thread, NULL);
	switch_group_close(late.first);
	dxp_inc_close(late.inc);
	dxp_inc_close(inc);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switch_group__the_host_does_not_continue),
		cmocka_unit_test(switch_group__the_host_leaves_in_the_exchange),
		cmocka_unit_test(switch_group__the_host_leaves_in_the_creation),
		cmocka_unit_test(switch_group__the_host_leaves_in_the_test_of_multicast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
