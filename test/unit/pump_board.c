/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the pump on a board: all paths at once, while DMAs fail or stall and resets and
 * cancellations come at any time. Reported bytes are right; memory of a completed transfer is not
 * touched. DXP_SEED=n replays seed n.
 *
 * The polling thread sleeps until an interrupt or the pump's deadline, a minute away without a
 * stall, so a lost interrupt fails the test. */
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/rng.h"
#include "test/unit/board_rig.h"
#include "engine/pump.h"

#define ROUNDS  24
#define MOVERS  24
#define BYTES   200000u /* of one transfer */
#define EDGE    64u     /* guard bytes on both sides of host memory */
#define OPERAND 0x01020304u
#define STALL   (60 * S_NS)
#define SHORT   (100 * MS_NS) /* limit of a DMA on boards that stall */

enum kind { IN, OUT, THROUGH, IN_PLACE, OUT_PLACE, THROUGH_PLACE, COPY, KINDS };

struct mover {
	struct pump_transfer t;
	enum kind kind;
	uint64_t bytes;
	/* in host memory, between EDGE guard bytes */
	uint8_t *from, *to;
	bool outstanding;
	int status;
	uint32_t ended;
};

static struct pump *pump;
static struct rng rng;
static struct mover movers[MOVERS];
static struct bridge_action late[2 * BRIDGE_BUFFERS_MAX]; /* network steps to complete later */
static uint32_t late_count;
static uint32_t network_fails; /* one of so many fails; 0: none */
static uint32_t well;

/* ---- waiting ---- */

static pthread_mutex_t wakeup = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t rings;
static bool rung;

static void ring(void *context)
{
	pthread_mutex_lock(&wakeup);
	rung = true;
	pthread_cond_signal(&rings);
	pthread_mutex_unlock(&wakeup);
}

static void sleep_until_rung(uint64_t until_ns)
{
	struct timespec until = {.tv_sec = (time_t)(until_ns / S_NS),
				 .tv_nsec = (long)(until_ns % S_NS)};
	int error = 0;

	pthread_mutex_lock(&wakeup);
	while (!rung && error == 0)
		error = pthread_cond_timedwait(&rings, &wakeup, &until);
	rung = false;
	pthread_mutex_unlock(&wakeup);
}

static uint64_t any(uint64_t below)
{
	return rng_next(&rng) % below;
}

/* ---- memory ---- */

/* A mover's device memory is half source, half destination. */
static uint64_t device_from(const struct mover *m)
{
	return (uint64_t)(m - movers) * (MEMORY / MOVERS);
}

static uint64_t device_to(const struct mover *m)
{
	/* a COPY may overlap its source */
	return device_from(m) + (m->kind == COPY ? 1 + m->bytes % 5000 : MEMORY / MOVERS / 2);
}

static uint8_t *device(uint64_t address)
{
	return engine_board_of(board)->memory + address;
}

static void scatter(uint8_t *bytes, uint64_t count)
{
	uint64_t word = rng_next(&rng);

	for (uint64_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)(i * 13 + (i >> 8) + word);
}

static uint8_t expected(const struct mover *m, uint64_t i)
{
	uint32_t word = 0;

	if (m->kind != THROUGH && m->kind != THROUGH_PLACE)
		return m->from[EDGE + i];
	uint64_t first = i & ~3ull;
	memcpy(&word, m->from + EDGE + first, (size_t)min_u64(4, m->bytes - first));
	return (uint8_t)((word + OPERAND) >> (8 * (i % 4)));
}

static const uint8_t *sink_of(const struct mover *m)
{
	bool into = m->kind == IN || m->kind == IN_PLACE || m->kind == COPY;

	return into ? device(device_to(m)) : m->to + EDGE;
}

static void check(const struct mover *m, uint64_t first, uint64_t end)
{
	const uint8_t *is = sink_of(m);

	for (uint64_t i = first; i < end; i++)
		if (is[i] != expected(m, i))
			fail_msg("mover %u, kind %u: byte %llu of %llu", (unsigned)(m - movers),
				 m->kind, (unsigned long long)i, (unsigned long long)m->bytes);
}

/* ---- the network ---- */

static void network_end(const struct bridge_action *a)
{
	struct mover *m = CONTAINER_OF(a->context, struct mover, t);
	int status = network_fails && any(network_fails) == 0 ? DXP_EPEERLOST : DXP_OK;

	if (a->step == BRIDGE_FILL)
		memcpy(a->in, m->from + EDGE + a->at, a->bytes);
	else
		memcpy(m->to + EDGE + a->at, a->out, a->bytes);
	pump_done(pump, a->id, status, clock_now_ns());
}

static int step(struct pump_transfer *t, const struct bridge_action *a)
{
	switch (any(4)) {
	case 0: return DXP_EAGAIN;
	case 1: network_end(a); break;
	default: assert_true(late_count < ARRAY_COUNT(late)); late[late_count++] = *a;
	}
	return DXP_OK;
}

static void late_end_one(void)
{
	uint32_t i = (uint32_t)any(late_count);
	struct bridge_action a = late[i];

	late[i] = late[--late_count];
	network_end(&a);
}

/* ---- movers ---- */

/* Then overwrites the memory, to detect a late DMA. */
static void ended(struct pump_transfer *t, const struct bridge_end *end)
{
	struct mover *m = CONTAINER_OF(t, struct mover, t);
	/* such a copy runs backwards, so the last bytes are reported */
	bool backwards = m->kind == COPY && device_to(m) - device_from(m) < m->bytes;

	assert_true(m->outstanding);
	m->outstanding = false;
	m->ended++;
	m->status = end->status;
	assert_true(end->bytes <= m->bytes && (end->status != DXP_OK || end->bytes == m->bytes));
	check(m, backwards ? m->bytes - end->bytes : 0, backwards ? m->bytes : end->bytes);
	well += end->status == DXP_OK;
	memset(m->to, 0x77, BYTES + 2 * EDGE);
}

static void mover_fill(struct mover *m)
{
	scatter(m->from, BYTES + 2 * EDGE);
	memset(m->to, 0x77, BYTES + 2 * EDGE);
	/* direct, because no DMA of this mover is outstanding */
	if (m->kind == OUT || m->kind == OUT_PLACE || m->kind == COPY)
		memcpy(device(device_from(m)), m->from + EDGE, m->bytes);
}

static struct bridge_order mover_order(struct mover *m)
{
	static const uint8_t paths[KINDS] = {
		BRIDGE_IN,     BRIDGE_OUT,    BRIDGE_THROUGH, BRIDGE_DIRECT,
		BRIDGE_DIRECT, BRIDGE_DIRECT, BRIDGE_DIRECT,
	};
	bool source_here = m->kind == IN_PLACE || m->kind == THROUGH_PLACE;
	bool sink_here = m->kind == OUT_PLACE || m->kind == THROUGH_PLACE;

	m->t = (struct pump_transfer){
		.device_from = device_from(m),
		.device_to = device_to(m),
		.source = source_here ? m->from + EDGE : NULL,
		.sink = sink_here ? m->to + EDGE : NULL,
		.step = step,
		.ended = ended,
	};
	return (struct bridge_order){
		.path = paths[m->kind],
		.mode = any(4) == 0 ? BRIDGE_SEQUENTIAL : BRIDGE_PIPELINED,
		.bytes = m->bytes,
		.piece_bytes = any(2) ? 0 : 4096 + (uint32_t)any(12289),
	};
}

static void mover_begin(struct mover *m, enum kind kind)
{
	m->kind = kind;
	m->bytes = any(8) == 0 ? any(5) : 1 + any(MEMORY / MOVERS / 2 - 5000);
	mover_fill(m);
	struct bridge_order order = mover_order(m);
	m->outstanding = true;
	assert_int_equal(pump_begin(pump, &m->t, &order, clock_now_ns()), DXP_OK);
}

static uint32_t outstanding(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < MOVERS; i++)
		count += movers[i].outstanding;
	return count;
}

static void disturb(bool resets)
{
	struct mover *m = &movers[any(MOVERS)];

	if (any(200) == 0 && m->outstanding)
		pump_cancel(pump, &m->t, DXP_ECANCELED);
	if (resets && any(400) == 0)
		engine_dma_reset(board);
}

/* Starts up to `more` movers meanwhile. */
static void poll_all(uint32_t more, bool resets)
{
	uint64_t until_ns = clock_now_ns() + LONGEST;

	while (more > 0 || outstanding() > 0) {
		struct mover *m = &movers[any(MOVERS)];
		if (more > 0 && !m->outstanding) {
			mover_begin(m, (enum kind)any(KINDS));
			more--;
		}
		uint32_t happened = pump_poll(pump, clock_now_ns());
		if (late_count > 0 && any(2)) {
			late_end_one();
			happened++;
		}
		disturb(resets);
		assert_true(clock_now_ns() < until_ns);
		if (happened == 0 && late_count == 0 && more == 0 && outstanding() > 0)
			sleep_until_rung(pump_deadline(pump));
	}
}

static void untouched(void)
{
	uint32_t to, from;

	bridge_buffers_used(pump_bridge(pump), &to, &from);
	assert_int_equal(to + from, 0);
	assert_int_equal(bridge_transfers(pump_bridge(pump)), 0);
	assert_int_equal(late_count, 0);
	assert_int_equal(bridge_counters(pump_bridge(pump))->stale, 0);
	for (uint32_t i = 0; i < MOVERS; i++)
		for (uint32_t k = 0; k < BYTES + 2 * EDGE; k++)
			if (movers[i].to[k] != 0x77)
				fail_msg("mover %u: byte %u was written after its end", i, k);
}

/* Up to 100 tries, because the board still lets DMAs fail. */
static void all_kinds_work(void)
{
	for (enum kind kind = IN; kind < KINDS; kind++) {
		int status = DXP_EDEVICE;
		for (int again = 0; again < 100 && status != DXP_OK; again++) {
			mover_begin(&movers[0], kind);
			poll_all(0, false);
			status = movers[0].status;
		}
		assert_int_equal(status, DXP_OK);
	}
}

static void open_round(bool stalls, bool fails)
{
	static const char *const speeds[] = {
		"preset = fast\n", "preset = pac-a10\n",
		"to_device = 900\nfrom_device = 300\nmemory = 1000\nqueue = 2\n",
		"preset = fast\nqueue = 1\nlatency = 100000\ninterrupt = 200000\n"};
	char lines[256];

	int used = snprintf(lines, sizeof(lines), "%scompute = none\ncore = add %u\n",
			    speeds[any(ARRAY_COUNT(speeds))], OPERAND);
	if (fails)
		used += snprintf(lines + used, sizeof(lines) - (size_t)used, "fail = %u\n",
				 20 + (unsigned)any(200));
	if (stalls)
		snprintf(lines + used, sizeof(lines) - (size_t)used, "stall = %u\n",
			 1 + (unsigned)any(60));
	FILE *file = fopen(file_name, "w");
	assert_non_null(file);
	assert_true(fputs(lines, file) >= 0);
	assert_int_equal(fclose(file), 0);

	char name[80];
	snprintf(name, sizeof(name), "board:%s", file_name);
	const struct engine_options options = {
		.name = name, .memory_bytes = MEMORY, .interrupt = ring};
	assert_int_equal(engine_open(&options, &board), DXP_OK);
	const struct pump_options pumped = {.engine = board,
					    .buffers = 1 + (uint32_t)any(8),
					    .buffer_bytes = 16384,
					    .stall_ns = stalls ? SHORT : STALL};
	assert_int_equal(pump_create(&pumped, &pump), DXP_OK);
	assert_int_equal(engine_board_of(board)->pins.count, 2);
}

static void round_run(uint64_t seed)
{
	rng = (struct rng){seed};
	bool stalls = any(3) == 0, fails = any(2), resets = any(2);

	network_fails = any(2) ? 200 : 0;
	well = 0;
	open_round(stalls, fails);
	poll_all(60, resets);
	untouched();
	network_fails = 0;
	all_kinds_work();
	untouched();
	assert_true(stalls || bridge_counters(pump_bridge(pump))->stalls == 0);
	assert_true(well >= KINDS);
	/* for pump_destroy to complete */
	for (uint32_t i = 0; i < MOVERS / 2; i++)
		mover_begin(&movers[i], (enum kind)(i % KINDS));
	for (uint64_t polls = any(40); polls > 0; polls--)
		pump_poll(pump, clock_now_ns());
	while (late_count > 0)
		late_end_one();
	pump_destroy(pump, DXP_ECLOSED);
	assert_int_equal(outstanding(), 0);
	assert_int_equal(engine_board_of(board)->pins.count, 0);
	engine_close(board);
}

static void pump_board__anything_at_any_time(void **state)
{
	const char *given = getenv("DXP_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC); /* the clock of clock_now_ns */
	pthread_cond_init(&rings, &monotonic);
	pthread_condattr_destroy(&monotonic);
	for (uint32_t i = 0; i < MOVERS; i++) {
		movers[i].from = malloc(BYTES + 2 * EDGE);
		movers[i].to = malloc(BYTES + 2 * EDGE);
		assert_true(movers[i].from && movers[i].to);
		memset(movers[i].to, 0x77, BYTES + 2 * EDGE);
	}
	for (uint64_t last = given ? seed : seed + ROUNDS - 1; seed <= last; seed++) {
		print_message("DXP_SEED=%llu\n", (unsigned long long)seed);
		round_run(seed);
	}
	for (uint32_t i = 0; i < MOVERS; i++) {
		free(movers[i].from);
		free(movers[i].to);
	}
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pump_board__anything_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return rig_main(run_all);
}
