/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernels with a NIC on boards: addresses of memory behind DMA (P-01), between two boards, or
 * a board and direct memory. Skipped without OpenCL. */
#include "test/unit/slot_nic_rig.h"

#define BUFFER (64u << 10)
#define BYTES  200000 /* several buffers */
#define SHIFT  3      /* bytes; no alignment is required */

static const char kernels[] =
	"#include <dxp/device.h>\n"
	"kernel void get(global struct dxp_window *nic, global long *out, struct dxp_target to,\n"
	"                struct dxp_entry from, struct dxp_entry own, ulong looks)\n"
	"{ struct dxp_nic_event e; out[2] = 99;\n"
	"  out[0] = dxp_post_get(nic, 0, &to, &from, &own, 5);\n"
	"  out[1] = dxp_sent_wait(nic, &e, looks);\n"
	"  if (out[1] == DXP_OK) out[2] = e.status; }\n"
	"kernel void send(global struct dxp_window *nic, global long *out, struct dxp_target to,\n"
	"                 ulong address, uint bytes, ulong looks)\n"
	"{ out[0] = dxp_register_send(nic, 1, &to, address, bytes);\n"
	"  out[1] = dxp_register_wait(nic, looks); }\n"
	"kernel void receive(global struct dxp_window *nic, global long *out, ulong address,\n"
	"                    uint bytes, ulong looks)\n"
	"{ out[0] = dxp_register_receive(nic, address, bytes, looks); }\n";

static struct test_daemon boards;
static struct dxp_program *more[3];
static struct used direct;
static struct used *const users[] = {&one, &two, &direct};
static uint8_t sent[BYTES], got[BYTES];

static void noise(uint32_t seed)
{
	for (size_t i = 0; i < BYTES; i++)
		sent[i] = (uint8_t)(seed = seed * 1664525 + 1013904223, seed >> 24);
}

static struct dxp_entry part_of(const struct used *u)
{
	return (struct dxp_entry){
		.offset = u->data + SHIFT, .bytes = BYTES, .key = u->nic.memory_key};
}

static void arrives(const struct used *from, const struct used *to)
{
	ok(dxp_mem_read(to->xpu, got, to->data + SHIFT, BYTES));
	assert_memory_equal(got, sent, BYTES);
}

static void fresh(const struct used *from, uint32_t seed)
{
	noise(seed);
	ok(dxp_mem_write(from->xpu, from->data + SHIFT, sent, BYTES));
}

/* Pairs with at least one board. */
static void each_pair(void (*check)(struct used *a, struct used *b, struct dxp_program *program))
{
	for (size_t i = 0; i < ARRAY_COUNT(users); i++)
		for (size_t k = 0; k < ARRAY_COUNT(users); k++)
			if (i != k) {
				fresh(users[i], (uint32_t)(i * 3 + k));
				check(users[i], users[k], more[i]);
			}
}

static void put_check(struct used *a, struct used *b, struct dxp_program *program)
{
	dxp_event waiting = await(b, 0, LOOKS);

	assert_int_equal(put_ends(a, target_of(b), part_of(a), part_of(b)), DXP_OK);
	ok(end(b, waiting));
	assert_int_equal(result(b, 2), 1234);
	arrives(a, b);
}

static void put__out_of_board_memory(void **state)
{
	each_pair(put_check);
}

static void get_check(struct used *a, struct used *b, struct dxp_program *program)
{
	struct used getter = *b;
	const struct dxp_target to = target_of(a);
	const struct dxp_entry from = part_of(a), own = part_of(b);
	const uint64_t looks = LOOKS;
	const struct dxp_argument arguments[] = {the_nic,
						 out_of(b),
						 value(&to, sizeof(to)),
						 value(&from, sizeof(from)),
						 value(&own, sizeof(own)),
						 value(&looks, sizeof(looks))};

	for (size_t i = 0; i < ARRAY_COUNT(users); i++)
		if (users[i] == b)
			getter.program = more[i];
	ok(end(b, start(&getter, "get", arguments, 6)));
	assert_int_equal(result(b, 0), DXP_OK);
	assert_int_equal(result(b, 1), DXP_OK);
	assert_int_equal(result(b, 2), DXP_OK);
	arrives(a, b);
}

static void get__into_board_memory(void **state)
{
	each_pair(get_check);
}

static void receive_at(const struct used *u, struct dxp_program *program, uint64_t address,
		       uint32_t bytes)
{
	struct used receiver = *u;
	const uint64_t looks = LOOKS;
	const struct dxp_argument arguments[] = {
		the_nic, out_of(u), value(&address, sizeof(address)), value(&bytes, sizeof(bytes)),
		value(&looks, sizeof(looks))};

	receiver.program = program;
	ok(end(u, start(&receiver, "receive", arguments, 5)));
	assert_int_equal(result(u, 0), DXP_OK);
}

/* Runs a kernel that sends by registers. Returns the status of the send. */
static int send_ends(const struct used *a, struct dxp_program *program, const struct used *b,
		     uint64_t address, uint32_t bytes)
{
	struct used sender = *a;
	const struct dxp_target to = target_of(b);
	const uint64_t looks = LOOKS;
	const struct dxp_argument arguments[] = {the_nic,
						 out_of(a),
						 value(&to, sizeof(to)),
						 value(&address, sizeof(address)),
						 value(&bytes, sizeof(bytes)),
						 value(&looks, sizeof(looks))};

	sender.program = program;
	ok(end(a, start(&sender, "send", arguments, 6)));
	assert_int_equal(result(a, 0), DXP_OK);
	return (int)result(a, 1);
}

static void registers_check(struct used *a, struct used *b, struct dxp_program *program)
{
	for (size_t i = 0; i < ARRAY_COUNT(users); i++)
		if (users[i] == b)
			receive_at(b, more[i], b->data + SHIFT, BYTES);
	assert_int_equal(send_ends(a, program, b, a->data + SHIFT, BYTES), DXP_OK);
	arrives(a, b);
}

static void registers__name_board_memory(void **state)
{
	each_pair(registers_check);
}

/* A send by registers is rejected if its memory is in no allocation of the kernel's host.
 * Descriptors have the same rule. */
static void registers__reach_own_allocations_only(void **state)
{
	receive_at(&two, more[1], two.data, BYTES);
	assert_int_equal(send_ends(&one, more[0], &two, one.data + (1u << 20), 64), DXP_EACCESS);
	assert_int_equal(send_ends(&one, more[0], &two, DAEMONS_MEMORY - 32, 64), DXP_ENOENT);
	assert_int_equal(send_ends(&direct, more[2], &two, direct.data + (1u << 20), 64),
			 DXP_EACCESS);
	receive_at(&two, more[1], two.data + (1u << 20), 4096);
	assert_int_equal(send_ends(&one, more[0], &two, one.data, 64), DXP_EACCESS);
	struct dxp_entry beyond = {one.data + (1u << 20), 4096, one.nic.memory_key};
	assert_int_equal(put_ends(&one, target_of(&two), beyond, data_of(&two)), DXP_EACCESS);
	fresh(&one, 5);
	registers_check(&one, &two, more[0]);
}

static struct used board_use(const char *name, struct dxp_program **program)
{
	struct used u = use(w.fabric, daemons_xpu(w.fabric, name));

	ok(dxp_mem_free(u.xpu, u.data));
	ok(dxp_mem_alloc(u.xpu, BYTES + SHIFT, &u.data));
	ok(dxp_program_build(u.xpu, kernels, NULL, program));
	return u;
}

static int boards_open(void **state)
{
	char name[160];
	struct daemon_options computing = {
		.slots = 2, .first = 1, .engine = name, .buffers = 4, .buffer_bytes = BUFFER};
	const struct daemon_options usual = {.slots = 1, .first = 3, .engine = "ocl"};

	daemons_begin(&w);
	daemons_file(&w, "computing.board", "preset = fast\ncompute = ocl\n");
	snprintf(name, sizeof(name), "board:%s/computing.board", w.folder);
	ok(test_daemon_open(&w, &boards, &computing));
	ok(test_daemon_open(&w, &w.ocl, &usual));
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "tester"},
			   &w.fabric));
	one = board_use("xpu1", &more[0]);
	two = board_use("xpu2", &more[1]);
	direct = board_use("xpu3", &more[2]);
	return 0;
}

static int boards_close(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(users); i++) {
		dxp_program_release(more[i]);
		dxp_program_release(users[i]->program);
		dxp_xpu_close(users[i]->xpu);
	}
	dxp_fabric_close(w.fabric);
	test_daemon_rest(&boards);
	test_daemon_close(&boards);
	test_daemon_close(&w.ocl);
	return daemons_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put__out_of_board_memory),
		cmocka_unit_test(get__into_board_memory),
		cmocka_unit_test(registers__name_board_memory),
		cmocka_unit_test(registers__reach_own_allocations_only),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, boards_open, boards_close);
}
