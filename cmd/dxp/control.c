/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/control.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/config.h"

/* ns after an answer in which its channel is used again; the manager may end a silent channel after
 * FABRIC_CHANNEL_SILENT_NS */
#define CHANNEL_REUSE_NS (250 * MS_NS)

static int reason(struct control *q, int status, const char *text)
{
	snprintf(q->text, sizeof(q->text), "%s", text);
	return status;
}

int control_find(const struct dxp_fabric_options *fabric, struct control *q)
{
	struct config config;
	int status = config_resolve(fabric, &config);

	if (status != DXP_OK)
		return reason(q, status, dxp_fabric_error(NULL));
	if (!config.keyed) {
		keys_erase(&config, sizeof(config));
		return reason(q, DXP_EUNSUPPORTED,
			      "this fabric has a shared key only, and so no tokens; `dxp manager "
			      "init` starts one with tokens, `dxp join` joins one");
	}
	q->manager = config.manager;
	q->others = config.other_managers;
	memcpy(q->manager_key, config.identity.manager, sizeof(q->manager_key));
	memcpy(q->private_key, config.identity.private_key, sizeof(q->private_key));
	keys_erase(&config, sizeof(config));
	return DXP_OK;
}

static void exchange(struct channel *c, struct link *l)
{
	struct datagram_arrival arrivals[DATAGRAM_BATCH];

	while (!channel_done(c)) {
		struct datagram out;
		if (channel_send(c, &out, clock_now_ns()))
			link_send(l, &out, 1);
		if (channel_done(c))
			break;
		link_wait(l, channel_deadline(c));
		size_t count = link_receive(l, arrivals, DATAGRAM_BATCH);
		for (size_t i = 0; i < count; i++)
			channel_receive(c, &arrivals[i].from, arrivals[i].data, arrivals[i].bytes,
					clock_now_ns());
	}
}

static int channel_open(struct control *q, struct channel **out)
{
	struct channel_options options = {.manager = q->manager,
					  .others = q->others,
					  .token = q->token,
					  .request = q->request,
					  .entropy = rng_entropy_kernel};

	memcpy(options.manager_key, q->manager_key, sizeof(options.manager_key));
	memcpy(options.private_key, q->private_key, sizeof(options.private_key));
	int status = channel_create(&options, clock_now_ns(), out);
	keys_erase(&options, sizeof(options));
	if (status != DXP_OK)
		return reason(q, status, "the manager's key is unusable; copy the token again");
	return DXP_OK;
}

static int channel_run(struct control *q, struct link *link, struct channel **out)
{
	struct channel *c;
	int status = channel_open(q, &c);

	if (status != DXP_OK)
		return status;
	exchange(c, link);
	status = channel_status(c);
	if (status != DXP_OK) {
		reason(q, status, channel_text(c));
		channel_destroy(c);
		return status;
	}
	*out = c;
	return DXP_OK;
}

static int socket_open(struct control *q, struct link **out)
{
	struct link_options where = {0};
	char text[sizeof(q->text)] = "";

	log_divert(text, sizeof(text));
	int status = link_address_towards(&q->manager, &where.bind);
	if (status == DXP_OK)
		status = link_open(&where, out);
	log_divert(NULL, 0);
	if (status != DXP_OK)
		return reason(q, status, text[0] ? text : "cannot open a UDP socket");
	return DXP_OK;
}

int control_run(struct control *q, struct channel **out)
{
	struct link *link;
	int status = socket_open(q, &link);

	if (status != DXP_OK)
		return status;
	status = channel_run(q, link, out);
	link_close(link);
	return status;
}

void control_close(struct control *q)
{
	channel_destroy(q->channel);
	if (q->link)
		link_close(q->link);
	q->channel = NULL;
	q->link = NULL;
}

int control_request(struct control *q)
{
	int status = DXP_OK;

	if (q->channel && (!channel_answered(q->channel) ||
			   clock_now_ns() >= q->answered_ns + CHANNEL_REUSE_NS)) {
		channel_destroy(q->channel);
		q->channel = NULL;
	}
	if (!q->link)
		status = socket_open(q, &q->link);
	if (status == DXP_OK && q->channel)
		channel_again(q->channel, &q->request, clock_now_ns());
	else if (status == DXP_OK)
		status = channel_open(q, &q->channel);
	if (status != DXP_OK)
		return status;
	exchange(q->channel, q->link);
	q->answered_ns = clock_now_ns();
	return reason(q, channel_status(q->channel), channel_text(q->channel));
}
