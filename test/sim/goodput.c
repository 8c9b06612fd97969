/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares goodput with test/golden/goodput.tsv, within 3 % of the path's capacity, and with the
 * transport's goals. Runs write goodput.tsv into the build folder; an intended change is a reviewed
 * difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "sim/goodput.h"

#define GOLDEN   DXP_SOURCE_DIR "/test/golden/goodput.tsv"
#define MESSAGES 50
/* Gb/s of payload: 10 * 1408 bytes of 1538 on the wire */
#define CARRIES   9.155
#define TOLERANCE (0.03 * CARRIES)

static double table[GOODPUT_ROWS][GOODPUT_LOSSES];

static int table_make(void **state)
{
	struct crowd_result result;

	for (int row = 0; row < GOODPUT_ROWS; row++) {
		for (int loss = 0; loss < GOODPUT_LOSSES; loss++) {
			const struct goodput_options o = {
				.recovery = goodput_rows[row].recovery,
				.cc = goodput_rows[row].cc,
				.outstanding = goodput_rows[row].outstanding,
				.loss_ppm = goodput_losses_ppm[loss],
				.messages = MESSAGES,
				.seed = 1,
			};
			if (goodput_run(&o, &result, &table[row][loss]) != DXP_OK)
				return -1;
		}
	}
	return 0;
}

static void row_name(int row, char *out, size_t bytes)
{
	snprintf(out, bytes, "%s\t%s\t%u", rltp_recovery_name(goodput_rows[row].recovery),
		 cc_name(goodput_rows[row].cc), goodput_rows[row].outstanding);
}

static void table_write(void)
{
	FILE *f = fopen("goodput.tsv", "w");
	char name[64];

	assert_non_null(f);
	fprintf(f, "# Gb/s of payload; 10 Gb/s, 10 us one way, 1 MiB messages, loss both ways\n");
	fprintf(f, "recovery\tcongestion\toutstanding");
	for (int loss = 0; loss < GOODPUT_LOSSES; loss++)
		fprintf(f, "\t%g%%", goodput_losses_ppm[loss] / 1e4);
	for (int row = 0; row < GOODPUT_ROWS; row++) {
		row_name(row, name, sizeof(name));
		fprintf(f, "\n%s", name);
		for (int loss = 0; loss < GOODPUT_LOSSES; loss++)
			fprintf(f, "\t%.2f", table[row][loss]);
	}
	fprintf(f, "\n");
	assert_int_equal(fclose(f), 0);
}

static void goodput__as_golden(void **state)
{
	char line[256], name[64];
	unsigned wrong = 0;
	FILE *f = fopen(GOLDEN, "r");

	table_write();
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_non_null(fgets(line, sizeof(line), f));
	for (int row = 0; row < GOODPUT_ROWS; row++) {
		row_name(row, name, sizeof(name));
		assert_non_null(fgets(line, sizeof(line), f));
		assert_int_equal(strncmp(line, name, strlen(name)), 0);
		char *at = line + strlen(name);
		for (int loss = 0; loss < GOODPUT_LOSSES; loss++) {
			double golden = strtod(at, &at);
			if (fabs(table[row][loss] - golden) <= TOLERANCE)
				continue;
			wrong++;
			print_message("%s at %g %%: %.2f Gb/s, was %.2f\n", name,
				      goodput_losses_ppm[loss] / 1e4, table[row][loss], golden);
		}
	}
	fclose(f);
	if (wrong > 0)
		fail_msg("%u cells moved; if that is meant: cp build/goodput.tsv %s", wrong,
			 GOLDEN);
}

/* Goodput with rack, one message at a time: at least 96 % at 1 % loss, 85 % at 10 % loss. */
static void goodput__goals(void **state)
{
	const double *rack = table[0];

	assert_int_equal(goodput_losses_ppm[3], 10000);
	assert_int_equal(goodput_losses_ppm[5], 100000);
	assert_true(rack[3] >= 0.96 * rack[0]);
	assert_true(rack[5] >= 0.85 * rack[0]);
}

/* Each lost transmission causes about one retransmission, so loss does not cause a storm of
 * retransmissions. */
static void goodput__no_storm_of_repeats(void **state)
{
	for (int loss = 0; loss < GOODPUT_LOSSES; loss++) {
		const struct goodput_options o = {.recovery = RLTP_RACK,
						  .cc = CC_SWIFT,
						  .outstanding = 8,
						  .loss_ppm = goodput_losses_ppm[loss],
						  .messages = MESSAGES,
						  .seed = 2};
		double kept = 1 - goodput_losses_ppm[loss] / 1e6, gbps;
		struct crowd_result r;
		assert_int_equal(goodput_run(&o, &r, &gbps), DXP_OK);
		assert_int_equal(r.failed, 0);
		assert_true((double)(r.packets + r.repeats) <=
			    1.05 / (kept * kept) * (double)r.packets);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goodput__as_golden),
		cmocka_unit_test(goodput__goals),
		cmocka_unit_test(goodput__no_storm_of_repeats),
	};

	return cmocka_run_group_tests(tests, table_make, NULL);
}
