/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of server-sent events to browsers: at most WEB_STREAMS. Each holds at most one update; a
 * browser that does not read misses later ones, and its next update has the newest state. */
#ifndef CMD_WEB_FEED_H
#define CMD_WEB_FEED_H

#include <pthread.h>
#include <stdbool.h>

#include "cmd/web/limits.h"
#include "cmd/web/stream.h"

struct web_feed;

struct web_feed_reader {
	struct web_feed *feed;
	void *connection; /* NULL: free */
	struct web_stream stream;
	struct web_text *text; /* the update that is being sent, or NULL */
	size_t sent;           /* bytes of it */
};

struct web_feed {
	struct web_state *state;
	void (*resume)(void *connection);
	pthread_mutex_t lock; /* `ended`, and which readers are free */
	bool ended;
	struct web_feed_reader readers[WEB_STREAMS];
};

/* `resume`: has the connection read again. */
void web_feed_init(struct web_feed *f, struct web_state *state, void (*resume)(void *connection));

/* Adds a reader, which only the thread of its connection uses. NULL: too many. `after`: id of the
 * last event that the browser has, or NULL. */
struct web_feed_reader *web_feed_open(struct web_feed *f, void *connection, const char *after);
void web_feed_close(struct web_feed_reader *r);
void *web_feed_connection(const struct web_feed_reader *r);

enum web_feed_result { WEB_FEED_DATA, WEB_FEED_WAIT, WEB_FEED_END };

/* Copies the next bytes. */
enum web_feed_result web_feed_read(struct web_feed_reader *r, char *out, size_t space,
				   size_t *bytes);
/* Returns whether web_feed_read would not wait. */
bool web_feed_pending(struct web_feed_reader *r);

/* Resumes all connections: there is an update. Any thread. */
void web_feed_wake(struct web_feed *f);

/* Ends all streams. */
void web_feed_end(struct web_feed *f);

#endif
