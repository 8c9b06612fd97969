/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the XDP program on lo of a new network namespace: opened, rejected, listed, removed. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/xdp_rig.h"

static const char *const lo[] = {"lo"};
static const struct plane_options on_lo = {.ip = SWITCH_IP, .ports = lo, .port_count = 1};

static int own_netns(void **state)
{
	char why[PLANE_WHY_BYTES];
	struct plane *p;

	if (unshare(CLONE_NEWNET)) {
		printf("skipped: needs root for a network namespace of its own\n");
		exit(77);
	}
	if (plane_open(&on_lo, &p, why) != DXP_OK) {
		printf("skipped: %s\n", why);
		exit(77);
	}
	plane_close(p);
	return 0;
}

static void refused(const struct plane_options *options, int status, const char *has_text)
{
	char why[PLANE_WHY_BYTES] = "";
	struct plane *p = NULL;

	assert_int_equal(plane_open(options, &p, why), status);
	assert_null(p);
	assert_non_null(strstr(why, has_text));
}

static void plane_open__rejections(void **state)
{
	static const char *const nowhere[] = {"lo", "nosuch0"};
	struct plane_options options = {.ip = SWITCH_IP, .ports = nowhere, .port_count = 2};
	char why[PLANE_WHY_BYTES];
	struct plane *p;

	refused(&options, DXP_ENOENT, "nosuch0");
	options.port_count = 0;
	refused(&options, DXP_EINVAL, "ports");
	options.port_count = SWITCH_KERNEL_PORTS + 1;
	refused(&options, DXP_EINVAL, "64");
	options = on_lo;
	options.native = true; /* not on lo */
	refused(&options, DXP_EUNSUPPORTED, "generic mode works");
	assert_int_equal(plane_open(&on_lo, &p, why), DXP_OK);
	refused(&on_lo, DXP_EBUSY, "lo");
	plane_close(p);
	/* the failed open leaves nothing */
	assert_int_equal(plane_open(&on_lo, &p, why), DXP_OK);
	plane_close(p);
}

struct listed {
	int count;
	bool native;
	uint32_t id;
	char interface[IF_NAMESIZE];
};

static void row(void *context, const char *interface, uint32_t program_id, bool native)
{
	struct listed *l = context;

	l->count++;
	l->native = native;
	l->id = program_id;
	snprintf(l->interface, sizeof(l->interface), "%s", interface);
}

static void plane_list__what_is_attached(void **state)
{
	struct listed l = {0};
	char why[PLANE_WHY_BYTES];
	struct plane *p;

	assert_int_equal(plane_list(row, &l), DXP_OK);
	assert_int_equal(l.count, 0);
	assert_int_equal(plane_open(&on_lo, &p, why), DXP_OK);
	assert_int_equal(plane_list(row, &l), DXP_OK);
	assert_int_equal(l.count, 1);
	assert_string_equal(l.interface, "lo");
	assert_false(l.native);
	assert_true(l.id > 0);
	plane_close(p);
	l.count = 0;
	assert_int_equal(plane_list(row, &l), DXP_OK);
	assert_int_equal(l.count, 0);
}

static void plane_remove__own_program_and_no_other(void **state)
{
	char why[PLANE_WHY_BYTES];
	struct listed l = {0};
	struct plane *p;

	assert_int_equal(plane_remove("nosuch0", why), DXP_ENOENT);
	assert_int_equal(plane_remove("lo", why), DXP_ENOENT);
	assert_int_equal(plane_open(&on_lo, &p, why), DXP_OK);
	assert_int_equal(plane_remove("lo", why), DXP_OK);
	assert_int_equal(plane_list(row, &l), DXP_OK);
	assert_int_equal(l.count, 0);
	plane_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plane_open__rejections),
		cmocka_unit_test(plane_list__what_is_attached),
		cmocka_unit_test(plane_remove__own_program_and_no_other),
	};

	return cmocka_run_group_tests(tests, own_netns, NULL);
}
