/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on a stream of bytes: a PUT is answered by one byte, a GET is requested by one byte.
 * Counts bytes; contenders over TCP move them. */
#ifndef BENCH_PEER_STREAM_H
#define BENCH_PEER_STREAM_H

#include <unistd.h>

#include "bench/peer.h"

struct peer_stream {
	/* bytes per operation: sent and received by this end */
	uint64_t out_bytes, in_bytes;
	uint64_t owed, sent; /* total bytes to send; sent so far */
	uint64_t received;   /* bytes received in total */
	uint64_t in_ended;   /* operations received completely */
};

static inline void peer_stream_open(struct peer_stream *s, const struct peer_end *e)
{
	const uint64_t bytes = e->work->bytes;
	const uint64_t there = e->work->op == WORK_GET ? 1 : bytes;
	const uint64_t back = e->work->op == WORK_PUT ? 1 : e->work->op == WORK_MESSAGE ? 0 : bytes;

	s->out_bytes = e->far ? back : there;
	s->in_bytes = e->far ? there : back;
}

static inline void peer_stream_post(struct peer_stream *s)
{
	s->owed += s->out_bytes;
}

/* Returns the operations received since the last call. */
static inline uint64_t peer_stream_ended(struct peer_stream *s)
{
	const uint64_t all = s->in_bytes ? s->received / s->in_bytes : s->sent / s->out_bytes;
	const uint64_t ended = all - s->in_ended;

	s->in_ended = all;
	return ended;
}

/* Far end: answers the operations that `status`, the result of a poll, has received. Exits if it is
 * a failure. */
static inline void peer_stream_serve(struct peer_stream *s, const struct peer_end *e, int status)
{
	if (status < 0)
		_exit(0);
	s->owed += (uint64_t)status * s->out_bytes;
	if (status > 0 && e->work->op == WORK_MESSAGE)
		e->tally->counted += (uint64_t)status;
}

#endif
