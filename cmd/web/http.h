/* SPDX-License-Identifier: BSD-3-Clause */
/* The HTTP server: libmicrohttpd around api.h. One thread serves all connections. */
#ifndef CMD_WEB_HTTP_H
#define CMD_WEB_HTTP_H

#include "base/address.h"
#include "cmd/web/api.h"

struct web_http_options {
	struct udp_address listen;
	struct web_api *api;
	struct web_state *state;
	const char *certificate, *certificate_key; /* PEM texts; NULL: without TLS */
};

struct web_http;

/* Starts serving. Logs errors and returns DXP_EBUSY if the address is in use, DXP_EIO or
 * DXP_ENOMEM. */
int web_http_start(const struct web_http_options *options, struct web_http **out);

/* Closes all connections and stops the thread. Accepts NULL. */
void web_http_stop(struct web_http *h);

uint16_t web_http_port(const struct web_http *h);

#endif
