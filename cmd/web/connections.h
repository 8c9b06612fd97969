/* SPDX-License-Identifier: BSD-3-Clause */
/* Time limits of connections. libmicrohttpd ends a connection without a byte for WEB_IDLE_S; here,
 * also one whose request or answer proceeds byte by byte and is not complete in WEB_REQUEST_S. */
#ifndef CMD_WEB_CONNECTIONS_H
#define CMD_WEB_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/web/limits.h"

struct web_connection {
	bool open;
	int fd;
	uint64_t until_ns; /* UINT64_MAX: a stream, without limit */
};

struct web_connections {
	pthread_mutex_t lock; /* rows */
	struct web_connection rows[WEB_CONNECTIONS];
};

void web_connections_init(struct web_connections *c);

/* Returns the row of a new connection, or NULL: no space. */
struct web_connection *web_connections_open(struct web_connections *c, int fd, uint64_t now_ns);
void web_connections_close(struct web_connections *c, struct web_connection *row);

/* Starts the time limit again: the next request may begin. */
void web_connections_next(struct web_connections *c, struct web_connection *row, uint64_t now_ns);
/* Removes the time limit. */
void web_connections_stream(struct web_connections *c, struct web_connection *row);

/* Ends connections that are past their limit; returns their number. */
unsigned web_connections_expire(struct web_connections *c, uint64_t now_ns);

#endif
