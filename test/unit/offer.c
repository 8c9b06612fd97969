/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the ownership of functions, labels and memory, and the answers to clients. No sockets. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "node/limits.h"
#include "test/unit/offer_table_rig.h"

/* ---- functions ---- */

static void open__gives_what_is_free(void **state)
{
	struct rig *r = *state;
	struct offer_client c[8] = {{.pid = 100}};
	struct attach_row list;

	assert_int_equal(open_function(r, &c[0], 3, "left"), DXP_OK);
	assert_int_equal(r->answer.function, 3);
	assert_int_equal(r->answer.node, 5);
	assert_int_equal(row(r, 3, &list), DXP_OK);
	assert_int_equal(list.function, 3);
	assert_int_equal(list.state, DXP_FUNCTION_OPEN);
	assert_int_equal(list.pid, 100);
	assert_string_equal(list.label, "left");
	assert_int_equal(r->answer.malformed, 3);
	assert_int_equal(r->answer.row_count, 4);
	/* only one function, and none in use */
	assert_int_equal(open_function(r, &c[0], 4, ""), DXP_EINVAL);
	assert_int_equal(open_function(r, &c[1], 3, ""), DXP_EBUSY);
	/* 0: the lowest free one, not one of the NIC's own program */
	static struct dxp_window kernel;
	assert_int_equal(nic_function_open(r->nic, 1, &kernel), DXP_OK);
	const uint8_t expected[] = {2, 4, 5, 6, 7};
	for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
		assert_int_equal(open_function(r, &c[1 + i], 0, ""), DXP_OK);
		assert_int_equal(r->answer.function, expected[i]);
	}
	assert_int_equal(open_function(r, &c[7], 0, ""), DXP_EBUSY);
	assert_int_equal(open_function(r, &c[7], 1, ""), DXP_EBUSY);
	assert_int_equal(mapped(r).count, 6);
	offer_client_gone(r->offer, &c[2], ++r->now_ns);
	assert_int_equal(open_function(r, &c[7], 0, ""), DXP_OK);
	assert_int_equal(r->answer.function, 4);
	for (int i = 0; i < 8; i++)
		offer_client_gone(r->offer, &c[i], ++r->now_ns);
	assert_int_equal(mapped(r).count, 0);
	assert_int_equal(nic_user_close(r->nic, 1, DXP_ECLOSED, ++r->now_ns), DXP_OK);
}

static void open__only_what_the_socket_is_for(void **state)
{
	struct rig *r = *state;
	struct offer_client only = {.scope = {.only = true, .function = 2}}, other = {0};

	assert_int_equal(open_function(r, &only, 3, ""), DXP_EACCESS);
	assert_int_equal(open_function(r, &only, 2, ""), DXP_OK);
	offer_client_gone(r->offer, &only, ++r->now_ns);
	only = (struct offer_client){.scope = {.only = true, .function = 2}};
	assert_int_equal(open_function(r, &other, 2, ""), DXP_OK);
	/* function 2 is in use, and the socket gives no other */
	assert_int_equal(open_function(r, &only, 0, ""), DXP_EBUSY);
	offer_client_gone(r->offer, &other, ++r->now_ns);
	assert_int_equal(open_function(r, &only, 0, ""), DXP_OK);
	assert_int_equal(r->answer.function, 2);
	offer_client_gone(r->offer, &only, ++r->now_ns);
}

static void open__no_more_than_are_offered(void **state)
{
	struct rig r;
	struct offer_client c[3] = {{.pid = 0}};

	rig_open_with(&r, 2);
	assert_int_equal(open_function(&r, &c[0], 3, ""), DXP_ENOENT);
	assert_int_equal(open_function(&r, &c[0], 0, ""), DXP_OK);
	assert_int_equal(open_function(&r, &c[1], 0, ""), DXP_OK);
	assert_int_equal(open_function(&r, &c[2], 0, ""), DXP_EBUSY);
	offer_destroy(r.offer, ++r.now_ns); /* all are still open */
	assert_true(c[0].closed && c[1].closed);
	nic_destroy(r.nic);
	free(r.own);
}

/* No process can shrink the window's file. */
static void open__the_window(void **state)
{
	struct rig *r = *state;
	struct offer_client c = {0};

	assert_int_equal(open_function(r, &c, 0, ""), DXP_OK);
	int fd = r->beside.fds[0];
	struct dxp_window *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(w, MAP_FAILED);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(w->magic, DXP_WINDOW_MAGIC);
	assert_int_equal(w->function, 1);
	const struct dxp_target none = {0};
	const struct dxp_descriptor d = dxp_head(0xff, 0, &none, 42);
	struct dxp_nic_event event;
	assert_int_equal(dxp_post(w, &d, NULL, NULL), DXP_OK);
	assert_int_equal(nic_doorbells(r->nic, ++r->now_ns), 1);
	assert_true(dxp_sent_dequeue(w, &event));
	assert_int_equal(event.context, 42);
	/* seen in the window, and wakes a sleeping user */
	struct pollfd p = {.fd = dup(r->beside.fds[2]), .events = POLLIN};
	assert_int_equal(poll(&p, 1, 0), 0);
	offer_client_gone(r->offer, &c, ++r->now_ns);
	assert_int_equal(dxp_error(w), DXP_ECLOSED);
	assert_int_equal(w->state, DXP_FUNCTION_CLOSED);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(r->user_fds[1], -1);
	close(p.fd);
	munmap(w, sizeof(*w));
}

/* ---- labels ---- */

static int look_for(struct rig *r, struct offer_client *c, const char *label, uint8_t qp)
{
	struct attach_request request = {.type = ATTACH_FIND, .qp = qp};

	strcpy(request.label, label);
	return request_send(r, c, request, -1);
}

static void find__functions_and_nodes(void **state)
{
	struct rig *r = *state;
	struct offer_client left = {0}, right = {0}, late = {0};

	/* not without a function */
	assert_int_equal(look_for(r, &left, "right", 0), DXP_EINVAL);
	assert_int_equal(open_function(r, &left, 0, "left"), DXP_OK);
	assert_int_equal(look_for(r, &left, "right", 2), DXP_ENOENT);
	assert_int_equal(open_function(r, &right, 6, "right"), DXP_OK);
	assert_int_equal(look_for(r, &left, "right", 2), DXP_OK);
	assert_int_equal(r->answer.target.node, 0);
	assert_int_equal(r->answer.target.function, 6);
	assert_int_equal(r->answer.target.qp, 2);
	assert_int_equal(r->answer.target.magic, nic_qp_magic(r->nic, 6, 2));
	assert_int_equal(look_for(r, &left, NODE_NAME, 1), DXP_OK);
	assert_int_equal(r->answer.target.function, 0);
	assert_int_equal(r->answer.target.magic, r->own->qp_magic[1]);
	assert_int_equal(look_for(r, &left, "far", 1), DXP_OK);
	assert_int_equal(r->answer.target.node, 9);
	assert_int_equal(look_for(r, &left, "secret", 1), DXP_EACCESS);
	/* one owner per label */
	assert_int_equal(open_function(r, &late, 0, "right"), DXP_EEXIST);
	assert_int_equal(open_function(r, &late, 0, NODE_NAME), DXP_EEXIST);
	/* nor the name of a node */
	assert_int_equal(open_function(r, &late, 0, "far"), DXP_EEXIST);
	assert_int_equal(open_function(r, &late, 0, "secret"), DXP_EEXIST);
	offer_client_gone(r->offer, &right, ++r->now_ns);
	assert_int_equal(look_for(r, &left, "right", 2), DXP_ENOENT);
	assert_int_equal(open_function(r, &late, 0, "right"), DXP_OK);
	offer_client_gone(r->offer, &left, ++r->now_ns);
	offer_client_gone(r->offer, &late, ++r->now_ns);
}

/* ---- memory ---- */

static void register__only_what_is_safe(void **state)
{
	struct rig *r = *state;
	struct offer_client c = {0};
	struct local_memory m;
	uint32_t key = 0;

	assert_int_equal(local_memory_create("test", 4 * PAGE, &m), DXP_OK);
	assert_int_equal(register_memory(r, &c, m.fd, PAGE, NULL), DXP_EINVAL);
	assert_int_equal(open_function(r, &c, 0, ""), DXP_OK);
	assert_int_equal(register_memory(r, &c, -1, PAGE, NULL), DXP_EINVAL);
	assert_int_equal(register_memory(r, &c, m.fd, 4 * PAGE + 1, NULL), DXP_EINVAL);
	assert_int_equal(register_memory(r, &c, m.fd, 0, NULL), DXP_EINVAL);
	assert_int_equal(register_memory(r, &c, m.fd, UINT64_MAX, NULL), DXP_EBUSY);
	int loose = memfd_create("loose", MFD_CLOEXEC);
	assert_int_equal(ftruncate(loose, PAGE), 0);
	assert_int_equal(register_memory(r, &c, loose, PAGE, NULL), DXP_EINVAL);
	close(loose);
	assert_int_equal(mapped(r).count, 1); /* its window */
	assert_int_equal(register_memory(r, &c, m.fd, 4 * PAGE, &key), DXP_OK);
	assert_int_equal(mapped(r).count, 2);
	assert_int_equal(mapped(r).bytes, DXP_WINDOW_FILE_BYTES + 4 * PAGE);
	offer_client_gone(r->offer, &c, ++r->now_ns);
	assert_int_equal(mapped(r).count, 0);
	local_memory_free(&m);
}

static void register__bounded(void **state)
{
	struct rig *r = *state;
	struct offer_client c = {0};
	struct local_memory m;
	uint32_t key = 0;

	assert_int_equal(local_memory_create("test", PAGE, &m), DXP_OK);
	assert_int_equal(open_function(r, &c, 0, ""), DXP_OK);
	for (int i = 0; i < OFFER_REGIONS_MAX; i++)
		assert_int_equal(register_memory(r, &c, m.fd, PAGE, &key), DXP_OK);
	assert_int_equal(register_memory(r, &c, m.fd, PAGE, NULL), DXP_EBUSY);
	assert_int_equal(
		request_send(r, &c, (struct attach_request){.type = ATTACH_REVOKE, .key = key}, -1),
		DXP_OK);
	assert_int_equal(register_memory(r, &c, m.fd, PAGE, NULL), DXP_OK);
	offer_client_gone(r->offer, &c, ++r->now_ns);
	assert_int_equal(mapped(r).bytes, 0);
	local_memory_free(&m);
}

static void revoke__own_keys_once(void **state)
{
	struct rig *r = *state;
	struct offer_client a = {0}, b = {0};
	struct attach_request revoke = {.type = ATTACH_REVOKE};
	struct attach_request lookup = {.type = ATTACH_LOOKUP, .vaddr = 1 << 20, .bytes = PAGE};
	struct local_memory m;
	uint32_t key = 0;

	assert_int_equal(local_memory_create("test", PAGE, &m), DXP_OK);
	assert_int_equal(open_function(r, &a, 0, ""), DXP_OK);
	assert_int_equal(open_function(r, &b, 0, ""), DXP_OK);
	assert_int_equal(register_memory(r, &a, m.fd, PAGE, &key), DXP_OK);
	revoke.key = lookup.key = key;
	assert_int_equal(request_send(r, &b, revoke, -1), DXP_ENOENT);
	assert_int_equal(request_send(r, &b, lookup, -1), DXP_ENOENT);
	assert_int_equal(request_send(r, &a, lookup, -1), DXP_OK);
	assert_int_equal(request_send(r, &a, lookup, -1), DXP_EEXIST);
	assert_int_equal(mapped(r).count, 3);
	assert_int_equal(request_send(r, &a, revoke, -1), DXP_OK);
	assert_int_equal(mapped(r).count, 2);
	assert_int_equal(request_send(r, &a, revoke, -1), DXP_ENOENT);
	offer_client_gone(r->offer, &a, ++r->now_ns);
	offer_client_gone(r->offer, &b, ++r->now_ns);
	local_memory_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(open__gives_what_is_free, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(open__only_what_the_socket_is_for, rig_open,
						rig_close),
		cmocka_unit_test(open__no_more_than_are_offered),
		cmocka_unit_test_setup_teardown(open__the_window, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(find__functions_and_nodes, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(register__only_what_is_safe, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(register__bounded, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(revoke__own_keys_once, rig_open, rig_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
