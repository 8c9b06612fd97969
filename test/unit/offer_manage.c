/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the answers to a manager of functions: weight, limit, reset and statistics. No sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/offer_table_rig.h"

static void arm__counts_each_function_once(void **state)
{
	struct rig *r = *state;
	struct offer_client a = {0}, b = {0};
	struct attach_request on = {.type = ATTACH_ARM, .on = 1}, off = {.type = ATTACH_ARM};
	struct attach_row list;

	assert_int_equal(open_function(r, &a, 1, ""), DXP_OK);
	assert_int_equal(open_function(r, &b, 2, ""), DXP_OK);
	assert_int_equal(request_send(r, &a, off, -1), DXP_OK);
	assert_int_equal(request_send(r, &a, on, -1), DXP_OK);
	assert_int_equal(request_send(r, &a, on, -1), DXP_OK);
	assert_int_equal(request_send(r, &b, on, -1), DXP_OK);
	assert_int_equal(r->armed, 2);
	assert_int_equal(row(r, 2, &list), DXP_OK);
	assert_true(list.armed);
	assert_int_equal(request_send(r, &a, off, -1), DXP_OK);
	assert_int_equal(r->armed, 1);
	/* the function was armed, so the node polled without sleep */
	offer_client_gone(r->offer, &b, ++r->now_ns);
	assert_int_equal(r->armed, 0);
	offer_client_gone(r->offer, &a, ++r->now_ns);
}

static void manage__for_managers_only(void **state)
{
	struct rig *r = *state;
	struct offer_client none = {0}, manager = {.manages = true};
	const struct attach_request requests[] = {
		{.type = ATTACH_LIST},
		{.type = ATTACH_WEIGHT, .function = 2, .value = 2},
		{.type = ATTACH_LIMIT, .function = 2, .value = 1000000},
		{.type = ATTACH_RESET, .function = 2},
		{.type = ATTACH_AREAS, .function = 2},
	};
	const int expected[] = {DXP_OK, DXP_OK, DXP_OK, DXP_ENOENT, DXP_ENOENT};

	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		assert_int_equal(request_send(r, &none, requests[i], -1), DXP_EACCESS);
		assert_int_equal(request_send(r, &manager, requests[i], -1), expected[i]);
	}
	assert_int_equal(request_send(r, &manager,
				      (struct attach_request){.type = ATTACH_WEIGHT, .value = 65},
				      -1),
			 DXP_EINVAL);
	assert_int_equal(
		request_send(r, &manager,
			     (struct attach_request){.type = ATTACH_WEIGHT, .value = 1ull << 32},
			     -1),
		DXP_EINVAL);
	assert_int_equal(
		request_send(r, &manager, (struct attach_request){.type = ATTACH_RESET}, -1),
		DXP_EUNSUPPORTED);
	/* a client with a function gets no manager rights */
	assert_int_equal(open_function(r, &manager, 0, ""), DXP_OK);
	assert_int_equal(request_send(r, &manager, requests[0], -1), DXP_EINVAL);
	offer_client_gone(r->offer, &manager, ++r->now_ns);
}

static void weight_priority_and_limit__stay_with_the_function(void **state)
{
	struct rig *r = *state;
	struct offer_client user = {0}, again = {0}, manager = {.manages = true};
	struct attach_row list;

	assert_int_equal(open_function(r, &user, 2, ""), DXP_OK);
	assert_int_equal(request_send(r, &manager,
				      (struct attach_request){
					      .type = ATTACH_WEIGHT, .function = 2, .value = 64},
				      -1),
			 DXP_OK);
	assert_int_equal(request_send(r, &manager,
				      (struct attach_request){.type = ATTACH_LIMIT,
							      .function = 2,
							      .value = 100000000},
				      -1),
			 DXP_OK);
	for (uint64_t value = 2; value >= 1; value--) {
		const struct attach_request priority = {
			.type = ATTACH_PRIORITY, .function = 2, .value = value};
		assert_int_equal(request_send(r, &manager, priority, -1),
				 value == 1 ? DXP_OK : DXP_EINVAL);
	}
	offer_client_gone(r->offer, &user, ++r->now_ns);
	assert_int_equal(open_function(r, &again, 2, ""), DXP_OK);
	assert_int_equal(row(r, 2, &list), DXP_OK);
	assert_int_equal(list.weight, 64);
	assert_int_equal(list.priority, NIC_PRIORITY_HIGH);
	assert_int_equal(list.limit_bytes_per_s, 100000000);
	offer_client_gone(r->offer, &again, ++r->now_ns);
}

/* The user reads the reason and gets errors; the next user gets the function at once. */
static void reset__revokes_the_function(void **state)
{
	struct rig *r = *state;
	struct offer_client user = {0}, next = {0}, manager = {.manages = true};
	struct local_memory m;

	assert_int_equal(local_memory_create("test", PAGE, &m), DXP_OK);
	assert_int_equal(open_function(r, &user, 4, "mine"), DXP_OK);
	struct dxp_window *w =
		mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED, r->beside.fds[0], 0);
	assert_int_equal(register_memory(r, &user, m.fd, PAGE, NULL), DXP_OK);
	assert_int_equal(
		request_send(r, &user, (struct attach_request){.type = ATTACH_ARM, .on = 1}, -1),
		DXP_OK);
	assert_int_equal(request_send(r, &manager,
				      (struct attach_request){.type = ATTACH_RESET, .function = 4},
				      -1),
			 DXP_OK);
	assert_int_equal(dxp_error(w), DXP_ECLOSED);
	assert_int_equal(r->armed, 0);
	assert_int_equal(mapped(r).count, 0);
	assert_int_equal(register_memory(r, &user, m.fd, PAGE, NULL), DXP_ECLOSED);
	assert_int_equal(open_function(r, &user, 4, "mine"), DXP_ECLOSED);
	assert_int_equal(open_function(r, &next, 4, "mine"), DXP_OK);
	/* this does not close the next user's function */
	offer_client_gone(r->offer, &user, ++r->now_ns);
	assert_int_equal(mapped(r).count, 1);
	offer_client_gone(r->offer, &next, ++r->now_ns);
	munmap(w, sizeof(*w));
	local_memory_free(&m);
}

static void areas__table_and_registers(void **state)
{
	struct rig *r = *state;
	struct offer_client user = {0}, manager = {.manages = true};
	struct attach_request lookup = {.type = ATTACH_LOOKUP, .vaddr = 1 << 20, .bytes = PAGE};
	struct local_memory m;

	assert_int_equal(local_memory_create("test", PAGE, &m), DXP_OK);
	assert_int_equal(open_function(r, &user, 4, ""), DXP_OK);
	struct dxp_window *w =
		mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED, r->beside.fds[0], 0);
	assert_int_equal(register_memory(r, &user, m.fd, PAGE, &lookup.key), DXP_OK);
	assert_int_equal(request_send(r, &user, lookup, -1), DXP_OK);
	w->registers.send_vaddr = 77;
	assert_int_equal(request_send(r, &manager,
				      (struct attach_request){.type = ATTACH_AREAS, .function = 4},
				      -1),
			 DXP_OK);
	assert_int_equal(r->answer.area_count, 1);
	assert_int_equal(r->answer.areas[0].vaddr, 1 << 20);
	assert_int_equal(r->answer.areas[0].key, lookup.key);
	assert_int_equal(r->answer.registers.send_vaddr, 77);
	offer_client_gone(r->offer, &user, ++r->now_ns);
	munmap(w, sizeof(*w));
	local_memory_free(&m);
}

/* After garbage in a window, its row is still valid. */
static void list__believes_no_window(void **state)
{
	struct rig *r = *state;
	struct offer_client c = {0};
	struct attach_row list;
	uint8_t bytes[ATTACH_BYTES_MAX];
	struct attach_answer back;

	assert_int_equal(open_function(r, &c, 1, "x"), DXP_OK);
	struct dxp_window *w =
		mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED, r->beside.fds[0], 0);
	memset(w, 0xff, sizeof(*w));
	assert_int_equal(row(r, 1, &list), DXP_OK);
	assert_int_equal(list.state, DXP_FUNCTION_OPEN);
	assert_int_equal(list.error, 127);
	size_t length = attach_answer_encode(&r->answer, bytes);
	assert_int_equal(attach_answer_decode(bytes, length, &back), DXP_OK);
	offer_client_gone(r->offer, &c, ++r->now_ns);
	munmap(w, sizeof(*w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arm__counts_each_function_once, rig_open,
						rig_close),
		cmocka_unit_test_setup_teardown(manage__for_managers_only, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(weight_priority_and_limit__stay_with_the_function,
						rig_open, rig_close),
		cmocka_unit_test_setup_teardown(reset__revokes_the_function, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(areas__table_and_registers, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(list__believes_no_window, rig_open, rig_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
