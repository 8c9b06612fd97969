/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernels that drive their node's NIC: between two xPUs without a host, with wrong addresses,
 * with broken rules, and after their host left. Skipped without OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/device.h>

#include "base/clock.h"
#include "host/internal.h"
#include "test/support/daemons.h"
#include "xpu/cfg.h"

#define LOOKS   2000000000ull /* polls of a kernel's wait: some seconds */
#define FOREVER (LOOKS * 1000)
#define SOON_NS (20 * S_NS) /* ns, far below a kernel's wait */

static const char source[] =
	"#include <dxp/device.h>\n"
	"kernel void put(global struct dxp_window *nic, global long *out, struct dxp_target to,\n"
	"                struct dxp_entry from, struct dxp_entry there, ulong looks)\n"
	"{ struct dxp_nic_event e; out[2] = 99;\n"
	"  out[0] = dxp_post_put(nic, 0, &to, &from, &there, DXP_FLAG_NOTIFY, 1234, 5);\n"
	"  out[1] = dxp_sent_wait(nic, &e, looks);\n"
	"  if (out[1] == DXP_OK) out[2] = e.status; }\n"
	"kernel void reach(global struct dxp_window *nic, global long *out, struct dxp_target to,\n"
	"                  struct dxp_entry own, struct dxp_entry there, ulong looks)\n"
	"{ struct dxp_nic_event e; struct dxp_entry word = there; word.bytes = 8;\n"
	"  for (int i = 0; i < 3; i++) {\n"
	"    out[i] = i == 0   ? dxp_post_put(nic, 0, &to, &own, &there, 0, 0, 5)\n"
	"             : i == 1 ? dxp_post_get(nic, 0, &to, &there, &own, 5)\n"
	"                      : dxp_post_atomic(nic, 0, &to, DXP_OP_FETCH_ADD, &word, 1, 0, 5);\n"
	"    if (out[i] == DXP_OK) out[i] = dxp_sent_wait(nic, &e, looks);\n"
	"    if (out[i] == DXP_OK) out[i] = e.status; } }\n"
	"kernel void await(global struct dxp_window *nic, global long *out, ulong total,\n"
	"                  ulong looks)\n"
	"{ out[0] = dxp_total_wait(nic, total, looks); out[1] = dxp_received_wait(nic, looks);\n"
	"  if (out[1] == DXP_OK) { out[2] = dxp_received_peek(nic)->imm;\n"
	"    dxp_received_release(nic); } }\n"
	"kernel void scribble(global struct dxp_window *nic, global long *out, ulong looks)\n"
	"{ struct dxp_target to = {0}; uint i; dxp_claim(nic, &i);\n"
	"  dxp_slot(nic, i)->head.qp = 200; dxp_ring(nic, i);\n"
	"  out[0] = dxp_received_wait(nic, looks);\n"
	"  out[1] = dxp_post_nap(nic, 0, &to, 0, 0, 0, 0); }\n"
	"kernel void watch(global struct dxp_window *nic, global long *out, ulong looks)\n"
	"{ long sleeps = 0; for (ulong i = 0; i < looks; i++)\n"
	"    sleeps += dxp_load_acquire(&nic->need_wakeup) != 0;\n"
	"  out[0] = sleeps; }\n"
	"kernel void cfg_read(global struct dxp_window *nic, global long *out,\n"
	"                     struct dxp_entry to, uint first, ulong looks)\n"
	"{ struct dxp_nic_event e; struct dxp_target self = dxp_self(nic, 2); out[2] = 99;\n"
	"  out[0] = dxp_post_cfg_read(nic, 2, &self, first, &to, 5);\n"
	"  out[1] = dxp_sent_wait(nic, &e, looks);\n"
	"  if (out[1] == DXP_OK) out[2] = e.status; }\n"
	"kernel void cfg_write(global struct dxp_window *nic, global long *out, uint first,\n"
	"                      ulong both, ulong looks)\n"
	"{ struct dxp_nic_event e; struct dxp_target self = dxp_self(nic, 2); out[2] = 99;\n"
	"  uint values[2] = {(uint)both, (uint)(both >> 32)};\n"
	"  out[0] = dxp_post_cfg_write(nic, 2, &self, first, values, 2, 5);\n"
	"  out[1] = dxp_sent_wait(nic, &e, looks);\n"
	"  if (out[1] == DXP_OK) out[2] = e.status; }\n"
	"kernel void fill(global struct dxp_window *nic)\n"
	"{ for (ulong i = 0; i < sizeof(*nic) / 8; i++) ((global ulong *)nic)[i] = ~i; }\n"
	"kernel void nothing(global long *out) { out[0] = 77; }\n";

static struct daemons w;

/* An xPU as one host uses it. */
struct used {
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpu;
	struct dxp_program *program;
	struct dxp_xpu_nic nic;
	uint64_t out, data;
};

static struct used one, two;

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

static void has_text(const char *text)
{
	if (!strstr(dxp_fabric_error(NULL), text))
		fail_msg("'%s' says nothing of '%s'", dxp_fabric_error(NULL), text);
}

static struct used use(struct dxp_fabric *f, struct dxp_xpu *x)
{
	struct used u = {.fabric = f, .xpu = x};

	ok(dxp_program_build(x, source, NULL, &u.program));
	ok(dxp_xpu_nic(x, &u.nic));
	ok(dxp_mem_alloc(x, 4096, &u.out));
	ok(dxp_mem_alloc(x, 4096, &u.data));
	return u;
}

static struct dxp_argument value(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}

static dxp_event start(const struct used *u, const char *kernel,
		       const struct dxp_argument *arguments, uint32_t count)
{
	const struct dxp_launch l = {.program = u->program,
				     .kernel = kernel,
				     .dimensions = 1,
				     .global = {1},
				     .arguments = arguments,
				     .argument_count = count};
	dxp_event event;

	ok(dxp_run(u->xpu, &l, &event));
	return event;
}

static int end(const struct used *u, dxp_event event)
{
	return dxp_event_wait(u->fabric, event, DAEMONS_WAIT_NS, NULL);
}

static struct dxp_argument out_of(const struct used *u)
{
	return (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = u->out};
}

static const struct dxp_argument the_nic = {.kind = DXP_ARGUMENT_NIC};

static int64_t result(const struct used *u, int index)
{
	int64_t r;

	ok(dxp_mem_read(u->xpu, &r, u->out + 8 * (uint64_t)index, sizeof(r)));
	return r;
}

static struct dxp_target target_of(const struct used *u)
{
	return (struct dxp_target){
		.node = u->nic.node, .function = u->nic.function, .magic = u->nic.qp_magic[0]};
}

static struct dxp_entry data_of(const struct used *u)
{
	return (struct dxp_entry){.offset = u->data, .bytes = 4096, .key = u->nic.memory_key};
}

static dxp_event put(const struct used *u, struct dxp_target to, struct dxp_entry from,
		     struct dxp_entry there)
{
	const uint64_t looks = LOOKS;
	const struct dxp_argument a[] = {the_nic,
					 out_of(u),
					 value(&to, sizeof(to)),
					 value(&from, sizeof(from)),
					 value(&there, sizeof(there)),
					 value(&looks, sizeof(looks))};

	return start(u, "put", a, 6);
}

static dxp_event await(const struct used *u, uint64_t total, uint64_t looks)
{
	const struct dxp_argument a[] = {the_nic, out_of(u), value(&total, sizeof(total)),
					 value(&looks, sizeof(looks))};

	return start(u, "await", a, 4);
}

static uint32_t reg(struct dxp_xpu *x, uint32_t index)
{
	uint32_t r;

	ok(dxp_reg_read(x, index, &r, 1));
	return r;
}

/* Returns the status that the kernel of `u` read at the end of its PUT. */
static int put_ends(const struct used *u, struct dxp_target to, struct dxp_entry from,
		    struct dxp_entry there)
{
	ok(end(u, put(u, to, from, there)));
	assert_int_equal(result(u, 0), DXP_OK);
	assert_int_equal(result(u, 1), DXP_OK);
	return (int)result(u, 2);
}

static void nic__the_same_when_requested_again(void **state)
{
	struct dxp_xpu_nic again, none;

	ok(dxp_xpu_nic(w.one, &again));
	assert_int_equal(again.node, one.nic.node);
	assert_int_equal(again.function, one.nic.function);
	assert_memory_equal(again.qp_magic, one.nic.qp_magic, sizeof(again.qp_magic));
	assert_int_equal(again.memory_key, one.nic.memory_key);
	assert_int_equal(again.function, 7); /* the highest free one */
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

/* The kernel reads a status for each mistake, and its next PUT succeeds. */
static void put__wrongly_addressed(void **state)
{
	struct dxp_target to = target_of(&two);
	struct dxp_entry from = data_of(&one), there = data_of(&two);

	to.magic ^= 1;
	assert_int_equal(put_ends(&one, to, from, there), DXP_EACCESS);
	to = target_of(&two);
	there.key ^= 0x80000000;
	assert_int_equal(put_ends(&one, to, from, there), DXP_EACCESS);
	/* The key of the same memory for another function. */
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

/* Asserts the statuses of PUT, GET and fetch-and-add by the kernel of `u`. */
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

static struct used guest_open(const char *name);
static void guest_close(const struct used *guest);

/* Memory of another host on the same xPU is neither source nor target, from the same xPU or
 * another. */
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
	/* the same for unallocated memory */
	foreign.offset = DAEMONS_MEMORY - 4096;
	reaches(&two, target_of(&one), data_of(&two), foreign, DXP_EACCESS, DXP_EACCESS,
		DXP_EACCESS);
	reaches(&two, target_of(&one), data_of(&two), data_of(&one), DXP_OK, DXP_OK, DXP_OK);
	ok(dxp_mem_read(guest.xpu, after, guest.data, sizeof(after)));
	assert_memory_equal(before, after, sizeof(after));
	guest_close(&guest);
}

/* A kernel cannot wake its NIC, so the NIC stays awake long after the last packet. */
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

/* Returns the completion's status of a kernel's read of `count` own registers to its data. */
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

/* A kernel accesses its node's registers with the rights of its host, and only with those. */
static void kernel__own_registers(void **state)
{
	uint32_t seen[CFG_COUNT], host[CFG_COUNT];
	struct used guest = guest_open("reader");

	assert_int_equal(cfg_write_ends(&one, CFG_TASK_NODE, 0x1122334455667788ull), DXP_OK);
	assert_int_equal(reg(one.xpu, CFG_TASK_NODE), 0x55667788);
	assert_int_equal(reg(one.xpu, CFG_TASK_DST_LO), 0x11223344);
	assert_int_equal(reg(guest.xpu, CFG_TASK_NODE), 0); /* another host's task */
	assert_int_equal(cfg_read_ends(&one, 0, CFG_COUNT), DXP_OK);
	ok(dxp_mem_read(one.xpu, seen, one.data, sizeof(seen)));
	ok(dxp_reg_read(one.xpu, 0, host, CFG_COUNT));
	assert_memory_equal(seen, host, 8 * sizeof(uint32_t)); /* up to STATE, which changes */
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

/* The library rejects this, so the test overrides its check. */
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

static void nothing_else_suffers(void)
{
	struct dxp_argument out[] = {out_of(&one), out_of(&two)};

	ok(end(&one, start(&one, "nothing", &out[0], 1)));
	assert_int_equal(result(&one, 0), 77);
	ok(end(&two, start(&two, "nothing", &out[1], 1)));
	assert_int_equal(result(&two, 0), 77);
}

/* The NIC stops the function, and the kernel reads the error. When its host requests it, the kernel
 * gets a new function. */
static void kernel__breaks_the_rules(void **state)
{
	const uint64_t looks = LOOKS;
	const struct dxp_argument a[] = {the_nic, out_of(&one), value(&looks, sizeof(looks))};
	const struct dxp_xpu_nic before = one.nic;

	ok(end(&one, start(&one, "scribble", a, 3)));
	assert_int_equal(result(&one, 0), DXP_EINVAL);
	assert_int_equal(result(&one, 1), DXP_EINVAL);
	nothing_else_suffers();
	/* The function stays stopped until the host requests a new one. */
	ok(end(&one, await(&one, 0, LOOKS)));
	assert_int_equal(result(&one, 1), DXP_EINVAL);
	ok(dxp_xpu_nic(one.xpu, &one.nic));
	assert_int_not_equal(one.nic.qp_magic[0], before.qp_magic[0]);
	assert_int_not_equal(one.nic.memory_key, before.memory_key);
	dxp_event waiting = await(&two, 0, LOOKS);
	assert_int_equal(put_ends(&one, target_of(&two), data_of(&one), data_of(&two)), DXP_OK);
	ok(end(&two, waiting));
	/* Requests to the old function are rejected. */
	struct used old = one;
	old.nic = before;
	assert_int_equal(put_ends(&two, target_of(&old), data_of(&two), data_of(&one)),
			 DXP_EACCESS);
}

/* A kernel that overwrites every word of its window, even the NIC's, affects no other function. */
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

static struct used guest_open(const char *name)
{
	struct dxp_fabric *f;

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = name}, &f));
	return use(f, daemons_xpu(f, "xpu1"));
}

static void guest_close(const struct used *guest)
{
	dxp_program_release(guest->program);
	dxp_xpu_close(guest->xpu);
	dxp_fabric_close(guest->fabric);
}

/* A host leaves while its kernel waits forever: kernels of other hosts run at once. */
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
		/* Freed once no kernel maps it. */
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

/* last test: it closes the daemon */
static void daemon__closes_under_a_waiting_kernel(void **state)
{
	uint64_t begin = clock_now_ns();

	await(&one, UINT64_MAX, FOREVER);
	await(&two, UINT64_MAX, FOREVER);
	usleep(50000);
	test_daemon_close(&w.ocl);
	assert_true(clock_now_ns() - begin < SOON_NS);
}

static int world_open(void **state)
{
	if (daemons_open(&w) != DXP_OK)
		return -1;
	one = use(w.fabric, w.one);
	two = use(w.fabric, w.two);
	return 0;
}

static int world_close(void **state)
{
	dxp_program_release(one.program);
	dxp_program_release(two.program);
	return daemons_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic__the_same_when_requested_again),
		cmocka_unit_test(put__from_kernel_to_kernel),
		cmocka_unit_test(put__wrongly_addressed),
		cmocka_unit_test(kernel__memory_of_another_host),
		cmocka_unit_test(node__does_not_sleep_under_a_kernel),
		cmocka_unit_test(kernel__own_registers),
		cmocka_unit_test(wait__is_bounded),
		cmocka_unit_test(run__without_a_nic),
		cmocka_unit_test(kernel__breaks_the_rules),
		cmocka_unit_test(kernel__overwrites_its_window),
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
