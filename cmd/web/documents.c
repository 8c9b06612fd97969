/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/documents.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "cmd/dxp/metrics_text.h"

struct web_text *web_document_overview(struct web_state *w)
{
	json_t *out = web_state_summary(w);

	json_object_set_new(out, "history", web_state_history(w));
	return web_text_json(out);
}

static double up_s(const struct stats_view *v)
{
	return (double)(v->node.published_ns - v->node.started_ns + v->age_ns) / S_NS;
}

/* Adds the counters that the node reported. */
static void counters_set(json_t *out, const struct web_node *n)
{
	const struct stats_view *v = n->view;
	const uint64_t *values = v->node.values;

	json_object_set_new(out, "program", json_string(v->node.program));
	json_object_set_new(out, "pid", json_integer(v->pid));
	json_object_set_new(out, "up_s", json_real(up_s(v)));
	json_object_set_new(out, "sessions", json_integer(v->node.session_count));
	json_object_set_new(out, "received_bytes",
			    json_integer((json_int_t)values[STATS_LINK_received_bytes]));
	json_object_set_new(out, "sent_bytes",
			    json_integer((json_int_t)values[STATS_LINK_sent_bytes]));
	if (!n->rated)
		return;
	json_object_set_new(out, "received_bytes_per_s", json_real(n->rates.received_bytes));
	json_object_set_new(out, "sent_bytes_per_s", json_real(n->rates.sent_bytes));
	json_object_set_new(out, "received_packets_per_s", json_real(n->rates.received_packets));
	json_object_set_new(out, "sent_packets_per_s", json_real(n->rates.sent_packets));
	json_object_set_new(out, "retransmitted_percent", json_real(n->rates.repeats_percent));
	json_object_set_new(out, "drops_per_s", json_real(n->rates.drops));
}

static json_t *node_json(const struct web_node *n)
{
	const struct node_entry *row = &n->entry;
	char address[UDP_ADDRESS_TEXT_BYTES];
	json_t *out = json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s}", "id", row->id,
				"name", row->name, "kind", row->kind == MANAGE_XPU ? "xpu" : "host",
				"engine", row->engine, "device", row->device, "memory_bytes",
				(json_int_t)row->memory_bytes, "memory_kind",
				manage_memory_text(row), "health", web_health_name(n->health),
				"address", address_format(&row->address, address));

	if (!out)
		return NULL;
	if (n->view->missing)
		json_object_set_new(out, "missing", json_string(n->view->missing));
	else
		counters_set(out, n);
	return out;
}

struct web_text *web_document_nodes(const struct web_snapshot *s)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(rows, node_json(&s->nodes[i]));
	return web_text_json(
		json_pack("{s:I, s:o}", "sequence", (json_int_t)s->sequence, "nodes", rows));
}

struct web_text *web_document_node(const struct web_node *n, const struct web_text *detail)
{
	struct web_text *row = web_text_json(node_json(n)), *out = NULL;
	char *joined = NULL;

	if (row) {
		int bytes = asprintf(&joined, "{\"node\":%s,\"detail\":%s}", row->data,
				     detail ? detail->data : "null");
		if (bytes >= 0) {
			out = web_text_create(joined, (size_t)bytes);
			free(joined);
		}
	}
	web_text_release(row);
	return out;
}

struct web_text *web_document_metrics(const struct web_snapshot *s, const struct web_text *services)
{
	char *data = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&data, &bytes);

	if (!out)
		return NULL;
	metrics_text_gauge(out, "dxp_manager_up", s->manager_up,
			   "1 if the manager answered, otherwise 0");
	metrics_text_gauge(out, "dxp_poll_duration_seconds", (double)s->poll_ns / S_NS,
			   "time that the last reading of all nodes took");
	metrics_text_write(out, &s->stats, true);
	if (services)
		fputs(services->data, out);
	fputs("# EOF\n", out);
	struct web_text *text = fclose(out) == 0 ? web_text_create(data, bytes) : NULL;
	free(data);
	return text;
}
