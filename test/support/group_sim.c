/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated group as a whole: begin and end, faults, and one clock for both networks. NICs and
 * switches have separate networks, which run in turns of STEP_NS. */
#include "test/support/group_sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"

#define STEP_NS (20 * US_NS)
/* from a death until a node learns of it: lease, managers, path to the node */
#define LEARN_NS     (2 * S_NS)
#define LEARN_MIN_NS (100 * MS_NS)
/* everything completes within this time after the last operation or fault: agreement after lost
 * switches, SETTLE_NS of the host */
#define END_NS   (20 * S_NS)
#define STALL_NS (30 * MS_NS) /* longest stop of a slow member's process */

void gsim_wrong(struct gsim *g, const char *format, ...)
{
	va_list arguments;

	if (g->wrong[0])
		return;
	va_start(arguments, format);
	vsnprintf(g->wrong, sizeof(g->wrong), format, arguments);
	va_end(arguments);
}

uint64_t gsim_now(const struct gsim *g)
{
	return sim_now(g->sim);
}

/* ---- begin ---- */

static int nics_open(struct gsim *g)
{
	const struct gsim_options *o = &g->options;
	const struct sim_options options = {.seed = o->net_seed,
					    .hosts = o->members + 1,
					    .delay_ns = 5 * US_NS,
					    .faults = {.loss_ppm = o->loss_ppm,
						       .duplicate_ppm = o->loss_ppm / 4,
						       .jitter_ns = 3 * US_NS}};
	int status = sim_create(&options, &g->sim);

	for (uint32_t m = 0; m < o->members && status == DXP_OK; m++)
		status = gsim_node_open(g, m);
	return status == DXP_OK ? gsim_host_open(g) : status;
}

static bool job_settled(void *context)
{
	const struct gsim *g = context;

	return g->job->state != INC_JOB_CREATING;
}

static int switches_open(struct gsim *g)
{
	const struct gsim_options *o = &g->options;
	struct inc_location locations[GSIM_MEMBERS];
	const struct inc_sim_options options = {
		.net = {.tree = {.hosts = o->members, .levels = 2, .below = {4, 0}},
			.seed = o->net_seed ^ 0x9e3779b9,
			.delay_ns = 2 * US_NS,
			.faults = {.loss_ppm = o->loss_ppm, .jitter_ns = 3 * US_NS}},
		.hop = {.window = 8},
		.deadline_ns = 2 * S_NS,
		.create_ns = 20 * S_NS};
	const struct inc_job_options job = {
		.locations = locations, .count = o->members, .late_ns = MS_NS};

	for (uint32_t m = 0; m < o->members; m++)
		locations[m] = (struct inc_location){.host = m};
	int status = inc_sim_create(&options, &g->inc);
	if (status == DXP_OK)
		status = inc_job_open(g->inc, &job, &g->job);
	if (status != DXP_OK)
		return status;
	inc_sim_run(g->inc, 30 * S_NS, job_settled, g);
	if (g->job->state != INC_JOB_READY)
		return DXP_EPEERLOST;
	for (uint32_t m = 0; m < o->members; m++)
		g->nodes[m].seat = &g->job->seats[m];
	return DXP_OK;
}

/* ---- faults ---- */

static void member_kill(struct gsim *g)
{
	const uint32_t victim = g->options.victim;

	g->member_died = true;
	g->nodes[victim].dead = true;
	for (uint32_t i = 0; i <= g->options.members; i++) {
		sim_blackhole(g->sim, victim, i, true);
		sim_blackhole(g->sim, i, victim, true);
		g->known_ns[i] = gsim_now(g) + LEARN_MIN_NS + rng_below(&g->rng, LEARN_NS);
	}
	if (g->job)
		inc_seat_kill(&g->job->seats[victim]);
}

static void death_learn(struct gsim *g)
{
	const uint32_t victim = g->options.victim, n = g->options.members;

	for (uint32_t i = 0; i <= n; i++) {
		if (!g->known_ns[i] || g->known_ns[i] > gsim_now(g))
			continue;
		g->known_ns[i] = 0;
		if (i == n)
			gsim_host_learn(&g->host, victim);
		else if (i != victim)
			gsim_node_learn(&g->nodes[i], victim);
	}
}

static void stall_some(struct gsim *g)
{
	const uint32_t slow = g->options.slow;

	if (slow && rng_below(&g->rng, 200) == 0)
		net_stall(sim_net(g->sim), (uint32_t)rng_below(&g->rng, slow),
			  rng_below(&g->rng, STALL_NS));
}

static void faults_step(struct gsim *g)
{
	const struct gsim_options *o = &g->options;
	const uint64_t since_ns = gsim_now(g) - g->begun_ns;

	if (o->member_dies_ns && !g->member_died && since_ns >= o->member_dies_ns)
		member_kill(g);
	if (o->switch_dies_ns && g->inc && !g->switch_died && since_ns >= o->switch_dies_ns) {
		g->switch_died = true;
		inc_sim_switch_kill(g->inc, o->victim_switch % inc_sim_switches(g->inc));
	}
	death_learn(g);
	stall_some(g);
}

/* ---- run ---- */

static bool over(const struct gsim *g)
{
	if (g->wrong[0])
		return true;
	if (!gsim_host_over(&g->host))
		return false;
	for (uint32_t m = 0; m < g->options.members; m++)
		if (!gsim_node_idle(&g->nodes[m]))
			return false;
	return true;
}

static void hang_explain(struct gsim *g)
{
	char text[160] = "";
	size_t at = 0;

	for (uint32_t m = 0; m < g->options.members && at < sizeof(text) - 32; m++)
		if (!gsim_node_idle(&g->nodes[m]))
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %u (%u commands)", m,
					       graph_count(g->nodes[m].graph));
	gsim_wrong(g, "it hangs: %u of %u operations, %u started; members at work:%s",
		   g->host.completed, g->options.calls, g->host.started, text);
}

static void step(struct gsim *g)
{
	net_run(sim_net(g->sim), STEP_NS, NULL, NULL);
	if (g->inc)
		inc_sim_run(g->inc, STEP_NS, NULL, NULL);
	for (uint32_t m = 0; m < g->options.members && g->inc; m++)
		gsim_node_reduced(&g->nodes[m]);
	faults_step(g);
}

static void end_judge(struct gsim *g)
{
	const struct gsim_host *h = &g->host;
	const uint32_t victim = g->options.victim;
	const bool expected = g->member_died || g->options.revoked_call;

	if (h->status == DXP_OK)
		return;
	if (!expected)
		gsim_wrong(g, "operation %u fails without a cause: %s, member %u, peer %u",
			   h->completed, dxp_status_text(h->status), h->named, h->named_peer);
	else if (h->named != victim && h->named_peer != victim)
		gsim_wrong(g, "operation %u: the failure of member %u is blamed on %u and %u (%s)",
			   h->completed, victim, h->named, h->named_peer,
			   dxp_status_text(h->status));
}

/* Returns the time of progress: a later one means that the run is not stuck. */
static uint64_t progress(const struct gsim *g)
{
	const struct gsim_host *h = &g->host;

	return (uint64_t)h->started + h->completed + g->member_died + g->switch_died +
	       (h->status != DXP_OK) + h->continued;
}

const char *gsim_run(struct gsim *g, const struct gsim_options *options)
{
	memset(g, 0, sizeof(*g));
	g->options = *options;
	g->rng.state = options->net_seed * 13 + 5;
	int status = nics_open(g);
	if (status == DXP_OK && options->switches)
		status = switches_open(g);
	if (status != DXP_OK) {
		gsim_wrong(g, "cannot begin: %s", dxp_status_text(status));
		return g->wrong;
	}
	g->begun_ns = gsim_now(g);
	uint64_t seen = 0, seen_ns = g->begun_ns;
	while (!over(g)) {
		step(g);
		if (progress(g) != seen) {
			seen = progress(g);
			seen_ns = gsim_now(g);
		} else if (gsim_now(g) > seen_ns + END_NS) {
			hang_explain(g);
		}
	}
	g->ended_ns = gsim_now(g);
	end_judge(g);
	return g->wrong[0] ? g->wrong : NULL;
}

void gsim_free(struct gsim *g)
{
	for (uint32_t m = 0; m < g->options.members; m++)
		gsim_node_close(&g->nodes[m]);
	gsim_host_close(&g->host);
	if (g->inc)
		inc_sim_destroy(g->inc);
	sim_destroy(g->sim);
}
