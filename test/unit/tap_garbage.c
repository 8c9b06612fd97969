/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests garbage in a tap's ring, from the tracer or the node. */
#include "test/unit/tap_rig.h"

/* Asserts that the node rejects the ring file of a live tracer after `spoil` has changed it. */
static void ring_rejected(struct rig *r, void (*spoil)(struct tap_ring *ring, FILE *file))
{
	char path[128];
	struct tap_ring front;
	uint32_t other;

	assert_int_equal(tap_attach(&r->list.views[0], TAP_RING_BYTES_MIN, 100, &r->reader, &other),
			 DXP_OK);
	snprintf(path, sizeof(path), "%s/%s", r->folder, stats_tap_name(r->stats));
	FILE *file = fopen(path, "r+");
	assert_non_null(file);
	setbuf(file, NULL);
	assert_int_equal(fread(&front, sizeof(front), 1, file), 1);
	spoil(&front, file);
	rewind(file);
	assert_int_equal(fwrite(&front, sizeof(front), 1, file), 1);
	fclose(file);
	look(r);
	assert_null(tap_link(r->tap));
	assert_int_equal(tap_answered(r->reader), TAP_REFUSED);
	tap_detach(r->reader);
	r->reader = NULL;
	look(r);
}

static void spoil_magic(struct tap_ring *ring, FILE *file)
{
	ring->magic++;
}

static void spoil_version(struct tap_ring *ring, FILE *file)
{
	ring->version++;
}

static void spoil_power(struct tap_ring *ring, FILE *file)
{
	ring->ring_bytes -= 8;
}

static void spoil_size(struct tap_ring *ring, FILE *file)
{
	ring->ring_bytes *= 2; /* more than the file has */
}

static void spoil_zero(struct tap_ring *ring, FILE *file)
{
	ring->ring_bytes = 0;
}

static void spoil_snap(struct tap_ring *ring, FILE *file)
{
	ring->snap_bytes = DATAGRAM_BYTES_MAX + 1;
}

static void spoil_length(struct tap_ring *ring, FILE *file)
{
	assert_int_equal(ftruncate(fileno(file), TAP_DATA_BYTES), 0);
}

static void tap_look__rejects_wrong_rings(void **state)
{
	ring_rejected(*state, spoil_magic);
	ring_rejected(*state, spoil_version);
	ring_rejected(*state, spoil_power);
	ring_rejected(*state, spoil_size);
	ring_rejected(*state, spoil_zero);
	ring_rejected(*state, spoil_snap);
	ring_rejected(*state, spoil_length);
}

/* Opens the ring's file, so that the test acts as the other end. */
static FILE *ring_file(struct rig *r)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", r->folder, stats_tap_name(r->stats));
	FILE *file = fopen(path, "r+");
	assert_non_null(file);
	setbuf(file, NULL);
	return file;
}

static void word_put(FILE *file, size_t offset, uint64_t value)
{
	fseek(file, (long)offset, SEEK_SET);
	assert_int_equal(fwrite(&value, sizeof(value), 1, file), 1);
}

/* A reader that writes a wrong head gets no data, and the node's memory is not damaged. */
static void tap_ring__distrusts_its_reader(void **state)
{
	static const uint64_t heads[] = {8, 1, 1ull << 63, 1ull << 40, TAP_RING_BYTES_MIN};
	struct rig *r = *state;

	attach(r, 100);
	FILE *file = ring_file(r);
	for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		uint64_t dropped = tap_dropped(r->reader);
		word_put(file, offsetof(struct tap_ring, head), heads[i]);
		pass(r, 100, 0);
		assert_int_equal(tap_dropped(r->reader), dropped + 1);
	}
	fclose(file);
}

/* The reader never reads outside of the ring. */
static void tap_next__distrusts_its_writer(void **state)
{
	struct rig *r = *state;
	struct rng rng = {.state = 5};
	uint64_t refused = 0;

	attach(r, 100);
	FILE *file = ring_file(r);
	for (int round = 0; round < 3000; round++) {
		uint64_t words[16];
		bool broken = false;
		for (unsigned i = 0; i < 16; i++)
			words[i] = rng_next(&rng) & (rng_below(&rng, 2) ? 0xff : UINT64_MAX);
		fseek(file, TAP_DATA_BYTES, SEEK_SET);
		assert_int_equal(fwrite(words, sizeof(words), 1, file), 1);
		word_put(file, offsetof(struct tap_ring, tail),
			 rng_next(&rng) >> rng_below(&rng, 64));
		const struct tap_record *record = tap_next(r->reader, &broken);
		assert_false(record && broken);
		refused += broken;
		if (record) {
			assert_in_range(record->captured_bytes, 0, DATAGRAM_BYTES_MAX);
			assert_in_range(record->bytes, sizeof(*record), TAP_RING_BYTES_MIN);
		}
	}
	assert_true(refused > 1000);
	fclose(file);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		TEST(tap_look__rejects_wrong_rings),
		TEST(tap_ring__distrusts_its_reader),
		TEST(tap_next__distrusts_its_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
