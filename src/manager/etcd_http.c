/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport to etcd by libcurl. One handle keeps the connections open. */
#include "manager/etcd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"

#define CONNECT_MS  300L
#define ANSWER_MAX  (16u << 20) /* bytes; a page of rows is far smaller */
#define ANSWER_STEP 65536u

struct http {
	CURL *curl;
	struct curl_slist *headers;
	char *urls[ETCD_ENDPOINTS_MAX];
	char error[CURL_ERROR_SIZE];
};

struct body {
	char *text;
	size_t bytes, space;
};

/* libcurl's callback: appends a part of the answer. Returning 0 ends the transfer. */
static size_t body_append(char *data, size_t size, size_t count, void *context)
{
	struct body *b = context;
	const size_t bytes = size * count;

	if (bytes > ANSWER_MAX - b->bytes)
		return 0;
	if (b->bytes + bytes > b->space) {
		const size_t space = b->bytes + bytes + ANSWER_STEP;
		char *text = realloc(b->text, space);
		if (!text)
			return 0;
		b->text = text;
		b->space = space;
	}
	memcpy(b->text + b->bytes, data, bytes);
	b->bytes += bytes;
	return bytes;
}

static int http_post(void *context, unsigned endpoint, const char *path, const char *body,
		     char **answer, size_t *bytes, char reason[ETCD_ERROR_BYTES])
{
	struct http *h = context;
	struct body got = {0};
	char url[ETCD_HOST_BYTES + 64];

	snprintf(url, sizeof(url), "%s%s", h->urls[endpoint], path);
	h->error[0] = '\0';
	curl_easy_setopt(h->curl, CURLOPT_URL, url);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
	curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &got);
	const CURLcode code = curl_easy_perform(h->curl);
	if (code == CURLE_OK && got.text) {
		*answer = got.text;
		*bytes = got.bytes;
		return DXP_OK;
	}
	snprintf(reason, ETCD_ERROR_BYTES, "%.*s", ETCD_ERROR_BYTES - 1,
		 code == CURLE_OK ? "an empty answer"
		 : *h->error      ? h->error
				  : curl_easy_strerror(code));
	free(got.text);
	return DXP_EIO;
}

static uint64_t http_now(void *context)
{
	return clock_boot_ns();
}

static void http_pause(void *context, unsigned ms)
{
	usleep(ms * 1000);
}

static void http_close(void *context)
{
	struct http *h = context;

	for (unsigned i = 0; i < ETCD_ENDPOINTS_MAX; i++)
		free(h->urls[i]);
	curl_slist_free_all(h->headers);
	if (h->curl)
		curl_easy_cleanup(h->curl);
	free(h);
}

/* Sets the options that all requests share. Returns false if libcurl rejects a file or lacks a
 * feature. */
static bool handle_set(struct http *h, const struct etcd_tls *tls)
{
	CURL *c = h->curl;
	bool good = curl_easy_setopt(c, CURLOPT_HTTPHEADER, h->headers) == CURLE_OK &&
		    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, body_append) == CURLE_OK &&
		    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, h->error) == CURLE_OK &&
		    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
		    curl_easy_setopt(c, CURLOPT_PROXY, "") == CURLE_OK &&
		    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
		    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS) == CURLE_OK &&
		    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)ETCD_ATTEMPT_MS) == CURLE_OK;

	if (good && tls->ca)
		good = curl_easy_setopt(c, CURLOPT_CAINFO, tls->ca) == CURLE_OK;
	if (good && tls->certificate)
		good = curl_easy_setopt(c, CURLOPT_SSLCERT, tls->certificate) == CURLE_OK;
	if (good && tls->key)
		good = curl_easy_setopt(c, CURLOPT_SSLKEY, tls->key) == CURLE_OK;
	return good;
}

/* Appends a header. Returns false if memory is short; the list then stays as it was. */
static bool header_add(struct http *h, const char *text)
{
	struct curl_slist *list = curl_slist_append(h->headers, text);

	if (list)
		h->headers = list;
	return list != NULL;
}

int etcd_http_open(const struct etcd_place *place, const struct etcd_tls *tls,
		   struct etcd_transport *out)
{
	struct http *h = calloc(1, sizeof(*h));

	if (!h)
		return DXP_ENOMEM;
	/* With "Expect:" without a value, libcurl does not wait for permission to send a body. */
	bool good = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK &&
		    header_add(h, "Content-Type: application/json") && header_add(h, "Expect:");
	for (unsigned i = 0; good && i < place->count; i++)
		good = asprintf(&h->urls[i], "%s://%s", place->tls ? "https" : "http",
				place->endpoints[i]) > 0;
	h->curl = good ? curl_easy_init() : NULL;
	if (!h->curl || !handle_set(h, tls)) {
		log_error("libcurl cannot be used for etcd; install Debian's libcurl4");
		http_close(h);
		return DXP_EIO;
	}
	*out = (struct etcd_transport){.post = http_post,
				       .now_ns = http_now,
				       .pause = http_pause,
				       .close = http_close,
				       .context = h};
	return DXP_OK;
}
