/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests schedules as text: reading, writing, running; rejections name their line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/collective.h"
#include "model/ranks.h"

#define NS 1000

struct text {
	char *at;
	size_t bytes, space;
};

static bool text_add(void *context, const char *piece, size_t bytes)
{
	struct text *t = context;

	if (t->bytes + bytes > t->space) {
		t->space = 2 * (t->bytes + bytes);
		t->at = realloc(t->at, t->space);
		assert_non_null(t->at);
	}
	memcpy(t->at + t->bytes, piece, bytes);
	t->bytes += bytes;
	return true;
}

static int run(const struct model_schedule *s, int64_t *last_ps)
{
	struct model_flat_network n = {.send_ps = 100 * NS,
				       .receive_ps = 150 * NS,
				       .latency_ps = 1000 * NS,
				       .gap_ps = 40 * NS};
	struct model_ranks_result r;

	model_flat_network(&n, s->ranks);
	int status = model_ranks_run(s, &n.network, 0, NULL, &r);
	*last_ps = r.last_ps;
	return status;
}

static int run_text(const char *text, int64_t *last_ps)
{
	struct model_text_schedule *s;
	int status = model_schedule_read(text, strlen(text), &s);

	if (status != DXP_OK)
		return status;
	status = run(&s->schedule, last_ps);
	model_schedule_destroy(s);
	return status;
}

static void schedule__runs_a_text(void **state)
{
	int64_t last;

	/* o, service, L and o; then the computation */
	assert_int_equal(run_text("ranks 2\n"
				  "# comment\n"
				  "rank 0 {\n"
				  "  a: send 64b to 1 tag 7\n"
				  "}\n"
				  "rank 1 { # another\n"
				  "b: recv 64b from 0 tag 7\n"
				  "c: calc 250\r\n"
				  "c requires b\n"
				  "}\n",
				  &last),
			 DXP_OK);
	assert_int_equal(last, (100 + 40 + 1000 + 150 + 250) * NS);
}

/* Independent operations use the rank's processor as they become ready. */
static void schedule__independent_operations_overlap(void **state)
{
	int64_t last;

	assert_int_equal(run_text("ranks 2\nrank 0 {\nsend 1b to 1\n}\n"
				  "rank 1 {\nrecv 1b from 0\ncalc 500\n}\n",
				  &last),
			 DXP_OK);
	assert_int_equal(last, (100 + 40 + 1000 + 150) * NS);
	assert_int_equal(run_text("ranks 2\nrank 0 {\nsend 1b to 1\n}\n"
				  "rank 1 {\nrecv 1b from 0\ncalc 2000\n}\n",
				  &last),
			 DXP_OK);
	assert_int_equal(last, (2000 + 150) * NS);
}

/* The same result computed or read; text read and written stays the same. */
static void schedule__write_and_read(void **state)
{
	for (int kind = 0; kind < MODEL_COLLECTIVES; kind++)
		for (uint32_t ranks = 1; ranks <= 12; ranks++) {
			struct text first = {0}, second = {0};
			struct model_text_schedule *s;
			struct model_collective c;
			int64_t computed, read;

			assert_int_equal(model_collective_make((enum model_collective_kind)kind,
							       ranks, 100, &c),
					 DXP_OK);
			assert_int_equal(model_schedule_write(&c.schedule, text_add, &first),
					 DXP_OK);
			assert_int_equal(model_schedule_read(first.at, first.bytes, &s), DXP_OK);
			assert_int_equal(run(&c.schedule, &computed), DXP_OK);
			assert_int_equal(run(&s->schedule, &read), DXP_OK);
			assert_int_equal(computed, read);
			assert_int_equal(model_schedule_write(&s->schedule, text_add, &second),
					 DXP_OK);
			assert_int_equal(first.bytes, second.bytes);
			assert_memory_equal(first.at, second.at, first.bytes);
			model_schedule_destroy(s);
			free(first.at);
			free(second.at);
		}
}

static void schedule__rejects(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"", "empty"},
		{"rank 0 {\n}\n", "line 1: expected first: ranks N"},
		{"ranks 0\n", "line 1"},
		{"ranks 1048577\n", "line 1"},
		{"ranks 99999999999999999999\n", "line 1"},
		{"ranks 2\nrank 2 {\n}\n", "line 2: '2': not a rank"},
		{"ranks 2\nrank 1 {\n}\nrank 0 {\n}\n", "line 4: '0': ranks come once"},
		{"ranks 2\nrank 1 {\n}\nrank 1 {\n}\n", "line 4: '1': ranks come once"},
		{"ranks 2\nrank 0 {\n", "rank 0 has no }"},
		{"ranks 2\nrank 0 {\nsend 1 to 1\n}\n", "line 3: '1': not a size"},
		{"ranks 2\nrank 0 {\nsend 4294967297b to 1\n}\n", "not a size"},
		{"ranks 2\nrank 0 {\nsend 1b to 0\n}\n", "to itself"},
		{"ranks 2\nrank 0 {\nsend 1b to 7\n}\n", "not a rank"},
		{"ranks 2\nrank 0 {\nsend 1b from 1\n}\n", "expected: send"},
		{"ranks 2\nrank 0 {\nrecv 1b to 1\n}\n", "expected: recv"},
		{"ranks 2\nrank 0 {\nsend 1b to 1 tag -1\n}\n", "not a tag"},
		{"ranks 2\nrank 0 {\ncalc 1e9\n}\n", "not a number of nanoseconds"},
		{"ranks 2\nrank 0 {\nboil 3\n}\n", "line 3: expected:"},
		{"ranks 2\nrank 0 {\na: calc 1\na: calc 1\n}\n", "already"},
		{"ranks 2\nrank 0 {\na.b: calc 1\n}\n", "letters, digits"},
		{"ranks 2\nrank 0 {\na: calc 1\na requires b\n}\n", "'b': no operation"},
		{"ranks 2\nrank 0 {\na: calc 1\na requires a\n}\n", "itself"},
		{"ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\nb: calc 1\nb requires a\n}\n",
		 "line 7: 'a': no operation of this rank"},
		{"ranks 2\nrank 0 {\na b c d e f g h i\n}\n", "too many words"},
		{"ranks 2\nrank 0 {\n}\n}\n", "line 4: expected: rank"},
		/* valid, but never completes */
		{"ranks 2\nrank 0 {\nrecv 1b from 1\n}\n", "waits for a message of rank 1"},
		{"ranks 2\nrank 0 {\nsend 1b to 1\n}\n", "rank 1 never receives"},
		{"ranks 2\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
		 "circle"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		int64_t last;
		assert_int_equal(run_text(cases[i].text, &last), DXP_EINVAL);
		if (!strstr(error_text(), cases[i].reason))
			fail_msg("'%s': no '%s' in '%s'", cases[i].text, cases[i].reason,
				 error_text());
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schedule__runs_a_text),
		cmocka_unit_test(schedule__independent_operations_overlap),
		cmocka_unit_test(schedule__write_and_read),
		cmocka_unit_test(schedule__rejects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
