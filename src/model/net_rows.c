/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows about LogGP, topologies, tags and allreduce. */
#include "model/net_rows.h"

#include <stdio.h>

#include <dxp/status.h>

#include "base/util.h"
#include "model/tags.h"

#define US_PS 1e6
/* so many that the end changes the rate by less than 0.1 % */
#define TAGS_REQUESTS 20000
#define NAMES_BYTES   512

struct model_loggp model_loggp_of(const struct model_parameters *p)
{
	return (struct model_loggp){
		.start_ps = p->doorbell_ns * 1000,
		.descriptor_ps = p->descriptor_ns * 1000,
		.byte_ps = p->gap_ps,
		.hop_ps = p->hop_ns * 1000,
		.receive_ps = p->receive_ns * 1000,
		.bytes = p->message_bytes,
	};
}

static void x_set(struct model_row *row, uint64_t x)
{
	snprintf(row->x, sizeof(row->x), "%llu", (unsigned long long)x);
}

static double formula_time(const struct model_loggp *g, enum model_topology kind, uint32_t nodes)
{
	return model_loggp_closed(g, model_topology_formula(kind, nodes));
}

/* Emits the statements about the source's figure 5. In small networks, the formula of a 3D torus
 * gives less than that of the hypercube. */
static void hypercube_shapes(const struct model_loggp *g, const struct model_sink *sink)
{
	bool best = true, slowest = true;

	for (int kind = MODEL_HYPERCUBE + 1; kind <= MODEL_MESH2; kind++) {
		double growth[2] = {0};
		for (uint32_t nodes = 256; nodes <= 4096; nodes *= 4)
			best &= formula_time(g, MODEL_HYPERCUBE, nodes) <
				formula_time(g, (enum model_topology)kind, nodes);
		for (int i = 0; i < 2; i++) {
			enum model_topology of = i ? (enum model_topology)kind : MODEL_HYPERCUBE;
			growth[i] = formula_time(g, of, 4096) / formula_time(g, of, 16);
		}
		slowest &= growth[0] < growth[1];
	}
	struct model_row row =
		model_row_shape("C-07", "the hypercube is best from 256 nodes on", best);
	model_emit(sink, &row);
	row = model_row_shape("C-07", "the hypercube grows most slowly", slowest);
	model_emit(sink, &row);
}

int model_loggp_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	struct model_loggp g = model_loggp_of(p);
	char quantity[40] = "";

	for (int kind = 0; kind <= MODEL_MESH2; kind++)
		for (uint32_t nodes = 16; nodes <= 4096; nodes *= 4) {
			double hops = model_topology_formula((enum model_topology)kind, nodes);
			struct model_row row = model_row_plain(
				"C-07", quantity, "us", model_loggp_closed(&g, hops) / US_PS);
			snprintf(quantity, sizeof(quantity), "T %s",
				 model_topology_name((enum model_topology)kind));
			x_set(&row, nodes);
			model_emit(sink, &row);
		}
	hypercube_shapes(&g, sink);
	struct model_row row =
		model_row_plain("C-06", "T without hops", "ns", model_loggp_closed(&g, 0) / 1000);
	x_set(&row, (uint64_t)g.bytes);
	model_emit(sink, &row);
	int64_t simulated = model_loggp_simulated(&g, 1);
	if (simulated < 0)
		return (int)simulated;
	bool same = simulated == (int64_t)model_loggp_closed(&g, 1);
	row = model_row_shape("C-05", "a simulated message takes eq. (1)", same);
	x_set(&row, (uint64_t)g.bytes);
	model_emit(sink, &row);
	return DXP_OK;
}

int model_topology_rows(const struct model_parameters *p, enum model_topology kind,
			const struct model_sink *sink)
{
	struct model_loggp l = model_loggp_of(p);
	struct model_distance d;
	struct model_graph *g;
	int status = model_graph_create(kind, (uint32_t)p->nodes, &g);

	if (status != DXP_OK)
		return status;
	status = model_graph_search(g, &d);
	const struct {
		const char *what, *unit;
		double value;
	} rows[] = {
		{"distance, formula", "links", model_topology_formula(kind, g->nodes)},
		{"distance, exact", "links", model_graph_exact(g)},
		{"distance, searched", "links", d.mean_self},
		{"distance, other nodes", "links", d.mean},
		{"diameter", "links", d.diameter},
		{"links", "", (double)d.links},
		{"routers", "", g->routers},
		{"ports of a router", "", g->radix},
		{"T", "us", model_loggp_closed(&l, d.mean) / US_PS},
	};
	model_graph_destroy(g);
	for (size_t i = 0; status == DXP_OK && i < ARRAY_COUNT(rows); i++) {
		char quantity[64] = "";
		struct model_row row =
			model_row_plain("C-07", quantity, rows[i].unit, rows[i].value);
		if (rows[i].value < 0)
			continue; /* no closed form */
		snprintf(quantity, sizeof(quantity), "%s %s", model_topology_name(kind),
			 rows[i].what);
		x_set(&row, (uint64_t)p->nodes);
		model_emit(sink, &row);
	}
	return status;
}

int model_tags_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	struct model_tags t = {
		.request_bytes = (uint32_t)p->request_bytes,
		.packet_bytes = (uint32_t)p->mtu_bytes,
		.datapath_bytes = (uint32_t)p->datapath_bytes,
		.packet_cycles =
			(uint32_t)((p->header_bytes + p->datapath_bytes - 1) / p->datapath_bytes +
				   p->process_cycles),
		.read_cycles = (uint32_t)p->memory_read_cycles,
		.tags = (uint32_t)p->tags,
	};
	double mhz = (double)p->clock_mhz, least = model_tags_least(&t);
	struct model_row row = model_row_plain("C-35", "tags least", "", least);

	x_set(&row, t.read_cycles);
	model_emit(sink, &row);
	row = model_row_plain("C-35", "tags cover", "cycles", model_tags_cover(&t));
	x_set(&row, t.tags);
	model_emit(sink, &row);
	row = model_row_plain("C-35", "tags cycles a request", "cycles",
			      (double)model_tags_return_millicycles(&t) / 1000);
	x_set(&row, t.request_bytes);
	model_emit(sink, &row);
	for (t.tags = 1; t.tags <= (uint32_t)p->tags; t.tags++) {
		/* (bytes per 1000 cycles) x MHz = KB/s */
		row = model_row_plain("C-35", "rate by tags, closed", "MB/s",
				      (double)model_tags_closed(&t) * mhz / 1000);
		x_set(&row, t.tags);
		model_emit(sink, &row);
		row.quantity = "rate by tags, simulated";
		row.value = row.low = row.high =
			(double)model_tags_simulated(&t, TAGS_REQUESTS) * mhz / 1000;
		model_emit(sink, &row);
	}
	return DXP_OK;
}

/* ---- allreduce ---- */

/* Writes a name such as "9x32x64": hosts, ranks per host, bytes. */
static void case_x(struct model_row *row, const struct model_allreduce *of)
{
	snprintf(row->x, sizeof(row->x), "%ux%ux%u", of->hosts, of->ranks, of->bytes);
}

static int allreduce_emit(const struct model_parameters *p, const struct model_allreduce *of,
			  const struct model_sink *sink, double *ns)
{
	char names[NAMES_BYTES], quantity[40] = "";
	struct model_row row = model_row_plain("N-11", quantity, "us", 0);
	int status = model_allreduce_ns(of, p, ns);

	if (status == DXP_OK)
		status = model_allreduce_interval(of, p, &row.low, &row.high);
	if (status != DXP_OK)
		return status;
	snprintf(quantity, sizeof(quantity), "allreduce %s", model_way_name(of->way));
	row.value = *ns / 1000;
	/* The named setting may be outside those that were tried. */
	row.low = fmin(row.low / 1000, row.value);
	row.high = fmax(row.high / 1000, row.value);
	row.kind = MODEL_WITHHELD;
	row.assumptions = model_assumptions("allreduce", names, sizeof(names));
	case_x(&row, of);
	model_emit(sink, &row);
	return DXP_OK;
}

int model_allreduce_row(const struct model_parameters *p, const struct model_allreduce *of,
			const struct model_sink *sink)
{
	double ns;

	return allreduce_emit(p, of, sink, &ns);
}

/* Emits the fastest way as a number (0 host, 1 node, 2 socket), and host's time divided by that of
 * the best way through switches. */
static void compare_emit(const struct model_allreduce *of, const double *ns,
			 const struct model_sink *sink)
{
	double best = fmin(ns[MODEL_WAY_NODE], ns[MODEL_WAY_SOCKET]);
	double winner = ns[MODEL_WAY_HOST] <= best                   ? MODEL_WAY_HOST
			: ns[MODEL_WAY_NODE] <= ns[MODEL_WAY_SOCKET] ? MODEL_WAY_NODE
								     : MODEL_WAY_SOCKET;
	struct model_row row = model_row_plain("N-11", "allreduce winner", "way", winner);

	row.kind = MODEL_WITHHELD;
	case_x(&row, of);
	model_emit(sink, &row);
	row = model_row_plain("N-11", "allreduce gain", "", ns[MODEL_WAY_HOST] / best);
	row.kind = MODEL_WITHHELD;
	case_x(&row, of);
	model_emit(sink, &row);
}

static void shape_emit(const struct model_sink *sink, const char *quantity, uint32_t holds,
		       uint32_t of)
{
	struct model_row row = model_row_shape("N-11", quantity, (double)holds / of);

	row.unit = "share";
	model_emit(sink, &row);
}

/* N-11 states that node mode pays from this number of hosts on. */
#define PAYS_FROM 9

/* Sums over the cases of N-11. */
struct claims {
	uint32_t cases, few, many;  /* in all, below PAYS_FROM hosts, from there on */
	uint32_t socket;            /* socket mode is faster than node mode */
	uint32_t few_pay, many_pay; /* node mode is faster than the hosts' way */
	double saved[MODEL_WAYS];   /* of `many`: share of the hosts' time */
};

static void claims_add(struct claims *c, const struct model_allreduce *of, const double *ns)
{
	bool pays = ns[MODEL_WAY_NODE] < ns[MODEL_WAY_HOST];

	c->cases++;
	c->socket += ns[MODEL_WAY_SOCKET] < ns[MODEL_WAY_NODE];
	if (of->hosts < PAYS_FROM) {
		c->few++;
		c->few_pay += pays;
		return;
	}
	c->many++;
	c->many_pay += pays;
	for (int way = 0; way < MODEL_WAYS; way++)
		c->saved[way] += 1 - ns[way] / ns[MODEL_WAY_HOST];
}

static void claims_emit(const struct claims *c, const struct model_sink *sink)
{
	char names[NAMES_BYTES], quantity[64];

	shape_emit(sink, "socket mode below node mode", c->socket, c->cases);
	shape_emit(sink, "node mode pays from 9 hosts", c->many_pay, c->many);
	shape_emit(sink, "node mode does not pay at 4 hosts", c->few - c->few_pay, c->few);
	for (int way = MODEL_WAY_NODE; way <= MODEL_WAY_SOCKET; way++) {
		struct model_row row =
			model_row_plain("N-11", quantity, "%", 100 * c->saved[way] / c->many);
		snprintf(quantity, sizeof(quantity), "mean saving of %s mode from 9 hosts",
			 model_way_name((enum model_way)way));
		row.assumptions = model_assumptions("allreduce", names, sizeof(names));
		model_emit(sink, &row);
	}
}

int model_allreduce_rows(const struct model_parameters *p, const struct model_sink *sink)
{
	static const uint32_t hosts[] = {4, 9, 16}, ranks[] = {8, 32, 64};
	struct claims claims = {0};

	for (size_t h = 0; h < ARRAY_COUNT(hosts); h++)
		for (size_t r = 0; r < ARRAY_COUNT(ranks); r++)
			for (uint32_t bytes = 4; bytes <= 256; bytes *= 2) {
				struct model_allreduce of = {0, hosts[h], ranks[r], bytes};
				double ns[MODEL_WAYS];
				for (int way = 0; way < MODEL_WAYS; way++) {
					of.way = (enum model_way)way;
					int status = allreduce_emit(p, &of, sink, &ns[way]);
					if (status != DXP_OK)
						return status;
				}
				compare_emit(&of, ns, sink);
				claims_add(&claims, &of, ns);
			}
	claims_emit(&claims, sink);
	return DXP_OK;
}
