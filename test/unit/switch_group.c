/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the thread of an xPU's group of switches ends by itself if its host does not continue
 * the creation, and at once if its host leaves. */
#include "test/unit/inc_endpoint_rig.h"

#include "base/clock.h"
#include "inc/exchange.h"
#include "link/udp.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switch_group__the_host_does_not_continue),
		cmocka_unit_test(switch_group__the_host_leaves_in_the_exchange),
		cmocka_unit_test(switch_group__the_host_leaves_in_the_creation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
