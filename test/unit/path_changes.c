/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests when a path counts as blocked, slow or restored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "node/path_changes.h"
#include "node/probe.h"

/* A node with three paths. The round trip of the third is `rtt_ns`. */
static struct probe *probe_with(uint64_t rtt_ns)
{
	static struct probe p;

	p = (struct probe){.count = 3};
	for (unsigned i = 0; i < 3; i++) {
		struct probe_path *path = &p.paths[i];
		path->name[0] = (char)('a' + i);
		path->min_rtt_ns = 50 * US_NS;
		for (unsigned k = 0; k < PROBE_RECENT; k++)
			path->recent_ns[k] = i == 2 ? rtt_ns : 60 * US_NS;
	}
	return &p;
}

static void path_changes__blocked(void **state)
{
	struct probe *p = probe_with(60 * US_NS);
	struct path_change change;

	assert_false(path_changes_next(p, &change));
	p->paths[1].unanswered = PROBE_BLOCKED - 1;
	assert_false(path_changes_next(p, &change));
	p->paths[1].unanswered = PROBE_BLOCKED;
	assert_true(path_changes_next(p, &change));
	assert_int_equal(change.kind, EVENT_PATH_BLOCKED);
	assert_string_equal(change.peer, "b");
	assert_false(path_changes_next(p, &change));
	p->paths[1].unanswered = 0;
	assert_true(path_changes_next(p, &change));
	assert_int_equal(change.kind, EVENT_PATH_RESTORED);
	assert_false(path_changes_next(p, &change));
}

static void path_changes__slow(void **state)
{
	struct probe *p = probe_with(PROBE_SLOW_NS);
	struct path_change change;

	assert_false(path_changes_next(p, &change));
	for (unsigned k = 0; k < PROBE_RECENT; k++)
		p->paths[2].recent_ns[k] = PROBE_SLOW_NS + 1;
	p->paths[2].recent_ns[1] = 60 * US_NS; /* one fast answer: the path is not slow */
	assert_false(path_changes_next(p, &change));
	p->paths[2].recent_ns[1] = PROBE_SLOW_NS + 1;
	assert_true(path_changes_next(p, &change));
	assert_int_equal(change.kind, EVENT_PATH_SLOW);
	assert_int_equal(change.rtt_ns, PROBE_SLOW_NS + 1);
	assert_int_equal(change.typical_ns, 50 * US_NS);
	p->paths[2].recent_ns[0] = PROBE_SLOW_NS * 3 / 4; /* not yet */
	assert_false(path_changes_next(p, &change));
	p->paths[2].recent_ns[0] = PROBE_SLOW_NS / 2;
	assert_true(path_changes_next(p, &change));
	assert_int_equal(change.kind, EVENT_PATH_RESTORED);
}

/* No path is reported as slow, because 5 ms is typical for all paths of this node. */
static void path_changes__far_away(void **state)
{
	struct probe *p = probe_with(5 * MS_NS);
	struct path_change change;

	for (unsigned i = 0; i < 3; i++)
		p->paths[i].min_rtt_ns = 5 * MS_NS;
	assert_false(path_changes_next(p, &change));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_changes__blocked),
		cmocka_unit_test(path_changes__slow),
		cmocka_unit_test(path_changes__far_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
