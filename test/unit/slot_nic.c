/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernels with a NIC: from xPU to xPU without a host, wrong addresses, broken rules. Skipped
 * without OpenCL. */
#include "test/unit/slot_nic_rig.h"

static void nic__the_same_when_requested_again(void **state)
{
	struct dxp_xpu_nic again, none;

	ok(dxp_xpu_nic(w.one, &again));
	assert_int_equal(again.node, one.nic.node);
	assert_int_equal(again.function, one.nic.function);
	assert_memory_equal(again.qp_magic, one.nic.qp_magic, sizeof(again.qp_magic));
	assert_int_equal(again.memory_key, one.nic.memory_key);
	/* the highest free function */
	assert_int_equal(again.function, 7);
	assert_int_not_equal(again.memory_key, 0);
	assert_int_not_equal(again.qp_magic[0], again.qp_magic[3]);
	assert_int_not_equal(one.nic.node, two.nic.node);
	assert_int_equal(dxp_xpu_nic(w.plain, &none), DXP_EUNSUPPORTED);
	has_text("engine 'none'");
}

static void put__from_kernel_to_kernel(void **state)
{
	static uint8_t sent[4096], there[4096];

	memset(sent, 0x5a, sizeof(sent));
	ok(dxp_mem_write(one.xpu, one.data, sent, sizeof(sent)));
	for (uint64_t i = 1; i <= 20; i++) {
		dxp_event waiting = await(&two, 4096 * i, LOOKS);
		assert_int_equal(put_ends(&one, target_of(&two), data_of(&one), data_of(&two)),
				 DXP_OK);
		ok(end(&two, waiting));
		assert_int_equal(result(&two, 0), DXP_OK);
		assert_int_equal(result(&two, 1), DXP_OK);
		assert_int_equal(result(&two, 2), 1234);
	}
	ok(dxp_mem_read(two.xpu, there, two.data, sizeof(there)));
	assert_memory_equal(sent, there, sizeof(sent));
}

/* Each PUT with one mistake has its status; one without succeeds. */
static void put__wrongly_addressed(void **state)
{
	struct dxp_target to = target_of(&two);
	struct dxp_entry from = data_of(&one), there = data_of(&two);

	to.magic ^= 1;
	assert_int_equal(put_ends(&one, to, from, there), DXP_EACCESS);
	to = target_of(&two);
	there.key ^= 0x80000000;
	assert_int_equal(put_ends(&one, to, from, there), DXP_EACCESS);
	/* not valid for the kernel's function */
	there.key = reg(two.xpu, CFG_MEMORY_KEY);
	assert_int_equal(put_ends(&one, to, from, there), DXP_EACCESS);
	there = data_of(&two);
	from.key = reg(one.xpu, CFG_MEMORY_KEY);
	assert_int_equal(put_ends(&one, to, from, there), DXP_EACCESS);
	from = data_of(&one);
	there.offset = DAEMONS_MEMORY - 4095;
	assert_int_equal(put_ends(&one, to, from, there), DXP_ERANGE);
	to.node = 4000;
	assert_int_not_equal(put_ends(&one, to, from, data_of(&two)), DXP_OK);
	dxp_event waiting = await(&two, 0, LOOKS);
	assert_int_equal(put_ends(&one, target_of(&two), from, data_of(&two)), DXP_OK);
	ok(end(&two, waiting));
}

/* A kernel cannot wake its NIC, which therefore stays awake as long as the kernel runs. */
static void node__does_not_sleep_under_a_kernel(void **state)
{
	const uint64_t looks = 100000000;
	const struct dxp_argument a[] = {the_nic, out_of(&one), value(&looks, sizeof(looks))};

	assert_int_equal(reg(one.xpu, CFG_KERNELS_ARMED), 0);
	dxp_event event = start(&one, "watch", a, 3);
	while (reg(one.xpu, CFG_KERNELS_ARMED) != 1)
		assert_int_equal(dxp_event_done(w.fabric, event), 0);
	ok(end(&one, event));
	assert_int_equal(result(&one, 0), 0);
	assert_int_equal(reg(one.xpu, CFG_KERNELS_ARMED), 0);
	assert_int_equal(reg(one.xpu, CFG_KERNEL_NICS), 1);
}

/* Reads own registers into the kernel's data. Returns the status. */
static int cfg_read_ends(const struct used *u, uint32_t first, uint32_t count)
{
	const uint64_t looks = LOOKS;
	struct dxp_entry to = data_of(u);

	to.bytes = 4 * count;
	const struct dxp_argument a[] = {the_nic, out_of(u), value(&to, sizeof(to)),
					 value(&first, sizeof(first)),
					 value(&looks, sizeof(looks))};
	ok(end(u, start(u, "cfg_read", a, 5)));
	assert_int_equal(result(u, 0), DXP_OK);
	assert_int_equal(result(u, 1), DXP_OK);
	return (int)result(u, 2);
}

static int cfg_write_ends(const struct used *u, uint32_t first, uint64_t both)
{
	const uint64_t looks = LOOKS;
	const struct dxp_argument a[] = {the_nic, out_of(u), value(&first, sizeof(first)),
					 value(&both, sizeof(both)), value(&looks, sizeof(looks))};

	ok(end(u, start(u, "cfg_write", a, 5)));
	assert_int_equal(result(u, 0), DXP_OK);
	assert_int_equal(result(u, 1), DXP_OK);
	return (int)result(u, 2);
}

/* A kernel that accesses registers has the rights of its host only. */
static void kernel__own_registers(void **state)
{
	uint32_t seen[CFG_COUNT], host[CFG_COUNT];
	struct used guest = guest_open("reader");

	assert_int_equal(cfg_write_ends(&one, CFG_TASK_NODE, 0x1122334455667788ull), DXP_OK);
	assert_int_equal(reg(one.xpu, CFG_TASK_NODE), 0x55667788);
	assert_int_equal(reg(one.xpu, CFG_TASK_DST_LO), 0x11223344);
	/* the task belongs to the other host */
	assert_int_equal(reg(guest.xpu, CFG_TASK_NODE), 0);
	assert_int_equal(cfg_read_ends(&one, 0, CFG_COUNT), DXP_OK);
	ok(dxp_mem_read(one.xpu, seen, one.data, sizeof(seen)));
	ok(dxp_reg_read(one.xpu, 0, host, CFG_COUNT));
	/* up to STATE, which changes */
	assert_memory_equal(seen, host, 8 * sizeof(uint32_t));
	assert_int_equal(seen[CFG_STATE], CFG_STATE_BUSY);
	assert_memory_equal(seen + CFG_TASK_SRC_LO, host + CFG_TASK_SRC_LO, 8 * sizeof(uint32_t));
	assert_int_equal(seen[CFG_MEMORY_KEY], host[CFG_MEMORY_KEY]);
	assert_int_not_equal(seen[CFG_MEMORY_KEY], 0);
	assert_int_equal(cfg_read_ends(&one, CFG_COUNT - 1, 2), DXP_ERANGE);
	assert_int_equal(cfg_write_ends(&one, CFG_STATE, 1), DXP_EACCESS);
	ok(dxp_reg_write(one.xpu, CFG_TASK_NODE, (uint32_t[2]){0}, 2));
	guest_close(&guest);
}

static void wait__is_bounded(void **state)
{
	dxp_event event = await(&one, 0, 1000);

	ok(end(&one, event));
	assert_int_equal(result(&one, 0), DXP_OK);
	assert_int_equal(result(&one, 1), DXP_ETIMEDOUT);
}

/* The library would reject this, so the test switches its check off. */
static void run__without_a_nic(void **state)
{
	struct dxp_fabric *f;

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "bare"},
			   &f));
	struct used u = {.fabric = f, .xpu = daemons_xpu(f, "xpu1")};
	ok(dxp_program_build(u.xpu, source, NULL, &u.program));
	ok(dxp_mem_alloc(u.xpu, 4096, &u.out));
	u.xpu->nic = true;
	assert_int_equal(end(&u, await(&u, 0, 1)), DXP_ENOENT);
	dxp_program_release(u.program);
	dxp_xpu_close(u.xpu);
	dxp_fabric_close(f);
}

/* The NIC stops the function, and the kernel reads the error. Its host can request a new one. */
static void kernel__breaks_the_rules(void **state)
{
	const uint64_t looks = LOOKS;
	const struct dxp_argument a[] = {the_nic, out_of(&one), value(&looks, sizeof(looks))};
	const struct dxp_xpu_nic before = one.nic;

	ok(end(&one, start(&one, "scribble", a, 3)));
	assert_int_equal(result(&one, 0), DXP_EINVAL);
	assert_int_equal(result(&one, 1), DXP_EINVAL);
	nothing_else_suffers();
	/* until the host requests a new one */
	ok(end(&one, await(&one, 0, LOOKS)));
	assert_int_equal(result(&one, 1), DXP_EINVAL);
	ok(dxp_xpu_nic(one.xpu, &one.nic));
	assert_int_not_equal(one.nic.qp_magic[0], before.qp_magic[0]);
	assert_int_not_equal(one.nic.memory_key, before.memory_key);
	dxp_event waiting = await(&two, 0, LOOKS);
	assert_int_equal(put_ends(&one, target_of(&two), data_of(&one), data_of(&two)), DXP_OK);
	ok(end(&two, waiting));
	struct used old = one;
	old.nic = before;
	assert_int_equal(put_ends(&two, target_of(&old), data_of(&two), data_of(&one)),
			 DXP_EACCESS);
}

/* A kernel may overwrite its whole window, even the NIC's words, without affecting other
 * functions. */
static void kernel__overwrites_its_window(void **state)
{
	for (int i = 0; i < 3; i++) {
		ok(end(&one, start(&one, "fill", &the_nic, 1)));
		nothing_else_suffers();
		ok(dxp_xpu_nic(one.xpu, &one.nic));
	}
	dxp_event waiting = await(&two, 0, LOOKS);
	assert_int_equal(put_ends(&one, target_of(&two), data_of(&one), data_of(&two)), DXP_OK);
	ok(end(&two, waiting));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic__the_same_when_requested_again),
		cmocka_unit_test(put__from_kernel_to_kernel),
		cmocka_unit_test(put__wrongly_addressed),
		cmocka_unit_test(node__does_not_sleep_under_a_kernel),
		cmocka_unit_test(kernel__own_registers),
		cmocka_unit_test(wait__is_bounded),
		cmocka_unit_test(run__without_a_nic),
		cmocka_unit_test(kernel__breaks_the_rules),
		cmocka_unit_test(kernel__overwrites_its_window),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, world_open, world_close);
}
