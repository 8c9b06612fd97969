/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests allreduces that kernels start: same bits as those of the host, order, and errors that a
 * waiting kernel gets. */
#include "test/unit/kernel_allreduce.h"

/* ---- results ---- */

static void inputs_draw(struct kernels *k, uint64_t bytes)
{
	static uint32_t data[BUFFER_BYTES / 4];
	struct rng rng = {7};

	for (uint32_t m = 0; m < k->members; m++) {
		for (uint64_t i = 0; i < bytes / 4; i++)
			data[i] = (uint32_t)rng_next(&rng);
		ok(dxp_mem_write(k->r.xpus[m], k->r.from[m], data, bytes));
	}
}

static void outputs_clear(struct kernels *k, uint64_t bytes)
{
	static const uint8_t zeros[BUFFER_BYTES];

	for (uint32_t m = 0; m < k->members; m++)
		ok(dxp_mem_write(k->r.xpus[m], k->r.to[m], zeros, bytes));
}

static void output_read(struct kernels *k, uint32_t m, void *to, uint64_t bytes)
{
	ok(dxp_mem_read(k->r.xpus[m], to, k->r.to[m], bytes));
}

static void host_run(struct kernels *k, struct dxp_group *g, const struct sums *s)
{
	const struct dxp_collective c = {.parts = parts_of(&k->r),
					 .count = s->count,
					 .type = (enum dxp_type)s->type,
					 .reduction = (enum dxp_reduction)s->reduction};

	ok(dxp_allreduce(g, &c));
	ok(dxp_group_wait(g, LONG_NS));
}

/* Compares the outputs of kernels with those of the host's group. */
static void compare(struct kernels *k, struct dxp_group *host, const struct sums *s)
{
	static uint8_t want[BUFFER_BYTES], got[BUFFER_BYTES];
	const uint64_t bytes = s->count * dxp_type_bytes((enum dxp_type)s->type);

	outputs_clear(k, bytes);
	host_run(k, host, s);
	output_read(k, 0, want, bytes);
	outputs_clear(k, bytes);
	all_run(k, s, DXP_OK);
	for (uint32_t m = 0; m < k->members; m++) {
		output_read(k, m, got, bytes);
		if (memcmp(got, want, bytes) != 0)
			fail_msg("member %u: %s of %u %s differs", m,
				 dxp_reduction_text((enum dxp_reduction)s->reduction),
				 (unsigned)s->count, dxp_type_text((enum dxp_type)s->type));
	}
}

static void kernel_allreduce__same_bits_as_the_host(void **state)
{
	static const enum dxp_type types[] = {DXP_INT8, DXP_UINT16, DXP_INT32, DXP_UINT64,
					      DXP_HALF, DXP_FLOAT,  DXP_DOUBLE};
	static const uint64_t counts[] = {1, 97, 4001, BUFFER_BYTES / 8};
	struct kernels *k = &world;
	struct sums s = {.rounds = 1};
	struct dxp_group *g = kernels_group(k, &s.group);
	struct dxp_group *host = group_open(&k->r, k->members, DXP_WAY_SWITCH);
	uint32_t runs = 0;

	inputs_draw(k, BUFFER_BYTES);
	for (size_t t = 0; t < ARRAY_COUNT(types); t++)
		for (s.reduction = DXP_SUM; s.reduction <= DXP_MAX; s.reduction++, runs++) {
			s.type = types[t];
			s.count = counts[runs % ARRAY_COUNT(counts)];
			compare(k, host, &s);
		}
	for (uint32_t m = 0; m < k->members; m++)
		assert_in_range(reg(k, m, CFG_ALLREDUCES_DONE), runs, UINT32_MAX);
	dxp_group_destroy(host);
	dxp_group_destroy(g);
}

/* Each operation but the first multiplies the sum by the number of members. */
static void kernel_allreduce__many_in_order(void **state)
{
	struct kernels *k = &world;
	struct sums s = {.count = 1000, .type = DXP_UINT64, .rounds = 20};
	struct dxp_group *g = kernels_group(k, &s.group);
	uint64_t numbers[1000];

	for (uint64_t i = 0; i < ARRAY_COUNT(numbers); i++)
		numbers[i] = i;
	for (uint32_t m = 0; m < k->members; m++)
		ok(dxp_mem_write(k->r.xpus[m], k->r.from[m], numbers, sizeof(numbers)));
	all_run(k, &s, DXP_OK);
	uint64_t factor = 1;
	for (uint32_t i = 0; i < s.rounds; i++)
		factor *= k->members;
	for (uint32_t m = 0; m < k->members; m++) {
		output_read(k, m, numbers, sizeof(numbers));
		for (uint64_t i = 0; i < ARRAY_COUNT(numbers); i++)
			assert_true(numbers[i] == i * factor);
	}
	dxp_group_destroy(g);
}

/* The host's own operations of the group use a ring or tree. */
static void kernel_allreduce__beside_the_host(void **state)
{
	struct kernels *k = &world;
	struct sums s = {.count = 100, .type = DXP_INT32, .rounds = 1};
	uint32_t again;
	struct dxp_group *g = kernels_group(k, &s.group);
	struct dxp_group_ways ways;

	ok(dxp_group_kernels(g, &again));
	assert_int_equal(again, s.group);
	host_run(k, g, &s);
	all_run(k, &s, DXP_OK);
	host_run(k, g, &s);
	dxp_group_ways(g, &ways);
	assert_int_equal(ways.operations[DXP_WAY_SWITCH], 0);
	assert_int_equal(ways.operations[DXP_WAY_TREE], 2);
	dxp_group_destroy(g);
}

/* ---- failures ---- */

/* The kernels get an error, and the host repeats the operation by a ring. */
static void kernel_allreduce__lost_switch(void **state)
{
	struct kernels *k = &world;
	struct sums s = {.count = 4001, .type = DXP_INT32, .rounds = 2};
	struct dxp_group *g = kernels_group(k, &s.group);
	dxp_event events[MEMBERS];
	uint32_t sums[4001];

	inputs_draw(k, sizeof(sums));
	all_run(k, &s, DXP_OK);
	places_clear(k);
	for (uint32_t m = 1; m < k->members; m++)
		events[m] = sums_start(k, m, &s);
	for (uint32_t m = 1; m < k->members; m++)
		posted_await(k, m, s.rounds);
	switch_kill(&k->leaf);
	/* Without this late member, the others wait: late is not lost. */
	events[0] = sums_start(k, 0, &s);
	for (uint32_t m = 0; m < k->members; m++)
		assert_int_equal(sums_end(k, m, events[m]).wait, DXP_EPEERLOST);
	assert_in_range(reg(k, 0, CFG_ALLREDUCES_FAILED), s.rounds, UINT32_MAX);
	k->tag += s.rounds;
	host_run(k, g, &s);
	output_read(k, 0, sums, sizeof(sums));
	dxp_group_destroy(g);
	switch_start(&k->leaf, 20, NULL);
	g = kernels_group(k, &s.group);
	s.rounds = 1;
	all_run(k, &s, DXP_OK);
	uint32_t again[4001];
	output_read(k, 0, again, sizeof(again));
	assert_memory_equal(sums, again, sizeof(sums));
	dxp_group_destroy(g);
}

/* Destroys a group while the kernel of member 0 waits for the others, without and with an abort. */
static void kernel_allreduce__destroyed_under_a_kernel(void **state)
{
	struct kernels *k = &world;
	struct sums s = {.count = 100, .type = DXP_INT32, .rounds = 3};

	for (int abort = 0; abort < 2; abort++) {
		struct dxp_group *g = kernels_group(k, &s.group);
		places_clear(k);
		dxp_event event = sums_start(k, 0, &s);
		posted_await(k, 0, s.rounds);
		if (abort)
			dxp_group_abort(g);
		else
			dxp_group_destroy(g);
		const struct sums_out out = sums_end(k, 0, event);
		assert_int_equal(out.wait, DXP_ECANCELED);
		assert_int_equal(out.done, 0);
		if (abort) {
			uint32_t number;
			assert_int_equal(dxp_group_kernels(g, &number), DXP_ECLOSED);
			dxp_group_destroy(g);
		}
		k->tag += s.rounds;
		/* the number is unknown now */
		places_clear(k);
		assert_int_equal(sums_end(k, 0, sums_start(k, 0, &s)).wait, DXP_ENOENT);
		k->tag += s.rounds;
	}
}

/* The operation fails if the members disagree on the count. */
static void kernel_allreduce__members_that_differ(void **state)
{
	struct kernels *k = &world;
	struct sums s = {.count = 100, .type = DXP_INT32, .rounds = 2};
	struct dxp_group *g = kernels_group(k, &s.group);
	dxp_event events[MEMBERS];

	places_clear(k);
	for (uint32_t m = 0; m < k->members; m++, s.count++)
		events[m] = sums_start(k, m, &s);
	for (uint32_t m = 0; m < k->members; m++)
		assert_int_equal(sums_end(k, m, events[m]).wait, DXP_EINVAL);
	k->tag += s.rounds;
	all_run(k, &s, DXP_EPEERLOST);
	dxp_group_destroy(g);
}

/* Runs in a process of its own: a host whose kernel waits for another member until it is killed. */
static int host_main(const char *folder, const char *members)
{
	struct kernels *k = &world;
	struct sums s = {.count = 100, .type = DXP_INT32, .rounds = 2};

	k->members = (uint32_t)atoi(members);
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = folder, .name = "second"},
			   &k->r.fabric));
	members_open(k);
	kernels_group(k, &s.group);
	sums_start(k, 0, &s);
	posted_await(k, 0, s.rounds);
	printf("waits\n");
	fflush(stdout);
	pause();
	return 1;
}

/* The host of a waiting kernel is killed. Its kernel ends, and its memory is free again. */
static void kernel_allreduce__host_that_dies(void **state)
{
	struct kernels *k = &world;
	const uint64_t end_ns = clock_now_ns() + LONG_NS;
	const uint32_t free_bytes = reg(k, 0, CFG_FREE_LO);
	char members[16], text[8] = "";
	int out[2];

	snprintf(members, sizeof(members), "%u", k->members);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	const pid_t host = fork();
	assert_true(host >= 0);
	if (host == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], 1);
		execl("/proc/self/exe", "kernel_allreduce", k->r.w.folder, members, NULL);
		_exit(127);
	}
	close(out[1]);
	const ssize_t bytes = read(out[0], text, 5);
	close(out[0]);
	kill(host, SIGKILL);
	assert_int_equal(waitpid(host, NULL, 0), host);
	assert_int_equal(bytes, 5);
	struct sums s = {.count = 100, .type = DXP_INT32, .rounds = 2};
	struct dxp_group *g = kernels_group(k, &s.group);
	all_run(k, &s, DXP_OK);
	dxp_group_destroy(g);
	while (reg(k, 0, CFG_FREE_LO) != free_bytes) {
		assert_true(clock_now_ns() < end_ns);
		usleep(1000);
	}
}

static void kernel_allreduce__groups_that_do_not_suit(void **state)
{
	struct kernels *k = &world;
	struct dxp_group *g = group_open(&k->r, k->members, DXP_WAY_RING);
	uint32_t number = 77;

	assert_int_equal(dxp_group_kernels(g, &number), DXP_EINVAL);
	has_text("use DXP_WAY_SWITCH");
	dxp_group_destroy(g);
	g = group_open(&k->r, 1, DXP_WAY_SWITCH);
	assert_int_equal(dxp_group_kernels(g, &number), DXP_EINVAL);
	has_text("use 2 or more");
	dxp_group_destroy(g);
	switch_kill(&k->leaf);
	g = group_open(&k->r, k->members, DXP_WAY_AUTO);
	assert_int_equal(dxp_group_kernels(g, &number), DXP_EUNSUPPORTED);
	has_text("dxp-switch");
	assert_int_equal(number, 77);
	dxp_group_destroy(g);
	switch_start(&k->leaf, 20, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_allreduce__many_in_order),
		cmocka_unit_test(kernel_allreduce__same_bits_as_the_host),
		cmocka_unit_test(kernel_allreduce__beside_the_host),
		cmocka_unit_test(kernel_allreduce__lost_switch),
		cmocka_unit_test(kernel_allreduce__destroyed_under_a_kernel),
		cmocka_unit_test(kernel_allreduce__members_that_differ),
		cmocka_unit_test(kernel_allreduce__host_that_dies),
		cmocka_unit_test(kernel_allreduce__groups_that_do_not_suit),
	};
	int failed = 0;

	if (argc == 3)
		return host_main(argv[1], argv[2]);
	if (!kernels_possible())
		return 77;
	while (engine_next())
		failed +=
			cmocka_run_group_tests_name(engine_used, tests, world_open, kernels_close);
	return failed;
}
