/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that each raw measurement runs, stops, and rejects invalid arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bench/raw_udp.h"

static struct raw_ends loopback(const char *address)
{
	struct raw_ends ends = {0};

	assert_int_equal(address_parse(address, 0, &ends.near), DXP_OK);
	ends.far = ends.near;
	return ends;
}

static void raw_ping__measures_each_round_trip(void **state)
{
	static const size_t sizes[] = {1, 64, 1472, RAW_PAYLOAD_BYTES_MAX};
	uint64_t samples[20];

	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct raw_ping_options o = {loopback("127.0.0.1"), sizes[i], 5,
					     ARRAY_COUNT(samples)};
		memset(samples, 0, sizeof(samples));
		assert_int_equal(raw_ping(&o, samples), DXP_OK);
		for (size_t k = 0; k < ARRAY_COUNT(samples); k++)
			assert_in_range(samples[k], 100, 2 * S_NS);
	}
}

static void raw_ping__rejects_bad_options(void **state)
{
	uint64_t sample;
	struct raw_ping_options o = {loopback("127.0.0.1"), 0, 0, 1};

	assert_int_equal(raw_ping(&o, &sample), DXP_EINVAL);
	o.payload_bytes = RAW_PAYLOAD_BYTES_MAX + 1;
	assert_int_equal(raw_ping(&o, &sample), DXP_EINVAL);
	o.payload_bytes = 64;
	o.count = 0;
	assert_int_equal(raw_ping(&o, &sample), DXP_EINVAL);
	o.count = 1;
	o.ends.far_netns = "no-such-namespace";
	assert_int_equal(raw_ping(&o, &sample), DXP_EIO);
	o.ends = loopback("203.0.113.7");
	assert_int_equal(raw_ping(&o, &sample), DXP_EIO);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void raw_stream__places_all_bytes(void **state)
{
	static const size_t segments[] = {0, 64, 1408, 8972, RAW_PAYLOAD_BYTES_MAX};
	struct raw_stream_result result;

	for (size_t i = 0; i < 2 * ARRAY_COUNT(segments); i++) {
		struct raw_stream_options o = {.ends = loopback("127.0.0.1"),
					       .segment_bytes = segments[i / 2],
					       .total_bytes = 3 << 20,
					       .spin = i % 2};
		assert_int_equal(raw_stream(&o, &result), DXP_OK);
		assert_in_range(result.bytes, 3 << 20, (3 << 20) + RAW_PAYLOAD_BYTES_MAX);
		assert_true(result.gb_per_s > 0 && result.sender_ns_per_kb > 0 &&
			    result.receiver_ns_per_kb > 0);
	}
}

static void raw_stream__rejects_bad_options(void **state)
{
	struct raw_stream_result result;
	struct raw_stream_options o = {.ends = loopback("127.0.0.1")};

	assert_int_equal(raw_stream(&o, &result), DXP_EINVAL);
	o.total_bytes = 1;
	o.segment_bytes = RAW_SEGMENT_BYTES_MIN - 1;
	assert_int_equal(raw_stream(&o, &result), DXP_EINVAL);
	o.segment_bytes = 0;
	o.window_bytes = 65536;
	assert_int_equal(raw_stream(&o, &result), DXP_EINVAL);
}

static void raw_c2c__measures_or_reports_why_not(void **state)
{
	double ns = 0;
	int status = raw_c2c(1000, &ns);

	assert_int_equal(raw_c2c(0, &ns), DXP_EINVAL);
	if (status == DXP_EUNSUPPORTED) {
		print_message("skipped: only one CPU\n");
		skip();
	}
	assert_int_equal(status, DXP_OK);
	assert_true(ns > 0);
}

static void raw_percentile__is_the_nearest_rank(void **state)
{
	uint64_t samples[] = {50, 10, 40, 20, 30, 60, 70, 80, 90, 100};

	assert_int_equal(raw_percentile(samples, 10, 50), 50);
	assert_int_equal(raw_percentile(samples, 10, 99), 100);
	assert_int_equal(raw_percentile(samples, 10, 0), 10);
	assert_int_equal(raw_percentile(samples, 10, 100), 100);
	assert_int_equal(raw_percentile(samples, 1, 50), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raw_ping__measures_each_round_trip),
		cmocka_unit_test(raw_ping__rejects_bad_options),
		cmocka_unit_test(raw_stream__places_all_bytes),
		cmocka_unit_test(raw_stream__rejects_bad_options),
		cmocka_unit_test(raw_c2c__measures_or_reports_why_not),
		cmocka_unit_test(raw_percentile__is_the_nearest_rank),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
