/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of groups: a fabric of xPUs on loopback, and two buffers per member. */
#ifndef TEST_UNIT_GROUP_RIG_H
#define TEST_UNIT_GROUP_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/async.h>
#include <dxp/collective.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/util.h"
#include "test/support/daemons.h"

#define MEMBERS      8
#define BUFFER_BYTES (2u << 20)   /* per buffer */
#define LONG_NS      (120 * S_NS) /* ns; compilation on a busy machine is slow */

struct rig {
	struct daemons w; /* only the manager */
	struct test_daemon daemon, victim;
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpus[MEMBERS];
	uint32_t members;
	uint64_t from[MEMBERS], to[MEMBERS];
	struct dxp_part parts[MEMBERS];
};

/* Switches of the first daemon's xPUs and of the victims. NULL: none. A test sets them before
 * rig_open(). */
UNUSED static const char *rig_switches[2];

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

/* The last `victims` xPUs run in their own daemon. Returns false if an engine does not work
 * here. */
static bool rig_open(struct rig *r, const char *engine, uint32_t members, const char *victim_engine,
		     uint32_t victims)
{
	/* tests share built kernels, of which there is one for each type and operator */
	struct daemon_options o = {.engine = engine,
				   .slots = members - victims,
				   .first = 1,
				   .switches = rig_switches[0],
				   .cache_folder = getenv("DXP_CACHE"),
				   .cache_shared = true};

	memset(r, 0, sizeof(*r));
	r->members = members;
	daemons_begin(&r->w);
	if (test_daemon_open(&r->w, &r->daemon, &o) != DXP_OK) {
		daemons_end(&r->w);
		return false;
	}
	o.first = members - victims + 1;
	o.slots = victims;
	o.engine = victim_engine;
	o.switches = rig_switches[1];
	if (victims && test_daemon_open(&r->w, &r->victim, &o) != DXP_OK) {
		test_daemon_close(&r->daemon);
		daemons_end(&r->w);
		return false;
	}
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = r->w.folder, .name = "tester"},
			   &r->fabric));
	for (uint32_t m = 0; m < members; m++) {
		char name[16];
		snprintf(name, sizeof(name), "xpu%u", m + 1);
		r->xpus[m] = daemons_xpu(r->fabric, name);
		ok(dxp_mem_alloc(r->xpus[m], BUFFER_BYTES, &r->from[m]));
		ok(dxp_mem_alloc(r->xpus[m], BUFFER_BYTES, &r->to[m]));
	}
	return true;
}

static void rig_close(struct rig *r)
{
	for (uint32_t m = 0; m < r->members; m++)
		dxp_xpu_close(r->xpus[m]);
	dxp_fabric_close(r->fabric);
	test_daemon_close(&r->daemon);
	if (r->victim.daemon)
		test_daemon_close(&r->victim);
	daemons_end(&r->w);
}

static struct dxp_group *group_open(struct rig *r, uint32_t members, enum dxp_way way)
{
	const struct dxp_group_options options = {.way = way, .scratch_bytes = 256u << 10};
	struct dxp_group *g = NULL;

	ok(dxp_group_create(r->fabric, r->xpus, members, &options, &g));
	return g;
}

UNUSED static const struct dxp_part *parts_of(struct rig *r)
{
	for (uint32_t m = 0; m < r->members; m++)
		r->parts[m] = (struct dxp_part){.from = r->from[m],
						.from_bytes = BUFFER_BYTES,
						.to = r->to[m],
						.to_bytes = BUFFER_BYTES};
	return r->parts;
}

#endif
