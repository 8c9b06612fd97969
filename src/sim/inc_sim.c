/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated hosts with the seats of members, and switches with switch cores. */
#include "sim/inc_sim_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"

/* ---- hosts ---- */

static struct inc_seat *seat_find(struct host *h, const struct roce_path *path, uint32_t id)
{
	uint16_t port = path->to_port == ROCE_PORT ? path->from_port : path->to_port;

	for (struct inc_seat *seat = h->seats; seat; seat = seat->next_here)
		if (!seat->dead && seat->job->options.id == id &&
		    ROCE_SOURCE_PORT + seat->location.endpoint == port)
			return seat;
	return NULL;
}

static void host_receive(void *node, const uint8_t *data, size_t bytes,
			 const struct roce_path *path, uint64_t now_ns)
{
	struct host *h = node;
	struct inc_sim_rejections *r = &h->sim->rejections;
	struct inc_control control;
	struct inc_packet p;

	if (bytes < ROCE_ICRC_BYTES || inc_packet_decode(data, bytes, &p) != DXP_OK) {
		r->malformed++;
		return;
	}
	if (!roce_icrc_right(path, data, bytes)) {
		r->icrc_wrong++;
		return;
	}
	bool is_control = p.header.comm_id == INC_COMM_CONTROL;
	if (is_control && inc_packet_control_decode(&p, &control) != DXP_OK) {
		r->malformed++;
		return;
	}
	struct inc_seat *seat =
		seat_find(h, path, is_control ? control.true_comm_id : p.header.comm_id);
	if (seat && seat->group && !is_control)
		inc_group_receive(seat->group, &p, path, now_ns);
	else if (seat && seat->create)
		inc_create_receive(seat->create, &p, path, now_ns);
	else
		r->unknown++;
}

static size_t host_send(void *node, struct inc_batch *out, uint64_t now_ns)
{
	struct host *h = node;
	size_t count = 0;

	for (struct inc_seat *seat = h->seats; seat; seat = seat->next_here)
		count += inc_seat_send(seat, out, now_ns);
	return count;
}

static uint64_t host_deadline(void *node)
{
	const struct host *h = node;
	uint64_t at = UINT64_MAX;

	for (const struct inc_seat *seat = h->seats; seat; seat = seat->next_here)
		at = min_u64(at, inc_seat_deadline(seat));
	return at;
}

static const struct inc_node_ops host_ops = {host_receive, host_send, host_deadline};

/* ---- switches ---- */

static void hop_receive(void *node, const uint8_t *data, size_t bytes, const struct roce_path *path,
			uint64_t now_ns)
{
	switch_receive(((struct hop *)node)->core, data, bytes, path, now_ns);
}

static size_t hop_send(void *node, struct inc_batch *out, uint64_t now_ns)
{
	struct sw *core = ((struct hop *)node)->core;

	if (switch_deadline(core) <= now_ns)
		switch_expire(core, now_ns);
	return switch_send(core, out, now_ns);
}

static uint64_t hop_deadline(void *node)
{
	return switch_deadline(((struct hop *)node)->core);
}

static const struct inc_node_ops hop_ops = {hop_receive, hop_send, hop_deadline};

uint32_t inc_sim_switches(const struct inc_sim *s)
{
	return inc_net_tree(s->net)->switch_count;
}

uint32_t inc_sim_switch_node(const struct inc_sim *s, uint32_t index)
{
	return inc_net_tree(s->net)->options.hosts + index;
}

struct sw *inc_sim_switch(struct inc_sim *s, uint32_t index)
{
	return s->hops[index].core;
}

void inc_sim_switch_kill(struct inc_sim *s, uint32_t index)
{
	if (!s->hops[index].core)
		return;
	inc_net_set(s->net, inc_sim_switch_node(s, index), NULL, NULL);
	switch_destroy(s->hops[index].core);
	s->hops[index].core = NULL;
}

int inc_sim_switch_start(struct inc_sim *s, uint32_t index)
{
	const struct inc_tree *tree = inc_net_tree(s->net);
	uint32_t node = inc_sim_switch_node(s, index), parents = tree->nodes[node].parents;
	struct sw_options o = s->options.hop;

	if (parents > INC_PARENTS_MAX)
		return DXP_EINVAL;
	snprintf(o.name, sizeof(o.name), "switch %u", index);
	o.ip = inc_tree_ip(tree, node);
	o.parent_count = (uint8_t)parents;
	for (uint32_t k = 0; k < parents; k++)
		o.parents[k] = inc_tree_ip(tree, inc_tree_parent(tree, node, k));
	int status = switch_create(&o, inc_net_now(s->net), &s->hops[index].core);
	if (status == DXP_OK)
		inc_net_set(s->net, node, &hop_ops, &s->hops[index]);
	return status;
}

/* ---- simulation ---- */

static void seats_polled(struct inc_sim *s, uint32_t node, uint64_t now_ns)
{
	for (struct inc_seat *seat = s->hosts[node].seats; seat; seat = seat->next_here) {
		if (seat->wake_ns <= now_ns)
			seat->wake_ns = UINT64_MAX;
		if (!seat->dead && seat->job->polled)
			seat->job->polled(seat->job->context, seat, now_ns);
	}
}

static void tap_polled(void *context, uint32_t node, uint64_t now_ns)
{
	struct inc_sim *s = context;

	if (node < inc_net_tree(s->net)->options.hosts)
		seats_polled(s, node, now_ns);
	for (struct inc_sim_tap *t = s->taps; t; t = t->next)
		if (t->tap.polled)
			t->tap.polled(t->tap.context, node, now_ns);
}

static void tap_sent(void *context, uint32_t node, const struct roce_path *path,
		     const uint8_t *data, size_t bytes, uint64_t now_ns)
{
	for (struct inc_sim_tap *t = ((struct inc_sim *)context)->taps; t; t = t->next)
		if (t->tap.sent)
			t->tap.sent(t->tap.context, node, path, data, bytes, now_ns);
}

static void tap_delivered(void *context, uint32_t node, const struct roce_path *path,
			  const uint8_t *data, size_t bytes, uint64_t now_ns)
{
	for (struct inc_sim_tap *t = ((struct inc_sim *)context)->taps; t; t = t->next)
		if (t->tap.delivered)
			t->tap.delivered(t->tap.context, node, path, data, bytes, now_ns);
}

static bool tap_changes(void *context, uint32_t node, const struct roce_path *path, uint8_t *data,
			size_t bytes)
{
	bool leaves = true;

	for (struct inc_sim_tap *t = ((struct inc_sim *)context)->taps; t; t = t->next)
		if (t->tap.changes)
			leaves &= t->tap.changes(t->tap.context, node, path, data, bytes);
	return leaves;
}

static bool tap_loses(void *context, uint32_t node, uint32_t next, const struct roce_path *path,
		      const uint8_t *data, size_t bytes)
{
	bool lost = false;

	for (struct inc_sim_tap *t = ((struct inc_sim *)context)->taps; t; t = t->next)
		if (t->tap.loses)
			lost |= t->tap.loses(t->tap.context, node, next, path, data, bytes);
	return lost;
}

void inc_sim_tap(struct inc_sim *s, struct inc_sim_tap *tap)
{
	tap->next = s->taps;
	s->taps = tap;
}

void inc_sim_untap(struct inc_sim *s, struct inc_sim_tap *tap)
{
	struct inc_sim_tap **at = &s->taps;

	while (*at != tap)
		at = &(*at)->next;
	*at = tap->next;
}

int inc_sim_create(const struct inc_sim_options *options, struct inc_sim **out)
{
	struct inc_sim *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->options = *options;
	s->options.deadline_ns = options->deadline_ns ? options->deadline_ns : 2 * S_NS;
	s->options.create_ns = options->create_ns ? options->create_ns : S_NS;
	s->rng.state = ~options->net.seed;
	int status = inc_net_create(&options->net, &s->net);
	if (status != DXP_OK) {
		free(s);
		return status;
	}
	const struct inc_tree *tree = inc_net_tree(s->net);
	s->hosts = calloc(tree->options.hosts, sizeof(*s->hosts));
	s->hops = calloc(tree->switch_count, sizeof(*s->hops));
	status = s->hosts && s->hops ? DXP_OK : DXP_ENOMEM;
	for (uint32_t i = 0; status == DXP_OK && i < tree->options.hosts; i++) {
		s->hosts[i] = (struct host){.sim = s, .node = i};
		inc_net_set(s->net, i, &host_ops, &s->hosts[i]);
	}
	for (uint32_t i = 0; status == DXP_OK && i < tree->switch_count; i++) {
		s->hops[i].sim = s;
		status = inc_sim_switch_start(s, i);
	}
	if (status != DXP_OK) {
		inc_sim_destroy(s);
		return status;
	}
	const struct inc_tap tap = {.changes = tap_changes,
				    .sent = tap_sent,
				    .delivered = tap_delivered,
				    .polled = tap_polled,
				    .loses = tap_loses,
				    .context = s};
	inc_net_tap(s->net, &tap);
	*out = s;
	return DXP_OK;
}

void inc_sim_destroy(struct inc_sim *s)
{
	while (s->jobs) {
		struct inc_job *job = s->jobs;
		s->jobs = job->next;
		inc_job_free(job);
	}
	for (uint32_t i = 0; s->hops && i < inc_sim_switches(s); i++)
		if (s->hops[i].core)
			switch_destroy(s->hops[i].core);
	inc_net_destroy(s->net);
	free(s->hops);
	free(s->hosts);
	free(s);
}

struct inc_net *inc_sim_net(struct inc_sim *s)
{
	return s->net;
}

bool inc_sim_run(struct inc_sim *s, uint64_t limit_ns, bool (*done)(void *context), void *context)
{
	return inc_net_run(s->net, limit_ns, done, context);
}

uint64_t inc_sim_now(const struct inc_sim *s)
{
	return inc_net_now(s->net);
}

const struct inc_sim_rejections *inc_sim_rejections(const struct inc_sim *s)
{
	return &s->rejections;
}
