/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares random event graphs with an oracle that examines all commands. */
#include "test/unit/graph_rig.h"

#define NODES  120
#define REMOTE 20

struct oracle_node {
	struct graph_command c;
	enum graph_queue queue;
	uint8_t wait_count;
	uint64_t waits[COMMAND_WAITS_MAX];
	int fate; /* status when it runs */
	bool added, issued, ended;
	int status;
};

struct oracle {
	struct rng rng;
	struct oracle_node nodes[NODES];
	bool remote_done[REMOTE];
	int remote_status[REMOTE];
	uint32_t added, engine_queue[NODES], engine_head, engine_tail, network[NODES],
		network_count, ended;
};

static struct oracle o;

static bool own_wait(uint64_t event)
{
	return EVENT_XPU(event) == XPU;
}

static struct oracle_node *node_of(uint64_t event)
{
	return &o.nodes[EVENT_COUNT(event) - 1];
}

static bool wait_done(uint64_t event, int *status)
{
	uint32_t count = EVENT_COUNT(event);

	*status = own_wait(event) ? node_of(event)->status : o.remote_status[count];
	return own_wait(event) ? node_of(event)->ended : o.remote_done[count];
}

/* Returns true if the command is ready by definition. Each event that it waits for must have
 * succeeded. If the command is for the engine, the event may also belong to an engine command that
 * was issued. */
static bool oracle_ready(const struct oracle_node *n)
{
	int status;

	if (!n->added || n->issued || n->ended)
		return false;
	for (int i = 0; i < n->wait_count; i++) {
		bool given = own_wait(n->waits[i]) && node_of(n->waits[i])->issued &&
			     node_of(n->waits[i])->queue == GRAPH_ENGINE &&
			     n->queue == GRAPH_ENGINE;
		if (!wait_done(n->waits[i], &status) ? !given : status != DXP_OK)
			return false;
	}
	return true;
}

static void oracle_end(struct oracle_node *n, int status)
{
	assert_false(n->ended);
	n->ended = true;
	n->status = status;
	o.ended++;
}

static void failed_dequeue(void)
{
	struct graph_command *c;
	int status;

	while ((c = graph_failed(g))) {
		struct oracle_node *n = (struct oracle_node *)c;
		bool reason = false;
		for (int i = 0; i < n->wait_count; i++)
			reason |= wait_done(n->waits[i], &status) && status != DXP_OK;
		assert_true(reason);
		oracle_end(n, c->status);
	}
}

static void step_add(void)
{
	struct oracle_node *n = &o.nodes[o.added];

	if (o.added == NODES)
		return;
	n->queue = (enum graph_queue)rng_below(&o.rng, GRAPH_QUEUES);
	n->fate = rng_below(&o.rng, 12) ? DXP_OK : DXP_EDEVICE;
	n->wait_count = (uint8_t)rng_below(&o.rng, 4);
	for (int i = 0; i < n->wait_count; i++) {
		bool remote = o.added == 0 || rng_below(&o.rng, 4) == 0;
		n->waits[i] = remote ? FAR(rng_below(&o.rng, REMOTE))
				     : OWN(1 + rng_below(&o.rng, o.added));
	}
	n->added = true;
	assert_int_equal(add(&n->c, n->queue, OWN(++o.added), n->wait_count, n->waits), DXP_OK);
}

static void step_issue(enum graph_queue queue)
{
	struct oracle_node *first = NULL;

	for (uint32_t i = 0; i < o.added && !first; i++)
		if (o.nodes[i].queue == queue && oracle_ready(&o.nodes[i]))
			first = &o.nodes[i];
	assert_int_equal(graph_ready(g, queue), first != NULL);
	struct graph_command *c = graph_next(g, queue);
	assert_ptr_equal(c, first ? &first->c : NULL);
	if (!c)
		return;
	first->issued = true;
	if (queue == GRAPH_ENGINE)
		o.engine_queue[o.engine_tail++] = (uint32_t)(first - o.nodes);
	else
		o.network[o.network_count++] = (uint32_t)(first - o.nodes);
}

/* Runs engine commands in order. The status of each predecessor is checked here, when the command
 * runs. */
static void step_engine(void)
{
	uint64_t events[COMMAND_WAITS_MAX];
	int status;

	if (o.engine_head == o.engine_tail)
		return;
	struct oracle_node *n = &o.nodes[o.engine_queue[o.engine_head++]];
	bool good = true;
	for (int i = 0; i < n->wait_count; i++) {
		assert_true(wait_done(n->waits[i], &status));
		good &= status == DXP_OK;
	}
	assert_int_equal(graph_unfinished(g, &n->c, events), 0);
	oracle_end(n, good ? n->fate : DXP_ECANCELED);
	graph_done(g, &n->c, n->status);
}

static void step_network(void)
{
	if (o.network_count == 0)
		return;
	uint32_t at = (uint32_t)rng_below(&o.rng, o.network_count);
	struct oracle_node *n = &o.nodes[o.network[at]];
	o.network[at] = o.network[--o.network_count];
	oracle_end(n, n->fate);
	graph_done(g, &n->c, n->status);
}

static void step_remote(uint32_t count)
{
	if (o.remote_done[count])
		return;
	o.remote_done[count] = true;
	o.remote_status[count] = rng_below(&o.rng, 10) ? DXP_OK : DXP_EDEVICE;
	assert_int_equal(graph_event(g, FAR(count), o.remote_status[count]), DXP_OK);
}

static void oracle_step(void)
{
	switch (rng_below(&o.rng, 7)) {
	case 0: step_add(); break;
	case 1: step_issue(GRAPH_ENGINE); break;
	case 2: step_issue(GRAPH_NETWORK); break;
	case 3: step_issue(GRAPH_MARKS); break;
	case 4: step_engine(); break;
	case 5: step_network(); break;
	default:
		if (rng_below(&o.rng, 4) == 0)
			step_remote((uint32_t)rng_below(&o.rng, REMOTE));
	}
	failed_dequeue();
}

static uint64_t seed_now;

/* Prints the seed even after a failed assertion. */
static int seed_report(void **state)
{
	print_message("last seed: replay with DXP_SEED=%llu\n", (unsigned long long)seed_now);
	return teardown(state);
}

static void graph__random_beside_oracle(void **state)
{
	uint64_t first = getenv("DXP_SEED") ? strtoull(getenv("DXP_SEED"), NULL, 0) : 1;
	uint64_t last = getenv("DXP_SEED") ? first : 300;

	for (uint64_t seed = first; seed <= last; seed++) {
		seed_now = seed;
		memset(&o, 0, sizeof(o));
		o.rng.state = seed;
		for (int i = 0; i < 600; i++)
			oracle_step();
		for (uint32_t i = 0; i < REMOTE; i++)
			step_remote(i);
		for (int i = 0; o.ended < NODES; i++) {
			assert_true(i < 100000);
			oracle_step();
		}
		assert_int_equal(graph_count(g), 0);
		graph_destroy(g);
		assert_int_equal(graph_create(HOST, XPU, &g), DXP_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(graph__random_beside_oracle, setup, seed_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
