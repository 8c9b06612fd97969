/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the classifier's fabric backend on a fake host library that fails on request: messages, and
 * the order of closing. */
#include "classify_support.h"

#include <dxp/async.h>
#include <dxp/mmd.h>

/* One fabric with xPUs "xpu1" to "xpu3". "xpu2" is dead; "foreign" is not granted. */
static struct {
	int open_status, alloc_status, build_status, wait_status;
	const char *error;
	uint32_t fabrics, xpus, programs; /* counts of open objects */
	struct dxp_launch launch;
	struct dxp_transfer transfer;
	uint32_t from, to;
} fake;

struct dxp_fabric {
	int unused;
};
struct dxp_xpu {
	uint16_t node;
};
struct dxp_program {
	int unused;
};

/* The last read and write through the host, and the event released. */
static struct {
	struct dxp_xpu *from, *to;
	uint64_t from_address, to_address;
	const void *memory_in, *memory_out;
	dxp_event wait_in, wait_out, forgotten;
} passage;

static struct dxp_fabric the_fabric;
static struct dxp_xpu the_xpus[4] = {{0}, {1}, {2}, {3}};
static struct dxp_program the_program;

int dxp_fabric_open(const struct dxp_fabric_options *options, struct dxp_fabric **out)
{
	if (fake.open_status == DXP_OK) {
		*out = &the_fabric;
		fake.fabrics++;
	}
	return fake.open_status;
}

void dxp_fabric_close(struct dxp_fabric *fabric)
{
	assert_int_equal(fake.xpus, 0);
	fake.fabrics -= fabric != NULL;
}

const char *dxp_fabric_error(const struct dxp_fabric *fabric)
{
	return fake.error;
}

int dxp_fabric_nodes_sized(struct dxp_fabric *fabric, struct dxp_node_info *out, size_t count,
			   size_t row_bytes)
{
	static const struct dxp_node_info nodes[] = {
		{.id = 1, .kind = DXP_NODE_XPU, .granted = true, .alive = true, .name = "xpu1"},
		{.id = 2, .kind = DXP_NODE_XPU, .granted = true, .alive = false, .name = "xpu2"},
		{.id = 3, .kind = DXP_NODE_XPU, .granted = true, .alive = true, .name = "xpu3"},
		{.id = 4, .kind = DXP_NODE_HOST, .granted = true, .alive = true, .name = "me"},
		{.id = 5, .kind = DXP_NODE_XPU, .granted = false, .alive = true, .name = "foreign"},
	};

	for (size_t i = 0; i < count && i < ARRAY_COUNT(nodes); i++)
		out[i] = nodes[i];
	return ARRAY_COUNT(nodes);
}

int dxp_fabric_traffic(struct dxp_fabric *fabric, uint16_t node, struct dxp_link_bytes *out)
{
	*out = (struct dxp_link_bytes){100u + node, 200u + node};
	return DXP_OK;
}

int dxp_xpu_open(struct dxp_fabric *fabric, const char *name, struct dxp_xpu **out)
{
	if (strcmp(name, "foreign") == 0)
		return DXP_EACCESS;
	if (strncmp(name, "xpu", 3) != 0)
		return DXP_ENOENT;
	*out = &the_xpus[name[3] - '0'];
	fake.xpus++;
	return DXP_OK;
}

void dxp_xpu_close(struct dxp_xpu *xpu)
{
	assert_int_equal(fake.programs, 0);
	fake.xpus -= xpu != NULL;
}

int dxp_xpu_caps_sized(struct dxp_xpu *xpu, struct dxp_xpu_caps *out, size_t out_bytes)
{
	*out = (struct dxp_xpu_caps){.node = xpu->node, .device = "a device"};
	snprintf(out->name, sizeof(out->name), "xpu%u", xpu->node);
	return DXP_OK;
}

int dxp_mem_alloc(struct dxp_xpu *xpu, uint64_t bytes, uint64_t *address)
{
	*address = 4096;
	return fake.alloc_status;
}

int dxp_mem_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes)
{
	return DXP_OK;
}

int dxp_mem_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes)
{
	return DXP_OK;
}

int dxp_program_build(struct dxp_xpu *xpu, const char *source, const char *options,
		      struct dxp_program **out)
{
	if (fake.build_status == DXP_OK || fake.build_status == DXP_EBUILD) {
		*out = &the_program;
		fake.programs++;
	}
	return fake.build_status;
}

const char *dxp_program_log(const struct dxp_program *program)
{
	return "line 1: no";
}

void dxp_program_release(struct dxp_program *program)
{
	fake.programs--;
}

int dxp_run(struct dxp_xpu *xpu, const struct dxp_launch *launch, dxp_event *event)
{
	fake.launch = *launch;
	*event = 7;
	return DXP_OK;
}

int dxp_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes,
	     const struct dxp_waits *waits, dxp_event *event)
{
	passage.from = xpu;
	passage.from_address = address;
	passage.memory_in = to;
	passage.wait_in = waits->events[0];
	*event = 70;
	return DXP_OK;
}

int dxp_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes,
	      const struct dxp_waits *waits, dxp_event *event)
{
	assert_true(waits->late);
	passage.to = xpu;
	passage.to_address = address;
	passage.memory_out = from;
	passage.wait_out = waits->events[0];
	*event = 71;
	return DXP_OK;
}

void dxp_event_forget(struct dxp_fabric *fabric, dxp_event event)
{
	passage.forgotten = event;
}

int dxp_send(struct dxp_xpu *from, struct dxp_xpu *to, const struct dxp_transfer *transfer,
	     dxp_event *event)
{
	fake.transfer = *transfer;
	fake.from = from->node;
	fake.to = to->node;
	return DXP_EAGAIN;
}

int dxp_event_wait(struct dxp_fabric *fabric, dxp_event event, uint64_t timeout_ns,
		   struct dxp_event_times *times)
{
	return fake.wait_status;
}

static struct backend *open_two(void)
{
	static const char *const names[] = {"xpu1", "xpu3"};
	struct backend *b;
	struct fault fault;

	assert_int_equal(backend_mmd_open(&b, &fault), DXP_OK);
	assert_int_equal(backend_mmd_acquire(b, names, 2, &fault), DXP_OK);
	return b;
}

static int all_closed(void **state)
{
	assert_int_equal(fake.fabrics + fake.xpus + fake.programs, 0);
	memset(&fake, 0, sizeof(fake));
	return 0;
}

static void backend_mmd_open__no_fabric(void **state)
{
	struct backend *b;
	struct fault fault;

	fake.open_status = DXP_ENOENT;
	fake.error = "no fabric in here; start one with `dxp up`";
	assert_int_equal(backend_mmd_open(&b, &fault), DXP_ENOENT);
	assert_non_null(strstr(fault.text, "dxp up"));
	fake.open_status = DXP_EAUTH;
	fake.error = "";
	assert_int_equal(backend_mmd_open(&b, &fault), DXP_EAUTH);
	assert_non_null(strstr(fault.text, "the fabric key is wrong"));
}

static void backend_mmd_granted__alive_and_own(void **state)
{
	char names[STAGES_MAX][DXP_NAME_BYTES];
	struct fault fault;
	struct backend *b = open_two();

	assert_int_equal(backend_mmd_granted(b, names, &fault), 2);
	assert_string_equal(names[0], "xpu1");
	assert_string_equal(names[1], "xpu3");
	b->ops->close(b);
}

static void backend_mmd_acquire__rejected(void **state)
{
	static const char *const names[] = {"xpu1", "foreign"}, *const unknown[] = {"gone"};
	struct backend *b;
	struct fault fault;

	fake.error = "ask for a grant";
	assert_int_equal(backend_mmd_open(&b, &fault), DXP_OK);
	assert_int_equal(backend_mmd_acquire(b, names, 2, &fault), DXP_EACCESS);
	assert_string_equal(fault.text, "foreign: ask for a grant");
	b->ops->close(b);
	assert_int_equal(backend_mmd_open(&b, &fault), DXP_OK);
	assert_int_equal(backend_mmd_acquire(b, unknown, 1, &fault), DXP_ENOENT);
	b->ops->close(b);
}

static void backend_mmd__passes_on(void **state)
{
	struct backend *b = open_two();
	struct dxp_argument argument = {.kind = DXP_ARGUMENT_BUFFER, .address = 5};
	dxp_event wait = 3, event;
	struct fault fault;
	struct dxp_link_bytes bytes;

	assert_int_equal(b->ops->build(b, 0, "source", &fault), DXP_OK);
	struct backend_launch launch = {.kernel = "conv",
					.global = {10, 20},
					.arguments = &argument,
					.argument_count = 1,
					.wait = &wait,
					.wait_count = 1};
	assert_int_equal(b->ops->launch(b, 0, &launch, &event, &fault), DXP_OK);
	assert_int_equal(event, 7);
	assert_ptr_equal(fake.launch.program, &the_program);
	assert_int_equal(fake.launch.dimensions, 2);
	assert_int_equal(fake.launch.global[1], 20);
	assert_int_equal(fake.launch.local[0] * fake.launch.local[1], 1);
	assert_ptr_equal(fake.launch.wait, &wait);
	struct backend_transfer t = {
		.from = 0, .to = 1, .from_address = 1, .to_address = 2, .bytes = 3};
	assert_int_equal(b->ops->send(b, &t, &event, &fault), DXP_EAGAIN);
	assert_int_equal(fake.from, 1);
	assert_int_equal(fake.to, 3);
	assert_int_equal(fake.transfer.to_address, 2);
	b->ops->traffic(b, 1, &bytes);
	assert_int_equal(bytes.sent_bytes, 103);
	b->ops->close(b);
}

/* Reads to host memory after the wait list, then writes from there. */
static void backend_mmd__through_the_host(void **state)
{
	struct backend *b = open_two();
	struct fault fault;
	dxp_event event = 0, wait = 9;
	struct backend_transfer t = {.from = 0,
				     .to = 1,
				     .from_address = 1,
				     .to_address = 2,
				     .bytes = 3,
				     .wait = &wait,
				     .wait_count = 1};

	fake.from = 0;
	backend_mmd_through_host(b);
	assert_int_equal(b->ops->send(b, &t, &event, &fault), DXP_OK);
	assert_int_equal(fake.from, 0); /* dxp_send was not called */
	assert_int_equal(event, 71);
	assert_int_equal(passage.from->node, 1);
	assert_int_equal(passage.to->node, 3);
	assert_int_equal(passage.from_address, 1);
	assert_int_equal(passage.to_address, 2);
	assert_ptr_equal(passage.memory_in, passage.memory_out);
	assert_int_equal(passage.wait_in, 9);
	assert_int_equal(passage.wait_out, 70);
	assert_int_equal(passage.forgotten, 70);
	const void *before = passage.memory_in;
	assert_int_equal(b->ops->send(b, &t, &event, &fault), DXP_OK);
	assert_ptr_equal(passage.memory_in, before);
	t.from_address = 4;
	assert_int_equal(b->ops->send(b, &t, &event, &fault), DXP_OK);
	assert_ptr_not_equal(passage.memory_in, before);
	b->ops->close(b);
}

static void backend_mmd__failures_in_words(void **state)
{
	struct backend *b = open_two();
	struct fault fault;
	uint64_t address;

	fake.error = "xpu3 does not answer; `dxp nodes` shows who is left";
	fake.wait_status = DXP_EPEERLOST;
	assert_int_equal(b->ops->wait(b, 7, 1, NULL, &fault), DXP_EPEERLOST);
	assert_non_null(strstr(fault.text, fake.error));
	fake.alloc_status = DXP_ENOMEM;
	assert_int_equal(b->ops->alloc(b, 1, 1, &address, &fault), DXP_ENOMEM);
	assert_true(strncmp(fault.text, "xpu3: ", 6) == 0);
	fake.build_status = DXP_EBUILD;
	assert_int_equal(b->ops->build(b, 1, "source", &fault), DXP_EBUILD);
	assert_non_null(strstr(fault.text, "xpu3 (a device): line 1: no"));
	b->ops->close(b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(backend_mmd_open__no_fabric, all_closed),
		cmocka_unit_test_teardown(backend_mmd_granted__alive_and_own, all_closed),
		cmocka_unit_test_teardown(backend_mmd_acquire__rejected, all_closed),
		cmocka_unit_test_teardown(backend_mmd__passes_on, all_closed),
		cmocka_unit_test_teardown(backend_mmd__through_the_host, all_closed),
		cmocka_unit_test_teardown(backend_mmd__failures_in_words, all_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
