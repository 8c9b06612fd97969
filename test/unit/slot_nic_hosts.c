/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernels with a NIC among several hosts: foreign memory, all functions in use, hosts and
 * daemons that leave. Skipped without OpenCL. */
#include "test/unit/slot_nic_rig.h"

/* Runs `u`'s kernel, which ends a PUT, a GET and a fetch-and-add with these statuses. */
static void reaches(const struct used *u, struct dxp_target to, struct dxp_entry own,
		    struct dxp_entry there, int put_status, int get_status, int atomic_status)
{
	const uint64_t looks = LOOKS;
	const struct dxp_argument a[] = {the_nic,
					 out_of(u),
					 value(&to, sizeof(to)),
					 value(&own, sizeof(own)),
					 value(&there, sizeof(there)),
					 value(&looks, sizeof(looks))};

	ok(end(u, start(u, "reach", a, 6)));
	assert_int_equal(result(u, 0), put_status);
	assert_int_equal(result(u, 1), get_status);
	assert_int_equal(result(u, 2), atomic_status);
}

/* A kernel reaches another host's memory neither as source nor as target, on any xPU. */
static void kernel__memory_of_another_host(void **state)
{
	static uint8_t before[4096], after[4096];
	struct used guest = guest_open("guest");
	struct dxp_entry foreign = data_of(&one);

	memset(before, 0x33, sizeof(before));
	ok(dxp_mem_write(guest.xpu, guest.data, before, sizeof(before)));
	foreign.offset = guest.data;
	reaches(&two, target_of(&one), data_of(&two), foreign, DXP_EACCESS, DXP_EACCESS,
		DXP_EACCESS);
	reaches(&one, target_of(&one), data_of(&one), foreign, DXP_EACCESS, DXP_EACCESS,
		DXP_EACCESS);
	reaches(&one, target_of(&two), foreign, data_of(&two), DXP_EACCESS, DXP_EACCESS, DXP_OK);
	/* unallocated memory */
	foreign.offset = DAEMONS_MEMORY - 4096;
	reaches(&two, target_of(&one), data_of(&two), foreign, DXP_EACCESS, DXP_EACCESS,
		DXP_EACCESS);
	reaches(&two, target_of(&one), data_of(&two), data_of(&one), DXP_OK, DXP_OK, DXP_OK);
	ok(dxp_mem_read(guest.xpu, after, guest.data, sizeof(after)));
	assert_memory_equal(before, after, sizeof(after));
	guest_close(&guest);
}

/* Kernels of others run without delay. */
static void host__leaves_a_waiting_kernel(void **state)
{
	struct used guest = guest_open("guest");

	await(&guest, UINT64_MAX, FOREVER);
	usleep(50000); /* the kernel runs by now */
	uint64_t begin = clock_now_ns();
	guest_close(&guest);
	nothing_else_suffers();
	assert_true(clock_now_ns() - begin < SOON_NS);
}

static void nic__all_functions_in_use(void **state)
{
	struct used guests[6];
	struct dxp_xpu_nic nic;
	struct dxp_fabric *f;
	char name[16];

	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "guest%d", i);
		guests[i] = guest_open(name);
	}
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "last"},
			   &f));
	struct dxp_xpu *x = daemons_xpu(f, "xpu1");
	assert_int_equal(dxp_xpu_nic(x, &nic), DXP_EBUSY);
	has_text("dxp vf");
	for (int i = 0; i < 6; i++) {
		guest_close(&guests[i]);
		/* free when no kernel has it mapped */
		for (uint64_t until = clock_now_ns() + SOON_NS; i == 0;) {
			int status = dxp_xpu_nic(x, &nic);
			if (status == DXP_OK)
				break;
			assert_int_equal(status, DXP_EBUSY);
			assert_true(clock_now_ns() < until);
		}
	}
	dxp_xpu_close(x);
	dxp_fabric_close(f);
}

/* must be last, because it closes the daemon */
static void daemon__closes_under_a_waiting_kernel(void **state)
{
	uint64_t begin = clock_now_ns();

	await(&one, UINT64_MAX, FOREVER);
	await(&two, UINT64_MAX, FOREVER);
	usleep(50000);
	test_daemon_close(&w.ocl);
	assert_true(clock_now_ns() - begin < SOON_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel__memory_of_another_host),
		cmocka_unit_test(host__leaves_a_waiting_kernel),
		cmocka_unit_test(nic__all_functions_in_use),
		cmocka_unit_test(daemon__closes_under_a_waiting_kernel),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, world_open, world_close);
}
