/* SPDX-License-Identifier: BSD-3-Clause */
/* Each allocation of the registry fails in turn: its creation, and rows from the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "manager/registry.h"
#include "test/sim/memory.h"

#define TRIES_MAX 1000

static int create(struct registry **out)
{
	static struct rng rng = {1};
	const struct registry_options options = {.policy = GRANTS_EXPLICIT,
						 .private_key = "the manager's private key",
						 .entropy = rng_entropy_rng,
						 .entropy_context = &rng};

	return registry_create(&options, out);
}

static void registry_memory__creation(void **state)
{
	struct registry *r = NULL;
	int status = DXP_ENOMEM;
	unsigned tries = 0;

	while (status != DXP_OK) {
		countdown = ++tries;
		status = create(&r);
		countdown = 0;
		assert_true(status == DXP_OK || status == DXP_ENOMEM);
		assert_true(tries < TRIES_MAX);
	}
	assert_true(tries > 12);
	registry_destroy(r);
}

static void registry_memory__rows(void **state)
{
	struct store_op ops[] = {
		{.kind = STORE_KEY_PUT, .key = {.role = ROLE_HOST, .name = "key"}},
		{.kind = STORE_NODE_PUT,
		 .state = NODE_DEAD,
		 .entry = {.id = 1, .kind = MANAGE_XPU, .name = "xpu1"}},
		{.kind = STORE_GRANT_PUT, .host = "key", .xpu = "xpu1"},
	};
	struct registry *r;

	assert_int_equal(create(&r), DXP_OK);
	for (size_t i = 0; i < ARRAY_COUNT(ops); i++) {
		countdown = 1;
		assert_int_equal(registry_load(r, &ops[i]), DXP_ENOMEM);
		countdown = 0;
		assert_int_equal(registry_load(r, &ops[i]), DXP_OK);
	}
	assert_int_equal(registry_node_count(r, NODE_DEAD), 1);
	registry_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registry_memory__creation),
		cmocka_unit_test(registry_memory__rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
