/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/feed.h"

#include <string.h>

void web_feed_init(struct web_feed *f, struct web_state *state, void (*resume)(void *connection))
{
	*f = (struct web_feed){.state = state, .resume = resume};
	pthread_mutex_init(&f->lock, NULL);
}

struct web_feed_reader *web_feed_open(struct web_feed *f, void *connection, const char *after)
{
	struct web_stream stream;
	struct web_feed_reader *r = NULL;

	web_stream_begin(&stream, f->state, after);
	pthread_mutex_lock(&f->lock);
	for (unsigned i = 0; i < WEB_STREAMS && !r; i++)
		if (!f->readers[i].connection)
			r = &f->readers[i];
	if (r)
		*r = (struct web_feed_reader){
			.feed = f, .connection = connection, .stream = stream};
	pthread_mutex_unlock(&f->lock);
	return r;
}

void web_feed_close(struct web_feed_reader *r)
{
	struct web_feed *f = r->feed;

	web_text_release(r->text);
	pthread_mutex_lock(&f->lock);
	r->connection = NULL;
	pthread_mutex_unlock(&f->lock);
}

void *web_feed_connection(const struct web_feed_reader *r)
{
	return r->connection;
}

static bool ended(struct web_feed *f)
{
	pthread_mutex_lock(&f->lock);
	bool value = f->ended;
	pthread_mutex_unlock(&f->lock);
	return value;
}

enum web_feed_result web_feed_read(struct web_feed_reader *r, char *out, size_t space,
				   size_t *bytes)
{
	if (ended(r->feed))
		return WEB_FEED_END;
	if (!r->text) {
		r->text = web_stream_next(&r->stream, r->feed->state);
		r->sent = 0;
	}
	if (!r->text)
		return WEB_FEED_WAIT;
	const size_t left = r->text->bytes - r->sent;
	*bytes = left < space ? left : space;
	memcpy(out, r->text->data + r->sent, *bytes);
	r->sent += *bytes;
	if (r->sent == r->text->bytes) {
		web_text_release(r->text);
		r->text = NULL;
	}
	return WEB_FEED_DATA;
}

bool web_feed_pending(struct web_feed_reader *r)
{
	return ended(r->feed) || web_state_sequence(r->feed->state) != r->stream.sequence;
}

void web_feed_wake(struct web_feed *f)
{
	pthread_mutex_lock(&f->lock);
	for (unsigned i = 0; i < WEB_STREAMS; i++)
		if (f->readers[i].connection)
			f->resume(f->readers[i].connection);
	pthread_mutex_unlock(&f->lock);
}

void web_feed_end(struct web_feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->ended = true;
	pthread_mutex_unlock(&f->lock);
	web_feed_wake(f);
}
