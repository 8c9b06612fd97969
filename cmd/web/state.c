/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cmd/web/changes.h"

struct sample {
	uint64_t time_ms;
	struct web_rates rates;
};

/* A node with details that a browser shows. */
struct watched {
	char name[FABRIC_NAME_BYTES];
	uint64_t until_ns; /* 0: this entry is free */
	struct web_text *detail;
};

struct web_state {
	pthread_mutex_t lock; /* protects all fields below */
	uint64_t interval_ms;
	char manager[UDP_ADDRESS_TEXT_BYTES]; /* address of the manager */
	struct web_snapshot *now;
	struct web_events events;
	struct web_alert_list alerts[WEB_SOURCES];
	struct web_text *documents[WEB_DOCUMENTS];
	struct watched watched[WEB_WATCHED];
	struct sample samples[WEB_HISTORY];
	uint64_t sampled; /* number of samples since the start */
	void (*news)(void *context);
	void *news_context;
};

struct web_state *web_state_create(uint64_t interval_ms, const struct udp_address *manager)
{
	struct web_state *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	pthread_mutex_init(&w->lock, NULL);
	w->interval_ms = interval_ms;
	address_format(manager, w->manager);
	return w;
}

void web_state_destroy(struct web_state *w)
{
	if (!w)
		return;
	web_snapshot_release(w->now);
	for (unsigned i = 0; i < WEB_DOCUMENTS; i++)
		web_text_release(w->documents[i]);
	for (unsigned i = 0; i < WEB_WATCHED; i++)
		web_text_release(w->watched[i].detail);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void web_state_on_news(struct web_state *w, void (*news)(void *context), void *context)
{
	pthread_mutex_lock(&w->lock);
	w->news = news;
	w->news_context = context;
	pthread_mutex_unlock(&w->lock);
}

/* ---- pollers ---- */

void web_state_nodes(struct web_state *w, struct web_snapshot *s)
{
	struct web_alert_list *alerts = calloc(1, sizeof(*alerts));

	if (alerts)
		web_changes_alerts(s, alerts);
	pthread_mutex_lock(&w->lock);
	struct web_snapshot *previous = w->now;
	if (!w->events.log_read)
		web_changes_events(previous, s, &w->events);
	if (alerts)
		web_alerts_replace(&w->alerts[WEB_SOURCE_NODES], alerts, &w->events, s->time_ms);
	w->samples[w->sampled++ % WEB_HISTORY] =
		(struct sample){.time_ms = s->time_ms, .rates = s->rates};
	w->now = s;
	void (*news)(void *context) = w->news;
	void *context = w->news_context;
	pthread_mutex_unlock(&w->lock);
	free(alerts);
	web_snapshot_release(previous);
	if (news)
		news(context);
}

void web_state_document(struct web_state *w, enum web_document which, struct web_text *text)
{
	if (!text)
		return;
	pthread_mutex_lock(&w->lock);
	struct web_text *previous = w->documents[which];
	w->documents[which] = text;
	pthread_mutex_unlock(&w->lock);
	web_text_release(previous);
}

void web_state_alerts(struct web_state *w, enum web_source source, const struct web_alert_list *now,
		      uint64_t time_ms)
{
	pthread_mutex_lock(&w->lock);
	web_alerts_replace(&w->alerts[source], now, &w->events, time_ms);
	pthread_mutex_unlock(&w->lock);
}

void web_state_log(struct web_state *w, const struct event_row *rows, size_t count)
{
	pthread_mutex_lock(&w->lock);
	w->events.log_read = true;
	for (size_t i = 0; i < count; i++) {
		struct web_event e = {.time_ms = rows[i].time_ms,
				      .severity =
					      (enum web_severity)event_kind_severity(rows[i].kind),
				      .kind = event_kind_name(rows[i].kind)};
		memcpy(e.subject, rows[i].subject, sizeof(e.subject));
		memcpy(e.text, rows[i].text, sizeof(e.text));
		web_events_add(&w->events, &e);
	}
	pthread_mutex_unlock(&w->lock);
}

void web_state_log_silent(struct web_state *w)
{
	pthread_mutex_lock(&w->lock);
	w->events.log_read = false;
	pthread_mutex_unlock(&w->lock);
}

unsigned web_state_watched(struct web_state *w, char names[WEB_WATCHED][FABRIC_NAME_BYTES],
			   uint64_t now_ns)
{
	unsigned count = 0;

	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < WEB_WATCHED; i++) {
		struct watched *e = &w->watched[i];
		if (e->until_ns > now_ns) {
			memcpy(names[count++], e->name, sizeof(e->name));
		} else if (e->until_ns) {
			web_text_release(e->detail);
			*e = (struct watched){0};
		}
	}
	pthread_mutex_unlock(&w->lock);
	return count;
}

static struct watched *watched_find(struct web_state *w, const char *name)
{
	for (unsigned i = 0; i < WEB_WATCHED; i++)
		if (w->watched[i].until_ns && strcmp(w->watched[i].name, name) == 0)
			return &w->watched[i];
	return NULL;
}

void web_state_detail(struct web_state *w, const char *name, struct web_text *text)
{
	if (!text)
		return;
	pthread_mutex_lock(&w->lock);
	struct watched *e = watched_find(w, name);
	struct web_text *unused = e ? e->detail : text;
	if (e)
		e->detail = text;
	pthread_mutex_unlock(&w->lock);
	web_text_release(unused);
}

/* ---- readers ---- */

struct web_snapshot *web_state_snapshot(struct web_state *w)
{
	pthread_mutex_lock(&w->lock);
	struct web_snapshot *s = web_snapshot_hold(w->now);
	pthread_mutex_unlock(&w->lock);
	return s;
}

struct web_text *web_state_text(struct web_state *w, enum web_document which)
{
	pthread_mutex_lock(&w->lock);
	struct web_text *t = web_text_hold(w->documents[which]);
	pthread_mutex_unlock(&w->lock);
	return t;
}

/* Returns a free entry, or NULL if WEB_WATCHED nodes are watched already. */
static struct watched *watched_add(struct web_state *w, const char *name)
{
	for (unsigned i = 0; i < WEB_WATCHED; i++) {
		struct watched *e = &w->watched[i];
		if (e->until_ns)
			continue;
		strncpy(e->name, name, sizeof(e->name) - 1);
		return e;
	}
	return NULL;
}

struct web_text *web_state_watch(struct web_state *w, const char *name, uint64_t now_ns)
{
	struct web_text *detail = NULL;

	pthread_mutex_lock(&w->lock);
	struct watched *e = watched_find(w, name);
	if (!e)
		e = watched_add(w, name);
	if (e) {
		e->until_ns = now_ns + WEB_WATCH_S * S_NS;
		detail = web_text_hold(e->detail);
	}
	pthread_mutex_unlock(&w->lock);
	return detail;
}

static json_t *rates_json(const struct web_rates *r)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "received_bytes_per_s",
			 r->received_bytes, "sent_bytes_per_s", r->sent_bytes,
			 "received_packets_per_s", r->received_packets, "sent_packets_per_s",
			 r->sent_packets, "retransmitted_percent", r->repeats_percent,
			 "drops_per_s", r->drops);
}

static json_t *nodes_json(const struct web_snapshot *s)
{
	json_t *out =
		json_pack("{s:I, s:I}", "total", (json_int_t)s->count, "xpus", (json_int_t)s->xpus);

	for (unsigned i = 0; i < WEB_HEALTHS; i++)
		json_object_set_new(out, web_health_name(i),
				    json_integer((json_int_t)s->healths[i]));
	return out;
}

static void alerts_set(struct web_state *w, json_t *out)
{
	json_t *alerts = json_array();
	json_int_t left_out = 0;

	for (unsigned i = 0; i < WEB_SOURCES; i++) {
		web_alerts_json(&w->alerts[i], alerts);
		left_out += w->alerts[i].left_out;
	}
	json_object_set_new(out, "alerts", alerts);
	json_object_set_new(out, "alerts_left_out", json_integer(left_out));
}

static json_t *summary_json(struct web_state *w)
{
	const struct web_snapshot *s = w->now;
	json_t *out = json_pack("{s:I, s:I, s:I, s:I, s:s}", "sequence",
				(json_int_t)(s ? s->sequence : 0), "time_ms",
				(json_int_t)(s ? s->time_ms : 0), "interval_ms",
				(json_int_t)w->interval_ms, "last_event",
				(json_int_t)w->events.last, "manager_address", w->manager);

	if (s) {
		json_object_set_new(
			out, "manager",
			json_pack("{s:b, s:s}", "answers", s->manager_up, "text", s->manager_text));
		json_object_set_new(out, "nodes", nodes_json(s));
		json_object_set_new(out, "rates", rates_json(&s->rates));
		json_object_set_new(out, "poll_ms", json_real((double)s->poll_ns / MS_NS));
	}
	alerts_set(w, out);
	return out;
}

json_t *web_state_summary(struct web_state *w)
{
	pthread_mutex_lock(&w->lock);
	json_t *out = summary_json(w);
	pthread_mutex_unlock(&w->lock);
	return out;
}

json_t *web_state_history(struct web_state *w)
{
	json_t *out = json_array();

	pthread_mutex_lock(&w->lock);
	uint64_t i = w->sampled > WEB_HISTORY ? w->sampled - WEB_HISTORY : 0;
	for (; i < w->sampled; i++) {
		const struct sample *s = &w->samples[i % WEB_HISTORY];
		json_array_append_new(out, json_pack("[I, f, f, f]", (json_int_t)s->time_ms,
						     s->rates.received_bytes, s->rates.sent_bytes,
						     s->rates.repeats_percent));
	}
	pthread_mutex_unlock(&w->lock);
	return out;
}

json_t *web_state_events(struct web_state *w, uint64_t after, unsigned limit)
{
	pthread_mutex_lock(&w->lock);
	json_t *out = web_events_json(&w->events, after, limit);
	pthread_mutex_unlock(&w->lock);
	return out;
}

uint64_t web_state_sequence(struct web_state *w)
{
	pthread_mutex_lock(&w->lock);
	uint64_t sequence = w->now ? w->now->sequence : 0;
	pthread_mutex_unlock(&w->lock);
	return sequence;
}
