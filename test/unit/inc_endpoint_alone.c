/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests endpoints without other members: rejected calls, child processes, exit without a close. */
#include "test/unit/inc_endpoint_rig.h"

#include "base/clock.h"
#include "inc/endpoint.h"
#include "inc/limits.h"
#include "link/udp.h"

/* ---- tests that depend on time ---- */

/* A process owns the switch's port but never answers. */
static void endpoint__silent_switch(void **state)
{
	struct bench b = {.ip = 0x7f000000u | ((unsigned)getpid() & 0x7fff) << 8 | 8};
	const struct link_options o = {.bind = address_v4(b.ip, ROCE_PORT)};
	char line[DXP_INC_WHY_BYTES];
	struct link *mute;

	assert_int_equal(link_open(&o, &mute), DXP_OK);
	snprintf(b.text, sizeof(b.text), "127.%u.%u.8", b.ip >> 16 & 255, b.ip >> 8 & 255);
	struct dxp_inc *inc = inc_open(&b);
	assert_int_equal(dxp_inc_selftest(inc, line), DXP_ENOENT);
	assert_non_null(strstr(line, "it does not answer"));
	dxp_inc_close(inc);
	link_close(mute);
}

static void endpoint__wrong_arguments(void **state)
{
	const struct dxp_inc_bootstrap mute = {.members = 1};
	const struct dxp_inc_bootstrap none = {.allgather = alone};
	const struct dxp_inc_group_options odd = {.mode = (enum dxp_inc_mode)9};
	struct dxp_inc_options framing = {.framing = (enum dxp_inc_framing)7};
	struct dxp_inc_operation *call;
	char why[DXP_INC_WHY_BYTES];
	int64_t in = 3, out = 0;
	size_t done = 9;
	struct bench b;

	bench_open(&b);
	struct dxp_inc *inc = inc_open(&b);
	struct dxp_inc_group *g = group_alone(inc), *no = NULL;
	assert_int_equal(dxp_inc_open(NULL, NULL), DXP_EINVAL);
	assert_int_equal(dxp_inc_open(&framing, &inc), DXP_EINVAL);
	assert_int_equal(dxp_inc_group_create(inc, &mute, NULL, &no, why), DXP_EINVAL);
	assert_int_equal(dxp_inc_group_create(inc, &none, NULL, &no, why), DXP_EINVAL);
	assert_int_equal(dxp_inc_group_create(inc, NULL, NULL, &no, why), DXP_EINVAL);
	assert_int_equal(dxp_inc_group_create(inc, &none, &odd, &no, why), DXP_EINVAL);
#define SUM(group, send, receive, count, type, op) \
	dxp_inc_allreduce(group, send, receive, count, type, op, &done)
	assert_int_equal(SUM(NULL, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(done, 0);
	assert_int_equal(SUM(g, &in, NULL, 1, DXP_INC_INT64, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(SUM(g, NULL, NULL, 1, DXP_INC_INT64, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, 1, (enum dxp_inc_type)17, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, 1, (enum dxp_inc_type) - 1, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, 1, DXP_INC_INT64, (enum dxp_inc_op)13), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, 1, DXP_INC_INT64, (enum dxp_inc_op) - 1), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, SIZE_MAX, DXP_INC_DOUBLE_INT, DXP_INC_MAXLOC),
			 DXP_EUNSUPPORTED);
	assert_int_equal(SUM(g, &in, &out, 1ull << 32, DXP_INC_INT64, DXP_INC_SUM),
			 DXP_EUNSUPPORTED);
	assert_int_equal(SUM(g, NULL, NULL, 0, DXP_INC_INT64, DXP_INC_SUM), DXP_OK);
	assert_int_equal(dxp_inc_allreduce_start(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, NULL),
			 DXP_EINVAL);
	assert_int_equal(
		dxp_inc_reduce_start(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, 1, &call),
		DXP_EINVAL);
	assert_int_equal(
		dxp_inc_reduce_start(g, &in, NULL, 1, DXP_INC_INT64, DXP_INC_SUM, 0, &call),
		DXP_EINVAL);
	assert_int_equal(dxp_inc_broadcast_start(g, NULL, 5, 0, &call), DXP_EINVAL);
	assert_int_equal(dxp_inc_broadcast_start(g, &in, SIZE_MAX, 0, &call), DXP_EUNSUPPORTED);
	assert_int_equal(dxp_inc_barrier(NULL), DXP_EINVAL);
	assert_int_equal(dxp_inc_wait(NULL, NULL), DXP_EINVAL);
	assert_int_equal(dxp_inc_test(NULL, NULL), DXP_EINVAL);
	assert_false(dxp_inc_accepts(NULL, DXP_INC_SUM, DXP_INC_INT32, 1));
	assert_false(dxp_inc_accepts(g, DXP_INC_SUM, (enum dxp_inc_type)99, 1));
	/* the group works after all errors */
	assert_int_equal(SUM(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM), DXP_OK);
	assert_int_equal(out, 3);
	dxp_inc_group_destroy(g);
	dxp_inc_group_destroy(NULL);
	dxp_inc_close(inc);
	dxp_inc_close(NULL);
	bench_close(&b);
}

/* Destroyed groups, which stay for slower members, take no space from new ones. */
static void endpoint__destroyed_groups_leave_space(void **state)
{
	struct dxp_inc_options o = {.deadline_ns = 86400 * S_NS};
	struct dxp_inc *inc = NULL;
	struct bench b;

	bench_open(&b);
	o.switches = b.text;
	assert_int_equal(dxp_inc_open(&o, &inc), DXP_OK);
	for (int i = 0; i < INC_GROUPS_MAX + 2; i++)
		dxp_inc_group_destroy(group_alone(inc));
	dxp_inc_close(inc);
	bench_close(&b);
}

static struct dxp_inc_group *group_of(struct dxp_inc *inc, uint32_t owner)
{
	const struct dxp_inc_bootstrap boot = {.members = 1, .allgather = alone};
	const struct endpoint_user user = {.owner = owner};
	struct dxp_inc_group *g = NULL;
	char why[DXP_INC_WHY_BYTES];

	assert_int_equal(endpoint_group_create(inc, &boot, NULL, &user, &g, why), DXP_OK);
	return g;
}

static unsigned destroyed_of(struct dxp_inc *inc, uint32_t owner)
{
	unsigned count = 0;

	pthread_mutex_lock(&inc->lock);
	for (const struct dxp_inc_group *g = inc->groups; g; g = g->next)
		count += g->departed_ns != 0 && g->owner == owner;
	pthread_mutex_unlock(&inc->lock);
	return count;
}

/* Many groups of one user displace no destroyed groups of other users. */
static void endpoint__destroyed_groups_of_other_users_stay(void **state)
{
	struct dxp_inc_options o = {.deadline_ns = 86400 * S_NS};
	const uint64_t until_ns = clock_now_ns() + 120 * S_NS;
	struct dxp_inc *inc = NULL;
	struct bench b;

	bench_open(&b);
	o.switches = b.text;
	assert_int_equal(dxp_inc_open(&o, &inc), DXP_OK);
	for (uint32_t owner = 1; owner <= 3; owner++)
		dxp_inc_group_destroy(group_of(inc, owner));
	for (int i = 0; i < 2 * INC_DEPARTED_MAX; i++)
		dxp_inc_group_destroy(group_of(inc, 4));
	while (destroyed_of(inc, 4) > INC_DEPARTED_MAX - 3) {
		assert_true(clock_now_ns() < until_ns);
		usleep(1000);
	}
	for (uint32_t owner = 1; owner <= 3; owner++)
		assert_int_equal(destroyed_of(inc, owner), 1);
	dxp_inc_close(inc);
	bench_close(&b);
}

/* A lone member never resends results, so its close does not wait INC_LINGER_NS, at least not each
 * time. */
static void endpoint__close_does_not_linger(void **state)
{
	uint64_t best_ns = UINT64_MAX;
	struct bench b;

	bench_open(&b);
	for (int i = 0; i < 20 && best_ns >= INC_LINGER_NS / 2; i++) {
		struct dxp_inc *inc = inc_open(&b);
		struct dxp_inc_group *g = group_alone(inc);
		int64_t in = 3, out = 0;
		size_t done = 0;
		assert_int_equal(
			dxp_inc_allreduce(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, &done),
			DXP_OK);
		assert_int_equal(out, 3);
		dxp_inc_group_destroy(g);
		uint64_t begin_ns = clock_now_ns();
		dxp_inc_close(inc);
		best_ns = min_u64(best_ns, clock_now_ns() - begin_ns);
	}
	assert_true(best_ns < INC_LINGER_NS / 2);
	bench_close(&b);
}

static void endpoint__child_process(void **state)
{
	int64_t in = 3, out = 0;
	struct bench b;
	int how;

	bench_open(&b);
	struct dxp_inc *inc = inc_open(&b);
	struct dxp_inc_group *g = group_alone(inc);
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();
		if (child == 0) {
			alarm(20); /* kills a child that hangs */
			bool well = dxp_inc_allreduce(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM,
						      NULL) == DXP_ECLOSED;
			dxp_inc_group_destroy(g);
			dxp_inc_close(inc);
			_exit(well ? 0 : 1);
		}
		assert_true(child > 0);
		assert_int_equal(
			dxp_inc_allreduce(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, NULL),
			DXP_OK);
		assert_int_equal(waitpid(child, &how, 0), child);
		assert_int_equal(how, 0);
	}
	/* An executed program inherits no socket and no eventfd. */
	char command[80];
	snprintf(command, sizeof(command), "! ls -l /proc/self/fd | grep -q -e socket: -e eventfd");
	assert_int_equal(system(command), 0);
	assert_int_equal(dxp_inc_allreduce(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, NULL),
			 DXP_OK);
	dxp_inc_group_destroy(g);
	dxp_inc_close(inc);
	bench_close(&b);
}

static void endpoint__exit_without_close(void **state)
{
	struct bench b;
	int how;

	bench_open(&b);
	pid_t child = fork();
	if (child == 0) {
		alarm(20);
		group_alone(inc_open(&b));
		exit(7);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	/* any status, because sanitizers use their own */
	assert_true(WIFEXITED(how));
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(endpoint__silent_switch),
		cmocka_unit_test(endpoint__wrong_arguments),
		cmocka_unit_test(endpoint__destroyed_groups_leave_space),
		cmocka_unit_test(endpoint__destroyed_groups_of_other_users_stay),
		cmocka_unit_test(endpoint__close_does_not_linger),
		cmocka_unit_test(endpoint__child_process),
		cmocka_unit_test(endpoint__exit_without_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
