/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of the pollers, for all browsers. Pollers publish, and the HTTP thread reads. Each
 * function locks, so any thread may call it. */
#ifndef CMD_WEB_STATE_H
#define CMD_WEB_STATE_H

#include "cmd/web/alerts.h"
#include "cmd/web/snapshot.h"
#include "cmd/web/text.h"

enum web_source {
	WEB_SOURCE_NODES,
	WEB_SOURCE_BRIDGES,
	WEB_SOURCE_SWITCHES,
	WEB_SOURCE_PATHS,
	WEB_SOURCES
};

/* Documents that a poller publishes: JSON, except for WEB_SERVICE_METRICS. */
enum web_document {
	WEB_BRIDGES,
	WEB_FUNCTIONS,
	WEB_SWITCHES_READ,
	WEB_GRANTS,
	WEB_SERVICES,
	WEB_PATHS,
	WEB_SERVICE_METRICS, /* families of OpenMetrics, for /metrics */
	WEB_DOCUMENTS
};

struct web_state;

/* Returns NULL if out of memory. */
struct web_state *web_state_create(uint64_t interval_ms, const struct udp_address *manager);
void web_state_destroy(struct web_state *w);

/* Sets the function that is called after each new snapshot. No lock is held during the call. */
void web_state_on_news(struct web_state *w, void (*news)(void *context), void *context);

/* ---- pollers ---- */

/* Publishes a reading of all nodes, with alerts and events. Takes over the reference to the
 * snapshot. */
void web_state_nodes(struct web_state *w, struct web_snapshot *s);

/* Publishes a document, and releases `text` when the next one replaces it. If `text` is NULL (out
 * of memory), keeps the previous document. */
void web_state_document(struct web_state *w, enum web_document which, struct web_text *text);

void web_state_alerts(struct web_state *w, enum web_source source, const struct web_alert_list *now,
		      uint64_t time_ms);

/* Adds events of the manager's log. From then on, until web_state_log_silent(), readings of the
 * nodes cause no events of joins and leaves. */
void web_state_log(struct web_state *w, const struct event_row *rows, size_t count);
/* The manager's log cannot be read any more: readings of the nodes cause events again. */
void web_state_log_silent(struct web_state *w);

/* Copies the names of nodes for which a browser requests details; returns their number. */
unsigned web_state_watched(struct web_state *w, char names[WEB_WATCHED][FABRIC_NAME_BYTES],
			   uint64_t now_ns);
/* Publishes the details of a watched node, and releases `text` when the next one replaces it. */
void web_state_detail(struct web_state *w, const char *name, struct web_text *text);

/* ---- readers: the caller releases the results, which may be NULL ---- */

struct web_snapshot *web_state_snapshot(struct web_state *w);
struct web_text *web_state_text(struct web_state *w, enum web_document which);

/* Returns the details of a node, or NULL if there are none yet. Also marks the node, so that the
 * poller reads its details for the next WEB_WATCH_S. */
struct web_text *web_state_watch(struct web_state *w, const char *name, uint64_t now_ns);

/* Returns the summary that streams send and the overview starts with: health, rates, alerts. */
json_t *web_state_summary(struct web_state *w);
json_t *web_state_history(struct web_state *w);
json_t *web_state_events(struct web_state *w, uint64_t after, unsigned limit);
uint64_t web_state_sequence(struct web_state *w); /* number of the last snapshot; 0: none yet */

#endif
