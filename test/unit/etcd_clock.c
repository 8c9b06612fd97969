/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the clock by which a lease in etcd ends: it also counts while the machine is suspended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "manager/etcd.h"

static uint64_t suspended_s;

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	const int status = __real_clock_gettime(clock, out);

	if (clock == CLOCK_BOOTTIME)
		out->tv_sec += (time_t)suspended_s;
	return status;
}

static void etcd_http__clock_counts_while_suspended(void **state)
{
	struct etcd_tls tls = {0};
	struct etcd_transport t;
	struct etcd_place place;

	assert_int_equal(etcd_place_parse("etcd://127.0.0.1:9", &place), DXP_OK);
	assert_int_equal(etcd_http_open(&place, &tls, &t), DXP_OK);
	const uint64_t before_ns = t.now_ns(t.context), other_ns = clock_now_ns();
	suspended_s = 100000;
	assert_true(t.now_ns(t.context) >= before_ns + suspended_s * S_NS);
	assert_true(clock_now_ns() < other_ns + suspended_s * S_NS);
	suspended_s = 0;
	t.close(t.context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(etcd_http__clock_counts_while_suspended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
