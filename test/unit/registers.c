/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests register mode inside one NIC; test/sim/registers.c uses the network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/local_rig.h"

#define BASE 0x100000u /* of each device's own memory */

static void devices_make(struct rig *r)
{
	struct nic_options o = rig_options();

	rig_make(r, &o, 3);
	for (uint32_t i = 0; i < 2; i++) { /* not device 2 */
		const struct nic_area area = {BASE, RIG_BYTES, 0, r->key[i]};
		assert_int_equal(nic_area_add(r->nic, i, &area), DXP_OK);
		for (uint32_t k = 0; k < RIG_BYTES; k++)
			r->memory[i][k] = (uint8_t)(k * 7 + (k >> 8) + i);
	}
}

static int send(struct rig *r, uint32_t from, uint8_t to, uint32_t vaddr, uint32_t bytes)
{
	const struct dxp_target target = rig_target(r, to, 1);

	assert_int_equal(dxp_register_send(r->window[from], 0, &target, vaddr, bytes), DXP_OK);
	rig_run(r);
	return dxp_register_wait(r->window[from], 1);
}

static void receive(struct rig *r, uint32_t function, uint32_t vaddr, uint32_t bytes)
{
	dxp_register_receive(r->window[function], vaddr, bytes, 1);
	rig_run(r);
	assert_int_equal(r->window[function]->registers.recv_done,
			 r->window[function]->registers.recv_go);
}

static void registers__inside_one_nic(void **state)
{
	struct dxp_nic_event event;
	struct rig r;

	devices_make(&r);
	receive(&r, 1, BASE + 500000, 400000);
	assert_int_equal(send(&r, 0, 1, BASE, 300000), DXP_OK);
	assert_memory_equal(r.memory[1] + 500000, r.memory[0], 300000);
	assert_int_equal(send(&r, 0, 1, BASE + 5, 10), DXP_OK);
	assert_memory_equal(r.memory[1] + 800000, r.memory[0] + 5, 10);
	assert_int_equal(dxp_total_wait(r.window[1], 300010, 1), DXP_OK);
	assert_int_equal(r.window[1]->registers.recv_used, 300010);
	assert_false(dxp_sent_dequeue(r.window[0], &event));
	assert_null(dxp_received_peek(r.window[1]));
	rig_end(&r);
}

static void registers__rejected_inside_one_nic(void **state)
{
	struct rig r;

	devices_make(&r);
	receive(&r, 1, BASE, 1000);
	assert_int_equal(send(&r, 0, 1, BASE, 1001), DXP_ERANGE);
	assert_int_equal(r.window[1]->registers.recv_error, -DXP_ERANGE);
	assert_int_equal(send(&r, 0, 1, BASE - 1, 1), DXP_ENOENT);
	assert_int_equal(send(&r, 0, 2, BASE, 10), DXP_EACCESS);
	assert_int_equal(dxp_load_acquire64(&r.window[1]->total_bytes), 0);
	rig_end(&r);
}

/* The target has no receive area yet, or its receive area is full. The NIC retries for at most one
 * second. */
static void registers__late_inside_one_nic(void **state)
{
	struct rig r;

	devices_make(&r);
	assert_int_equal(send(&r, 0, 1, BASE, 1000), DXP_ETIMEDOUT);
	assert_true(nic_deadline(r.nic) <= r.now_ns + NIC_REGISTERS_PAUSE_NS);
	receive(&r, 1, BASE + 5000, 1000);
	r.now_ns = nic_deadline(r.nic);
	rig_run(&r);
	assert_int_equal(dxp_register_wait(r.window[0], 1), DXP_OK);
	assert_memory_equal(r.memory[1] + 5000, r.memory[0], 1000);
	assert_int_equal(send(&r, 0, 1, BASE, 1), DXP_ETIMEDOUT);
	uint64_t end_ns = r.now_ns + NIC_REGISTERS_BUSY_NS + NIC_REGISTERS_PAUSE_MAX_NS;
	while (r.now_ns < end_ns && nic_deadline(r.nic) != UINT64_MAX) {
		r.now_ns = nic_deadline(r.nic);
		rig_run(&r);
	}
	assert_int_equal(dxp_register_wait(r.window[0], 1), DXP_EBUSY);
	rig_end(&r);
}

static void registers__function_closed(void **state)
{
	struct rig r;

	devices_make(&r);
	assert_int_equal(send(&r, 0, 1, BASE, 1000), DXP_ETIMEDOUT);
	assert_int_equal(nic_user_close(r.nic, 0, DXP_ECLOSED, r.now_ns), DXP_OK);
	rig_run(&r);
	assert_int_equal(dxp_register_wait(r.window[0], 10), DXP_ECLOSED);
	assert_int_equal(dxp_register_receive(r.window[0], BASE, 10, 10), DXP_ECLOSED);
	assert_int_equal(nic_areas(r.nic, 0, NULL, 0), 0);
	receive(&r, 1, BASE, 1000);
	assert_int_equal(nic_user_close(r.nic, 1, DXP_ECLOSED, r.now_ns), DXP_OK);
	rig_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers__inside_one_nic),
		cmocka_unit_test(registers__rejected_inside_one_nic),
		cmocka_unit_test(registers__late_inside_one_nic),
		cmocka_unit_test(registers__function_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
