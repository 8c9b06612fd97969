/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests every call of the host library, its rejections, and its result when a node dies, with a
 * real manager and fake engines. */
#include "host/limits.h"
#include "base/clock.h"
#include "test/support/cpu_time.h"
#include "test/unit/host_rig.h"

/* ns to detect a dead node; 3 to 4 s on an idle machine */
#define DIES_WITHIN_NS (10 * S_NS)

static int world_open(void **state)
{
	struct world *w = world_of(fake_fabric_open(2));

	ok(dxp_program_build(w->one, "kernel", NULL, &w->program));
	*state = w;
	return 0;
}

static dxp_event run(struct world *w, const char *kernel, dxp_event wait)
{
	const struct dxp_launch launch = {.program = w->program,
					  .kernel = kernel,
					  .dimensions = 1,
					  .global = {1},
					  .wait = &wait,
					  .wait_count = 1};
	dxp_event event;

	ok(dxp_run(w->one, &launch, &event));
	return event;
}

static int wait_for(struct world *w, dxp_event event)
{
	return dxp_event_wait(w->fabric, event, DIES_WITHIN_NS, NULL);
}

static void fabric__nodes(void **state)
{
	struct world *w = *state;
	struct dxp_node_info nodes[8];
	int xpus = 0;

	int count = dxp_fabric_nodes(w->fabric, nodes, 8);
	assert_in_range(count, 2, 3);
	for (int i = 0; i < count; i++)
		xpus += nodes[i].kind == DXP_NODE_XPU && nodes[i].alive && nodes[i].granted &&
			nodes[i].memory_bytes == FAKE_MEMORY_BYTES &&
			strcmp(nodes[i].engine, "toy") == 0;
	assert_int_equal(xpus, 2);
	assert_int_equal(dxp_fabric_nodes(w->fabric, nodes, 0), count);
}

static void xpu__open_by_id_and_twice(void **state)
{
	struct world *w = *state;
	struct dxp_xpu_caps caps;
	struct dxp_xpu *again;
	char id[8];

	ok(dxp_xpu_caps(w->one, &caps));
	assert_string_equal(caps.name, "xpu1");
	assert_string_equal(caps.device, "toy");
	assert_int_equal(caps.compute_units, 3);
	snprintf(id, sizeof(id), "%u", caps.node);
	ok(dxp_xpu_open(w->fabric, id, &again));
	assert_ptr_equal(again, w->one);
	dxp_xpu_close(again);
	ok(dxp_xpu_caps(w->one, &caps));
}

/* A program's struct may be shorter, longer, or without a size. */
static void xpu__structs_of_other_releases(void **state)
{
	struct world *w = *state;
	struct {
		struct dxp_node_info rows[3];
		struct dxp_xpu_caps caps;
		uint8_t later[64];
	} out;
	char *bytes = (char *)&out.caps;
	const size_t shorter = offsetof(struct dxp_xpu_caps, device);

	memset(&out, 0x5a, sizeof(out));
	ok(dxp_xpu_caps_sized(w->one, &out.caps, shorter));
	assert_string_equal(out.caps.engine, "toy");
	assert_int_equal(bytes[shorter], 0x5a);
	ok(dxp_xpu_caps_sized(w->one, &out.caps, sizeof(out.caps) + 32));
	assert_string_equal(out.caps.device, "toy");
	assert_int_equal(out.later[31], 0);
	assert_int_equal(out.later[32], 0x5a);
	memset(&out, 0x5a, sizeof(out));
	ok((dxp_xpu_caps)(w->one, &out.caps));
	assert_int_not_equal(out.caps.buffer_bytes, 0x5a5a5a5a);
	assert_int_equal(out.later[0], 0x5a);

	const size_t row_bytes = offsetof(struct dxp_node_info, engine);
	char rows[3][offsetof(struct dxp_node_info, engine)];
	int count = dxp_fabric_nodes_sized(w->fabric, (void *)rows, 3, row_bytes);
	assert_in_range(count, 2, 3);
	assert_int_equal((dxp_fabric_nodes)(w->fabric, out.rows, 3), count);
	for (int i = 0; i < count; i++)
		assert_string_equal(rows[i] + offsetof(struct dxp_node_info, name),
				    out.rows[i].name);
}

static void xpu__unknown(void **state)
{
	struct world *w = *state;
	struct dxp_xpu *x;

	assert_int_equal(dxp_xpu_open(w->fabric, "nobody", &x), DXP_ENOENT);
	has_text("'nobody'");
	assert_int_equal(dxp_xpu_open(w->fabric, "tester", &x), DXP_EINVAL);
	has_text("host");
	assert_int_equal(dxp_xpu_open(w->fabric, "", &x), DXP_EINVAL);
}

static void mem__round_trip(void **state)
{
	static const uint64_t sizes[] = {
		0, 1, 3, 4096, 65537, HOST_PIECE_BYTES, HOST_PIECE_BYTES + 1, 40u << 20};
	struct world *w = *state;
	struct rng rng = {7};
	uint8_t *out = malloc(40u << 20), *in = malloc(40u << 20);

	for (size_t s = 0; s < ARRAY_COUNT(sizes); s++) {
		uint64_t address = rng_below(&rng, 1 << 20);
		for (uint64_t i = 0; i < sizes[s]; i++)
			out[i] = (uint8_t)rng_next(&rng);
		ok(dxp_mem_write(w->one, address, out, sizes[s]));
		assert_memory_equal(fake_xpu_memory(w->fake, 0) + address, out, sizes[s]);
		ok(dxp_mem_read(w->one, in, address, sizes[s]));
		assert_memory_equal(in, out, sizes[s]);
	}
	free(out);
	free(in);
}

static void mem__outside(void **state)
{
	struct world *w = *state;
	uint8_t byte = 0;

	assert_int_equal(dxp_mem_write(w->one, FAKE_MEMORY_BYTES, &byte, 1), DXP_ERANGE);
	has_text("xpu1");
	assert_int_equal(dxp_mem_read(w->one, &byte, UINT64_MAX, 1), DXP_ERANGE);
	assert_int_equal(dxp_mem_read(w->one, &byte, 0, UINT64_MAX), DXP_ERANGE);
}

static void mem__allocate(void **state)
{
	struct world *w = *state;
	uint64_t first, second;

	ok(dxp_mem_alloc(w->one, 100, &first));
	ok(dxp_mem_alloc(w->one, 100, &second));
	assert_true(second >= first + 100);
	assert_int_equal(dxp_mem_alloc(w->one, FAKE_MEMORY_BYTES, &first), DXP_ENOMEM);
	has_text("bytes free for this host");
	assert_int_equal(dxp_mem_alloc(w->one, 0, &first), DXP_EINVAL);
	ok(dxp_mem_free(w->one, second));
}

static void reg__round_trip(void **state)
{
	struct world *w = *state;
	uint32_t values[FAKE_REGISTERS];

	ok(dxp_reg_read(w->two, 0, values, FAKE_REGISTERS));
	for (uint32_t i = 0; i < FAKE_REGISTERS; i++)
		assert_int_equal(values[i], i * 3);
	for (uint32_t i = 0; i < 300; i++)
		values[i] = ~i;
	ok(dxp_reg_write(w->two, 100, values, 300));
	memset(values, 0, sizeof(values));
	ok(dxp_reg_read(w->two, 100, values, 300));
	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(values[i], ~i);
	assert_int_equal(dxp_reg_read(w->two, FAKE_REGISTERS, values, 1), DXP_ERANGE);
	has_text("register 512");
}

/* Writes to one register take effect in order, without waiting for each other. */
static void reg__list(void **state)
{
	enum { WRITES = 5000, USED = 300 };
	static struct dxp_reg_value list[WRITES];
	struct world *w = *state;
	uint32_t values[USED], before;

	for (uint32_t i = 0; i < WRITES; i++)
		list[i] = (struct dxp_reg_value){.index = 7 * i % USED, .value = i};
	ok(dxp_reg_write_list(w->one, list, WRITES));
	ok(dxp_reg_read(w->one, 0, values, USED));
	for (uint32_t i = WRITES - USED; i < WRITES; i++)
		assert_int_equal(values[list[i].index], i);
	assert_true(fake_xpu_writes_at_once(w->fake, 0) > 1);
	ok(dxp_reg_write_list(w->one, NULL, 0));
	assert_int_equal(dxp_reg_write_list(w->one, NULL, 1), DXP_EINVAL);
	has_text("NULL");
	/* a wrong index stops the list */
	ok(dxp_reg_read(w->one, USED, &before, 1));
	for (uint32_t i = 0; i < WRITES; i++)
		list[i].value = ~i;
	list[USED].index = FAKE_REGISTERS;
	list[WRITES - 1].index = USED;
	assert_int_equal(dxp_reg_write_list(w->one, list, WRITES), DXP_ERANGE);
	has_text("'xpu1'");
	ok(dxp_reg_read(w->one, 0, values, USED));
	assert_int_equal(values[list[0].index], ~0u);
	ok(dxp_reg_read(w->one, USED, values, 1));
	assert_int_equal(values[0], before);
}

static void program__log(void **state)
{
	struct world *w = *state;
	struct dxp_program *bad = NULL;

	assert_int_equal(dxp_program_build(w->one, "an error", NULL, &bad), DXP_EBUILD);
	assert_string_equal(dxp_program_log(bad), "line 1: not like this\n");
	dxp_program_release(bad);
	assert_string_equal(dxp_program_log(w->program), "");
}

static void run__ends(void **state)
{
	struct world *w = *state;
	struct dxp_event_times times;
	dxp_event event = run(w, "ok", 0);

	ok(dxp_event_wait(w->fabric, event, S_NS, &times));
	assert_int_equal(times.ended_ns, 3);
	assert_int_equal(dxp_event_wait(w->fabric, event, 0, NULL), DXP_ENOENT);
	assert_int_equal(wait_for(w, run(w, "fail", 0)), DXP_EDEVICE);
	has_text("xpu1");
}

static void run__wait_list(void **state)
{
	struct world *w = *state;
	dxp_event failed = run(w, "fail", 0), after = run(w, "ok", failed);

	assert_int_equal(wait_for(w, after), DXP_ECANCELED);
	assert_int_equal(wait_for(w, failed), DXP_EDEVICE);
	dxp_event first = run(w, "ok", 0);
	ok(wait_for(w, run(w, "ok", first)));
	ok(wait_for(w, first));
}

/* xpu1 learns of xpu2's event from a signal. */
static void run__waits_for_another_xpu(void **state)
{
	struct world *w = *state;
	struct dxp_program *program;
	struct dxp_launch launch = {.kernel = "ok", .dimensions = 1, .global = {1}};
	dxp_event there;

	ok(dxp_program_build(w->two, "kernel", NULL, &program));
	launch.program = program;
	ok(dxp_run(w->two, &launch, &there));
	ok(wait_for(w, run(w, "ok", there)));
	ok(wait_for(w, there));
	dxp_program_release(program);
}

static void event__timeout_keeps_it(void **state)
{
	struct world *w = *state;
	dxp_event event = run(w, "never", 0);

	assert_int_equal(dxp_event_wait(w->fabric, event, 10 * MS_NS, NULL), DXP_ETIMEDOUT);
	assert_int_equal(dxp_event_done(w->fabric, event), 0);
	assert_int_equal(dxp_event_done(w->fabric, 12345), DXP_ENOENT);
}

static void send__between_xpus(void **state)
{
	struct world *w = *state;
	struct dxp_transfer t = {.from_address = 4096, .to_address = 8192, .bytes = 100000};
	struct dxp_link_bytes before, after;
	struct dxp_xpu_caps caps;
	dxp_event sent, received;
	uint8_t *pattern = fake_xpu_memory(w->fake, 0) + 4096;

	for (uint32_t i = 0; i < t.bytes; i++)
		pattern[i] = (uint8_t)(i * 7);
	ok(dxp_xpu_caps(w->two, &caps));
	ok(dxp_fabric_traffic(w->fabric, caps.node, &before));
	ok(dxp_send(w->one, w->two, &t, &sent));
	ok(wait_for(w, sent));
	assert_memory_equal(fake_xpu_memory(w->fake, 1) + 8192, pattern, t.bytes);
	ok(dxp_fabric_traffic(w->fabric, caps.node, &after));
	assert_true(after.sent_bytes - before.sent_bytes < 1000);
	ok(dxp_send(w->one, w->two, &t, NULL));
	t.wait = &received;
	t.wait_count = 0;
	assert_int_equal(dxp_send(w->one, w->one, &t, &received), DXP_EINVAL);
	t.to_address = FAKE_MEMORY_BYTES;
	assert_int_equal(dxp_send(w->one, w->two, &t, &received), DXP_ERANGE);
}

static void run__many_without_waiting(void **state)
{
	struct world *w = *state;
	dxp_event events[2000];

	for (size_t i = 0; i < ARRAY_COUNT(events); i++)
		events[i] = run(w, "ok", 0);
	for (size_t i = ARRAY_COUNT(events); i-- > 0;)
		ok(wait_for(w, events[i]));
}

static void *hammer(void *context)
{
	struct world *w = context;
	uint32_t words[64];

	for (int i = 0; i < 300; i++) {
		ok(dxp_reg_read(w->two, 0, words, 64));
		ok(wait_for(w, run(w, "ok", 0)));
		ok(dxp_mem_write(w->one, 1 << 20, words, sizeof(words)));
	}
	return NULL;
}

static void fabric__threads_alternate(void **state)
{
	pthread_t threads[4];

	for (size_t i = 0; i < ARRAY_COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, *state), 0);
	for (size_t i = 0; i < ARRAY_COUNT(threads); i++)
		pthread_join(threads[i], NULL);
}

/* The progress thread renews the lease and reads events meanwhile. */
static void fabric__progress_thread(void **state)
{
	struct world *w = *state;
	const struct timespec pause = {.tv_sec = 4};
	uint64_t used_ns = UINT64_MAX;

	/* Manager, two xPUs and host may each use 1 % of 4 s. Wakeups cost more on a busy machine,
	 * so the test may retry. */
	for (int i = 0; i < 3 && used_ns >= 160 * MS_NS; i++) {
		dxp_event event = run(w, "ok", 0);
		uint64_t begin_ns = cpu_time_ns();
		nanosleep(&pause, NULL);
		used_ns = cpu_time_ns() - begin_ns;
		assert_int_equal(dxp_event_done(w->fabric, event), 1);
		ok(wait_for(w, event));
	}
	assert_true(used_ns < 160 * MS_NS);
	ok(wait_for(w, run(w, "ok", 0)));
}

static void dies(struct world *w)
{
	dxp_event event = run(w, "never", 0), after = run(w, "ok", event);
	uint64_t begin = clock_now_ns();
	uint32_t word;

	fake_xpu_freeze(w->fake, 0);
	assert_int_equal(dxp_event_wait(w->fabric, event, 2 * DIES_WITHIN_NS, NULL), DXP_EPEERLOST);
	assert_in_range(clock_now_ns() - begin, 0, DIES_WITHIN_NS);
	has_text("xPU 'xpu1' (node ");
	has_text("dxp nodes");
	assert_int_equal(dxp_event_wait(w->fabric, after, 0, NULL), DXP_EPEERLOST);
	assert_int_equal(dxp_reg_read(w->one, 0, &word, 1), DXP_EPEERLOST);
	assert_int_equal(dxp_reg_write_list(w->one, &(struct dxp_reg_value){0, 1}, 1),
			 DXP_EPEERLOST);
	ok(dxp_reg_read(w->two, 0, &word, 1));
}

static void xpu__dies(void **state)
{
	dies(*state);
}

static void xpu__dies_without_manager(void **state)
{
	struct world *w = *state;

	fake_manager_stop(w->fake);
	dies(w);
}

static void xpu__dies_during_a_write(void **state)
{
	struct world *w = *state;
	uint8_t *data = calloc(1, 32u << 20);
	uint64_t begin = clock_now_ns();

	fake_xpu_freeze(w->fake, 0);
	assert_int_equal(dxp_mem_write(w->one, 0, data, 32u << 20), DXP_EPEERLOST);
	assert_in_range(clock_now_ns() - begin, 0, DIES_WITHIN_NS);
	has_text("xpu1");
	free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(fabric__nodes),
		TEST(xpu__open_by_id_and_twice),
		TEST(xpu__structs_of_other_releases),
		TEST(xpu__unknown),
		TEST(mem__round_trip),
		TEST(mem__outside),
		TEST(mem__allocate),
		TEST(reg__round_trip),
		TEST(reg__list),
		TEST(program__log),
		TEST(run__ends),
		TEST(run__wait_list),
		TEST(run__waits_for_another_xpu),
		TEST(run__many_without_waiting),
		TEST(event__timeout_keeps_it),
		TEST(send__between_xpus),
		TEST(fabric__threads_alternate),
		TEST(fabric__progress_thread),
		TEST(xpu__dies),
		TEST(xpu__dies_without_manager),
		TEST(xpu__dies_during_a_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
