/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a bootstrap which changes messages, such as a hostile host's, gets an error: hellos
 * and outcomes out of range, and a member's own message in another form. */
#include "test/unit/inc_endpoint_rig.h"

#include "inc/endpoint.h"
#include "wire/inc_compat.h"

#define COUNT 3
#define OWN   1 /* this member */

static void hellos_make(struct hello *hellos)
{
	for (uint32_t i = 0; i < COUNT; i++)
		hellos[i] = (struct hello){.ip = 0x0a000001u + i,
					   .switch_ip = 0x0a000101u,
					   .port = ROCE_SOURCE_PORT,
					   .segment_bytes = 1408,
					   .able = 1,
					   .reach = INC_REACH_YES,
					   .epoch = 5,
					   .id = 7 + i,
					   .qkey = 9};
}

static int checked(const struct hello *hellos, char why[DXP_INC_WHY_BYTES])
{
	struct hello own[COUNT];

	hellos_make(own);
	return exchange_hellos_check(hellos, COUNT, OWN, &own[OWN], why);
}

static void exchange__valid_hellos(void **state)
{
	struct hello hellos[COUNT];
	char why[DXP_INC_WHY_BYTES];

	hellos_make(hellos);
	assert_int_equal(checked(hellos, why), DXP_OK);
	hellos[0].unused = UINT8_MAX;
	hellos[0].unused_too = UINT16_MAX;
	assert_int_equal(checked(hellos, why), DXP_OK);
	hellos[2].reach = INC_REACH_REFUSED;
	assert_int_equal(checked(hellos, why), DXP_ENOENT);
	assert_non_null(strstr(why, "10.0.0.3"));
	hellos[2].able = 0;
	assert_int_equal(checked(hellos, why), DXP_ENOMEM);
}

/* Each field of another member's hello, out of its range. */
static void exchange__hostile_hellos(void **state)
{
	static const struct {
		size_t at, bytes;
		uint32_t value;
	} changes[] = {
#define FIELD(field) offsetof(struct hello, field), sizeof(((struct hello *)0)->field)
		{FIELD(ip), 0},
		{FIELD(ip), 0xefc00001u},
		{FIELD(ip), UINT32_MAX},
		{FIELD(ip), 0x0a000002u}, /* this member's */
		{FIELD(switch_ip), 0},
		{FIELD(switch_ip), 0xe0000001u},
		{FIELD(port), 0},
		{FIELD(port), ROCE_SOURCE_PORT - 1},
		{FIELD(segment_bytes), UINT16_MAX},
		{FIELD(framing), DXP_INC_COMPAT},
		{FIELD(framing), UINT8_MAX},
		{FIELD(able), 2},
		{FIELD(reach), INC_REACHES},
		{FIELD(reach), UINT8_MAX},
		{FIELD(id), 0},
		{FIELD(id), INC_COMM_CONTROL},
#undef FIELD
	};

	for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
		struct hello hellos[COUNT];
		char why[DXP_INC_WHY_BYTES] = "";
		hellos_make(hellos);
		memcpy((uint8_t *)&hellos[0] + changes[i].at, &changes[i].value, changes[i].bytes);
		if (checked(hellos, why) != DXP_EINVAL || !why[0])
			fail_msg("change %zu is accepted: '%s'", i, why);
	}
}

/* Data packets of the compatible format have only 16 bits for the id. */
static void exchange__id_of_the_format(void **state)
{
	struct hello hellos[COUNT];
	char why[DXP_INC_WHY_BYTES];

	hellos_make(hellos);
	for (uint32_t i = 0; i < COUNT; i++)
		hellos[i].framing = DXP_INC_COMPAT;
	assert_int_equal(exchange_hellos_check(hellos, COUNT, OWN, &hellos[OWN], why), DXP_OK);
	hellos[0].id = INC_COMPAT_COMM;
	assert_int_equal(exchange_hellos_check(hellos, COUNT, OWN, &hellos[OWN], why), DXP_EINVAL);
}

/* Each byte of this member's own messages. */
static void exchange__own_messages(void **state)
{
	struct outcome own = {.status = DXP_EBUSY, .cause = 1, .cause_ip = 2, .silent = OWN};
	char why[DXP_INC_WHY_BYTES];
	uint32_t sender;

	for (size_t at = 0; at < sizeof(struct hello); at++) {
		struct hello hellos[COUNT];
		hellos_make(hellos);
		((uint8_t *)&hellos[OWN])[at] ^= 0x40;
		assert_int_equal(checked(hellos, why), DXP_EINVAL);
		assert_non_null(strstr(why, "changed this member's message"));
	}
	for (size_t at = 0; at < sizeof(own); at++) {
		struct outcome outcomes[COUNT] = {{0}, own, {0}};
		((uint8_t *)&outcomes[OWN])[at] ^= 0x40;
		assert_int_equal(exchange_outcomes_judge(outcomes, COUNT, OWN, &own, &sender, why),
				 DXP_EINVAL);
		assert_int_equal(sender, COUNT);
	}
}

static void exchange__outcomes(void **state)
{
	const struct outcome own = {0};
	struct outcome outcomes[COUNT] = {{0}};
	char why[DXP_INC_WHY_BYTES];
	uint32_t sender;

	assert_int_equal(exchange_outcomes_judge(outcomes, COUNT, OWN, &own, &sender, why), DXP_OK);
	outcomes[2] = (struct outcome){.status = 77, .cause = UINT32_MAX, .silent = UINT32_MAX};
	assert_int_equal(exchange_outcomes_judge(outcomes, COUNT, OWN, &own, &sender, why),
			 DXP_EINVAL);
	assert_int_equal(sender, 2);
	assert_int_equal(outcomes[2].silent, 2);
	outcomes[0].status = DXP_EBUSY;
	assert_int_equal(exchange_outcomes_judge(outcomes, COUNT, OWN, &own, &sender, why),
			 DXP_EBUSY);
	assert_int_equal(sender, 0);
}

/* Invents a second member, and replaces all outcomes by success. */
static int forge(void *context, const void *own, void *all, size_t bytes)
{
	const size_t *forged = context;

	memcpy(all, own, bytes);
	memcpy((uint8_t *)all + bytes, own, bytes);
	if (bytes == sizeof(struct hello))
		((struct hello *)all)[1].ip ^= 0x80;
	if (bytes == *forged)
		memset(all, bytes == sizeof(struct hello) ? 0x7f : 0, bytes);
	if (bytes == sizeof(struct outcome))
		memset((uint8_t *)all + bytes, 0, bytes);
	return 0;
}

/* Without the check, the group would exist for its user, but not for the endpoint. */
static void exchange__forged(void **state)
{
	const size_t forged[] = {sizeof(struct hello), sizeof(struct outcome)};
	struct dxp_inc_options o = {.create_ns = 50 * MS_NS};
	struct dxp_inc *inc = NULL;
	struct bench b;

	bench_open(&b);
	o.switches = b.text;
	assert_int_equal(dxp_inc_open(&o, &inc), DXP_OK);
	for (size_t i = 0; i < ARRAY_COUNT(forged); i++) {
		size_t which = forged[i];
		const struct dxp_inc_bootstrap boot = {
			.members = 2, .allgather = forge, .context = &which};
		struct dxp_inc_group *g = NULL;
		char why[DXP_INC_WHY_BYTES];
		assert_int_equal(dxp_inc_group_create(inc, &boot, NULL, &g, why), DXP_EINVAL);
		assert_non_null(strstr(why, "changed this member's message"));
		assert_null(g);
	}
	struct dxp_inc_group *g = group_alone(inc);
	assert_int_equal(dxp_inc_barrier(g), DXP_OK);
	dxp_inc_group_destroy(g);
	dxp_inc_close(inc);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchange__valid_hellos),
		cmocka_unit_test(exchange__hostile_hellos),
		cmocka_unit_test(exchange__id_of_the_format),
		cmocka_unit_test(exchange__own_messages),
		cmocka_unit_test(exchange__outcomes),
		cmocka_unit_test(exchange__forged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
