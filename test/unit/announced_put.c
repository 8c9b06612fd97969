/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the announced PUT (C-20): if request, address, data or announcement is missing, the other
 * side waits. */
#include "test/unit/host_function.h"

#include <pthread.h>

#include "base/bytes.h"

#define TAG      77u
#define BYTES    (1u << 20)
#define SHORT_NS (20 * MS_NS)

/* kinds of messages; docs/reference/window.md defines them */
enum { REQUEST = 1, ADDRESS, DATA, DONE };

struct rig {
	struct dxp_nic *nic;
	struct dxp_function *a, *b;
	struct dxp_memory from, to;
	struct dxp_announced_put send, receive;
	int status;
};

static void puts_reset(struct rig *r)
{
	r->send = (struct dxp_announced_put){
		.peer = target_of(r->b, 2), .local = {0, BYTES, r->from.key}, .tag = TAG, .qp = 1};
	r->receive =
		(struct dxp_announced_put){.local = {0, BYTES, r->to.key}, .tag = TAG, .qp = 2};
	memset(r->to.base, 0, BYTES);
}

static void rig_open(struct rig *r, bool thread)
{
	const struct dxp_nic_options options = {.thread = thread};

	ok(dxp_nic_open(&options, &r->nic));
	ok(dxp_nic_function(r->nic, NULL, &r->a));
	ok(dxp_nic_function(r->nic, NULL, &r->b));
	ok(dxp_memory_create(r->a, BYTES, DXP_LOCAL, &r->from));
	ok(dxp_memory_create(r->b, BYTES, DXP_REMOTE_WRITE, &r->to));
	for (uint32_t i = 0; i < BYTES; i++)
		((uint8_t *)r->from.base)[i] = (uint8_t)(1 + i % 251);
	puts_reset(r);
}

static void rig_close(struct rig *r)
{
	dxp_function_close(r->a);
	dxp_function_close(r->b);
	dxp_nic_close(r->nic);
}

static void *send_main(void *context)
{
	struct rig *r = context;

	r->status = dxp_announced_put_send(r->a, &r->send, PATIENCE_NS);
	return NULL;
}

static bool arrived(const struct rig *r, uint32_t at, uint32_t bytes)
{
	return memcmp((uint8_t *)r->to.base + at, r->from.base, bytes) == 0;
}

static void announced_put__moves(void **state)
{
	static const uint32_t sizes[] = {1, 28, 4096, BYTES - 100};
	struct rig r;
	pthread_t thread;

	rig_open(&r, true);
	for (uint32_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		const uint8_t *to = r.to.base;
		puts_reset(&r);
		r.send.local.bytes = sizes[i];
		r.receive.local.offset = 50;
		r.receive.local.bytes = BYTES - 50;
		assert_int_equal(pthread_create(&thread, NULL, send_main, &r), 0);
		ok(dxp_announced_put_receive(r.b, &r.receive, PATIENCE_NS));
		assert_int_equal(r.receive.bytes, sizes[i]);
		assert_true(arrived(&r, 50, sizes[i]));
		assert_true(to[49] == 0 && to[50 + sizes[i]] == 0);
		pthread_join(thread, NULL);
		ok(r.status);
		assert_int_equal(r.send.step + r.receive.step, 0);
		assert_false(dxp_received_peek(dxp_function_window(r.a)));
		assert_false(dxp_received_peek(dxp_function_window(r.b)));
	}
	rig_close(&r);
}

/* Each call continues where the previous call of its side stopped, so one thread can do both. */
static void announced_put__continues(void **state)
{
	int send = DXP_ETIMEDOUT, receive = DXP_ETIMEDOUT, calls = 0;
	struct rig r;

	rig_open(&r, false);
	while ((send != DXP_OK || receive != DXP_OK) && calls++ < 1000) {
		if (send == DXP_ETIMEDOUT)
			send = dxp_announced_put_send(r.a, &r.send, MS_NS);
		if (receive == DXP_ETIMEDOUT)
			receive = dxp_announced_put_receive(r.b, &r.receive, MS_NS);
	}
	ok(send);
	ok(receive);
	assert_true(arrived(&r, 0, BYTES));
	rig_close(&r);
}

/* ---- one part is missing ---- */

static void message_send(struct dxp_function *f, const struct dxp_target *to, uint8_t qp, int kind,
			 const uint8_t message[16])
{
	posted(f, dxp_post_nap(dxp_function_window(f), qp, to, message, 16,
			       (uint64_t)(0x44585050u + (unsigned)kind) << 32 | TAG, 0));
	done(f);
}

static void message_expect(struct dxp_function *f, int kind, uint8_t message[16])
{
	struct dxp_window *w = dxp_function_window(f);
	const struct dxp_nic_event *event = received(f);

	assert_true(event->imm == ((uint64_t)(0x44585050u + (unsigned)kind) << 32 | TAG));
	if (kind != DATA)
		memcpy(message, dxp_received_data(w, event), 16);
	dxp_received_release(w);
}

/* The receiver sends no address. No data moves, and the sender does not return success. */
static void announced_put__without_address(void **state)
{
	struct rig r;
	pthread_t thread;

	rig_open(&r, true);
	fails(dxp_announced_put_send(r.a, &r.send, SHORT_NS), DXP_ETIMEDOUT, "call again");
	assert_int_equal(((uint8_t *)r.to.base)[0], 0);
	assert_int_equal(pthread_create(&thread, NULL, send_main, &r), 0);
	ok(dxp_announced_put_receive(r.b, &r.receive, PATIENCE_NS));
	pthread_join(thread, NULL);
	ok(r.status);
	assert_true(arrived(&r, 0, BYTES));
	rig_close(&r);
}

/* The data arrives, but its announcement does not. The sender does not return success. */
static void announced_put__without_announcement(void **state)
{
	const uint8_t empty[16] = {0};
	uint8_t message[16];
	struct rig r;

	rig_open(&r, true);
	const struct dxp_target a = target_of(r.a, 1);
	fails(dxp_announced_put_send(r.a, &r.send, SHORT_NS), DXP_ETIMEDOUT, "call again");
	message_expect(r.b, REQUEST, message);
	assert_int_equal(get_be32(message), BYTES);
	assert_int_equal(get_be32(message + 4), a.magic);
	put_be32(message + 4, r.to.key);
	put_be64(message + 8, 0);
	message_send(r.b, &a, 2, ADDRESS, message);
	fails(dxp_announced_put_send(r.a, &r.send, SHORT_NS), DXP_ETIMEDOUT, "call again");
	message_expect(r.b, DATA, message);
	assert_true(arrived(&r, 0, BYTES));
	fails(dxp_announced_put_send(r.a, &r.send, SHORT_NS), DXP_ETIMEDOUT, "call again");
	message_send(r.b, &a, 2, DONE, empty);
	ok(dxp_announced_put_send(r.a, &r.send, PATIENCE_NS));
	rig_close(&r);
}

/* The receiver announces nothing while no data has arrived. */
static void announced_put__without_data(void **state)
{
	uint8_t message[16] = {0};
	struct rig r;

	rig_open(&r, true);
	const struct dxp_target a = target_of(r.a, 1), b = target_of(r.b, 2);
	put_be32(message, 512);
	put_be32(message + 4, a.magic);
	message_send(r.a, &b, 1, REQUEST, message);
	fails(dxp_announced_put_receive(r.b, &r.receive, SHORT_NS), DXP_ETIMEDOUT, "call again");
	message_expect(r.a, ADDRESS, message);
	assert_int_equal(get_be32(message), 512);
	assert_int_equal(get_be32(message + 4), r.to.key);
	assert_false(dxp_received_peek(dxp_function_window(r.a)));
	const struct dxp_entry from = {0, 512, r.from.key}, to = {0, 512, r.to.key};
	posted(r.a, dxp_post_put(dxp_function_window(r.a), 1, &b, &from, &to, DXP_FLAG_NOTIFY,
				 (uint64_t)(0x44585050u + DATA) << 32 | TAG, 0));
	done(r.a);
	ok(dxp_announced_put_receive(r.b, &r.receive, PATIENCE_NS));
	message_expect(r.a, DONE, message);
	assert_true(arrived(&r, 0, 512));
	rig_close(&r);
}

/* ---- other events, and wrong use ---- */

static void announced_put__leaves_other_messages(void **state)
{
	struct rig r;
	pthread_t thread;

	rig_open(&r, true);
	const struct dxp_target b = target_of(r.b, 2);
	struct dxp_window *w = dxp_function_window(r.b);
	posted(r.a, dxp_post_nap(dxp_function_window(r.a), 0, &b, "other", 6, 5, 9));
	fails(dxp_announced_put_send(r.a, &r.send, PATIENCE_NS), DXP_EBUSY, "another purpose");
	assert_int_equal(completion(r.a).context, 9);
	fails(dxp_announced_put_receive(r.b, &r.receive, PATIENCE_NS), DXP_EBUSY, "dequeue it");
	assert_string_equal((const char *)dxp_received_data(w, received(r.b)), "other");
	dxp_received_release(w);
	assert_int_equal(pthread_create(&thread, NULL, send_main, &r), 0);
	ok(dxp_announced_put_receive(r.b, &r.receive, PATIENCE_NS));
	pthread_join(thread, NULL);
	ok(r.status);
	assert_true(arrived(&r, 0, BYTES));
	rig_close(&r);
}

static void announced_put__rejects_what_cannot_be(void **state)
{
	struct rig r;
	pthread_t thread;

	rig_open(&r, true);
	for (int i = 0; i < 3; i++) {
		puts_reset(&r);
		if (i == 0)
			r.receive.local.bytes = BYTES - 1;
		else if (i == 1)
			r.send.local.bytes = 0;
		else
			r.receive.local.key++; /* key of no region: the PUT fails */
		assert_int_equal(pthread_create(&thread, NULL, send_main, &r), 0);
		int status = dxp_announced_put_receive(r.b, &r.receive, 10 * SHORT_NS);
		pthread_join(thread, NULL);
		assert_int_equal(status, i == 2 ? DXP_ETIMEDOUT : DXP_ERANGE);
		assert_int_equal(r.status, i == 2 ? DXP_EACCESS : DXP_ERANGE);
		assert_int_equal(((uint8_t *)r.to.base)[0], 0);
	}
	r.send.qp = 4;
	fails(dxp_announced_put_send(r.a, &r.send, 0), DXP_EINVAL, "not 4");
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(announced_put__moves),
		cmocka_unit_test(announced_put__continues),
		cmocka_unit_test(announced_put__without_address),
		cmocka_unit_test(announced_put__without_announcement),
		cmocka_unit_test(announced_put__without_data),
		cmocka_unit_test(announced_put__leaves_other_messages),
		cmocka_unit_test(announced_put__rejects_what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
