/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of server-sent events to browsers, at most WEB_STREAMS. Each stream holds at most one
 * update. If a browser does not read, its stream skips later updates; the next update has the
 * newest state. */
#ifndef CMD_WEB_FEED_H
#define CMD_WEB_FEED_H

#include <pthread.h>
#include <stdbool.h>

#include "cmd/web/limits.h"
#include "cmd/web/stream.h"

struct web_feed;

struct web_feed_reader {
	struct web_feed *feed;
	void *connection; /* NULL: this entry is free */
	struct web_stream stream;
	struct web_text *text; /* the update that is being sent, or NULL */
	size_t sent;           /* bytes of `text` that were sent */
};

struct web_feed {
	struct web_state *state;
	void (*resume)(void *connection);
	pthread_mutex_t lock; /* protects `ended`, and which readers are free */
	bool ended;
	struct web_feed_reader readers[WEB_STREAMS];
};

/* `resume` is a function that makes the HTTP server read from the connection again. */
void web_feed_init(struct web_feed *f, struct web_state *state, void (*resume)(void *connection));

/* Adds a reader. Only the thread of its connection may use it. `after` is the id of the last event
 * that the browser has, or NULL. Returns NULL if there are too many readers. */
struct web_feed_reader *web_feed_open(struct web_feed *f, void *connection, const char *after);
void web_feed_close(struct web_feed_reader *r);
void *web_feed_connection(const struct web_feed_reader *r);

enum web_feed_result { WEB_FEED_DATA, WEB_FEED_WAIT, WEB_FEED_END };

/* Copies the next bytes of the stream to `out` and their number to *bytes. */
enum web_feed_result web_feed_read(struct web_feed_reader *r, char *out, size_t space,
				   size_t *bytes);
/* Returns whether web_feed_read would return data or the end at once. */
bool web_feed_pending(struct web_feed_reader *r);

/* Resumes all connections, because there is an update. Any thread may call it. */
void web_feed_wake(struct web_feed *f);

/* Ends all streams. */
void web_feed_end(struct web_feed *f);

#endif
