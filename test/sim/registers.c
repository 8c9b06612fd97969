/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests register mode over the network (P-02 .. P-05): devices only store words, under all faults
 * and with many senders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/registers.h"

/* ---- basic use ---- */

static void registers__send_and_receive(void **state)
{
	message_goes(*state);
}

static void registers__stores_of_32_bits(void **state)
{
	struct rig *r = *state;

	r->halves = true;
	message_goes(r);
}

static void registers__by_ip_and_port(void **state)
{
	struct rig *r = *state;
	struct udp_address a;

	net_address(2, &a);
	uint32_t ip = (uint32_t)a.ip[12] << 24 | (uint32_t)a.ip[13] << 16 |
		      (uint32_t)a.ip[14] << 8 | a.ip[15];
	assert_int_equal(receive(r, 2, BASE, 100), DXP_OK);
	for (uint32_t i = 0; i < 3; i++) {
		send_words(r, 0, 2, BASE, 10);
		*word(r, 0, REGISTER(node)) = 0;
		*word(r, 0, REGISTER(ip)) = ip;
		*word(r, 0, REGISTER(port)) = a.port;
		go(r, 0);
		assert_int_equal(finish(r, 0), DXP_OK);
	}
	assert_true(total(r, 2) == 30);
	++*word(r, 0, REGISTER(ip)); /* no host has it */
	*word(r, 0, REGISTER(port)) = a.port + 1u;
	go(r, 0);
	assert_int_equal(finish(r, 0), DXP_EPEERLOST);
	*word(r, 0, REGISTER(port)) = 65536u + a.port;
	go(r, 0);
	assert_int_equal(finish(r, 0), DXP_EINVAL);
}

/* Each waits for received bytes, then answers, as in P-04. */
struct game {
	struct rig *rig;
	uint32_t rounds[2];
};

static bool play(void *context)
{
	struct game *g = context;
	struct rig *r = g->rig;

	for (uint32_t i = 0; i < 2; i++) {
		if (total(r, i) < 256ull * (g->rounds[i] + 1) || !sent(r, i))
			continue;
		uint32_t ball = 2 * g->rounds[i]++ + i;
		assert_int_equal(r->memory[i][256], ball & 0xff);
		assert_int_equal(r->memory[i][511], ball & 0xff);
		memset(r->memory[i], (int)(ball + 1), 256);
		/* set before the answer can arrive */
		arm(r, i, BASE + 256, 256);
		send_words(r, i, 1 - i, BASE, 256);
		go(r, i);
	}
	return g->rounds[0] == 1000;
}

static void registers__ping_pong(void **state)
{
	struct rig *r = *state;
	struct game g = {.rig = r};

	assert_int_equal(receive(r, 0, BASE + 256, 256), DXP_OK);
	assert_int_equal(receive(r, 1, BASE + 256, 256), DXP_OK);
	send_words(r, 1, 0, BASE, 256);
	go(r, 1);
	assert_true(sim_run(r->sim, 10 * S_NS, play, &g));
	assert_int_equal(nic_counters(sim_nic(r->sim, 0))->receiver_busy, 0);
	assert_int_equal(nic_counters(sim_nic(r->sim, 1))->receiver_busy, 0);
}

/* ---- several devices, and network faults ---- */

#define MESSAGES 40

/* Derived from the number, as is the content. */
static uint32_t message_bytes(uint32_t from, uint32_t i)
{
	return 40 + (i * 977 + from * 311) % 6000;
}

struct crowd {
	struct rig *rig;
	uint32_t next[HOSTS]; /* next message of each host */
};

static bool crowd_step(void *context)
{
	struct crowd *c = context;
	struct rig *r = c->rig;
	bool finished = true;

	for (uint32_t i = 1; i < HOSTS; i++) {
		finished = finished && sent(r, i) && c->next[i] == MESSAGES;
		if (!sent(r, i) || c->next[i] == MESSAGES)
			continue;
		assert_int_equal(*word(r, i, REGISTER(send_error)), 0);
		uint32_t bytes = message_bytes(i, c->next[i]);
		memset(r->memory[i], (int)(i * 100 + c->next[i]), bytes);
		r->memory[i][0] = (uint8_t)i;
		r->memory[i][1] = (uint8_t)c->next[i]++;
		send_words(r, i, 0, BASE, bytes);
		go(r, i);
	}
	return finished;
}

/* Whole messages arrive, one after another, in order for each sender. */
static void crowd_check(const struct rig *r)
{
	uint32_t next[HOSTS] = {0}, at = 0;

	while (at < total(r, 0)) {
		uint32_t from = r->memory[0][at], i = r->memory[0][at + 1];
		assert_in_range(from, 1, HOSTS - 1);
		assert_int_equal(i, next[from]++);
		for (uint32_t k = 2; k < message_bytes(from, i); k++)
			assert_int_equal(r->memory[0][at + k], (from * 100 + i) & 0xff);
		at += message_bytes(from, i);
	}
	for (uint32_t i = 1; i < HOSTS; i++)
		assert_int_equal(next[i], MESSAGES);
	assert_int_equal(at, *word(r, 0, REGISTER(recv_used)));
}

static void crowd_run(struct rig *r)
{
	struct crowd c = {.rig = r};

	assert_int_equal(receive(r, 0, BASE, MEMORY), DXP_OK);
	assert_true(sim_run(r->sim, 60 * S_NS, crowd_step, &c));
	crowd_check(r);
}

static void registers__several_senders(void **state)
{
	crowd_run(*state);
}

static void registers__several_senders_under_loss(void **state)
{
	const struct sim_faults faults = {.loss_ppm = 50000,
					  .duplicate_ppm = 20000,
					  .reorder_ppm = 200000,
					  .reorder_ns = 50000};
	struct rig *r = rig_again(state, seed(), &faults);

	crowd_run(r);
}

/* Many descriptors to a host's receive registers keep their order under loss. */
struct stream {
	struct rig *rig;
	uint32_t posted, ended;
};

static bool stream_step(void *context)
{
	struct stream *s = context;
	struct rig *r = s->rig;
	struct dxp_window *w = sim_window(r->sim, 1);
	struct dxp_target to = sim_target(r->sim, 0, 0);
	struct dxp_nic_event event;

	while (dxp_sent_dequeue(w, &event)) {
		assert_int_equal(event.status, DXP_OK);
		s->ended++;
	}
	for (; s->posted < 200; s->posted++) {
		struct dxp_entry from = {s->posted * 1024, 1000, r->key[1]};
		struct dxp_entry into = {0, 1000, 0};
		if (dxp_post_put(w, 0, &to, &from, &into, 0, 0, 0) != DXP_OK)
			break;
	}
	return s->ended == 200;
}

static void order_check(struct rig *r)
{
	struct stream s = {.rig = r};

	for (uint32_t i = 0; i < 200; i++)
		pattern(r, 1, i * 1024, 1000, i);
	assert_int_equal(receive(r, 0, BASE, MEMORY), DXP_OK);
	assert_true(sim_run(r->sim, 60 * S_NS, stream_step, &s));
	for (uint32_t i = 0; i < 200; i++)
		assert_memory_equal(r->memory[0] + i * 1000, r->memory[1] + i * 1024, 1000);
	assert_true(total(r, 0) == 200000);
}

/* Descriptors arrive in order even if the first is lost twice: rejections of later ones must not
 * hide that loss. */
static void registers__descriptors_keep_their_order(void **state)
{
	const struct sim_faults faults = {
		.loss_ppm = 100000, .reorder_ppm = 300000, .reorder_ns = 100000};

	for (uint32_t i = 0; i < 10; i++)
		order_check(rig_again(state, seed() + i, &faults));
}

/* ---- GO ---- */

/* The second send starts when the first has completed. */
static void registers__go_while_busy(void **state)
{
	struct rig *r = *state;

	assert_int_equal(receive(r, 1, BASE, MEMORY), DXP_OK);
	send_words(r, 0, 1, BASE, 1000);
	go(r, 0);
	nic_doorbells(sim_nic(r->sim, 0), sim_now(r->sim));
	send_words(r, 0, 1, BASE, 500);
	go(r, 0);
	go(r, 0);
	nic_doorbells(sim_nic(r->sim, 0), sim_now(r->sim));
	assert_int_equal(finish(r, 0), DXP_OK);
	assert_true(total(r, 1) == 1500);
	nic_doorbells(sim_nic(r->sim, 0), sim_now(r->sim));
	sim_run(r->sim, S_NS, NULL, NULL); /* the same value again starts nothing */
	assert_true(total(r, 1) == 1500);
}

static void registers__values_of_go_wrap(void **state)
{
	static const uint32_t values[] = {UINT32_MAX, 0, 1, 0x80000000u, 0, 7, 6};
	struct rig *r = *state;

	assert_int_equal(receive(r, 1, BASE, MEMORY), DXP_OK);
	for (uint32_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		send_words(r, 0, 1, BASE, 10);
		*word(r, 0, REGISTER(send_go)) = values[i];
		assert_int_equal(finish(r, 0), DXP_OK);
		assert_true(total(r, 1) == 10 * (i + 1));
	}
}

static bool helper_done(void *context)
{
	struct rig *r = context;

	return dxp_register_wait(sim_window(r->sim, 0), 1) != DXP_ETIMEDOUT;
}

static void registers__by_the_header(void **state)
{
	struct rig *r = *state;
	struct dxp_window *w = sim_window(r->sim, 0);
	struct dxp_target to = sim_target(r->sim, 1, 3);

	assert_int_equal(dxp_register_receive(sim_window(r->sim, 1), BASE, 100, 1), DXP_ETIMEDOUT);
	/* no send was outstanding */
	assert_int_equal(dxp_register_wait(w, 1), DXP_OK);
	pattern(r, 0, 0, 60, 8);
	assert_int_equal(dxp_register_send(w, 0, &to, BASE, 60), DXP_OK);
	assert_int_equal(dxp_register_send(w, 0, &to, BASE, 60), DXP_EBUSY);
	assert_int_equal(dxp_register_wait(w, 3), DXP_ETIMEDOUT);
	assert_true(sim_run(r->sim, S_NS, helper_done, r));
	assert_int_equal(dxp_register_wait(w, 0), DXP_OK);
	assert_int_equal(dxp_total_wait(sim_window(r->sim, 1), 60, 1), DXP_OK);
	assert_memory_equal(r->memory[1], r->memory[0], 60);
	assert_int_equal(dxp_register_send(w, 0, &to, BASE - 1, 60), DXP_OK);
	assert_true(sim_run(r->sim, S_NS, helper_done, r));
	assert_int_equal(dxp_register_wait(w, 0), DXP_ENOENT);
	w->error = -DXP_ECLOSED;
	assert_int_equal(dxp_register_send(w, 0, &to, BASE, 60), DXP_ECLOSED);
	w->registers.send_go++;
	assert_int_equal(dxp_register_wait(w, 9), DXP_ECLOSED);
	assert_int_equal(dxp_register_receive(w, BASE, 60, 9), DXP_ECLOSED);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(registers__send_and_receive),
		CASE(registers__stores_of_32_bits),
		CASE(registers__by_ip_and_port),
		CASE(registers__ping_pong),
		CASE(registers__several_senders),
		CASE(registers__several_senders_under_loss),
		CASE(registers__descriptors_keep_their_order),
		CASE(registers__go_while_busy),
		CASE(registers__values_of_go_wrap),
		CASE(registers__by_the_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
