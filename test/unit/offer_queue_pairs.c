/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests offers of single queue pairs: which one a client gets, the scope of a socket, and functions
 * with several users. No sockets. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/unit/offer_table_rig.h"

static int open_qp(struct rig *r, struct offer_client *c, uint8_t function, uint8_t qp,
		   const char *label)
{
	struct attach_request request = {.type = ATTACH_OPEN, .function = function, .qp = qp};

	strcpy(request.label, label);
	return request_send(r, c, request, -1);
}

static void gives(const struct rig *r, uint8_t function, uint8_t qp)
{
	assert_int_equal(r->answer.function, function);
	assert_int_equal(r->answer.qp, qp);
}

static void open__chooses_queue_pairs(void **state)
{
	struct rig *r = *state;
	struct offer_client c[8] = {{.pid = 1}};

	assert_int_equal(open_qp(r, &c[0], 3, ATTACH_QP(2), ""), DXP_OK);
	gives(r, 3, 2);
	assert_int_equal(open_qp(r, &c[1], 3, ATTACH_QP(2), ""), DXP_EBUSY);
	/* not whole, as one of its queue pairs is in use */
	assert_int_equal(open_qp(r, &c[1], 3, ATTACH_QP_ALL, ""), DXP_EBUSY);
	/* prefers a function that is partly in use, so that others stay whole */
	assert_int_equal(open_qp(r, &c[1], 0, ATTACH_QP_ANY, ""), DXP_OK);
	gives(r, 3, 0);
	assert_int_equal(open_qp(r, &c[2], 3, ATTACH_QP_ANY, ""), DXP_OK);
	gives(r, 3, 1);
	assert_int_equal(open_qp(r, &c[3], 0, ATTACH_QP(3), ""), DXP_OK);
	gives(r, 3, 3);
	assert_int_equal(open_qp(r, &c[4], 3, ATTACH_QP_ANY, ""), DXP_EBUSY);
	assert_int_equal(open_qp(r, &c[4], 0, ATTACH_QP_ANY, ""), DXP_OK);
	gives(r, 1, 0);
	assert_int_equal(open_qp(r, &c[5], 0, ATTACH_QP_ALL, ""), DXP_OK);
	gives(r, 2, 0);
	assert_int_equal(open_qp(r, &c[6], 2, ATTACH_QP(1), ""), DXP_EBUSY);
	offer_client_gone(r->offer, &c[0], ++r->now_ns);
	assert_int_equal(open_qp(r, &c[6], 0, ATTACH_QP(2), ""), DXP_OK);
	gives(r, 1, 2);
	for (int i = 1; i < 8; i++)
		offer_client_gone(r->offer, &c[i], ++r->now_ns);
	assert_int_equal(mapped(r).count, 0);
}

static void open__28_queue_pairs_beside_the_own_function(void **state)
{
	struct rig *r = *state;
	struct offer_client c[29] = {{.pid = 1}};
	const uint32_t most = 28; /* of functions 1 .. 7 */

	for (uint32_t i = 0; i < most; i++)
		assert_int_equal(open_qp(r, &c[i], 0, ATTACH_QP_ANY, ""), DXP_OK);
	assert_int_equal(mapped(r).count, most);
	assert_int_equal(open_qp(r, &c[most], 0, ATTACH_QP_ANY, ""), DXP_EBUSY);
	for (uint32_t i = 0; i < most; i++)
		offer_client_gone(r->offer, &c[i], ++r->now_ns);
}

/* The NIC's program has one queue pair of function 0. */
static void open__the_rest_of_function_0(void **state)
{
	struct rig *r = *state;
	struct offer_client c[4] = {{.pid = 1}};
	struct offer_client scoped = {.scope = {.only = true, .function = 0, .qp = ATTACH_QP(2)}};

	nic_user_close(r->nic, 0, DXP_ECLOSED, ++r->now_ns);
	assert_int_equal(open_qp(r, &c[0], 0, ATTACH_QP_ANY, ""), DXP_OK);
	gives(r, 1, 0); /* function 0 is never given as a whole */
	offer_client_gone(r->offer, &c[0], ++r->now_ns);
	memset(r->own, 0, sizeof(*r->own));
	assert_int_equal(nic_user_open(r->nic, 0, 1, r->own), DXP_OK);
	assert_int_equal(open_qp(r, &scoped, 0, ATTACH_QP_ALL, ""), DXP_OK);
	gives(r, 0, 2);
	c[0].closed = false;
	assert_int_equal(open_qp(r, &c[0], 0, ATTACH_QP_ANY, ""), DXP_OK);
	gives(r, 0, 1);
	assert_int_equal(open_qp(r, &c[1], 0, ATTACH_QP(3), ""), DXP_OK);
	gives(r, 0, 3);
	assert_int_equal(open_qp(r, &c[2], 0, ATTACH_QP_ALL, ""), DXP_OK);
	gives(r, 1, 0);
	for (int i = 0; i < 4; i++)
		offer_client_gone(r->offer, &c[i], ++r->now_ns);
	offer_client_gone(r->offer, &scoped, ++r->now_ns);
}

static void open__only_what_the_socket_is_for(void **state)
{
	struct rig *r = *state;
	const struct offer_scope one = {.only = true, .function = 5, .qp = ATTACH_QP(1)};
	const struct offer_scope function = {.only = true, .function = 5};
	struct offer_client a = {.scope = one}, b = {.scope = function}, c = {.scope = one};

	assert_int_equal(open_qp(r, &a, 4, ATTACH_QP_ALL, ""), DXP_EACCESS);
	assert_int_equal(open_qp(r, &a, 5, ATTACH_QP(0), ""), DXP_EACCESS);
	/* the request for a function gets the socket's queue pair */
	assert_int_equal(open_qp(r, &a, 0, ATTACH_QP_ALL, ""), DXP_OK);
	gives(r, 5, 1);
	assert_int_equal(open_qp(r, &c, 0, ATTACH_QP_ANY, ""), DXP_EBUSY);
	assert_int_equal(open_qp(r, &b, 6, ATTACH_QP_ANY, ""), DXP_EACCESS);
	assert_int_equal(open_qp(r, &b, 0, ATTACH_QP_ANY, ""), DXP_OK);
	gives(r, 5, 0);
	offer_client_gone(r->offer, &a, ++r->now_ns);
	assert_int_equal(open_qp(r, &c, 5, ATTACH_QP(1), ""), DXP_OK);
	offer_client_gone(r->offer, &b, ++r->now_ns);
	offer_client_gone(r->offer, &c, ++r->now_ns);
}

static void find__queue_pairs_of_a_client(void **state)
{
	struct rig *r = *state;
	struct offer_client a = {.pid = 1}, b = {.pid = 2};
	struct attach_request find = {.type = ATTACH_FIND, .label = "right"};

	assert_int_equal(open_qp(r, &a, 2, ATTACH_QP(0), "left"), DXP_OK);
	assert_int_equal(open_qp(r, &b, 2, ATTACH_QP(3), "left"), DXP_EEXIST);
	assert_int_equal(open_qp(r, &b, 2, ATTACH_QP(3), "right"), DXP_OK);
	assert_int_equal(request_send(r, &a, find, -1), DXP_OK);
	assert_int_equal(r->answer.target.function, 2);
	assert_int_equal(r->answer.target.qp, 3);
	assert_int_equal(r->answer.target.magic, nic_qp_magic(r->nic, 2, 3));
	/* the search must not find another user's queue pair */
	find.qp = 1;
	assert_int_equal(request_send(r, &a, find, -1), DXP_ENOENT);
	offer_client_gone(r->offer, &a, ++r->now_ns);
	offer_client_gone(r->offer, &b, ++r->now_ns);
}

static void register__the_keys_of_one_client(void **state)
{
	struct rig *r = *state;
	struct offer_client a = {.pid = 1}, b = {.pid = 2};
	int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	uint32_t key = 0;

	assert_int_equal(ftruncate(fd, PAGE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(open_qp(r, &a, 2, ATTACH_QP(0), ""), DXP_OK);
	assert_int_equal(open_qp(r, &b, 2, ATTACH_QP(1), ""), DXP_OK);
	assert_int_equal(register_memory(r, &a, fd, PAGE, &key), DXP_OK);
	const struct attach_request revoke = {.type = ATTACH_REVOKE, .key = key};
	assert_int_equal(request_send(r, &b, revoke, -1), DXP_ENOENT);
	assert_int_equal(request_send(r, &a, revoke, -1), DXP_OK);
	close(fd);
	offer_client_gone(r->offer, &a, ++r->now_ns);
	offer_client_gone(r->offer, &b, ++r->now_ns);
}

/* Reads all rows as `dxp vf` does. Returns the number of rows. */
static uint32_t rows_get(struct rig *r, struct attach_row rows[NIC_USERS])
{
	struct offer_client manager = {.manages = true};
	struct attach_request list = {.type = ATTACH_LIST};
	uint32_t count = 0, next;

	do {
		assert_int_equal(request_send(r, &manager, list, -1), DXP_OK);
		assert_in_range(r->answer.row_count, 1, ATTACH_ROWS);
		for (uint32_t i = 0; i < r->answer.row_count; i++) {
			assert_in_range(count, 0, NIC_USERS - 1);
			rows[count++] = r->answer.rows[i];
		}
		next = rows[count - 1].function * DXP_QPS + rows[count - 1].qp +
		       rows[count - 1].qps;
		list.function = (uint8_t)(next / DXP_QPS);
		list.qp = next % DXP_QPS;
	} while (next < NIC_USERS);
	return count;
}

static void list__whole_functions_and_queue_pairs(void **state)
{
	struct rig *r = *state;
	struct offer_client a = {.pid = 100}, b = {.pid = 200}, whole = {.pid = 300};
	struct attach_row rows[NIC_USERS];
	const uint8_t split = 1;

	assert_int_equal(rows_get(r, rows), NIC_FUNCTIONS);
	assert_int_equal(open_qp(r, &a, split, ATTACH_QP(0), "a"), DXP_OK);
	assert_int_equal(open_qp(r, &b, split, ATTACH_QP(2), "b"), DXP_OK);
	assert_int_equal(open_qp(r, &whole, 2, ATTACH_QP_ALL, "whole"), DXP_OK);
	assert_int_equal(rows_get(r, rows), NIC_FUNCTIONS + DXP_QPS - 1);
	for (uint32_t q = 0; q < DXP_QPS; q++) {
		const struct attach_row *row = &rows[split + q];
		assert_int_equal(row->function, split);
		assert_int_equal(row->qp, q);
		assert_int_equal(row->qps, 1);
		assert_int_equal(row->state, q % 2 ? 0 : DXP_FUNCTION_OPEN);
		assert_int_equal(row->pid, q % 2 ? 0 : q ? 200 : 100);
		assert_string_equal(row->label, q % 2 ? "" : q ? "b" : "a");
	}
	assert_int_equal(rows[split + DXP_QPS].function, 2);
	assert_int_equal(rows[split + DXP_QPS].qps, DXP_QPS);
	assert_int_equal(rows[split + DXP_QPS].pid, 300);
	offer_client_gone(r->offer, &a, ++r->now_ns);
	offer_client_gone(r->offer, &b, ++r->now_ns);
	offer_client_gone(r->offer, &whole, ++r->now_ns);
	assert_int_equal(rows_get(r, rows), NIC_FUNCTIONS);
}

/* A weight and a reset apply to the whole function, so to all its users. */
static void manage__a_function_with_several_users(void **state)
{
	struct rig *r = *state;
	struct offer_client a = {.pid = 1}, b = {.pid = 2}, c = {.pid = 3};
	struct offer_client manager = {.manages = true};
	struct attach_request weigh = {.type = ATTACH_WEIGHT, .function = 4, .value = 8};
	struct attach_request reset = {.type = ATTACH_RESET, .function = 4};
	struct attach_row rows[NIC_USERS];

	assert_int_equal(open_qp(r, &a, 4, ATTACH_QP(0), ""), DXP_OK);
	assert_int_equal(open_qp(r, &b, 4, ATTACH_QP(1), ""), DXP_OK);
	assert_int_equal(open_qp(r, &c, 5, ATTACH_QP(1), ""), DXP_OK);
	assert_int_equal(request_send(r, &manager, weigh, -1), DXP_OK);
	uint32_t count = rows_get(r, rows);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(rows[i].weight, rows[i].function == 4 ? 8 : 1);
	assert_int_equal(request_send(r, &manager, reset, -1), DXP_OK);
	assert_true(a.closed && b.closed && !c.closed);
	assert_int_equal(nic_user_state(r->nic, NIC_USER(4, 1)), 0);
	assert_int_equal(request_send(r, &manager, reset, -1), DXP_ENOENT);
	reset.function = 0;
	assert_int_equal(request_send(r, &manager, reset, -1), DXP_EUNSUPPORTED);
	offer_client_gone(r->offer, &c, ++r->now_ns);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(open__chooses_queue_pairs),
		TEST(open__28_queue_pairs_beside_the_own_function),
		TEST(open__the_rest_of_function_0),
		TEST(open__only_what_the_socket_is_for),
		TEST(find__queue_pairs_of_a_client),
		TEST(register__the_keys_of_one_client),
		TEST(list__whole_functions_and_queue_pairs),
		TEST(manage__a_function_with_several_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
