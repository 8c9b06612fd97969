/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests descriptors of allreduces that a node must refuse, or that fail later: a table, random
 * ones, a full queue, lack of memory. The host writes them to the registers, as a kernel would. */
#include <stdatomic.h>

#include "test/unit/kernel_allreduce.h"

struct refusal {
	const char *what;
	size_t offset; /* of the field that is wrong */
	size_t bytes;
	uint64_t value;
	int status; /* of the write */
	int error;  /* in the result; 0: none */
};

#define FIELD(f)                                          \
#f, offsetof(struct dxp_allreduce_descriptor, f), \
		sizeof(((struct dxp_allreduce_descriptor *)NULL)->f)

static void kernel_descriptors__refused(void **state)
{
	struct kernels *k = &world;
	uint32_t group;
	struct dxp_group *g = kernels_group(k, &group);
	struct dxp_allreduce_descriptor good = descriptor_of(k, 0, group);
	uint64_t foreign;
	struct dxp_fabric *guest;

	ok(dxp_fabric_open(
		&(struct dxp_fabric_options){.directory = k->r.w.folder, .name = "guest"}, &guest));
	struct dxp_xpu *x = daemons_xpu(guest, "xpu1");
	ok(dxp_mem_alloc(x, PLACE_BYTES, &foreign));
	good.from = good.to; /* so that no case overlaps by chance */
	const struct refusal cases[] = {
		{FIELD(group), group + 1, DXP_EACCESS, DXP_ENOENT},
		{FIELD(group), UINT32_MAX, DXP_EACCESS, DXP_ENOENT},
		{FIELD(type), DXP_TYPES, DXP_ERANGE, DXP_EINVAL},
		{FIELD(type), UINT32_MAX, DXP_ERANGE, DXP_EINVAL},
		{FIELD(reduction), DXP_AVERAGE, DXP_EUNSUPPORTED, DXP_EUNSUPPORTED},
		{FIELD(reduction), DXP_REDUCTIONS, DXP_ERANGE, DXP_EINVAL},
		{FIELD(reduction), UINT32_MAX, DXP_ERANGE, DXP_EINVAL},
		{FIELD(count), 0, DXP_ERANGE, DXP_EINVAL},
		{FIELD(count), BUFFER_BYTES / 4 + 1, DXP_ERANGE, DXP_ERANGE},
		{FIELD(count), UINT64_MAX, DXP_ERANGE, DXP_ERANGE},
		{FIELD(count), UINT64_MAX / 4 + 2, DXP_ERANGE, DXP_ERANGE},
		{FIELD(from), foreign, DXP_ERANGE, DXP_ERANGE},
		{FIELD(from), good.result + PLACE_BYTES - 396, DXP_ERANGE, DXP_ERANGE},
		{FIELD(from), good.from + 2, DXP_ERANGE, DXP_EINVAL},
		{FIELD(from), good.to + 4, DXP_ERANGE, DXP_EINVAL},
		{FIELD(from), DAEMONS_MEMORY, DXP_ERANGE, DXP_ERANGE},
		{FIELD(from), UINT64_MAX - 3, DXP_ERANGE, DXP_ERANGE},
		{FIELD(to), foreign, DXP_ERANGE, DXP_ERANGE},
		{FIELD(to), good.to + BUFFER_BYTES - 396, DXP_ERANGE, DXP_ERANGE},
		{FIELD(to), good.to + 1, DXP_ERANGE, DXP_EINVAL},
		{FIELD(to), UINT64_MAX - 3, DXP_ERANGE, DXP_ERANGE},
		{FIELD(to), good.result, DXP_ERANGE, DXP_EINVAL},
		{FIELD(result), foreign, DXP_ERANGE, 0},
		{FIELD(result), good.result + 4, DXP_ERANGE, 0},
		{FIELD(result), UINT64_MAX - 7, DXP_ERANGE, 0},
		{FIELD(result), DAEMONS_MEMORY, DXP_ERANGE, 0},
		{FIELD(result), good.to + 8, DXP_ERANGE, DXP_EINVAL},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct refusal *c = &cases[i];
		struct dxp_allreduce_descriptor d = good;
		const uint32_t before = reg(k, 0, CFG_ALLREDUCES_REFUSED);

		places_clear(k);
		memcpy((char *)&d + c->offset, &c->value, c->bytes);
		const int status = descriptor_write(k, 0, &d);
		if (status != c->status)
			fail_msg("case %zu, %s: %s", i, c->what, dxp_status_name(status));
		assert_int_equal(reg(k, 0, CFG_ALLREDUCES_REFUSED), before + 1);
		if (c->error)
			assert_int_equal(result_await(k, 0, &d), c->error);
		else
			assert_int_equal(result_read(k, 0, good.result).tag, 0);
	}
	const struct sums s = {.count = 100, .group = group, .type = DXP_INT32, .rounds = 2};
	all_run(k, &s, DXP_OK);
	uint8_t there[PLACE_BYTES], zeros[PLACE_BYTES] = {0};
	ok(dxp_mem_read(x, there, foreign, sizeof(there)));
	assert_memory_equal(there, zeros, sizeof(zeros));
	dxp_xpu_close(x);
	dxp_fabric_close(guest);
	dxp_group_destroy(g);
}

/* Only one access with all registers is a descriptor. */
static void kernel_descriptors__parts_of_a_descriptor(void **state)
{
	struct kernels *k = &world;
	struct dxp_xpu *x = k->r.xpus[0];
	uint32_t words[CFG_ALLREDUCE_WORDS + 1] = {0};
	const uint32_t before = reg(k, 0, CFG_ALLREDUCES_REFUSED);

	assert_int_equal(dxp_reg_write(x, CFG_ALLREDUCE_TAG, words, 1), DXP_ERANGE);
	assert_int_equal(dxp_reg_write(x, CFG_ALLREDUCE_FROM_LO, words, CFG_ALLREDUCE_WORDS - 1),
			 DXP_ERANGE);
	assert_int_equal(dxp_reg_write(x, CFG_ALLREDUCE_FROM_HI, words, CFG_ALLREDUCE_WORDS - 1),
			 DXP_ERANGE);
	assert_int_equal(dxp_reg_write(x, CFG_ALLREDUCE_FROM_LO, words, CFG_ALLREDUCE_WORDS + 1),
			 DXP_EACCESS);
	assert_int_equal(reg(k, 0, CFG_ALLREDUCES_REFUSED), before);
}

/* The queue of a group is bounded. Those that wait end with the group. */
static void kernel_descriptors__full_queue(void **state)
{
	struct kernels *k = &world;
	uint32_t group;
	struct dxp_group *g = kernels_group(k, &group);
	struct dxp_allreduce_descriptor d = descriptor_of(k, 0, group);

	places_clear(k);
	for (uint32_t i = 0; i <= DXP_ALLREDUCES_MAX; i++, d.result += 8)
		ok(descriptor_write(k, 0, &d)); /* the first one is in progress */
	assert_int_equal(descriptor_write(k, 0, &d), DXP_EBUSY);
	assert_int_equal(result_await(k, 0, &d), DXP_EBUSY);
	dxp_group_destroy(g);
	while ((d.result -= 8) >= k->results[0])
		assert_int_equal(result_await(k, 0, &d), DXP_ECANCELED);
}

/* A buffer that is freed after the post, but before the operation starts. */
static void kernel_descriptors__freed_buffer(void **state)
{
	struct kernels *k = &world;
	uint32_t group;
	struct dxp_group *g = kernels_group(k, &group);
	struct dxp_allreduce_descriptor d[MEMBERS];

	places_clear(k);
	for (int round = 0; round < 2; round++) {
		d[0] = descriptor_of(k, 0, group);
		d[0].result += 8 * (uint64_t)round;
		ok(descriptor_write(k, 0, &d[0]));
	}
	ok(dxp_mem_free(k->r.xpus[0], k->r.from[0]));
	for (uint32_t m = 1; m < k->members; m++)
		for (int round = 0; round < 2; round++) {
			d[m] = descriptor_of(k, m, group);
			d[m].result += 8 * (uint64_t)round;
			ok(descriptor_write(k, m, &d[m]));
		}
	assert_int_equal(result_await(k, 0, &d[0]), DXP_ERANGE);
	for (uint32_t m = 1; m < k->members; m++)
		assert_int_equal(result_await(k, m, &d[m]), DXP_EPEERLOST);
	dxp_group_destroy(g);
	ok(dxp_mem_alloc(k->r.xpus[0], BUFFER_BYTES, &k->r.from[0]));
}

static uint64_t drawn(struct rng *rng, const uint64_t *choices, size_t count)
{
	const uint64_t r = rng_next(rng);

	return r % 4 == 0 ? rng_next(rng) : choices[r / 4 % count] + (r >> 60) - 8 * (r >> 59 & 1);
}

/* Random descriptors neither harm the node nor another host. */
static void kernel_descriptors__random_descriptors(void **state)
{
	struct kernels *k = &world;
	uint32_t group;
	struct dxp_group *g = kernels_group(k, &group);
	const uint64_t addresses[] = {k->r.from[0], k->r.to[0], k->results[0],
				      k->out[0],    0,          DAEMONS_MEMORY};
	const uint64_t counts[] = {0, 8, BUFFER_BYTES, BUFFER_BYTES / 4, 1ull << 61, 1ull << 32};
	const uint64_t numbers[] = {group, DXP_SUM, DXP_AVERAGE, DXP_TYPES};
	struct rng rng = {99};

	for (int i = 0; i < 2000; i++) {
		struct dxp_allreduce_descriptor d = {
			.from = drawn(&rng, addresses, ARRAY_COUNT(addresses)),
			.to = drawn(&rng, addresses, ARRAY_COUNT(addresses)),
			.count = drawn(&rng, counts, ARRAY_COUNT(counts)),
			.result = drawn(&rng, addresses, ARRAY_COUNT(addresses)),
			.group = i % 3 ? group : (uint32_t)drawn(&rng, numbers, 4),
			.type = (uint32_t)drawn(&rng, numbers, 4),
			.reduction = (uint32_t)drawn(&rng, numbers, 4),
			.tag = (uint32_t)rng_next(&rng)};
		const int status = descriptor_write(k, 0, &d);
		assert_true(status == DXP_OK || status == DXP_ERANGE || status == DXP_EACCESS ||
			    status == DXP_EUNSUPPORTED || status == DXP_EBUSY);
	}
	dxp_group_destroy(g);
	struct sums s = {.count = 100, .type = DXP_INT32, .rounds = 1};
	g = kernels_group(k, &s.group);
	all_run(k, &s, DXP_OK);
	dxp_group_destroy(g);
}

/* ---- lack of memory ---- */

static pthread_t poor;            /* thread whose allocations fail */
static atomic_uint until_failure; /* counts down to the failing calloc(); 0: none fails */

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
	if (until_failure && pthread_equal(pthread_self(), poor) && --until_failure == 0)
		return NULL;
	return __real_calloc(count, bytes);
}

/* Each allocation of a post fails once. */
static void kernel_descriptors__no_memory(void **state)
{
	struct kernels *k = &world;
	unsigned refused = 0, failed = 0;

	poor = k->r.daemon.thread;
	for (unsigned nth = 1; nth <= 8 && (refused == 0 || failed == 0); nth++) {
		uint32_t group;
		struct dxp_group *g = kernels_group(k, &group);
		struct dxp_allreduce_descriptor d = descriptor_of(k, 0, group);

		places_clear(k);
		until_failure = nth;
		const int status = descriptor_write(k, 0, &d);
		until_failure = 0;
		if (status == DXP_EBUSY)
			assert_int_equal(result_await(k, 0, &d), DXP_ENOMEM);
		else
			ok(status);
		refused += status == DXP_EBUSY;
		/* the second allocation follows at once */
		failed += status == DXP_OK && result_read(k, 0, d.result).tag == d.tag;
		dxp_group_destroy(g);
	}
	assert_int_equal(refused, 1);
	assert_int_equal(failed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_descriptors__refused),
		cmocka_unit_test(kernel_descriptors__parts_of_a_descriptor),
		cmocka_unit_test(kernel_descriptors__full_queue),
		cmocka_unit_test(kernel_descriptors__freed_buffer),
		cmocka_unit_test(kernel_descriptors__random_descriptors),
		cmocka_unit_test(kernel_descriptors__no_memory),
	};

	if (!kernels_possible() || !engine_next())
		return 77;
	return cmocka_run_group_tests_name(engine_used, tests, world_open, kernels_close);
}
