/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the checks of simulated groups: they must detect each defect, which drops a check or swaps
 * an order, with at least one seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/sim/group_rig.h"

#define SEEDS 24

/* Returns the first failed check, or NULL. */
static const char *verdict(enum gsim_defect defect, uint64_t seed, enum group_faults faults)
{
	static char text[256];
	static struct gsim g;
	struct gsim_options o = group_draw(seed, faults);

	o.defect = defect;
	o.members = 8 + (uint32_t)(seed % 3);
	o.victim %= o.members;
	o.slow = 3;
	const char *reported = gsim_run(&g, &o);
	if (reported)
		memcpy(text, reported, strlen(reported) + 1);
	gsim_free(&g);
	return reported ? text : NULL;
}

static void found(enum gsim_defect defect, enum group_faults faults)
{
	char first[256] = "";
	uint32_t times = 0, seeds = 0;

	for (uint64_t seed = 1; seed <= SEEDS && times < 2; seed++, seeds++) {
		const char *text = verdict(defect, seed, faults);
		if (text && times++ == 0)
			snprintf(first, sizeof(first), "%s", text);
	}
	print_message("%u of %u: %s\n", times, seeds, first);
	assert_true(times > 0);
}

#define FOUND(name, defect, faults)                     \
	static void group_mutants__##name(void **state) \
	{                                               \
		(void)state;                            \
		found(defect, faults);                  \
	}
FOUND(event_before_data, GSIM_EVENT_BEFORE_DATA, GROUP_SOUND)
FOUND(wait_dropped, GSIM_WAIT_DROPPED, GROUP_SOUND)
FOUND(unguarded, GSIM_UNGUARDED, GROUP_SOUND)
FOUND(half_reused, GSIM_HALF_REUSED, GROUP_SOUND)
FOUND(begin_ignored, GSIM_BEGIN_IGNORED, GROUP_SOUND)
FOUND(loss_unnoticed, GSIM_LOSS_UNNOTICED, GROUP_MEMBER_DIES)
FOUND(failure_hidden, GSIM_FAILURE_HIDDEN, GROUP_MEMBER_DIES)
FOUND(settle_forgotten, GSIM_SETTLE_FORGOTTEN, GROUP_SWITCH_DIES)
FOUND(rescue_early, GSIM_RESCUE_EARLY, GROUP_SWITCH_DIES)
FOUND(rest_short, GSIM_REST_SHORT, GROUP_SWITCH_DIES)
FOUND(give_up_forgotten, GSIM_GIVE_UP_FORGOTTEN, GROUP_REVOKED)
FOUND(blame_last, GSIM_BLAME_LAST, GROUP_REVOKED)

/* Results then depend on times, which shows only in the comparison of two runs. */
static void group_mutants__arrival_order(void **state)
{
	static struct gsim g;
	uint32_t differ = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS && differ == 0; seed++) {
		struct gsim_options o = group_draw(seed, GROUP_SOUND);
		uint64_t digest[2];
		o.defect = GSIM_ARRIVAL_ORDER;
		o.way = DXP_WAY_TREE;
		for (int i = 0; i < 2; i++) {
			const char *text = gsim_run(&g, &o);
			if (text)
				fail_msg("%s", text);
			digest[i] = g.host.digest;
			gsim_free(&g);
			o.net_seed += 77;
		}
		differ += digest[0] != digest[1];
	}
	assert_true(differ > 0);
}

static void group_mutants__sound_one_passes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const enum group_faults faults = (enum group_faults)(seed % 5);
		const char *text = verdict(GSIM_SOUND, seed, faults);
		if (text)
			fail_msg("seed %llu: %s", (unsigned long long)seed, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_mutants__sound_one_passes),
		cmocka_unit_test(group_mutants__event_before_data),
		cmocka_unit_test(group_mutants__wait_dropped),
		cmocka_unit_test(group_mutants__unguarded),
		cmocka_unit_test(group_mutants__half_reused),
		cmocka_unit_test(group_mutants__begin_ignored),
		cmocka_unit_test(group_mutants__loss_unnoticed),
		cmocka_unit_test(group_mutants__failure_hidden),
		cmocka_unit_test(group_mutants__settle_forgotten),
		cmocka_unit_test(group_mutants__rescue_early),
		cmocka_unit_test(group_mutants__rest_short),
		cmocka_unit_test(group_mutants__give_up_forgotten),
		cmocka_unit_test(group_mutants__blame_last),
		cmocka_unit_test(group_mutants__arrival_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
