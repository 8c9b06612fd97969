/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/inquiry.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/config.h"

static void exchange(struct ask *a, struct link *l)
{
	struct datagram_arrival arrivals[DATAGRAM_BATCH];

	while (!ask_done(a)) {
		struct datagram out;
		if (ask_send(a, &out, clock_now_ns()))
			link_send(l, &out, 1);
		if (ask_done(a))
			break;
		link_wait(l, ask_deadline(a));
		size_t count = link_receive(l, arrivals, DATAGRAM_BATCH);
		for (size_t i = 0; i < count; i++)
			ask_receive(a, &arrivals[i].from, arrivals[i].data, arrivals[i].bytes,
				    clock_now_ns());
	}
}

static int why(struct inquiry *q, int status, const char *text)
{
	snprintf(q->text, sizeof(q->text), "%s", text);
	return status;
}

static int question(struct inquiry *q, const struct config *config, struct link *link,
		    struct ask **out)
{
	struct ask_options options = {.manager = config->manager,
				      .kind = q->kind,
				      .host = q->host,
				      .xpu = q->xpu,
				      .timeout_ns = q->timeout_ns,
				      .entropy = entropy_kernel};
	struct ask *a;

	memcpy(options.key, config->key, sizeof(options.key));
	int status = ask_create(&options, clock_now_ns(), &a);
	if (status != DXP_OK)
		return why(q, status,
			   status == DXP_EINVAL
				   ? "a node's name is 1 to 31 of A-Z a-z 0-9 . _ -, or '*'"
				   : dxp_status_text(status));
	exchange(a, link);
	status = ask_status(a);
	if (status != DXP_OK) {
		why(q, status, ask_text(a));
		ask_destroy(a);
		return status;
	}
	*out = a;
	return DXP_OK;
}

int inquiry_run(struct inquiry *q, struct ask **out)
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
