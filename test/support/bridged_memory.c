/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/bridged_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"

#define MANY 200

static uint8_t model[BRIDGED_BYTES], host[BRIDGED_BYTES];
static uint64_t seed;

struct engine_dma_end bridged_memory_dequeue(struct engine *e)
{
	uint64_t until_ns = clock_now_ns() + 120 * S_NS;
	struct engine_dma_end end;

	while (engine_dma_dequeue(e, &end, 1) == 0) {
		assert_true(clock_now_ns() < until_ns);
		nanosleep(&(struct timespec){.tv_nsec = US_NS}, NULL);
	}
	return end;
}

static int dma_run(struct engine *e, const struct engine_dma *dma)
{
	int status = engine_dma_start(e, dma);

	if (status != DXP_OK)
		return status;
	struct engine_dma_end end = bridged_memory_dequeue(e);
	assert_int_equal(end.id, dma->id);
	return end.status;
}

int bridged_in(struct engine *e, uint64_t to, const void *from, uint64_t bytes)
{
	return dma_run(e, &(struct engine_dma){.id = to + 1,
					       .kind = ENGINE_DMA_IN,
					       .to = to,
					       .source = from,
					       .bytes = bytes});
}

int bridged_out(struct engine *e, uint64_t from, void *to, uint64_t bytes)
{
	return dma_run(e, &(struct engine_dma){.id = from + 2,
					       .kind = ENGINE_DMA_OUT,
					       .from = from,
					       .sink = to,
					       .bytes = bytes});
}

int bridged_copy(struct engine *e, uint64_t from, uint64_t to, uint64_t bytes)
{
	return dma_run(
		e,
		&(struct engine_dma){
			.id = 3, .kind = ENGINE_DMA_COPY, .from = from, .to = to, .bytes = bytes});
}

static uint64_t random_below(uint64_t bound)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 20) % bound;
}

static void move(struct engine *e, uint8_t salt)
{
	uint64_t most = random_below(3) ? 10000 : BRIDGED_BYTES / 2;
	uint64_t bytes = 1 + random_below(most), space = BRIDGED_BYTES - bytes;
	uint64_t a = random_below(space + 1), b = random_below(space + 1);

	/* in a quarter of the rounds, source and destination overlap */
	if (random_below(4) == 0)
		b = clamp_u64(a + random_below(9), 4, space + 4) - 4;
	switch (random_below(3)) {
	case 0:
		for (uint64_t i = 0; i < bytes; i++)
			host[i] = (uint8_t)(i * 7 + salt);
		assert_int_equal(bridged_in(e, a, host, bytes), DXP_OK);
		memcpy(model + a, host, bytes);
		break;
	case 1:
		memset(host, 0xee, bytes + 64);
		assert_int_equal(bridged_out(e, a, host + b % 64, bytes), DXP_OK);
		assert_memory_equal(host + b % 64, model + a, bytes);
		assert_int_equal(host[b % 64 + bytes], 0xee);
		break;
	default:
		assert_int_equal(bridged_copy(e, a, b, bytes), DXP_OK);
		memmove(model + b, model + a, bytes);
	}
}

void bridged_moves(struct engine *e, unsigned rounds)
{
	seed = clock_now_ns();
	print_message("seed %llu\n", (unsigned long long)seed);
	for (size_t i = 0; i < BRIDGED_BYTES; i++)
		model[i] = (uint8_t)random_below(256);
	assert_int_equal(bridged_in(e, 0, model, BRIDGED_BYTES), DXP_OK);
	for (unsigned i = 0; i < rounds; i++)
		move(e, (uint8_t)i);
	memset(host, 0xee, sizeof(host));
	assert_int_equal(bridged_out(e, 0, host, BRIDGED_BYTES), DXP_OK);
	assert_memory_equal(host, model, BRIDGED_BYTES);
}

void bridged_ranges(struct engine *e)
{
	struct engine_dma through = {.kind = ENGINE_DMA_THROUGH, .bytes = 1};

	assert_int_equal(bridged_in(e, BRIDGED_BYTES, host, 1), DXP_ERANGE);
	assert_int_equal(bridged_in(e, 0, host, 0), DXP_ERANGE);
	assert_int_equal(bridged_in(e, 1, host, BRIDGED_BYTES), DXP_ERANGE);
	assert_int_equal(bridged_out(e, UINT64_MAX, host, 2), DXP_ERANGE);
	assert_int_equal(bridged_out(e, 2, host, UINT64_MAX), DXP_ERANGE);
	assert_int_equal(bridged_copy(e, 0, BRIDGED_BYTES - 3, 4), DXP_ERANGE);
	assert_int_equal(bridged_copy(e, BRIDGED_BYTES - 3, 0, 4), DXP_ERANGE);
	assert_int_equal(engine_dma_start(e, &through), DXP_EUNSUPPORTED);
	assert_int_equal(engine_core_set(e, 0, ENGINE_CORE_PASS, 0), DXP_EUNSUPPORTED);
	assert_int_equal(bridged_in(e, BRIDGED_BYTES - 1, host, 1), DXP_OK);
	assert_int_equal(bridged_out(e, BRIDGED_BYTES - 1, host, 1), DXP_OK);
}

void bridged_many(struct engine *e)
{
	uint32_t begun = 0, ended = 0;
	bool seen[MANY] = {false};

	while (ended < MANY) {
		struct engine_dma d = {.id = begun,
				       .kind = begun % 2 ? ENGINE_DMA_IN : ENGINE_DMA_OUT,
				       .from = BRIDGED_BYTES / 2,
				       .source = host,
				       .sink = host + BRIDGED_BYTES / 2 + begun * 4096,
				       .bytes = 4096};
		int status = begun < MANY ? engine_dma_start(e, &d) : DXP_EAGAIN;
		assert_true(status == DXP_OK || status == DXP_EAGAIN);
		begun += status == DXP_OK;
		if (status == DXP_OK)
			continue;
		struct engine_dma_end end = bridged_memory_dequeue(e);
		assert_int_equal(end.status, DXP_OK);
		assert_false(seen[end.id]);
		seen[end.id] = true;
		ended++;
	}
}

void bridged_until(const atomic_uint *count, unsigned wanted)
{
	uint64_t until_ns = clock_now_ns() + 120 * S_NS;

	while (atomic_load(count) < wanted)
		assert_true(clock_now_ns() < until_ns);
}
