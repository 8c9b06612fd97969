/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX over the transports that the variant names, by tagged messages. A module, as
 * peer_libfabric.c. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <ucp/api/ucp.h>

#include <dxp/status.h>

#include "bench/peer.h"

#define ADDRESS_BYTES   4096
#define PLACE_BYTES_MIN 4096
#define ANSWER_BYTES    8
#define TAG             7
#define TAG_MASK        UINT64_MAX

struct ucx_end {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
	uint8_t *place;
	uint64_t place_bytes;
	size_t out_bytes, in_bytes; /* of one operation; 0: no such message */
	uint64_t received, sent;
	uint64_t counted; /* operations reported */
	uint32_t outstanding;
	uint64_t owed; /* far: answers not sent yet */
	bool failed;
	ucs_status_ptr_t receives[WORK_DEPTH_MAX];
	uint32_t receive_count;
};

static int complain(const char *what, ucs_status_t status)
{
	fprintf(stderr, "dxp bench: UCX %s: %s\n", what, ucs_status_string(status));
	return DXP_EIO;
}

/* The interface that has this address: UCX wants its name. */
static bool interface_name(const struct wire_address *a, char *name, size_t bytes)
{
	struct ifaddrs *all = NULL;
	bool found = false;

	if (getifaddrs(&all) != 0)
		return false;
	for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
		struct sockaddr_in in;
		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET)
			continue;
		memcpy(&in, i->ifa_addr, sizeof(in));
		found = memcmp(&in.sin_addr, a->ip + 12, 4) == 0;
		if (found)
			snprintf(name, bytes, "%s", i->ifa_name);
	}
	freeifaddrs(all);
	return found;
}

static ucs_status_t worker_open(const struct peer_end *e, struct ucx_end *u)
{
	ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
	ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
				      .thread_mode = UCS_THREAD_MODE_SINGLE};
	ucp_config_t *config;
	char interface[64];

	bool network = strcmp(e->variant, "shm") != 0;
	if (network &&
	    !interface_name(e->far ? &e->ends->far : &e->ends->near, interface, sizeof(interface)))
		return UCS_ERR_NO_DEVICE;
	ucs_status_t status = ucp_config_read(NULL, NULL, &config);
	if (status != UCS_OK)
		return status;
	ucp_config_modify(config, "TLS", e->variant);
	if (network)
		ucp_config_modify(config, "NET_DEVICES", interface);
	status = ucp_init(&params, config, &u->context);
	ucp_config_release(config);
	return status == UCS_OK ? ucp_worker_create(u->context, &worker, &u->worker) : status;
}

static ucs_status_t meet(struct peer_end *e, struct ucx_end *u)
{
	struct {
		uint64_t bytes;
		uint8_t address[ADDRESS_BYTES];
	} mine = {0}, theirs;
	ucp_address_t *address;
	size_t bytes;
	ucs_status_t status = ucp_worker_get_address(u->worker, &address, &bytes);

	if (status != UCS_OK)
		return status;
	if (bytes > sizeof(mine.address))
		return UCS_ERR_BUFFER_TOO_SMALL;
	mine.bytes = bytes;
	memcpy(mine.address, address, bytes);
	ucp_worker_release_address(u->worker, address);
	if (!control_write(e->control, &mine, sizeof(mine)) ||
	    !control_read(e->control, &theirs, sizeof(theirs)))
		return UCS_ERR_IO_ERROR;
	const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
					.address = (const ucp_address_t *)(void *)theirs.address};
	return ucp_ep_create(u->worker, &params, &u->ep);
}

/* Messages of both directions share it; the short ones are 8 bytes. */
static uint64_t place_bytes(const struct work *w)
{
	uint64_t bytes = work_place_bytes(w);

	return bytes > PLACE_BYTES_MIN ? bytes : PLACE_BYTES_MIN;
}

static uint8_t *place_of(const struct ucx_end *u, size_t bytes, uint64_t turn)
{
	return u->place + (bytes > 0 ? turn % (u->place_bytes / bytes) * bytes : 0);
}

static void receive_start(struct ucx_end *u, uint32_t i)
{
	const ucp_request_param_t params = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL};

	u->receives[i] = ucp_tag_recv_nbx(u->worker, place_of(u, u->in_bytes, i), u->in_bytes, TAG,
					  TAG_MASK, &params);
	u->failed |= UCS_PTR_IS_ERR(u->receives[i]);
}

/* Receives end in the order in which they were posted, as messages of one tag match in order; so
 * only the oldest is looked at. */
static void receives_take(struct ucx_end *u)
{
	while (!u->failed && u->receive_count > 0) {
		uint32_t i = (uint32_t)(u->received % u->receive_count);
		ucs_status_t status = ucp_request_check_status(u->receives[i]);
		if (status == UCS_INPROGRESS)
			return;
		ucp_request_free(u->receives[i]);
		if (status != UCS_OK) {
			complain("receive", status);
			u->failed = true;
			return;
		}
		u->received++;
		receive_start(u, i);
	}
}

static void send_ended(void *request, ucs_status_t status, void *context)
{
	struct ucx_end *u = context;

	u->failed |= status != UCS_OK;
	u->sent++;
	u->outstanding--;
	ucp_request_free(request);
}

static bool message_send(struct ucx_end *u)
{
	const ucp_request_param_t params = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
							    UCP_OP_ATTR_FIELD_USER_DATA,
					    .cb.send = send_ended,
					    .user_data = u};

	if (u->outstanding >= WORK_DEPTH_MAX)
		return false;
	ucs_status_ptr_t request =
		ucp_tag_send_nbx(u->ep, place_of(u, u->out_bytes, u->sent + u->outstanding),
				 u->out_bytes, TAG, &params);
	if (!request)
		u->sent++; /* at once */
	else if (UCS_PTR_IS_ERR(request))
		u->failed = true;
	else
		u->outstanding++;
	return !u->failed;
}

static int ucx_open(struct peer_end *e)
{
	struct ucx_end *u = calloc(1, sizeof(*u));
	size_t bytes = e->work->bytes;

	e->state = u;
	if (!u)
		return DXP_ENOMEM;
	u->place_bytes = place_bytes(e->work);
	u->place = mmap(NULL, u->place_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (u->place == MAP_FAILED)
		return DXP_ENOMEM;
	size_t there = e->work->op == WORK_GET ? ANSWER_BYTES : bytes;
	size_t back = e->work->op == WORK_PUT       ? ANSWER_BYTES
		      : e->work->op == WORK_MESSAGE ? 0
						    : bytes;
	u->out_bytes = e->far ? back : there;
	u->in_bytes = e->far ? there : back;
	ucs_status_t status = worker_open(e, u);
	if (status == UCS_OK)
		status = meet(e, u);
	if (status != UCS_OK)
		return complain(e->variant, status);
	if (u->in_bytes > 0)
		u->receive_count = e->work->op == WORK_MESSAGE ? WORK_DEPTH_MAX : e->work->depth;
	for (uint32_t i = 0; i < u->receive_count; i++)
		receive_start(u, i);
	return u->failed ? DXP_EIO : DXP_OK;
}

static int ucx_post(struct peer_end *e)
{
	struct ucx_end *u = e->state;

	if (message_send(u))
		return DXP_OK;
	return u->failed ? complain("send", UCS_ERR_IO_ERROR) : DXP_EAGAIN;
}

static int ucx_poll(struct peer_end *e)
{
	struct ucx_end *u = e->state;

	ucp_worker_progress(u->worker);
	receives_take(u);
	if (u->failed)
		return DXP_EIO;
	uint64_t all = u->in_bytes > 0 ? u->received : u->sent;
	int ended = (int)(all - u->counted);
	u->counted = all;
	return ended;
}

static void ucx_serve(struct peer_end *e)
{
	struct ucx_end *u = e->state;
	uint64_t before = u->received;

	ucp_worker_progress(u->worker);
	receives_take(u);
	if (u->failed)
		exit(1);
	uint64_t came = u->received - before;
	if (e->work->op == WORK_MESSAGE) {
		if (came > 0)
			e->tally->taken += came;
		return;
	}
	u->owed += came;
	while (u->owed > 0 && message_send(u))
		u->owed--;
}

__attribute__((visibility("default")))
const struct peer_ops peer_ops_exported = {ucx_open, ucx_post, ucx_poll, ucx_serve};
