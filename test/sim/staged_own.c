/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a user at host 1 whose own memory is behind DMA (P-01): descriptors send from and fetch
 * into it, register mode uses it both ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "test/sim/registers.h"
#include "test/support/invariants.h"
#include "test/support/staged_device.h"

#define OWNER 1
/* of the first byte behind DMA */
#define DEVICE 0x10000ull
#define BYTES  (1u << 19)
#define SEEDS  20

struct scene {
	struct rig *rig;
	struct staged_device device;
	uint32_t key;
	uint64_t now_ns; /* last poll of the device */
};

static void device_poll(void *context, uint64_t now_ns)
{
	struct scene *s = context;

	s->now_ns = now_ns;
	while (staged_device_poll(&s->device, now_ns))
		;
}

/* Starts requested DMAs; returns the next event's time. */
static uint64_t device_deadline(void *context)
{
	struct scene *s = context;

	device_poll(s, s->now_ns);
	return staged_device_next(&s->device);
}

static const struct staged_options usual = {
	.bytes = BYTES, .buffers = 4, .buffer_bytes = 8192, .latency_ns = 50 * US_NS};

static void scene_make(struct scene *s, uint64_t number, const struct staged_options *device,
		       const struct sim_faults *faults)
{
	static const struct sim_beside beside = {device_poll, device_deadline};
	const uint32_t rights = NIC_REMOTE_READ | NIC_REMOTE_WRITE;
	struct nic_area area = {.vaddr = DEVICE, .bytes = BYTES};

	*s = (struct scene){.rig = rig_make(number, faults)};
	assert_non_null(s->rig);
	assert_true(staged_device_create(&s->device, device));
	struct nic *n = s->device.nic = sim_nic(s->rig->sim, OWNER);
	assert_int_equal(nic_region_register_staged(n, 0, &staged_device_ops, &s->device, BYTES,
						    rights, &s->key),
			 DXP_OK);
	area.key = s->key;
	assert_int_equal(nic_area_add(n, 0, &area), DXP_OK);
	sim_beside_set(s->rig->sim, OWNER, &beside, s);
	for (uint32_t i = 0; i < BYTES; i++)
		s->device.memory[i] = (uint8_t)(i * 13 + i / 256);
}

static void scene_end(struct scene *s)
{
	sim_destroy(s->rig->sim);
	staged_device_nic_gone(&s->device);
	if (s->device.broken)
		fail_msg("%s", s->device.broken);
	staged_device_destroy(&s->device);
}

/* ---- descriptors ---- */

struct sent {
	struct scene *scene;
	uint32_t expected, ended;
};

static bool all_ended(void *context)
{
	struct sent *t = context;
	struct dxp_nic_event e;
	const char *broken = invariants_broken(sim_nic(t->scene->rig->sim, OWNER));

	if (broken)
		fail_msg("%s", broken);
	for (; dxp_sent_dequeue(sim_window(t->scene->rig->sim, OWNER), &e); t->ended++)
		assert_int_equal(e.status, DXP_OK);
	return t->ended == t->expected;
}

/* GETs come back into the second half of the device. */
static void put_and_get(struct scene *s, uint32_t bytes)
{
	struct sim *sim = s->rig->sim;
	struct dxp_window *w = sim_window(sim, OWNER);
	struct dxp_target to = sim_target(sim, 0, 0);
	uint32_t far;
	assert_int_equal(nic_region_register(sim_nic(sim, 0), 0, s->rig->memory[0], MEMORY,
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE, &far),
			 DXP_OK);
	struct dxp_entry own = {0, bytes, s->key}, other = {0, bytes, far};
	struct dxp_entry back = {BYTES / 2 + 5, bytes, s->key};
	struct sent t = {.scene = s, .expected = 2};

	assert_int_equal(dxp_post_put(w, 0, &to, &own, &other, 0, 0, 1), DXP_OK);
	assert_int_equal(dxp_post_get(w, 0, &to, &other, &back, 2), DXP_OK);
	assert_true(sim_run(sim, 60 * S_NS, all_ended, &t));
	assert_memory_equal(s->rig->memory[0], s->device.memory, bytes);
	assert_memory_equal(s->device.memory + BYTES / 2 + 5, s->device.memory, bytes);
	assert_int_equal(s->device.writes + s->device.reads + s->device.buffers, 0);
}

static void staged_own__put_and_get(void **state)
{
	const uint32_t lengths[] = {1, 1409, 100000, MEMORY - 9};
	struct scene s;

	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
		scene_make(&s, 1, &usual, NULL);
		put_and_get(&s, lengths[i]);
		scene_end(&s);
	}
}

static void staged_own__put_and_get_despite_loss(void **state)
{
	for (uint64_t i = 0; i < SEEDS; i++) {
		struct rng r = {seed() + i};
		const struct sim_faults faults = {.loss_ppm = (uint32_t)rng_below(&r, 60000),
						  .duplicate_ppm = 20000,
						  .reorder_ppm = 50000,
						  .reorder_ns = 100 * US_NS};
		struct staged_options o = usual;
		struct scene s;
		o.latency_ns = rng_below(&r, 2 * MS_NS);
		o.buffers = 2 + (uint32_t)rng_below(&r, 6);
		scene_make(&s, seed() + i, &o, &faults);
		put_and_get(&s, 1 + (uint32_t)rng_below(&r, MEMORY - 9));
		scene_end(&s);
	}
}

/* ---- register mode ---- */

static void staged_own__registers_send(void **state)
{
	struct scene s;

	scene_make(&s, 1, &usual, NULL);
	assert_int_equal(receive(s.rig, 0, BASE, MEMORY), DXP_OK);
	assert_int_equal(send(s.rig, OWNER, 0, DEVICE + 3, 100000), DXP_OK);
	assert_memory_equal(s.rig->memory[0], s.device.memory + 3, 100000);
	assert_true(total(s.rig, 0) == 100000);
	/* so an old copy would show */
	s.device.memory[7]++;
	assert_int_equal(send(s.rig, OWNER, 0, DEVICE + 7, 1), DXP_OK);
	assert_int_equal(s.rig->memory[0][100000], s.device.memory[7]);
	assert_int_equal(send(s.rig, OWNER, 0, DEVICE, NIC_BOUNCE_BYTES + 1), DXP_ERANGE);
	assert_int_equal(send(s.rig, OWNER, 0, DEVICE + BYTES - 1, 2), DXP_ENOENT);
	assert_int_equal(receive(s.rig, 0, BASE, MEMORY), DXP_OK);
	assert_int_equal(send(s.rig, OWNER, 0, DEVICE, NIC_BOUNCE_BYTES), DXP_OK);
	assert_memory_equal(s.rig->memory[0], s.device.memory, NIC_BOUNCE_BYTES);
	rings_empty(s.rig);
	scene_end(&s);
}

/* Host 1 sends to itself, from device to device. Another function of the same NIC could receive in
 * the same way. */
static void staged_own__registers_inside(void **state)
{
	struct scene s;

	scene_make(&s, 1, &usual, NULL);
	assert_int_equal(receive(s.rig, OWNER, DEVICE + BYTES / 2, 100000), DXP_OK);
	assert_int_equal(send(s.rig, OWNER, OWNER, DEVICE, 60000), DXP_OK);
	assert_memory_equal(s.device.memory + BYTES / 2, s.device.memory, 60000);
	assert_true(total(s.rig, OWNER) == 60000);
	assert_int_equal(send(s.rig, OWNER, OWNER, BASE, 100), DXP_OK);
	assert_memory_equal(s.device.memory + BYTES / 2 + 60000, s.rig->memory[OWNER], 100);
	scene_end(&s);
}

/* The count may grow only after the bytes are in the device. */
static bool arrived(void *context)
{
	struct scene *s = context;
	uint64_t bytes = total(s->rig, OWNER);

	assert_memory_equal(s->device.memory + 100, s->rig->memory[0], bytes ? 50000 : 0);
	return bytes == 50000;
}

static void staged_own__registers_receive(void **state)
{
	struct scene s;

	scene_make(&s, 1, &usual, NULL);
	pattern(s.rig, 0, 0, 50000, 9);
	assert_int_equal(receive(s.rig, OWNER, DEVICE + 100, 60000), DXP_OK);
	send_words(s.rig, 0, OWNER, BASE, 50000);
	go(s.rig, 0);
	assert_true(sim_run(s.rig->sim, 10 * S_NS, arrived, &s));
	assert_int_equal(send(s.rig, 0, OWNER, BASE, 60001), DXP_ERANGE);
	assert_int_equal(send(s.rig, 0, OWNER, BASE + 7, 10000), DXP_OK);
	assert_memory_equal(s.device.memory + 50100, s.rig->memory[0] + 7, 10000);
	assert_int_equal(*word(s.rig, OWNER, REGISTER(recv_used)), 60000);
	scene_end(&s);
}

/* Two senders send to a device with buffers for few packets. A message that is sent again must not
 * take space twice. The receive area must hold whole messages, one after another. */
struct pair {
	struct scene *scene;
	uint32_t next[HOSTS];
};

#define MESSAGES 20
#define LENGTH   9000

static bool pair_step(void *context)
{
	struct pair *p = context;
	struct rig *r = p->scene->rig;
	bool finished = true;

	for (uint32_t i = 0; i < HOSTS; i += 2) {
		finished = finished && sent(r, i) && p->next[i] == MESSAGES;
		if (!sent(r, i) || p->next[i] == MESSAGES)
			continue;
		assert_int_equal(*word(r, i, REGISTER(send_error)), 0);
		memset(r->memory[i], (int)(i << 6 | p->next[i]++), LENGTH);
		send_words(r, i, OWNER, BASE, LENGTH);
		go(r, i);
	}
	return finished;
}

static void pair_check(const struct scene *s)
{
	uint32_t next[HOSTS] = {0};

	for (uint32_t at = 0; at < 2 * MESSAGES * LENGTH; at += LENGTH) {
		const uint8_t *message = s->device.memory + at;
		uint32_t from = message[0] >> 6;
		assert_int_equal(message[0] & 63, next[from]++);
		for (uint32_t k = 1; k < LENGTH; k++)
			assert_int_equal(message[k], message[0]);
	}
	assert_int_equal(next[0] + next[2], 2 * MESSAGES);
}

static void staged_own__registers_receive_from_two(void **state)
{
	uint32_t refused = 0;

	for (uint64_t i = 0; i < SEEDS; i++) {
		const struct sim_faults faults = {
			.loss_ppm = 20000, .reorder_ppm = 200000, .reorder_ns = 100 * US_NS};
		struct staged_options o = usual;
		struct scene s;
		struct pair p = {.scene = &s};
		o.buffers = 2;
		o.buffer_bytes = SIM_PAYLOAD_BYTES;
		scene_make(&s, seed() + i, &o, &faults);
		assert_int_equal(receive(s.rig, OWNER, DEVICE, 2 * MESSAGES * LENGTH), DXP_OK);
		assert_true(sim_run(s.rig->sim, 60 * S_NS, pair_step, &p));
		assert_int_equal(*word(s.rig, OWNER, REGISTER(recv_used)), 2 * MESSAGES * LENGTH);
		assert_true(total(s.rig, OWNER) == 2 * MESSAGES * LENGTH);
		pair_check(&s);
		refused += s.device.refused;
		scene_end(&s);
	}
	assert_true(refused > 0);
}

/* ---- a receive area that its device replaces while DMA writes it ---- */

static bool dma_runs(void *context)
{
	const struct scene *s = context;

	return s->device.dmas > 0;
}

static bool area_adopted(void *context)
{
	const struct scene *s = context;

	return armed(s->rig, OWNER);
}

static void staged_own__a_new_area_waits_for_dma(void **state)
{
	struct staged_options o = usual;
	const uint32_t bytes = 60000; /* more than the device's buffers */
	uint8_t before[60000];
	struct scene s;

	o.latency_ns = 3 * MS_NS;
	scene_make(&s, 1, &o, NULL);
	pattern(s.rig, 0, 0, bytes, 77);
	assert_int_equal(receive(s.rig, OWNER, DEVICE, bytes), DXP_OK);
	send_words(s.rig, 0, OWNER, BASE, bytes);
	go(s.rig, 0);
	assert_true(sim_run(s.rig->sim, S_NS, dma_runs, &s));
	arm(s.rig, OWNER, DEVICE + 100000, bytes);
	assert_true(sim_run(s.rig->sim, 10 * S_NS, area_adopted, &s));
	memcpy(before, s.device.memory, sizeof(before));
	/* sent again, to the new receive area */
	assert_int_equal(finish(s.rig, 0), DXP_OK);
	assert_memory_equal(s.device.memory, before, sizeof(before));
	assert_memory_equal(s.device.memory + 100000, s.rig->memory[0], bytes);
	scene_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(staged_own__put_and_get),
		cmocka_unit_test(staged_own__put_and_get_despite_loss),
		cmocka_unit_test(staged_own__registers_send),
		cmocka_unit_test(staged_own__registers_inside),
		cmocka_unit_test(staged_own__registers_receive),
		cmocka_unit_test(staged_own__registers_receive_from_two),
		cmocka_unit_test(staged_own__a_new_area_waits_for_dma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
