/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats the table. A node's line counts all bytes on its socket, a session's line payload only.
 * Rates and percentages cover the time between the readings; counts start with the node. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cmd/dxp/choice.h"
#include "cmd/dxp/nodes.h"
#include "cmd/dxp/top.h"
#include "nic/limits.h"
#include "wire/ids.h"

#define LINE_BYTES   256
#define COLUMN_BYTES 16

/* Counts of one line at both readings, and the time between them. */
struct change {
	/* fields of a session; `before` NULL: there is no earlier reading */
	const uint64_t *now, *before;
	uint64_t elapsed_ns; /* 0: nothing was published between the readings */
};

struct screen {
	FILE *out;
	unsigned rows, columns; /* rows and columns left; 0 columns: unlimited */
	bool bounded;
};

struct ranked {
	const struct stats_view *now, *before;
	double key;
};

static void line_put(struct screen *s, const char *line)
{
	if (s->bounded && s->rows == 0)
		return;
	if (s->bounded)
		s->rows--;
	fprintf(s->out, "%.*s\n", s->columns ? (int)s->columns : LINE_BYTES, line);
}

static double per_second(uint64_t now, uint64_t before, uint64_t elapsed_ns)
{
	return elapsed_ns && now > before ? (double)(now - before) * 1e9 / (double)elapsed_ns : 0;
}

/* Returns "-" for zero, so that active rows stand out. */
static const char *column_print(double value, char out[COLUMN_BYTES])
{
	if (value <= 0)
		return "-";
	return nodes_bytes_format((uint64_t)(value + 0.5), out);
}

static const char *count_print(uint64_t value, char out[COLUMN_BYTES])
{
	return value ? nodes_bytes_format(value, out) : "-";
}

static uint64_t grown(const struct change *c, enum stats_session_field f)
{
	if (!c->before)
		return c->now[f];
	return c->now[f] > c->before[f] ? c->now[f] - c->before[f] : 0;
}

static double share(const struct change *c, enum stats_session_field f)
{
	uint64_t sent = grown(c, STATS_SESSION_sent_packets);

	return sent ? 100.0 * (double)grown(c, f) / (double)sent : 0;
}

static const char *percent(double value, char out[COLUMN_BYTES])
{
	if (value <= 0)
		return "-";
	snprintf(out, COLUMN_BYTES, value < 10 ? "%.2f" : "%.1f", value);
	return out;
}

static const char *micros(uint64_t ns, char out[COLUMN_BYTES])
{
	if (ns == 0)
		return "-";
	snprintf(out, COLUMN_BYTES, ns < 100000 ? "%.1f" : "%.0f", (double)ns / 1e3);
	return out;
}

/* Important columns come first, since a narrow terminal shows only the left part. */
static void heading(struct screen *s)
{
	char line[LINE_BYTES];

	snprintf(line, sizeof(line),
		 "%-18s %5s %7s %6s %6s %6s %6s %5s %7s %9s %5s %5s %5s %5s %5s %5s %7s %7s %6s "
		 "%5s %5s %5s",
		 "NODE  > PEER", "ID", "PID", "IN/s", "OUT/s", "PKIN/s", "PKOU/s", "RTX%", "RTT us",
		 "FLY/WIN", "GAP%", "PROB%", "TIME%", "BUSY%", "SPUR", "TMOUT", "MIN us", "FABRIC",
		 "PACE/s", "CE", "DROPS", "CRED");
	line_put(s, line);
}

static double repeats_share(const struct change *c)
{
	return share(c, STATS_SESSION_retransmitted_gap) +
	       share(c, STATS_SESSION_retransmitted_probe) +
	       share(c, STATS_SESSION_retransmitted_timeout) +
	       share(c, STATS_SESSION_retransmitted_busy);
}

/* Formats the columns RTX% to TMOUT; `rtt` and `window` are texts. */
static int repeats_format(char *out, size_t space, const struct change *c, const char *rtt,
			  const char *window)
{
	char columns[7][COLUMN_BYTES];

	return snprintf(out, space, " %5s %7s %9s %5s %5s %5s %5s %5s %5s",
			percent(repeats_share(c), columns[6]), rtt, window,
			percent(share(c, STATS_SESSION_retransmitted_gap), columns[0]),
			percent(share(c, STATS_SESSION_retransmitted_probe), columns[1]),
			percent(share(c, STATS_SESSION_retransmitted_timeout), columns[2]),
			percent(share(c, STATS_SESSION_retransmitted_busy), columns[3]),
			count_print(c->now[STATS_SESSION_spurious], columns[4]),
			count_print(c->now[STATS_SESSION_timeouts], columns[5]));
}

static uint64_t credit_waits(const struct stats_node *n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < STATS_QPS; i++)
		sum += n->qps[i].waits_for_credit;
	return sum;
}

static uint64_t elapsed(const struct stats_view *now, const struct stats_view *before)
{
	return before ? now->node.published_ns - before->node.published_ns : 0;
}

static double node_rate(const struct ranked *r, enum stats_node_field f)
{
	return r->before ? per_second(r->now->node.values[f], r->before->node.values[f],
				      elapsed(r->now, r->before))
			 : 0;
}

static struct change totals_change(const struct ranked *r)
{
	return (struct change){r->now->node.totals, r->before ? r->before->node.totals : NULL,
			       elapsed(r->now, r->before)};
}

static void node_line(struct screen *s, const struct ranked *r)
{
	const struct stats_node *n = &r->now->node;
	struct change c = totals_change(r);
	char line[LINE_BYTES], columns[8][COLUMN_BYTES], id[COLUMN_BYTES] = "-";

	if (n->id != WIRE_NODE_NONE)
		snprintf(id, sizeof(id), "%u", n->id);
	int at = snprintf(line, sizeof(line), "%-18.18s %5s %7u %6s %6s %6s %6s", n->name, id,
			  r->now->pid,
			  column_print(node_rate(r, STATS_LINK_received_bytes), columns[0]),
			  column_print(node_rate(r, STATS_LINK_sent_bytes), columns[1]),
			  column_print(node_rate(r, STATS_LINK_received_datagrams), columns[2]),
			  column_print(node_rate(r, STATS_LINK_sent_datagrams), columns[3]));
	at += repeats_format(line + at, sizeof(line) - (size_t)at, &c, "",
			     count_print(c.now[STATS_SESSION_inflight], columns[4]));
	snprintf(line + at, sizeof(line) - (size_t)at, " %7s %7s %6s %5s %5s %5s", "", "", "",
		 count_print(c.now[STATS_SESSION_marked], columns[5]),
		 count_print(n->values[STATS_LINK_receive_drops], columns[6]),
		 count_print(credit_waits(n), columns[7]));
	line_put(s, line);
}

static void missing_line(struct screen *s, const struct stats_view *v)
{
	char line[LINE_BYTES];

	snprintf(line, sizeof(line), "%-18.18s %5u %7s %s, %s", v->node.name, v->node.id, "",
		 v->missing, v->node.address);
	line_put(s, line);
}

static const struct stats_session *session_find(const struct stats_view *v, uint16_t node)
{
	for (uint32_t i = 0; v && i < v->node.session_rows; i++) {
		if (v->sessions[i].node == node)
			return &v->sessions[i];
	}
	return NULL;
}

static double field_rate(const struct change *c, enum stats_session_field f)
{
	return c->before ? per_second(c->now[f], c->before[f], c->elapsed_ns) : 0;
}

static void session_line(struct screen *s, const struct ranked *r, const struct stats_session *row)
{
	const struct stats_session *before = session_find(r->before, row->node);
	struct change c = {row->values, before ? before->values : NULL, elapsed(r->now, r->before)};
	char line[LINE_BYTES], name[FABRIC_NAME_BYTES + 8], window[2 * COLUMN_BYTES];
	char columns[9][COLUMN_BYTES];

	snprintf(name, sizeof(name), "  %c %s", row->active ? '>' : 'z',
		 row->peer[0] ? row->peer : "?");
	snprintf(window, sizeof(window), "%llu/%llu",
		 (unsigned long long)row->values[STATS_SESSION_inflight],
		 (unsigned long long)row->values[STATS_SESSION_window]);
	int at =
		snprintf(line, sizeof(line), "%-18.18s %5u %7s %6s %6s %6s %6s", name, row->node,
			 "", column_print(field_rate(&c, STATS_SESSION_received_bytes), columns[0]),
			 column_print(field_rate(&c, STATS_SESSION_sent_bytes), columns[1]),
			 column_print(field_rate(&c, STATS_SESSION_received_packets), columns[2]),
			 column_print(field_rate(&c, STATS_SESSION_sent_packets), columns[3]));
	at += repeats_format(line + at, sizeof(line) - (size_t)at, &c,
			     micros(row->values[STATS_SESSION_srtt_ns], columns[4]), window);
	snprintf(line + at, sizeof(line) - (size_t)at, " %7s %7s %6s %5s",
		 micros(row->values[STATS_SESSION_min_rtt_ns], columns[5]),
		 micros(row->values[STATS_SESSION_delay_ns], columns[6]),
		 count_print(row->values[STATS_SESSION_pace_bytes_per_s], columns[7]),
		 count_print(row->values[STATS_SESSION_marked], columns[8]));
	line_put(s, line);
}

static void qp_lines(struct screen *s, const struct ranked *r)
{
	for (unsigned i = 0; i < STATS_QPS; i++) {
		const struct stats_qp *q = &r->now->node.qps[i];
		const struct stats_qp *b = r->before ? &r->before->node.qps[i] : q;
		uint64_t ns = elapsed(r->now, r->before);
		char line[LINE_BYTES], columns[8][COLUMN_BYTES], name[32];
		if (!q->sent_messages && !q->received_messages && !q->failed && !q->refused &&
		    !q->waits_for_credit)
			continue;
		snprintf(name, sizeof(name), "  qp %u.%u", i / NIC_QPS_PER_FUNCTION,
			 i % NIC_QPS_PER_FUNCTION);
		snprintf(line, sizeof(line),
			 "%-18s %5s %7s %6s %6s %6s %6s messages: %s sent, %s failed, %s received, "
			 "%s packets rejected, %s waits for credit",
			 name, "", "",
			 column_print(per_second(q->received_bytes, b->received_bytes, ns),
				      columns[0]),
			 column_print(per_second(q->sent_bytes, b->sent_bytes, ns), columns[1]), "",
			 "", count_print(q->sent_messages, columns[2]),
			 count_print(q->failed, columns[3]),
			 count_print(q->received_messages, columns[4]),
			 count_print(q->refused, columns[5]),
			 count_print(q->waits_for_credit, columns[6]));
		line_put(s, line);
	}
}

static const struct stats_view *view_find(const struct stats_list *list,
					  const struct stats_view *like)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct stats_view *v = &list->views[i];
		if (v->pid == like->pid && v->node.started_ns == like->node.started_ns &&
		    strcmp(v->path, like->path) == 0)
			return v;
	}
	return NULL;
}

static double key_of(const struct ranked *r, enum top_sort sort)
{
	struct change c = totals_change(r);

	switch (sort) {
	case TOP_IN: return node_rate(r, STATS_LINK_received_bytes);
	case TOP_OUT: return node_rate(r, STATS_LINK_sent_bytes);
	case TOP_REPEATS: return repeats_share(&c);
	case TOP_NAME: break;
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	int order = strcmp(x->now->node.name, y->now->node.name);
	return order ? order : strcmp(x->now->path, y->now->path);
}

static uint32_t rank(const struct top_readings *r, const struct top_options *o, struct ranked *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->now.count; i++) {
		const struct stats_view *v = &r->now.views[i];
		if (!choice_matches(v, o->node, o->pid))
			continue;
		out[count] = (struct ranked){.now = v, .before = view_find(&r->before, v)};
		out[count].key = key_of(&out[count], o->sort);
		count++;
	}
	if (count)
		qsort(out, count, sizeof(*out), by_key);
	return count;
}

static void view_lines(struct screen *s, const struct ranked *r, const struct top_options *options)
{
	const struct stats_view *v = r->now;
	char line[LINE_BYTES];

	if (v->missing) {
		missing_line(s, v);
		return;
	}
	node_line(s, r);
	for (uint32_t k = 0; k < v->node.session_rows; k++)
		session_line(s, r, &v->sessions[k]);
	if (v->node.session_count > v->node.session_rows) {
		snprintf(line, sizeof(line), "  ... and %u more sessions",
			 v->node.session_count - v->node.session_rows);
		line_put(s, line);
	}
	if (options->qps)
		qp_lines(s, r);
}

uint32_t top_table(FILE *out, const struct top_readings *r, const struct top_options *options,
		   unsigned rows, unsigned columns)
{
	struct screen s = {out, rows, columns, rows > 0};
	struct ranked *ranked = calloc(r->now.count + 1, sizeof(*ranked));
	uint32_t count = ranked ? rank(r, options, ranked) : 0;

	if (count)
		heading(&s);
	for (uint32_t i = 0; i < count; i++)
		view_lines(&s, &ranked[i], options);
	free(ranked);
	return count;
}
