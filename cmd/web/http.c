/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "cmd/web/connections.h"
#include "cmd/web/feed.h"
#include "cmd/web/poller.h"
#include "link/sockaddr.h"

struct web_http {
	struct web_http_options options;
	struct MHD_Daemon *daemon;
	struct web_connections connections;
	struct web_feed feed;
	struct web_poller *expiry;
};

/* ---- answers ---- */

static void headers_add(struct MHD_Response *r, const struct web_answer *a)
{
	static const char *const fixed[][2] = {
		{"Content-Security-Policy",
		 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
		 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
		 "'none'"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cache-Control", "no-store"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(fixed); i++)
		MHD_add_response_header(r, fixed[i][0], fixed[i][1]);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
	if (a->location)
		MHD_add_response_header(r, MHD_HTTP_HEADER_LOCATION, a->location);
	if (a->cookie[0])
		MHD_add_response_header(r, MHD_HTTP_HEADER_SET_COOKIE, a->cookie);
	if (a->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (a->status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "1");
}

static void text_release(void *text)
{
	web_text_release(text);
}

/* The cast removes `const`: libmicrohttpd requires a pointer to writable memory but only reads
 * it. */
static struct MHD_Response *response_create(struct web_answer *a)
{
	if (a->text)
		return MHD_create_response_from_buffer_with_free_callback_cls(
			a->text->bytes, a->text->data, text_release, a->text);
	const char *data = a->page ? a->page->data : "";
	return MHD_create_response_from_buffer(strlen(data), (void *)(uintptr_t)data,
					       MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer_send(struct MHD_Connection *c, struct web_answer *a)
{
	struct MHD_Response *r = response_create(a);

	if (!r) {
		web_text_release(a->text);
		return MHD_NO;
	}
	headers_add(r, a);
	enum MHD_Result result = MHD_queue_response(c, a->status, r);
	MHD_destroy_response(r);
	return result;
}

/* ---- streams ---- */

static ssize_t stream_read(void *context, uint64_t position, char *buffer, size_t space)
{
	struct web_feed_reader *reader = context;
	size_t bytes = 0;

	switch (web_feed_read(reader, buffer, space, &bytes)) {
	case WEB_FEED_DATA: return (ssize_t)bytes;
	case WEB_FEED_END: return MHD_CONTENT_READER_END_OF_STREAM;
	default: break;
	}
	MHD_suspend_connection(web_feed_connection(reader));
	/* If an update arrived between web_feed_read and the suspension, the connection is resumed
	 * at once. */
	if (web_feed_pending(reader))
		MHD_resume_connection(web_feed_connection(reader));
	return 0;
}

static void stream_free(void *context)
{
	web_feed_close(context);
}

static void stream_resume(void *connection)
{
	MHD_resume_connection(connection);
}

static enum MHD_Result stream_send(struct web_http *h, struct MHD_Connection *c,
				   struct web_answer *a)
{
	const char *after = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Last-Event-ID");
	struct web_feed_reader *reader = web_feed_open(&h->feed, c, after);

	if (!reader) {
		web_api_fail(a, MHD_HTTP_SERVICE_UNAVAILABLE,
			     "too many streams; close some browser tabs, or read /api/v1/overview");
		return answer_send(c, a);
	}
	struct MHD_Response *r = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, WEB_CONNECTION_BYTES / 2, stream_read, reader, stream_free);
	if (!r) {
		web_feed_close(reader);
		return MHD_NO;
	}
	headers_add(r, a);
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	if (info && info->socket_context)
		web_connections_stream(&h->connections, info->socket_context);
	enum MHD_Result result = MHD_queue_response(c, a->status, r);
	MHD_destroy_response(r);
	return result;
}

/* ---- requests ---- */

static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_bytes, void **request)
{
	struct web_http *h = context;
	const struct web_request r = {
		.method = method,
		.path = url,
		.host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host"),
		.authorization = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization"),
		.session = MHD_lookup_connection_value(c, MHD_COOKIE_KIND, WEB_COOKIE),
		.token = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token"),
		.after = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "after"),
	};
	struct web_answer a;

	/* The body of a request is never read: the server sends the answer and closes the
	 * connection. */
	web_api_answer(h->options.api, &r, web_poller_time_ms() / 1000, clock_now_ns(), &a);
	log_debug("%s %s: %u", method, url, a.status);
	if (a.stream && strcmp(method, "GET") == 0)
		return stream_send(h, c, &a);
	return answer_send(c, &a);
}

/* Disables the decoding of %XX in URLs. Names and numbers of the API need no escapes. */
static size_t unescape(void *context, struct MHD_Connection *c, char *text)
{
	return strlen(text);
}

static void connection_notify(void *context, struct MHD_Connection *c, void **row,
			      enum MHD_ConnectionNotificationCode code)
{
	struct web_http *h = context;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
		*row = info ? web_connections_open(&h->connections, info->connect_fd,
						   clock_now_ns())
			    : NULL;
	} else if (*row) {
		web_connections_close(&h->connections, *row);
	}
}

static void request_completed(void *context, struct MHD_Connection *c, void **request,
			      enum MHD_RequestTerminationCode code)
{
	struct web_http *h = context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (info && info->socket_context)
		web_connections_next(&h->connections, info->socket_context, clock_now_ns());
}

static void log_text(void *context, const char *format, va_list arguments)
{
	char text[256];

	vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = '\0';
	log_info("http: %s", text);
}

/* ---- start and stop ---- */

static void expire(void *context)
{
	struct web_http *h = context;
	const unsigned ended = web_connections_expire(&h->connections, clock_now_ns());

	if (ended)
		log_info("ended %u connections: not complete in %d s", ended, WEB_REQUEST_S);
}

static void news(void *context)
{
	web_feed_wake(context);
}

static struct MHD_Daemon *daemon_start(struct web_http *h, const struct sockaddr *listen)
{
	const struct web_http_options *o = &h->options;
	unsigned flags =
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)o->certificate},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->certificate_key},
		{MHD_OPTION_END, 0, NULL},
	};

	if (o->certificate)
		flags |= MHD_USE_TLS;
	else
		tls[0].option = MHD_OPTION_END;
	if (listen->sa_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	return MHD_start_daemon(flags, 0, NULL, NULL, handle, h, MHD_OPTION_EXTERNAL_LOGGER,
				log_text, NULL, MHD_OPTION_ARRAY, tls, MHD_OPTION_SOCK_ADDR, listen,
				MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_CONNECTIONS,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)WEB_CONNECTION_BYTES,
				MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)WEB_IDLE_S,
				MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL,
				MHD_OPTION_NOTIFY_CONNECTION, connection_notify, h,
				MHD_OPTION_NOTIFY_COMPLETED, request_completed, h, MHD_OPTION_END);
}

static int listen_fail(const struct udp_address *address)
{
	char text[UDP_ADDRESS_TEXT_BYTES];
	const int why = errno;

	address_format(address, text);
	if (why == EADDRINUSE) {
		log_error("%s is in use; choose another --listen", text);
		return DXP_EBUSY;
	}
	log_error("cannot listen on %s: %s; check --listen, and the certificate if there is one",
		  text, why ? strerror(why) : "TLS failed");
	return DXP_EIO;
}

int web_http_start(const struct web_http_options *options, struct web_http **out)
{
	const int family = sockaddr_is_v4(&options->listen) ? AF_INET : AF_INET6;
	struct web_http *h = calloc(1, sizeof(*h));
	union link_sockaddr listen;

	if (!h)
		return DXP_ENOMEM;
	h->options = *options;
	web_connections_init(&h->connections);
	web_feed_init(&h->feed, options->state, stream_resume);
	sockaddr_from_wire(&options->listen, family, &listen);
	errno = 0;
	h->daemon = daemon_start(h, &listen.any);
	int status = h->daemon ? DXP_OK : listen_fail(&options->listen);
	if (status == DXP_OK)
		status = web_poller_start(expire, h, 1000, &h->expiry);
	if (status != DXP_OK) {
		web_http_stop(h);
		return status;
	}
	web_state_on_news(options->state, news, &h->feed);
	*out = h;
	return DXP_OK;
}

void web_http_stop(struct web_http *h)
{
	if (!h)
		return;
	web_state_on_news(h->options.state, NULL, NULL);
	web_poller_stop(h->expiry);
	web_feed_end(&h->feed);
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	free(h);
}

uint16_t web_http_port(const struct web_http *h)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info ? info->port : 0;
}
