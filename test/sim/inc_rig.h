/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs jobs of in-network computing on a simulated tree with all checkers. DXP_SEED=n runs only
 * seed n. Include cmocka.h first. */
#ifndef TEST_SIM_INC_RIG_H
#define TEST_SIM_INC_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "sim/inc_load.h"
#include "sim/inc_watch.h"

#define RIG_JOBS      32
#define RIG_ENDPOINTS 4096

struct rig_job {
	struct inc_job *job;
	struct inc_load *load;
	struct inc_watch *watch;
	bool closed;
};

struct rig {
	struct inc_sim *sim;
	uint64_t seed;
	struct rig_job jobs[RIG_JOBS];
	uint32_t job_count;
	bool close_jobs; /* when all its operations have completed */
	void (*step)(struct rig *r, void *context);
	void *context;
	char wrong[320];
};

/* Two leaf switches of four hosts each, one spine, 2 us per wire. */
static inline struct inc_sim_options rig_options(uint64_t seed)
{
	return (struct inc_sim_options){.net = {.tree = {.hosts = 8, .levels = 2, .below = {4, 0}},
						.seed = seed,
						.delay_ns = 2 * US_NS},
					.hop = {.window = 16},
					.deadline_ns = 400 * MS_NS,
					.create_ns = S_NS};
}

static inline bool rig_make(struct rig *r, const struct inc_sim_options *o)
{
	*r = (struct rig){.seed = o->net.seed};
	return inc_sim_create(o, &r->sim) == DXP_OK;
}

static inline void rig_free(struct rig *r)
{
	for (uint32_t i = 0; i < r->job_count; i++) {
		if (r->jobs[i].load)
			inc_load_destroy(r->jobs[i].load);
		if (r->jobs[i].watch)
			inc_watch_destroy(r->jobs[i].watch);
	}
	inc_sim_destroy(r->sim);
}

/* One member on each of hosts 0 .. count - 1, or on o.locations. */
static inline struct rig_job *rig_job_with(struct rig *r, struct inc_job_options o,
					   const struct inc_load_options *load)
{
	static struct inc_location in_order[RIG_ENDPOINTS];
	struct rig_job *j = &r->jobs[r->job_count];

	for (uint32_t i = 0; !o.locations && i < o.count; i++)
		in_order[i] = (struct inc_location){.host = i};
	if (!o.locations)
		o.locations = in_order;
	*j = (struct rig_job){0};
	r->job_count++;
	if (inc_job_open(r->sim, &o, &j->job) != DXP_OK ||
	    inc_load_create(j->job, load, &j->load) != DXP_OK ||
	    inc_watch_create(j->job, &j->watch) != DXP_OK)
		abort();
	return j;
}

static inline struct rig_job *rig_job(struct rig *r, uint32_t count,
				      const struct inc_load_options *load)
{
	return rig_job_with(r, (struct inc_job_options){.count = count}, load);
}

static inline void rig_log(struct rig *r, uint32_t job, const char *text)
{
	if (!r->wrong[0])
		snprintf(r->wrong, sizeof(r->wrong), "seed %llu, job %u: %s",
			 (unsigned long long)r->seed, job, text);
}

static inline bool rig_done(void *context)
{
	struct rig *r = context;
	bool all = true;

	if (r->step)
		r->step(r, r->context);
	for (uint32_t i = 0; i < r->job_count; i++) {
		struct rig_job *j = &r->jobs[i];
		const char *text = inc_load_wrong(j->load);
		if (text || (text = inc_watch_wrong(j->watch)))
			rig_log(r, i, text);
		bool ended = inc_load_ended(j->load);
		all &= ended;
		if (ended && r->close_jobs && !j->closed && !r->wrong[0]) {
			j->closed = true;
			inc_job_close(j->job);
		}
	}
	return all || r->wrong[0];
}

/* Returns NULL, or the first error. */
static inline const char *rig_run(struct rig *r, uint64_t limit_ns)
{
	bool ended = inc_sim_run(r->sim, limit_ns, rig_done, r);

	if (!ended)
		rig_log(r, 0, "does not end");
	if (inc_net_counters(inc_sim_net(r->sim))->packets.spins > 0)
		rig_log(r, 0, "a node asks for turns that it does not use");
	return r->wrong[0] ? r->wrong : NULL;
}

static inline struct inc_load_view rig_view(const struct rig_job *j)
{
	struct inc_load_view v;

	inc_load_view(j->load, &v);
	return v;
}

/* Why each member's group was rejected. */
static inline void rig_rejection(const struct rig_job *j)
{
	for (uint32_t i = 0; i < j->job->options.count; i++) {
		const struct inc_seat *seat = &j->job->seats[i];
		if (seat->outcome != DXP_OK)
			print_message("member %u: %s, cause %u, %u silent\n", i,
				      dxp_status_text(seat->outcome), seat->notice.fail_cause,
				      seat->silent);
	}
}

static inline void rig_right(struct rig *r, uint64_t limit_ns)
{
	const char *text = rig_run(r, limit_ns);

	if (text)
		fail_msg("%s", text);
}

/* All, or only DXP_SEED if it is set. */
static inline bool rig_seed_wanted(uint64_t seed)
{
	const char *text = getenv("DXP_SEED");

	return !text || strtoull(text, NULL, 0) == seed;
}

#endif
