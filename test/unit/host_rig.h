/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of the host library: a fabric of two nodes with fake devices. */
#ifndef TEST_UNIT_HOST_RIG_H
#define TEST_UNIT_HOST_RIG_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/mmd.h>

#include "base/rng.h"
#include "base/util.h"
#include "test/support/fake_xpu.h"

#define WAIT_NS    (120 * S_NS)
#define DATA_BYTES (9u << 20)

/* Unused members are NULL. */
struct world {
	struct fake_fabric *fake;
	struct dxp_fabric *fabric;
	struct dxp_xpu *one, *two;
	struct dxp_program *program, *program_two;
	uint8_t *from, *to; /* DATA_BYTES + 8 each; `from` is random */
};

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

UNUSED static void has_text(const char *part)
{
	if (!strstr(dxp_fabric_error(NULL), part))
		fail_msg("'%s' says nothing of '%s'", dxp_fabric_error(NULL), part);
}

static struct world *world_of(struct fake_fabric *fake)
{
	const struct dxp_fabric_options options = {.directory = fake_fabric_folder(fake),
						   .name = "tester"};
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->fake = fake;
	ok(dxp_fabric_open(&options, &w->fabric));
	ok(dxp_xpu_open(w->fabric, "xpu1", &w->one));
	ok(dxp_xpu_open(w->fabric, "xpu2", &w->two));
	return w;
}

UNUSED static void world_data(struct world *w)
{
	struct rng rng = {11};

	w->from = malloc(DATA_BYTES + 8);
	w->to = malloc(DATA_BYTES + 8);
	assert_true(w->from && w->to);
	for (uint32_t i = 0; i < DATA_BYTES + 8; i++)
		w->from[i] = (uint8_t)rng_next(&rng);
}

static int world_close(void **state)
{
	struct world *w = *state;

	dxp_program_release(w->program);
	dxp_program_release(w->program_two);
	dxp_xpu_close(w->one);
	dxp_xpu_close(w->two);
	dxp_fabric_close(w->fabric);
	fake_fabric_close(w->fake);
	free(w->from);
	free(w->to);
	free(w);
	return 0;
}

#endif
