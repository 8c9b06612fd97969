/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests descriptors by reference: lists compared with a model, wrong chains, changes while they
 * run, and bounds of memory and work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/local_rig.h"

#define LIST   65536u
#define ROUNDS 40

/* in memory registered for function 0 */
struct draft {
	uint8_t *memory;
	uint32_t key;
	uint64_t bytes;
	struct dxp_chain *chain;
	struct dxp_entry *src, *dst;
};

static void draft_make(struct rig *r, struct draft *d, uint8_t op, uint32_t src, uint32_t dst)
{
	const struct dxp_target to = rig_target(r, 1, 2);
	struct dxp_descriptor head = dxp_head(op, 3, &to, 99);

	*d = (struct draft){.bytes = dxp_chain_bytes(src, dst)};
	d->memory = calloc(1, d->bytes);
	d->chain = (void *)d->memory;
	dxp_chain_store(d->chain, &head, src, dst);
	d->src = (void *)(d->chain + 1);
	d->dst = d->src + src;
	assert_int_equal(nic_region_register(r->nic, 0, d->memory, d->bytes, NIC_LOCAL, &d->key),
			 DXP_OK);
}

static struct dxp_entry draft_entry(const struct draft *d)
{
	return (struct dxp_entry){.bytes = (uint32_t)d->bytes, .key = d->key};
}

static void draft_post(struct rig *r, const struct draft *d, uint8_t qp, uint64_t context)
{
	const struct dxp_entry at = draft_entry(d);

	assert_int_equal(dxp_post_reference(r->window[0], qp, &at, context), DXP_OK);
}

static void draft_end(struct rig *r, struct draft *d)
{
	assert_int_equal(nic_region_deregister(r->nic, d->key), DXP_OK);
	free(d->memory);
}

/* Source entries ascend in memory; destination entries descend. */
static void draft_fill(const struct rig *r, struct draft *d, uint32_t bytes)
{
	const bool reading = d->chain->head.op == DXP_OP_GET;

	for (uint32_t i = 0; i < d->chain->src_count; i++)
		d->src[i] = rig_entry(r, reading, (uint64_t)i * bytes, bytes);
	for (uint32_t i = 0; i < d->chain->dst_count; i++)
		d->dst[i] = rig_entry(r, !reading, (uint64_t)(d->chain->dst_count - 1 - i) * bytes,
				      bytes);
}

static void rig_two(struct rig *r)
{
	struct nic_options o = rig_options();

	rig_make(r, &o, 2);
	rig_fill(r, 0, 1);
	rig_fill(r, 1, 77);
}

static void reversed_check(const uint8_t *from, const uint8_t *to)
{
	for (uint32_t i = 0; i < LIST; i++)
		assert_memory_equal(to + (LIST - 1 - i) * 8ul, from + i * 8ul, 8);
}

static void chain__65536_entries_on_both_sides(void **state)
{
	static const uint8_t ops[] = {DXP_OP_PUT, DXP_OP_GET};

	for (int i = 0; i < 2; i++) {
		struct rig r;
		struct draft d;
		rig_two(&r);
		draft_make(&r, &d, ops[i], LIST, LIST);
		draft_fill(&r, &d, 8);
		draft_post(&r, &d, 0, 7);
		rig_run(&r);
		assert_int_equal(rig_sent(&r, 0, 7, DXP_OK).bytes, 8 * LIST);
		assert_false(dxp_sent_dequeue(r.window[0], &(struct dxp_nic_event){0}));
		reversed_check(r.memory[ops[i] == DXP_OP_GET], r.memory[ops[i] == DXP_OP_PUT]);
		assert_int_equal(rig_counters(&r, 0).chains, 1);
		assert_int_equal(r.nic->users[0].chain_entries, 0);
		draft_end(&r, &d);
		rig_end(&r);
	}
}

/* Entries have random lengths and gaps between them. */
static void cut(struct rng *rng, struct dxp_entry *out, uint32_t count, uint32_t total,
		uint32_t key)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t rest = total - (count - 1 - i), most = 2 * (total / (count - i)) + 1;
		uint32_t bytes = 1 + (uint32_t)(rng_next(rng) % (most < rest ? most : rest));
		if (i == count - 1)
			bytes = total;
		out[i] = (struct dxp_entry){.offset = at, .bytes = bytes, .key = key};
		total -= bytes;
		at += bytes + rng_next(rng) % 3;
	}
}

static void model_check(const struct draft *d, const uint8_t *from, const uint8_t *to,
			const uint8_t *before)
{
	uint8_t *want = malloc(RIG_BYTES);
	uint32_t k = 0, used = 0;

	memcpy(want, before, RIG_BYTES);
	for (uint32_t i = 0; i < d->chain->src_count; i++)
		for (uint32_t b = 0; b < d->src[i].bytes; b++) {
			want[d->dst[k].offset + used++] = from[d->src[i].offset + b];
			if (used == d->dst[k].bytes)
				k++, used = 0;
		}
	assert_memory_equal(to, want, RIG_BYTES);
	free(want);
}

static void chain__random_lists_match_a_model(void **state)
{
	struct rng rng = {20260101};
	uint8_t *before = malloc(RIG_BYTES);

	for (int round = 0; round < ROUNDS; round++) {
		struct rig r;
		struct draft d;
		bool reading = rng_next(&rng) & 1;
		uint32_t src = 1 + (uint32_t)(rng_next(&rng) % (rng_next(&rng) & 1 ? 800 : 60));
		uint32_t dst = rng_next(&rng) % 4 ? 1 + (uint32_t)(rng_next(&rng) % 800) : 1;
		uint32_t total = 800 + (uint32_t)(rng_next(&rng) % 400000);
		rig_two(&r);
		draft_make(&r, &d, reading ? DXP_OP_GET : DXP_OP_PUT, src, dst);
		cut(&rng, d.src, src, total, r.key[reading]);
		cut(&rng, d.dst, dst, total, r.key[!reading]);
		memcpy(before, r.memory[!reading], RIG_BYTES);
		draft_post(&r, &d, 0, 7);
		rig_run(&r);
		assert_int_equal(rig_sent(&r, 0, 7, DXP_OK).bytes, total);
		model_check(&d, r.memory[reading], r.memory[!reading], before);
		draft_end(&r, &d);
		rig_end(&r);
	}
	free(before);
}

/* ---- wrong chains ---- */

static void last_key(struct draft *d, struct dxp_entry *at)
{
	d->dst[d->chain->dst_count - 1].key ^= 1;
}

static void last_range(struct draft *d, struct dxp_entry *at)
{
	d->dst[d->chain->dst_count - 1].offset = RIG_BYTES - 7;
}

static void last_source(struct draft *d, struct dxp_entry *at)
{
	d->src[d->chain->src_count - 1].offset = RIG_BYTES - 7;
}

static void last_empty(struct draft *d, struct dxp_entry *at)
{
	d->dst[d->chain->dst_count - 1].bytes = 0;
}

static void last_longer(struct draft *d, struct dxp_entry *at)
{
	d->dst[d->chain->dst_count - 1].bytes++;
}

static void count_wrong(struct draft *d, struct dxp_entry *at)
{
	d->chain->src_count++;
}

static void count_wraps(struct draft *d, struct dxp_entry *at)
{
	d->chain->src_count = UINT32_MAX;
	d->chain->dst_count += 501;
}

static void bytes_short(struct draft *d, struct dxp_entry *at)
{
	at->bytes = 79;
}

static void outside(struct draft *d, struct dxp_entry *at)
{
	at->offset = 16;
}

static void key_wrong(struct draft *d, struct dxp_entry *at)
{
	at->key ^= 1;
}

static void nested(struct draft *d, struct dxp_entry *at)
{
	d->chain->head.flags = DXP_FLAG_REFERENCE;
}

static void operation(struct draft *d, struct dxp_entry *at)
{
	d->chain->head.op = DXP_OP_NAP;
}

static void magic(struct draft *d, struct dxp_entry *at)
{
	d->chain->head.dst_magic ^= 1;
}

static void reserved(struct draft *d, struct dxp_entry *at)
{
	d->chain->reserved = 1;
}

static const struct {
	const char *text;
	void (*spoil)(struct draft *d, struct dxp_entry *at);
	int status;
} wrongs[] = {
	{"key of the last entry", last_key, DXP_EACCESS},
	{"range of the last entry", last_range, DXP_ERANGE},
	{"range of the last source", last_source, DXP_ERANGE},
	{"empty last entry", last_empty, DXP_EINVAL},
	{"totals", last_longer, DXP_EINVAL},
	{"count", count_wrong, DXP_EINVAL},
	{"count that wraps", count_wraps, DXP_EINVAL},
	{"shorter than a head", bytes_short, DXP_EINVAL},
	{"chain outside of its region", outside, DXP_ERANGE},
	{"key of the chain", key_wrong, DXP_EACCESS},
	{"nested", nested, DXP_EINVAL},
	{"long NAP", operation, DXP_EINVAL},
	{"magic", magic, DXP_EACCESS},
	{"reserved", reserved, DXP_EINVAL},
};

static void chain__wrong_ones_move_no_byte(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(wrongs); i++) {
		struct rig r;
		struct draft d;
		rig_two(&r);
		draft_make(&r, &d, DXP_OP_PUT, 500, 500);
		draft_fill(&r, &d, 8);
		struct dxp_entry at = draft_entry(&d);
		wrongs[i].spoil(&d, &at);
		assert_int_equal(dxp_post_reference(r.window[0], 0, &at, 7), DXP_OK);
		rig_run(&r);
		struct dxp_nic_event e = {0};
		assert_true(dxp_sent_dequeue(r.window[0], &e));
		if (e.context != 7 || e.status != wrongs[i].status)
			fail_msg("%s: %d", wrongs[i].text, e.status);
		for (uint32_t k = 0; k < RIG_BYTES; k++)
			assert_int_equal(r.memory[1][k], (uint8_t)(77 + k * 7));
		assert_int_equal(r.nic->users[0].chain_entries, 0);
		draft_end(&r, &d);
		rig_end(&r);
	}
}

/* ---- chains that run over several polls ---- */

/* Returns when the engine has checked the chain. */
static void checked_begin(struct rig *r, struct draft *d)
{
	rig_two(r);
	draft_make(r, d, DXP_OP_PUT, LIST, LIST);
	draft_fill(r, d, 8);
	draft_post(r, d, 0, 7);
	for (int i = 0; rig_counters(r, 0).chains == 0; i++) {
		assert_true(i < 100000);
		rig_poll(r);
	}
	assert_false(dxp_sent_dequeue(r->window[0], &(struct dxp_nic_event){0}));
}

static void chain__change_after_the_copy_has_no_effect(void **state)
{
	struct rig r;
	struct draft d;

	checked_begin(&r, &d);
	memset(d.memory, 0xff, d.bytes);
	rig_run(&r);
	rig_sent(&r, 0, 7, DXP_OK);
	reversed_check(r.memory[0], r.memory[1]);
	draft_end(&r, &d);
	rig_end(&r);
}

/* The key is revoked after the engine has checked the chain. */
static void chain__key_revoked_midway(void **state)
{
	for (uint32_t which = 0; which < 2; which++) {
		struct rig r;
		struct draft d;
		checked_begin(&r, &d);
		assert_int_equal(nic_region_revoke(r.nic, r.key[which]), DXP_OK);
		rig_run(&r);
		rig_sent(&r, 0, 7, DXP_EACCESS);
		assert_int_equal(r.nic->users[0].chain_entries, 0);
		draft_end(&r, &d);
		rig_end(&r);
	}
}

/* No poll moves more than the quantum, so others complete meanwhile. */
static void chain__others_make_progress(void **state)
{
	struct rig r;
	struct draft d;
	uint32_t polls = 0, naps = 0;

	rig_two(&r);
	draft_make(&r, &d, DXP_OP_PUT, LIST, LIST);
	draft_fill(&r, &d, 8);
	const struct dxp_target to = rig_target(&r, 1, 0), back = rig_target(&r, 0, 0);
	draft_post(&r, &d, 0, 7);
	struct dxp_nic_event e = {0};
	while (e.context != 7) {
		assert_true(++polls < 100000);
		assert_int_equal(dxp_post_nap(r.window[0], 1, &to, "x", 1, 0, 1), DXP_OK);
		assert_int_equal(dxp_post_nap(r.window[1], 0, &back, "x", 1, 0, 1), DXP_OK);
		rig_poll(&r);
		rig_poll(&r);
		rig_sent(&r, 1, 1, DXP_OK);
		while (e.context != 7 && dxp_sent_dequeue(r.window[0], &e))
			naps += e.context == 1;
		rig_received(&r, 0);
		rig_received(&r, 1);
	}
	assert_int_equal(e.status, DXP_OK);
	/* Each entry is copied, checked and cut, at a cost in bytes. */
	assert_true(2 * polls >= 2 * LIST * (16 + 2 * LOCAL_COST_BYTES) / NIC_QUANTUM_BYTES);
	assert_true(naps + 2 >= polls);
	draft_end(&r, &d);
	rig_end(&r);
}

/* Three chains use all memory for chains. The NIC does not read the descriptor of the fourth. This
 * descriptor does not count for nic_doorbell_ready(), so the engine may sleep. */
static void chain__memory_is_bounded(void **state)
{
	struct rig r;
	struct draft d;
	const uint32_t half = NIC_CHAIN_ENTRIES_MAX / 6;

	rig_two(&r);
	draft_make(&r, &d, DXP_OP_PUT, half, half);
	draft_fill(&r, &d, 1);
	for (uint8_t i = 0; i < 4; i++)
		draft_post(&r, &d, i, i);
	rig_poll(&r);
	assert_int_equal(r.nic->users[0].chain_entries, 6 * half);
	assert_int_equal(r.window[0]->consumer, 3);
	assert_false(nic_doorbell_ready(r.nic));
	assert_int_equal(rig_counters(&r, 0).chain_waits, 1);
	nic_user_close(r.nic, 1, DXP_ECLOSED, r.now_ns);
	rig_run(&r);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(dxp_sent_dequeue(r.window[0], &(struct dxp_nic_event){0}));
	assert_int_equal(r.nic->users[0].chain_entries, 0);
	draft_end(&r, &d);
	rig_end(&r);
}

/* The longest list moves its bytes; one entry more is an error although the totals agree. */
static void chain__longest(void **state)
{
	const uint32_t half = NIC_CHAIN_ENTRIES_MAX / 2;

	for (uint32_t more = 0; more < 2; more++) {
		struct rig r;
		struct draft d;
		rig_two(&r);
		draft_make(&r, &d, DXP_OP_PUT, half + more, half);
		draft_fill(&r, &d, 1);
		d.dst[half - 1].bytes += more;
		draft_post(&r, &d, 0, 7);
		rig_run(&r);
		rig_sent(&r, 0, 7, more ? DXP_EINVAL : DXP_OK);
		for (uint32_t i = 0; i < half && !more; i++)
			assert_int_equal(r.memory[1][half - 1 - i], r.memory[0][i]);
		assert_int_equal(r.nic->users[0].chain_entries, 0);
		draft_end(&r, &d);
		rig_end(&r);
	}
}

/* 2 GiB - 1 is the longest message (C-18). All entries name the same memory. */
static void chain__most_bytes(void **state)
{
	const uint32_t entries = NIC_MESSAGE_BYTES_MAX / RIG_BYTES + 1;

	for (uint32_t more = 0; more < 2; more++) {
		struct rig r;
		struct draft d;
		rig_two(&r);
		draft_make(&r, &d, DXP_OP_PUT, entries, entries);
		for (uint32_t i = 0; i < entries; i++) {
			uint32_t bytes = RIG_BYTES - (i == 0 && !more);
			d.src[i] = rig_entry(&r, 0, 0, bytes);
			d.dst[i] = rig_entry(&r, 1, 0, bytes);
		}
		draft_post(&r, &d, 0, 7);
		rig_run(&r);
		struct dxp_nic_event e = rig_sent(&r, 0, 7, more ? DXP_EINVAL : DXP_OK);
		if (!more) {
			assert_int_equal(e.bytes, NIC_MESSAGE_BYTES_MAX);
			assert_memory_equal(r.memory[1], r.memory[0], RIG_BYTES);
		}
		draft_end(&r, &d);
		rig_end(&r);
	}
}

static void chain__closed_midway(void **state)
{
	for (int polls = 1; polls < 40; polls += 6) {
		struct rig r;
		struct draft d;
		rig_two(&r);
		draft_make(&r, &d, DXP_OP_GET, LIST, LIST);
		draft_fill(&r, &d, 8);
		draft_post(&r, &d, 0, 7);
		for (int i = 0; i < polls; i++)
			rig_poll(&r);
		assert_int_equal(nic_user_close(r.nic, 0, DXP_ECLOSED, r.now_ns), DXP_OK);
		assert_true(nic_user_idle(r.nic, 0));
		rig_run(&r);
		free(d.memory);
		rig_end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain__65536_entries_on_both_sides),
		cmocka_unit_test(chain__random_lists_match_a_model),
		cmocka_unit_test(chain__wrong_ones_move_no_byte),
		cmocka_unit_test(chain__change_after_the_copy_has_no_effect),
		cmocka_unit_test(chain__key_revoked_midway),
		cmocka_unit_test(chain__others_make_progress),
		cmocka_unit_test(chain__memory_is_bounded),
		cmocka_unit_test(chain__longest),
		cmocka_unit_test(chain__most_bytes),
		cmocka_unit_test(chain__closed_midway),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
