/* SPDX-License-Identifier: BSD-3-Clause */
/* An outside host floods switches and members with noise and copies of packets, some changed, with
 * a right ICRC. It uses its own address and knows no Q_Key; jobs stay unaffected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "test/sim/inc_rig.h"

#define RECEIVED 256
#define SEEDS    40
#define PACKETS  20000

struct received {
	uint8_t data[1600];
	size_t bytes;
	struct roce_path path;
};

struct attacker {
	struct inc_sim_tap tap;
	struct rig *rig;
	uint32_t node;
	struct rng rng;
	struct received received[RECEIVED];
	uint8_t out[1600];
	uint64_t next_ns, sent;
};

static void overhear(void *context, uint32_t node, const struct roce_path *path,
		     const uint8_t *data, size_t bytes, uint64_t now_ns)
{
	struct attacker *a = context;
	struct received *h = &a->received[rng_below(&a->rng, RECEIVED)];

	(void)now_ns;
	if (node == a->node || bytes > sizeof(h->data))
		return;
	memcpy(h->data, data, bytes);
	h->bytes = bytes;
	h->path = *path;
}

static size_t noise_make(struct attacker *a, struct roce_path *path)
{
	const struct inc_tree *tree = inc_net_tree(inc_sim_net(a->rig->sim));
	size_t bytes = rng_below(&a->rng, 200);

	for (size_t i = 0; i < bytes; i++)
		a->out[i] = (uint8_t)rng_next(&a->rng);
	path->to_ip = inc_tree_ip(tree, (uint32_t)rng_below(&a->rng, tree->node_count));
	path->to_port = rng_below(&a->rng, 2) ? ROCE_PORT : ROCE_SOURCE_PORT;
	path->from_port = rng_below(&a->rng, 2) ? ROCE_PORT : ROCE_SOURCE_PORT;
	return bytes;
}

/* An unknown peer does not know them. */
static void keys_forget(struct attacker *a, size_t bytes)
{
	struct inc_packet p;
	struct inc_control c;
	uint8_t out[INC_CONTROL_BYTES_MAX];

	if (inc_packet_decode(a->out, bytes, &p) != DXP_OK)
		return;
	if (p.header.comm_id != INC_COMM_CONTROL) {
		put_be32(a->out + ROCE_BTH_BYTES, (uint32_t)rng_next(&a->rng) >> 1);
	} else if (inc_control_decode(p.payload, p.payload_bytes, &c) == DXP_OK) {
		c.qkey = (uint32_t)rng_next(&a->rng) >> 1;
		memcpy(a->out + (p.payload - a->out), out, inc_control_encode(&c, out));
	}
}

/* Copies a received packet of another host, changed or not, and addresses it to its receiver or to
 * another host. Returns the packet's bytes. */
static size_t repeat_make(struct attacker *a, struct roce_path *path)
{
	const struct inc_tree *tree = inc_net_tree(inc_sim_net(a->rig->sim));
	const struct received *h = &a->received[rng_below(&a->rng, RECEIVED)];
	uint32_t icrc;

	if (h->bytes < INC_UD_BYTES + 4)
		return noise_make(a, path);
	memcpy(a->out, h->data, h->bytes);
	path->to_ip = h->path.to_ip;
	path->to_port = h->path.to_port;
	path->from_port = h->path.from_port;
	if (rng_below(&a->rng, 4) == 0)
		path->to_ip = inc_tree_ip(tree, (uint32_t)rng_below(&a->rng, tree->node_count));
	keys_forget(a, h->bytes);
	for (uint64_t n = rng_below(&a->rng, 4); n > 0; n--)
		a->out[rng_below(&a->rng, h->bytes - 4)] = (uint8_t)rng_next(&a->rng);
	const struct roce_piece piece = {a->out, h->bytes - 4};
	icrc = roce_icrc(path, &piece, 1);
	for (int i = 0; i < 4; i++)
		a->out[h->bytes - 4 + (size_t)i] = (uint8_t)(icrc >> 8 * i);
	return h->bytes;
}

static size_t attack(void *node, struct inc_batch *out, uint64_t now_ns)
{
	struct attacker *a = node;
	const struct inc_tree *tree = inc_net_tree(inc_sim_net(a->rig->sim));
	struct roce_path path = {.from_ip = inc_tree_ip(tree, a->node)};
	struct datagram *d = &out->datagrams[out->count];
	size_t bytes;

	if (now_ns < a->next_ns)
		return 0;
	a->next_ns = ++a->sent < PACKETS ? now_ns + 2 * US_NS : UINT64_MAX;
	bytes = rng_below(&a->rng, 4) ? repeat_make(a, &path) : noise_make(a, &path);
	*d = (struct datagram){.to = address_v4(path.to_ip, path.to_port),
			       .slice_count = 1,
			       .slices = {{a->out, bytes}}};
	out->from_ports[out->count++] = path.from_port;
	return 1;
}

static void ignore(void *node, const uint8_t *data, size_t bytes, const struct roce_path *path,
		   uint64_t now_ns)
{
	(void)node;
	(void)data;
	(void)bytes;
	(void)path;
	(void)now_ns;
}

static uint64_t next_attack(void *node)
{
	return ((struct attacker *)node)->next_ns;
}

static const struct inc_node_ops attacker_ops = {ignore, attack, next_attack};

static void inc_hostile__an_unknown_peer_floods(void **state)
{
	uint64_t sent = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		static struct rig r;
		static struct attacker a;
		struct inc_sim_options o = rig_options(seed);
		const struct inc_load_options load = {.seed = seed,
						      .calls = 60,
						      .elements_max = seed % 2 ? 16 : 3000,
						      .think_ns = 20 * US_NS};
		if (!rig_seed_wanted(seed))
			continue;
		o.create_ns = o.deadline_ns = 4 * S_NS;
		o.net.socket_bytes = 1 << 20;
		o.net.faults.loss_ppm = seed % 4 ? 0 : 3000;
		assert_true(rig_make(&r, &o));
		a = (struct attacker){.rig = &r, .node = 7, .rng = {seed}};
		a.tap.tap = (struct inc_tap){.sent = overhear, .context = &a};
		inc_sim_tap(r.sim, &a.tap);
		inc_net_set(inc_sim_net(r.sim), a.node, &attacker_ops, &a);
		struct rig_job *j = rig_job(&r, 7, &load);
		rig_right(&r, 60 * S_NS);
		rig_rejection(j);
		if (j->job->state != INC_JOB_READY || rig_view(j).calls_done != load.calls)
			fail_msg("seed %llu: %u calls done, then %s", (unsigned long long)seed,
				 rig_view(j).calls_done, dxp_status_text(rig_view(j).lost_status));
		sent += a.sent;
		rig_free(&r);
	}
	print_message("%llu hostile packets\n", (unsigned long long)sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_hostile__an_unknown_peer_floods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
