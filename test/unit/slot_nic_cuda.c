/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that kernels of engine `cuda` reach their NIC: a PUT between the memories of two devices.
 * With the fake driver, whose kernels are C; again with a real one if present. */
#include "test/unit/slot_nic_rig.h"

#define BUFFER (64u << 10)
#define BYTES  200000 /* several buffers */

/* Equal to the kernels `put` and `await` of the rig. */
static const char cuda_source[] =
	"#include <dxp/device.h>\n"
	"extern \"C\" __global__ void put(struct dxp_window *nic, long long *out,\n"
	"        struct dxp_target to, struct dxp_entry from, struct dxp_entry there,\n"
	"        unsigned long long looks)\n"
	"{ struct dxp_nic_event e; out[2] = 99;\n"
	"  out[0] = dxp_post_put(nic, 0, &to, &from, &there, DXP_FLAG_NOTIFY, 1234, 5);\n"
	"  out[1] = dxp_sent_wait(nic, &e, looks);\n"
	"  if (out[1] == DXP_OK) out[2] = e.status; }\n"
	"extern \"C\" __global__ void await(struct dxp_window *nic, long long *out,\n"
	"        unsigned long long total, unsigned long long looks)\n"
	"{ out[0] = dxp_total_wait(nic, total, looks); out[1] = dxp_received_wait(nic, looks);\n"
	"  if (out[1] == DXP_OK) { out[2] = dxp_received_peek(nic)->imm;\n"
	"    dxp_received_release(nic); } }\n";

/* For the fake driver without NVRTC: it has its own kernels of these names. */
static const char stub[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			   ".visible .entry put()\n.visible .entry await()\n";

static struct test_daemon devices;
static uint8_t sent[BYTES], got[BYTES];

static void program_open(struct used *u)
{
	int status = dxp_program_build(u->xpu, cuda_source, NULL, &u->program);

	if (status == DXP_EBUILD && strstr(dxp_fabric_error(NULL), "needs NVRTC"))
		status = dxp_program_build(u->xpu, stub, NULL, &u->program);
	ok(status);
}

static struct used device_use(const char *name)
{
	struct used u = {.fabric = w.fabric, .xpu = daemons_xpu(w.fabric, name)};

	program_open(&u);
	ok(dxp_xpu_nic(u.xpu, &u.nic));
	ok(dxp_mem_alloc(u.xpu, 4096, &u.out));
	ok(dxp_mem_alloc(u.xpu, BYTES, &u.data));
	return u;
}

static struct dxp_entry part_of(const struct used *u)
{
	return (struct dxp_entry){.offset = u->data, .bytes = BYTES, .key = u->nic.memory_key};
}

static void noise(uint32_t seed)
{
	for (size_t i = 0; i < BYTES; i++)
		sent[i] = (uint8_t)(seed = seed * 1664525 + 1013904223, seed >> 24);
}

static void crossing_check(const struct used *from, const struct used *to, uint32_t seed)
{
	dxp_event waiting = await(to, 0, LOOKS);

	noise(seed);
	ok(dxp_mem_write(from->xpu, from->data, sent, BYTES));
	assert_int_equal(put_ends(from, target_of(to), part_of(from), part_of(to)), DXP_OK);
	ok(end(to, waiting));
	assert_int_equal(result(to, 1), DXP_OK);
	assert_int_equal(result(to, 2), 1234);
	ok(dxp_mem_read(to->xpu, got, to->data, BYTES));
	assert_memory_equal(got, sent, BYTES);
}

/* The window is mapped again for each launch. */
static void put__between_devices(void **state)
{
	for (uint32_t i = 0; i < 3; i++) {
		crossing_check(&one, &two, 2 * i);
		crossing_check(&two, &one, 2 * i + 1);
	}
}

static void put__into_foreign_memory(void **state)
{
	struct dxp_entry beyond = part_of(&two);

	beyond.offset += 1u << 20;
	assert_int_not_equal(put_ends(&one, target_of(&two), part_of(&one), beyond), DXP_OK);
	crossing_check(&one, &two, 77);
}

static int devices_open(void **state)
{
	const struct daemon_options cuda = {
		.slots = 2, .first = 1, .engine = "cuda", .buffers = 4, .buffer_bytes = BUFFER};

	daemons_begin(&w);
	if (test_daemon_open(&w, &devices, &cuda) != DXP_OK) {
		daemons_end(&w);
		return -1;
	}
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "tester"},
			   &w.fabric));
	one = device_use("xpu1");
	two = device_use("xpu2");
	return 0;
}

static int devices_close(void **state)
{
	dxp_program_release(one.program);
	dxp_program_release(two.program);
	dxp_xpu_close(one.xpu);
	dxp_xpu_close(two.xpu);
	dxp_fabric_close(w.fabric);
	test_daemon_rest(&devices);
	test_daemon_close(&devices);
	return daemons_end(&w);
}

static bool driver_present(void)
{
	const struct engine_options o = {.name = "cuda", .memory_bytes = 1u << 20};
	struct engine *e;

	if (engine_open(&o, &e) != DXP_OK)
		return false;
	engine_close(e);
	return true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put__between_devices),
		cmocka_unit_test(put__into_foreign_memory),
	};

	if (!driver_present()) {
		printf("skipped: no CUDA driver with a device\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, devices_open, devices_close);
}
