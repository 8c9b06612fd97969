/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/inquiry.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/config.h"

static void exchange(struct query *a, struct link *l)
{
	struct datagram_arrival arrivals[DATAGRAM_BATCH];

	while (!query_done(a)) {
		struct datagram out;
		if (query_send(a, &out, clock_now_ns()))
			link_send(l, &out, 1);
		if (query_done(a))
			break;
		link_wait(l, query_deadline(a));
		size_t count = link_receive(l, arrivals, DATAGRAM_BATCH);
		for (size_t i = 0; i < count; i++)
			query_receive(a, &arrivals[i].from, arrivals[i].data, arrivals[i].bytes,
				      clock_now_ns());
	}
}

static int why(struct inquiry *q, int status, const char *text)
{
	snprintf(q->text, sizeof(q->text), "%s", text);
	return status;
}

static int question(struct inquiry *q, const struct config *config, struct link *link,
		    struct query **out)
{
	struct query_options options = {.manager = config->manager,
					.others = config->other_managers,
					.identity = config->keyed ? &config->identity : NULL,
					.kind = q->kind,
					.host = q->host,
					.xpu = q->xpu,
					.events = q->events,
					.timeout_ns = q->timeout_ns,
					.entropy = rng_entropy_kernel};
	struct query *a;

	memcpy(options.key, config->key, sizeof(options.key));
	int status = query_create(&options, clock_now_ns(), &a);
	if (status != DXP_OK)
		return why(q, status,
			   status == DXP_EINVAL
				   ? "a node's name is 1 to 31 of A-Z a-z 0-9 . _ -, or '*'"
				   : dxp_status_text(status));
	exchange(a, link);
	status = query_status(a);
	if (status != DXP_OK) {
		why(q, status, query_text(a));
		query_destroy(a);
		return status;
	}
	*out = a;
	return DXP_OK;
}

int inquiry_run(struct inquiry *q, struct query **out)
{
	struct config config;
	struct link *link;
	int status = config_resolve(q->fabric, &config);

	if (status != DXP_OK)
		return why(q, status, dxp_fabric_error(NULL));
	const struct link_options where = {.bind = config.bind};
	char text[sizeof(q->text)];
	log_divert(text, sizeof(text));
	status = link_open(&where, &link);
	log_divert(NULL, 0);
	if (status != DXP_OK)
		return why(q, status, text[0] ? text : "cannot open a UDP socket");
	status = question(q, &config, link, out);
	link_close(link);
	return status;
}
