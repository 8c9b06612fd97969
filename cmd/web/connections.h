/* SPDX-License-Identifier: BSD-3-Clause */
/* Time limits of connections. libmicrohttpd closes a connection after WEB_IDLE_S without a byte.
 * This code also closes a connection if a request or its answer is not complete in WEB_REQUEST_S,
 * even if single bytes arrive. */
#ifndef CMD_WEB_CONNECTIONS_H
#define CMD_WEB_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/web/limits.h"

struct web_connection {
	bool open;
	int fd;
	uint64_t until_ns; /* UINT64_MAX: a stream of events, without time limit */
};

struct web_connections {
	pthread_mutex_t lock; /* protects all rows */
	struct web_connection rows[WEB_CONNECTIONS];
};

void web_connections_init(struct web_connections *c);

/* Returns the row of a new connection, or NULL if all rows are used. */
struct web_connection *web_connections_open(struct web_connections *c, int fd, uint64_t now_ns);
void web_connections_close(struct web_connections *c, struct web_connection *row);

/* Starts the time limit again, because the next request may begin. */
void web_connections_next(struct web_connections *c, struct web_connection *row, uint64_t now_ns);
/* Removes the time limit of a connection that becomes a stream of events. */
void web_connections_stream(struct web_connections *c, struct web_connection *row);

/* Closes connections that are past their limit; returns their number. */
unsigned web_connections_expire(struct web_connections *c, uint64_t now_ns);

#endif
