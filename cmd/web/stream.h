/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a stream of server-sent events: an update after each reading of the nodes. */
#ifndef CMD_WEB_STREAM_H
#define CMD_WEB_STREAM_H

#include "cmd/web/state.h"

/* Position of a browser in the updates and events. */
struct web_stream {
	uint64_t sequence; /* number of the snapshot in the last update; 0: none */
	uint64_t event;    /* id of the last event in an update */
};

/* Begins after the event with the id `after`. If `after` is NULL or invalid, begins after the
 * newest event. */
void web_stream_begin(struct web_stream *s, struct web_state *w, const char *after);

/* Returns the next update. Returns NULL if there is none yet, or if out of memory. */
struct web_text *web_stream_next(struct web_stream *s, struct web_state *w);

#endif
