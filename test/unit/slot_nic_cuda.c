/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that kernels of engine `cuda` reach their NIC: PUT, GET and registers between two devices.
 * With the fake driver, whose kernels are C; again with a real one if present. */
#include "test/unit/slot_nic_rig.h"

#define BUFFER (64u << 10)
#define BYTES  200000 /* several buffers */

/* Equal to the kernels of the rig and of slot_nic_bridged.c. */
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
	"    dxp_received_release(nic); } }\n"
	"extern \"C\" __global__ void get(struct dxp_window *nic, long long *out,\n"
	"        struct dxp_target to, struct dxp_entry from, struct dxp_entry own,\n"
	"        unsigned long long looks)\n"
	"{ struct dxp_nic_event e; out[2] = 99;\n"
	"  out[0] = dxp_post_get(nic, 0, &to, &from, &own, 5);\n"
	"  out[1] = dxp_sent_wait(nic, &e, looks);\n"
	"  if (out[1] == DXP_OK) out[2] = e.status; }\n"
	"extern \"C\" __global__ void send(struct dxp_window *nic, long long *out,\n"
	"        struct dxp_target to, unsigned long long address, unsigned bytes,\n"
	"        unsigned long long looks)\n"
	"{ out[0] = dxp_register_send(nic, 1, &to, address, bytes);\n"
	"  out[1] = dxp_register_wait(nic, looks); }\n"
	"extern \"C\" __global__ void receive(struct dxp_window *nic, long long *out,\n"
	"        unsigned long long address, unsigned bytes, unsigned long long looks)\n"
	"{ out[0] = dxp_register_receive(nic, address, bytes, looks); }\n";

/* For the fake driver without NVRTC: it has its own kernels of these names. */
static const char stub[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			   ".visible .entry put()\n.visible .entry await()\n"
			   ".visible .entry get()\n.visible .entry send()\n"
			   ".visible .entry receive()\n";

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

static void got_check(const struct used *to)
{
	ok(dxp_mem_read(to->xpu, got, to->data, BYTES));
	assert_memory_equal(got, sent, BYTES);
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
	got_check(to);
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

static void get__between_devices(void **state)
{
	const struct dxp_target to = target_of(&one);
	const struct dxp_entry from = part_of(&one), own = part_of(&two);
	const uint64_t looks = LOOKS;
	const struct dxp_argument arguments[] = {the_nic,
						 out_of(&two),
						 value(&to, sizeof(to)),
						 value(&from, sizeof(from)),
						 value(&own, sizeof(own)),
						 value(&looks, sizeof(looks))};

	noise(31);
	ok(dxp_mem_write(one.xpu, one.data, sent, BYTES));
	ok(end(&two, start(&two, "get", arguments, 6)));
	for (int i = 0; i < 3; i++)
		assert_int_equal(result(&two, i), DXP_OK);
	got_check(&two);
}

/* Runs a kernel that sends all bytes from `address` by registers. Returns the status of the send.
 */
static int send_ends(uint64_t address)
{
	const struct dxp_target to = target_of(&two);
	const uint32_t bytes = BYTES;
	const uint64_t looks = LOOKS;
	const struct dxp_argument arguments[] = {the_nic,
						 out_of(&one),
						 value(&to, sizeof(to)),
						 value(&address, sizeof(address)),
						 value(&bytes, sizeof(bytes)),
						 value(&looks, sizeof(looks))};

	ok(end(&one, start(&one, "send", arguments, 6)));
	assert_int_equal(result(&one, 0), DXP_OK);
	return (int)result(&one, 1);
}

static void registers__name_device_memory(void **state)
{
	const uint32_t bytes = BYTES;
	const uint64_t looks = LOOKS;
	const struct dxp_argument arguments[] = {
		the_nic, out_of(&two), value(&two.data, sizeof(two.data)),
		value(&bytes, sizeof(bytes)), value(&looks, sizeof(looks))};

	noise(32);
	ok(dxp_mem_write(one.xpu, one.data, sent, BYTES));
	ok(end(&two, start(&two, "receive", arguments, 5)));
	assert_int_equal(result(&two, 0), DXP_OK);
	assert_int_equal(send_ends(one.data + (1u << 20)), DXP_EACCESS);
	assert_int_equal(send_ends(one.data), DXP_OK);
	got_check(&two);
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
		cmocka_unit_test(get__between_devices),
		cmocka_unit_test(registers__name_device_memory),
	};

	if (!driver_present()) {
		printf("skipped: no CUDA driver with a device\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, devices_open, devices_close);
}
