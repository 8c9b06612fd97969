/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of kernels with a NIC: kernels, arguments, results, more hosts. */
#ifndef TEST_UNIT_SLOT_NIC_RIG_H
#define TEST_UNIT_SLOT_NIC_RIG_H

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
#include "base/util.h"
#include "host/internal.h"
#include "test/support/daemons.h"
#include "xpu/cfg.h"

#define LOOKS   2000000000ull /* polls of a waiting kernel: some seconds */
#define FOREVER (LOOKS * 1000)
#define SOON_NS (20 * S_NS) /* ns; far below a kernel's wait */

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

/* One host's xPU, program and memory. */
struct used {
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpu;
	struct dxp_program *program;
	struct dxp_xpu_nic nic;
	uint64_t out, data;
};

static struct used one, two;

UNUSED static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

UNUSED static void has_text(const char *text)
{
	if (!strstr(dxp_fabric_error(NULL), text))
		fail_msg("'%s' says nothing of '%s'", dxp_fabric_error(NULL), text);
}

UNUSED static struct used use(struct dxp_fabric *f, struct dxp_xpu *x)
{
	struct used u = {.fabric = f, .xpu = x};

	ok(dxp_program_build(x, source, NULL, &u.program));
	ok(dxp_xpu_nic(x, &u.nic));
	ok(dxp_mem_alloc(x, 4096, &u.out));
	ok(dxp_mem_alloc(x, 4096, &u.data));
	return u;
}

UNUSED static struct dxp_argument value(const void *from, uint32_t bytes)
{
	struct dxp_argument a = {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes};

	memcpy(a.value, from, bytes);
	return a;
}

UNUSED static dxp_event start(const struct used *u, const char *kernel,
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

UNUSED static int end(const struct used *u, dxp_event event)
{
	return dxp_event_wait(u->fabric, event, DAEMONS_WAIT_NS, NULL);
}

UNUSED static struct dxp_argument out_of(const struct used *u)
{
	return (struct dxp_argument){.kind = DXP_ARGUMENT_BUFFER, .address = u->out};
}

static const struct dxp_argument the_nic = {.kind = DXP_ARGUMENT_NIC};

UNUSED static int64_t result(const struct used *u, int index)
{
	int64_t r;

	ok(dxp_mem_read(u->xpu, &r, u->out + 8 * (uint64_t)index, sizeof(r)));
	return r;
}

UNUSED static struct dxp_target target_of(const struct used *u)
{
	return (struct dxp_target){
		.node = u->nic.node, .function = u->nic.function, .magic = u->nic.qp_magic[0]};
}

UNUSED static struct dxp_entry data_of(const struct used *u)
{
	return (struct dxp_entry){.offset = u->data, .bytes = 4096, .key = u->nic.memory_key};
}

UNUSED static dxp_event put(const struct used *u, struct dxp_target to, struct dxp_entry from,
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

UNUSED static dxp_event await(const struct used *u, uint64_t total, uint64_t looks)
{
	const struct dxp_argument a[] = {the_nic, out_of(u), value(&total, sizeof(total)),
					 value(&looks, sizeof(looks))};

	return start(u, "await", a, 4);
}

UNUSED static uint32_t reg(struct dxp_xpu *x, uint32_t index)
{
	uint32_t r;

	ok(dxp_reg_read(x, index, &r, 1));
	return r;
}

/* Returns the status of the PUT as the kernel reads it. */
UNUSED static int put_ends(const struct used *u, struct dxp_target to, struct dxp_entry from,
			   struct dxp_entry there)
{
	ok(end(u, put(u, to, from, there)));
	assert_int_equal(result(u, 0), DXP_OK);
	assert_int_equal(result(u, 1), DXP_OK);
	return (int)result(u, 2);
}

UNUSED static struct used guest_open(const char *name)
{
	struct dxp_fabric *f;

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = name}, &f));
	return use(f, daemons_xpu(f, "xpu1"));
}

UNUSED static void guest_close(const struct used *guest)
{
	dxp_program_release(guest->program);
	dxp_xpu_close(guest->xpu);
	dxp_fabric_close(guest->fabric);
}

UNUSED static void nothing_else_suffers(void)
{
	struct dxp_argument out[] = {out_of(&one), out_of(&two)};

	ok(end(&one, start(&one, "nothing", &out[0], 1)));
	assert_int_equal(result(&one, 0), 77);
	ok(end(&two, start(&two, "nothing", &out[1], 1)));
	assert_int_equal(result(&two, 0), 77);
}

UNUSED static int world_open(void **state)
{
	if (daemons_open(&w) != DXP_OK)
		return -1;
	one = use(w.fabric, w.one);
	two = use(w.fabric, w.two);
	return 0;
}

UNUSED static int world_close(void **state)
{
	dxp_program_release(one.program);
	dxp_program_release(two.program);
	return daemons_close(&w);
}

#endif
