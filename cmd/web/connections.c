/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/connections.h"

#include <sys/socket.h>

#include "base/util.h"

#define LIMIT_NS (WEB_REQUEST_S * S_NS)

void web_connections_init(struct web_connections *c)
{
	*c = (struct web_connections){0};
	pthread_mutex_init(&c->lock, NULL);
}

struct web_connection *web_connections_open(struct web_connections *c, int fd, uint64_t now_ns)
{
	struct web_connection *row = NULL;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < WEB_CONNECTIONS && !row; i++)
		if (!c->rows[i].open)
			row = &c->rows[i];
	if (row)
		*row = (struct web_connection){
			.open = true, .fd = fd, .until_ns = now_ns + LIMIT_NS};
	pthread_mutex_unlock(&c->lock);
	return row;
}

void web_connections_close(struct web_connections *c, struct web_connection *row)
{
	pthread_mutex_lock(&c->lock);
	row->open = false;
	pthread_mutex_unlock(&c->lock);
}

static void until_set(struct web_connections *c, struct web_connection *row, uint64_t until_ns)
{
	pthread_mutex_lock(&c->lock);
	row->until_ns = until_ns;
	pthread_mutex_unlock(&c->lock);
}

void web_connections_next(struct web_connections *c, struct web_connection *row, uint64_t now_ns)
{
	until_set(c, row, now_ns + LIMIT_NS);
}

void web_connections_stream(struct web_connections *c, struct web_connection *row)
{
	until_set(c, row, UINT64_MAX);
}

/* Shuts the socket down but does not close it: the server closes it after it has removed the row.
 * So the descriptor stays valid while the row is open. */
unsigned web_connections_expire(struct web_connections *c, uint64_t now_ns)
{
	unsigned ended = 0;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < WEB_CONNECTIONS; i++) {
		struct web_connection *row = &c->rows[i];
		if (!row->open || row->until_ns > now_ns)
			continue;
		shutdown(row->fd, SHUT_RDWR);
		row->until_ns = UINT64_MAX;
		ended++;
	}
	pthread_mutex_unlock(&c->lock);
	return ended;
}
