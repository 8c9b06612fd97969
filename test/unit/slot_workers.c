/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernels in a worker per host: one that crashes, never ends, prints or leaves memory affects
 * no other host, and leaves no worker or descriptor. Skipped without OpenCL. */
#include "test/unit/slot_workers_rig.h"

/* Outstanding commands of the crashed host fail; the next runs in a new worker with the same
 * programs. */
static void crash__only_its_host(void **state)
{
	struct guest good = guest_open("good"), bad = guest_open("bad");

	for (int i = 0; i < 3; i++) {
		dxp_event first = wild(&bad, "wild", 0x10);
		dxp_event second = add(&bad, 1, NULL);
		dxp_event third = add(&bad, 1, &first);
		ok(end(&good, add(&good, 5, NULL)));
		assert_int_equal(end(&bad, first), DXP_EDEVICE);
		/* it may be reported before the crash is detected */
		int status = end(&bad, second);
		assert_true(status == DXP_EDEVICE || status == DXP_OK);
		assert_true(end(&bad, third) < 0);
		ok(end(&bad, add(&bad, 100, NULL)));
	}
	assert_int_equal(word(&good), 15);
	assert_true(word(&bad) >= 300);
	guest_close(&good);
	guest_close(&bad);
	workers_become(0);
}

/* A kernel cannot write to memory of another host that is on another page of the same device
 * memory. */
static void memory__of_others_is_out_of_reach(void **state)
{
	struct guest good = guest_open("good"), bad = guest_open("bad");
	int64_t distance = (int64_t)(good.address - bad.address) / 4;

	assert_true(distance % 1024 == 0);
	ok(end(&good, add(&good, 5, NULL)));
	assert_int_equal(end(&bad, wild(&bad, "wild_near", (uint64_t)distance)), DXP_EDEVICE);
	assert_int_equal(word(&good), 5);
	guest_close(&good);
	guest_close(&bad);
}

static void memory__freed_is_out_of_reach(void **state)
{
	struct guest g = guest_open("freer");
	uint64_t other;

	ok(dxp_mem_alloc(g.xpu, 4096, &other));
	uint64_t distance = (uint64_t)((int64_t)(other - g.address) / 4);
	ok(end(&g, wild(&g, "wild_near", distance)));
	ok(dxp_mem_free(g.xpu, other));
	assert_int_equal(end(&g, wild(&g, "wild_near", distance)), DXP_EDEVICE);
	guest_close(&g);
}

/* ALLOC waits for the kernel, and then gets the freed memory. */
static void memory__all_of_it_again_and_again(void **state)
{
	struct guest g = guest_open("greedy");
	uint64_t address;
	const uint32_t n = 1;

	for (int i = 0; i < 20; i++) {
		ok(dxp_mem_alloc(g.xpu, HOST_BYTES - 65536, &address));
		dxp_event event = start(&g, "add", &n, sizeof(n), NULL);
		ok(dxp_mem_free(g.xpu, address));
		ok(end(&g, event));
	}
	guest_close(&g);
}

static void memory__limit_of_a_host(void **state)
{
	struct guest g = guest_open("limited"), other = guest_open("other");
	uint64_t a, b;

	assert_int_equal(dxp_mem_alloc(g.xpu, HOST_BYTES, &a), DXP_ENOMEM);
	ok(dxp_mem_alloc(g.xpu, HOST_BYTES - 4096, &a));
	assert_int_equal(dxp_mem_alloc(g.xpu, 1, &b), DXP_ENOMEM);
	ok(dxp_mem_alloc(other.xpu, HOST_BYTES - 4096, &b));
	ok(dxp_mem_free(g.xpu, a));
	ok(dxp_mem_alloc(g.xpu, HOST_BYTES - 4096, &a));
	guest_close(&g);
	guest_close(&other);
}

struct record {
	char text[256];
	size_t bytes;
};

static void callback_record(void *context, uint16_t node, const char *text, size_t bytes)
{
	struct record *h = context;

	assert_true(h->bytes + bytes < sizeof(h->text));
	memcpy(h->text + h->bytes, text, bytes);
	h->bytes += bytes;
	h->text[h->bytes] = '\0';
}

/* Prints reach their host before the kernel completes, and no other host. */
static void print__comes_to_its_host(void **state)
{
	struct guest a = guest_open("talker"), b = guest_open("other");
	struct record of_a = {.bytes = 0}, of_b = {.bytes = 0};
	const uint32_t seven = 7, nine = 9;

	dxp_fabric_print(a.fabric, callback_record, &of_a);
	dxp_fabric_print(b.fabric, callback_record, &of_b);
	ok(end(&a, start(&a, "say", &seven, sizeof(seven), NULL)));
	assert_string_equal(of_a.text, "I am 7");
	ok(end(&b, start(&b, "say", &nine, sizeof(nine), NULL)));
	assert_string_equal(of_b.text, "I am 9");
	assert_string_equal(of_a.text, "I am 7");
	guest_close(&a);
	guest_close(&b);
}

/* Escape characters do not reach the terminal of the host. */
static void print__without_escapes(void **state)
{
	struct guest g = guest_open("rude");
	struct record of_g = {.bytes = 0};
	const uint32_t n = 0;

	dxp_fabric_print(g.fabric, callback_record, &of_g);
	ok(end(&g, start(&g, "escape", &n, sizeof(n), NULL)));
	assert_string_equal(of_g.text, "a\tb\n?[2J?");
	guest_close(&g);
}

/* A chain of edits and kernels needs no waits of the host; an edit of unallocated memory fails. */
static void edits__in_order_with_kernels(void **state)
{
	struct guest g = guest_open("editor");
	const uint32_t five = 5;
	const struct dxp_rect row = {.row_bytes = 2048, .rows = 1, .slices = 1};
	const struct dxp_rect far = {
		.row_bytes = 16, .rows = 2, .slices = 1, .to_row_pitch = 1ull << 40};
	dxp_event event;

	for (uint32_t i = 0; i < 100; i++) {
		ok(dxp_write(g.xpu, g.address, &i, sizeof(i), NULL, &event));
		event = add(&g, 1, &event);
		struct dxp_waits waits = {.events = &event, .count = 1};
		ok(dxp_copy(g.xpu, g.address, g.address + 2048, &row, &waits, &event));
		ok(dxp_fill(g.xpu, g.address, &five, sizeof(five), &row, &waits, &event));
		ok(dxp_mark(g.xpu, &waits, &event));
		ok(end(&g, event));
		uint32_t back[2];
		ok(dxp_mem_read(g.xpu, &back[0], g.address + 2048, 4));
		ok(dxp_mem_read(g.xpu, &back[1], g.address + 2044, 4));
		assert_int_equal(back[0], i + 1);
		assert_int_equal(back[1], 5);
	}
	int status = dxp_fill(g.xpu, g.address, &five, sizeof(five), &far, NULL, &event);
	assert_true(status < 0 || end(&g, event) < 0);
	ok(dxp_copy(g.xpu, g.address, g.address + 4096, &row, NULL, &event));
	assert_int_equal(end(&g, event), DXP_EACCESS);
	ok(end(&g, add(&g, 1, NULL)));
	guest_close(&g);
}

static void endless__ends_with_its_host(void **state)
{
	struct guest good = guest_open("good"), bad = guest_open("bad");
	const uint32_t n = 0;

	start(&bad, "endless", &n, sizeof(n), NULL);
	usleep(20000);
	uint64_t begin = clock_now_ns();
	/* it runs beside the endless kernel */
	ok(end(&good, add(&good, 1, NULL)));
	guest_close(&bad);
	workers_become(1);
	assert_true(clock_now_ns() - begin < SOON_NS);
	ok(end(&good, add(&good, 1, NULL)));
	guest_close(&good);
}

static void begun__of_long_ones(void **state)
{
	struct guest g = guest_open("asks");
	const uint32_t n = 1;
	struct dxp_completion c;
	dxp_event event;

	dxp_completions_begun(g.fabric, true);
	/* compiles the kernel */
	ok(end(&g, add(&g, n, NULL)));
	for (int i = 0; i < 100; i++) {
		event = add(&g, n, NULL);
		ok(dxp_event_notify(g.fabric, event, 1));
		assert_int_equal(dxp_completions(g.fabric, &c, 1, DAEMONS_WAIT_NS), 1);
		if (c.begun) /* it counted as long, on a busy machine */
			assert_int_equal(dxp_completions(g.fabric, &c, 1, DAEMONS_WAIT_NS), 1);
		assert_false(c.begun);
		dxp_event_forget(g.fabric, event);
	}
	event = start(&g, "endless", &n, sizeof(n), NULL);
	ok(dxp_event_notify(g.fabric, event, 2));
	assert_int_equal(dxp_completions(g.fabric, &c, 1, DAEMONS_WAIT_NS), 1);
	assert_true(c.begun);
	assert_int_equal(c.cookie, 2);
	assert_true(c.event == event);
	/* reported only once */
	assert_int_equal(dxp_completions(g.fabric, &c, 1, 20 * MS_NS), 0);
	guest_close(&g);
}

static void native__of_a_build(void **state)
{
	struct guest g = guest_open("builds");
	struct dxp_program *p = NULL;

	/* from the compiler, then from the cache */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dxp_program_build(g.xpu, source, "-cl-nonsense", &p), DXP_EBUILD);
		/* CL_INVALID_BUILD_OPTIONS */
		assert_int_equal(dxp_program_native(p), -43);
		dxp_program_release(p);
	}
	assert_int_equal(dxp_program_native(g.program), 0);
	guest_close(&g);
}

static int descriptors(pid_t pid)
{
	char path[64];
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

/* After many hosts, no more descriptors and workers exist than before. A descriptor that each tenth
 * host leaves is found; DXP_HOSTS sets their number. */
static void hosts__many(void **state)
{
	enum { WARM = 10, HOSTS = 250 };
	const int hosts = getenv("DXP_HOSTS") ? atoi(getenv("DXP_HOSTS")) : HOSTS;
	struct guest g = guest_open("stays");
	uint64_t longest_ns = 0;
	int own = 0, its = 0;

	for (int i = 0; i < hosts; i++) {
		struct guest again = {.fabric = g.fabric, .address = 0};
		ok(dxp_mem_free(g.xpu, g.address));
		dxp_program_release(g.program);
		dxp_xpu_close(g.xpu);
		uint64_t begin_ns = clock_now_ns();
		again.xpu = daemons_xpu(g.fabric, "xpu1");
		ok(dxp_program_build(again.xpu, source, NULL, &again.program));
		ok(dxp_mem_alloc(again.xpu, 4096, &again.address));
		*opened_find(again.fabric) = again;
		ok(end(&again, add(&again, 1, NULL)));
		assert_int_equal(word(&again), 1);
		g = again;
		if (i == WARM) {
			own = descriptors(getpid());
			its = descriptors(zygote());
		}
		if (i >= WARM && clock_now_ns() - begin_ns > longest_ns)
			longest_ns = clock_now_ns() - begin_ns;
	}
	workers_become(1);
	/* some come and go with sessions and files */
	assert_in_range(descriptors(getpid()), 0, own + 16);
	assert_in_range(descriptors(zygote()), 0, its + 16);
	print_message("the slowest of %d hosts was served after %.1f ms\n", hosts,
		      (double)longest_ns / 1e6);
	guest_close(&g);
	workers_become(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(crash__only_its_host),
		TEST(memory__of_others_is_out_of_reach),
		TEST(memory__freed_is_out_of_reach),
		TEST(memory__all_of_it_again_and_again),
		TEST(memory__limit_of_a_host),
		TEST(print__comes_to_its_host),
		TEST(print__without_escapes),
		TEST(edits__in_order_with_kernels),
		TEST(endless__ends_with_its_host),
		TEST(begun__of_long_ones),
		TEST(native__of_a_build),
		TEST(hosts__many),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, world_open, world_close);
}
