/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that each contender runs, counts its operations and stops, and that a failed one does not
 * stop the benchmark. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/contenders.h"
#include "bench/measure.h"
#include "bench/report.h"
#include "bench/table.h"
#include "bench/tcp_crowd.h"
#include "bench/variant.h"

#define COUNT 40

static struct raw_ends loopback(void)
{
	struct raw_ends ends = {0};

	assert_int_equal(address_parse("127.0.0.1", 0, &ends.near), DXP_OK);
	ends.far = ends.near;
	return ends;
}

static struct work work_of(enum work_op op)
{
	return (struct work){.op = op,
			     .bytes = op == WORK_PUT || op == WORK_GET ? 100000 : 64,
			     .depth = op == WORK_PING ? 1 : 4,
			     .warmup = 3,
			     .count = COUNT,
			     .budget_ns = 20 * S_NS};
}

static void run_all_operations(const struct contender *c)
{
	struct raw_ends ends = loopback();
	struct outcome o;

	for (int op = WORK_PUT; op <= WORK_MESSAGE; op++) {
		struct work work = work_of((enum work_op)op);
		measure_run(c, &ends, &work, 1472, &o);
		if (o.status == DXP_EUNSUPPORTED) {
			print_message("skipped: %s is not built or not on this machine\n", c->name);
			skip();
		}
		assert_int_equal(o.status, DXP_OK);
		assert_int_equal(o.done, COUNT);
		assert_true(o.seconds > 0 && o.near_cpu_ns > 0);
		if (op != WORK_MESSAGE)
			assert_true(o.mean_us > 0 && o.p50_us > 0 && o.p99_us >= o.p50_us);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void measure__rltp(void **state)
{
	static const struct contender c[] = {CONTENDER_RLTP, CONTENDER_RLTP_AS("irn", "irn,none")};

	for (size_t i = 0; i < ARRAY_COUNT(c); i++)
		run_all_operations(&c[i]);
}

static void measure__tcp(void **state)
{
	run_all_operations(&(struct contender)CONTENDER_TCP_CUBIC);
}

static void measure__libfabric(void **state)
{
	run_all_operations(&(struct contender)CONTENDER_FABRIC("tcp;ofi_rxm"));
}

static void measure__ucx(void **state)
{
	run_all_operations(&(struct contender)CONTENDER_UCX_TCP);
}

static void measure__raw(void **state)
{
	static const struct {
		struct contender contender;
		enum work_op op;
	} cases[] = {{CONTENDER_RAW_PING, WORK_PING},
		     {CONTENDER_RAW_STREAM, WORK_PUT},
		     {{.name = "64", .alone = raw_messages_64_alone}, WORK_MESSAGE},
		     {{.name = "128", .alone = raw_messages_128_alone}, WORK_MESSAGE}};
	struct raw_ends ends = loopback();
	struct outcome o;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct work work = work_of(cases[i].op);
		measure_run(&cases[i].contender, &ends, &work, 1472, &o);
		assert_int_equal(o.status, DXP_OK);
		/* more than COUNT, if a batch is longer */
		assert_true(o.done >= COUNT && o.seconds > 0);
	}
}

static int open_well(struct peer_end *e)
{
	return DXP_OK;
}

static int open_badly(struct peer_end *e)
{
	return DXP_EIO;
}

static int post_well(struct peer_end *e)
{
	return DXP_OK;
}

static int post_for_ever(struct peer_end *e)
{
	if (e->tally->done > 0)
		pause();
	return DXP_OK;
}

static int poll_nothing(struct peer_end *e)
{
	return 0;
}

static int poll_one(struct peer_end *e)
{
	return 1;
}

static int poll_and_die(struct peer_end *e)
{
	raise(SIGKILL); /* leaves no core file */
	return 0;
}

static void serve_slowly(struct peer_end *e)
{
	usleep(1000);
}

static void measure__ends_what_does_not(void **state)
{
	static const struct peer_ops silent = {open_well, post_well, poll_nothing, serve_slowly},
				     hangs = {open_well, post_for_ever, poll_one, serve_slowly},
				     dies = {open_well, post_well, poll_and_die, serve_slowly},
				     refuses = {open_badly, post_well, poll_one, serve_slowly};
	static const struct {
		struct contender contender;
		int status;
		uint64_t done;
	} cases[] = {{{.name = "silent", .ops = &silent}, DXP_OK, 0},
		     {{.name = "hangs", .ops = &hangs}, DXP_OK, 1},
		     {{.name = "dies", .ops = &dies}, DXP_OK, 0},
		     {{.name = "refuses", .ops = &refuses}, DXP_EIO, 0},
		     {{.name = "absent", .module = "no-such.so"}, DXP_EUNSUPPORTED, 0}};
	struct work work = {
		.op = WORK_PUT, .bytes = 64, .depth = 1, .count = 5, .budget_ns = 50 * MS_NS};
	struct raw_ends ends = loopback();
	struct outcome o;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		measure_run(&cases[i].contender, &ends, &work, 1472, &o);
		assert_int_equal(o.status, cases[i].status);
		assert_int_equal(o.done, cases[i].done);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void variant__names_options(void **state)
{
	struct variant t;

	assert_true(variant_parse(NULL, &t));
	assert_true(variant_parse("", &t));
	assert_true(variant_parse("gbn_rto,reno,no_pacing,encrypt", &t));
	assert_int_equal(t.tuning.recovery, RLTP_GBN_RTO);
	assert_int_equal(t.tuning.cc, CC_RENO);
	assert_true(t.tuning.no_pacing);
	assert_string_equal(t.protect, "encrypt");
	assert_false(variant_parse("fastest", &t));
	assert_false(variant_parse(
		"rack,rack,rack,rack,rack,rack,rack,rack,rack,rack,rack,rack,rack", &t));
}

static void tcp_crowd__counts_connections(void **state)
{
	double per_s = 0;

	assert_int_equal(tcp_crowd_rate(20, &per_s), DXP_OK);
	assert_true(per_s > 0);
}

static void table__prints_sizes(void **state)
{
	char text[TABLE_BYTES_TEXT];

	assert_string_equal(table_bytes(4, text), "4 B");
	assert_string_equal(table_bytes(65536, text), "64 KiB");
	assert_string_equal(table_bytes(1 << 20, text), "1 MiB");
}

static void report__median_of_odd_and_even(void **state)
{
	double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};

	assert_true(report_median(odd, 3) == 3);
	assert_true(report_median(even, 4) == 2.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measure__rltp),
		cmocka_unit_test(measure__tcp),
		cmocka_unit_test(measure__libfabric),
		cmocka_unit_test(measure__ucx),
		cmocka_unit_test(measure__raw),
		cmocka_unit_test(measure__ends_what_does_not),
		cmocka_unit_test(variant__names_options),
		cmocka_unit_test(tcp_crowd__counts_connections),
		cmocka_unit_test(table__prints_sizes),
		cmocka_unit_test(report__median_of_odd_and_even),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
