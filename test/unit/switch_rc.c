/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the exchanges of groups with RC framing by the rules of reliable connections. */
#include <stdio.h>

#include "test/support/rc_checker.h"
#include "test/unit/inc_rig.h"

#define ELEMENTS 2000
#define CALLS    3

static struct rc_checker checker;
static struct rig rig;

/* ---- observation ---- */

static size_t frame_of(const struct rig_packet *p, uint8_t *out)
{
	struct rc_frame_path path = rc_frame_path_v4(p->path.from_ip, p->path.to_ip,
						     p->path.from_port, p->path.to_port);

	return rc_frame_make(&path, p->data, p->bytes, out);
}

static unsigned observe_sent(struct rig *r, const struct rig_packet *p)
{
	uint8_t frame[RIG_PACKET + RC_FRAME_HEADERS];

	rc_checker_sent(&checker, frame, frame_of(p, frame), r->now_ns);
	return 1;
}

static void observe_arrived(struct rig *r, const struct rig_packet *p)
{
	uint8_t frame[RIG_PACKET + RC_FRAME_HEADERS];

	rc_checker_arrived(&checker, frame, frame_of(p, frame), r->now_ns);
}

/* ---- exchanges ---- */

static void exchange_open(unsigned members, const uint8_t *leaves, unsigned switches,
			  const uint8_t *parents)
{
	memset(&checker, 0, sizeof(checker));
	rig_open(&rig, members, leaves, switches, parents);
	rig.framing = DXP_INC_RC;
	rig.hook = observe_sent;
	rig.arrives = observe_arrived;
}

/* Runs sums of uint64 on all members and checks the results. */
static void sums_run(void)
{
	static uint64_t data[CALLS][RIG_MEMBERS][ELEMENTS];
	static struct inc_operation calls[CALLS][RIG_MEMBERS];
	bool all = false;

	for (unsigned c = 0; c < CALLS; c++)
		for (unsigned m = 0; m < rig.members; m++) {
			for (uint64_t i = 0; i < ELEMENTS; i++)
				data[c][m][i] = (i + c) * (m + 1);
			calls[c][m] = (struct inc_operation){.collective = INC_ALLREDUCE,
							     .op = DXP_INC_SUM,
							     .type = DXP_INC_UINT64,
							     .send = data[c][m],
							     .receive = data[c][m],
							     .elements = ELEMENTS};
			assert_int_equal(
				inc_group_start(rig.hosts[m].group, &calls[c][m], rig.now_ns),
				DXP_OK);
		}
	for (unsigned steps = 0; steps < 3000 && !all; steps++) {
		rig_run(&rig, 10 * MS_NS);
		all = true;
		for (unsigned c = 0; c < CALLS; c++)
			for (unsigned m = 0; m < rig.members; m++)
				all &= calls[c][m].done;
	}
	assert_true(all);
	for (unsigned c = 0; c < CALLS; c++)
		for (unsigned m = 0; m < rig.members; m++) {
			assert_int_equal(calls[c][m].status, DXP_OK);
			for (uint64_t i = 0; i < ELEMENTS; i++)
				assert_int_equal(data[c][m][i],
						 (i + c) * rig.members * (rig.members + 1) / 2);
		}
}

/* The framing without connections breaks these rules. */
static void rc__rules_that_the_framing_breaks(void **state)
{
	static const enum rc_rule broken[] = {RULE_UNCONNECTED,  RULE_REPEAT, RULE_REPEAT_BYTES,
					      RULE_REPEAT_EARLY, RULE_MSN,    RULE_UNACKNOWLEDGED};

	exchange_open(3, NULL, 1, NULL);
	rig_ready(&rig);
	sums_run();
	rc_checker_finish(&checker);
	assert_true(rc_checker_report(&checker) > 0);
	for (unsigned i = 0; i < ARRAY_COUNT(broken); i++)
		assert_true(checker.violations[broken[i]] > 0);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rc__rules_that_the_framing_breaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
