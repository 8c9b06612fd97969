/* SPDX-License-Identifier: BSD-3-Clause */
/* Module that measures UCX over the variant's transports, by tagged messages. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "bench/ucx_end.h"

#define REGION_BYTES_MIN 4096
#define ANSWER_BYTES     8
#define TAG              7
#define TAG_MASK         UINT64_MAX

struct message_end {
	struct ucx_end end;
	uint8_t *region;
	uint64_t region_bytes;
	/* bytes per operation each way; 0: no message */
	size_t out_bytes, in_bytes;
	uint64_t received, sent;
	uint64_t counted; /* operations reported as complete */
	uint32_t outstanding;
	uint64_t owed; /* far end: answers to send */
	bool failed;
	ucs_status_ptr_t receives[WORK_DEPTH_MAX];
	uint32_t receive_count;
};

/* Finds the interface with this address; UCX needs its name. */
static bool interface_name(const struct udp_address *a, char *name, size_t bytes)
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

static ucs_status_t worker_open(const struct peer_end *e, struct message_end *u)
{
	char interface[64];
	bool network = strcmp(e->variant, "shm") != 0;

	if (network &&
	    !interface_name(e->far ? &e->ends->far : &e->ends->near, interface, sizeof(interface)))
		return UCS_ERR_NO_DEVICE;
	return ucx_worker_open(e, &u->end, UCP_FEATURE_TAG, network ? interface : NULL);
}

/* Short messages have 8 bytes. */
static uint64_t region_bytes(const struct work *w)
{
	uint64_t bytes = work_region_bytes(w);

	return bytes > REGION_BYTES_MIN ? bytes : REGION_BYTES_MIN;
}

static uint8_t *buffer_of(const struct message_end *u, size_t bytes, uint64_t index)
{
	return u->region + (bytes > 0 ? index % (u->region_bytes / bytes) * bytes : 0);
}

static void receive_start(struct message_end *u, uint32_t i)
{
	const ucp_request_param_t params = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL};

	u->receives[i] = ucp_tag_recv_nbx(u->end.worker, buffer_of(u, u->in_bytes, i), u->in_bytes,
					  TAG, TAG_MASK, &params);
	u->failed |= UCS_PTR_IS_ERR(u->receives[i]);
}

/* Restarts completed receives. Messages of one tag match in order, so only the oldest receive is
 * checked. */
static void receives_dequeue(struct message_end *u)
{
	while (!u->failed && u->receive_count > 0) {
		uint32_t i = (uint32_t)(u->received % u->receive_count);
		ucs_status_t status = ucp_request_check_status(u->receives[i]);
		if (status == UCS_INPROGRESS)
			return;
		ucp_request_free(u->receives[i]);
		if (status != UCS_OK) {
			ucx_complain("receive", status);
			u->failed = true;
			return;
		}
		u->received++;
		receive_start(u, i);
	}
}

static void send_ended(void *request, ucs_status_t status, void *context)
{
	struct message_end *u = context;

	u->failed |= status != UCS_OK;
	u->sent++;
	u->outstanding--;
	ucp_request_free(request);
}

static bool message_send(struct message_end *u)
{
	const ucp_request_param_t params = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
							    UCP_OP_ATTR_FIELD_USER_DATA,
					    .cb.send = send_ended,
					    .user_data = u};

	if (u->outstanding >= WORK_DEPTH_MAX)
		return false;
	ucs_status_ptr_t request =
		ucp_tag_send_nbx(u->end.ep, buffer_of(u, u->out_bytes, u->sent + u->outstanding),
				 u->out_bytes, TAG, &params);
	if (!request)
		u->sent++; /* the send completed at once */
	else if (UCS_PTR_IS_ERR(request))
		u->failed = true;
	else
		u->outstanding++;
	return !u->failed;
}

static int ucx_open(struct peer_end *e)
{
	struct message_end *u = calloc(1, sizeof(*u));
	struct ucx_hello own = {0}, theirs;
	size_t bytes = e->work->bytes;

	e->state = u;
	if (!u)
		return DXP_ENOMEM;
	u->region_bytes = region_bytes(e->work);
	u->region = mmap(NULL, u->region_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (u->region == MAP_FAILED)
		return DXP_ENOMEM;
	size_t there = e->work->op == WORK_GET ? ANSWER_BYTES : bytes;
	size_t back = e->work->op == WORK_PUT       ? ANSWER_BYTES
		      : e->work->op == WORK_MESSAGE ? 0
						    : bytes;
	u->out_bytes = e->far ? back : there;
	u->in_bytes = e->far ? there : back;
	ucs_status_t status = worker_open(e, u);
	if (status == UCS_OK)
		status = ucx_meet(e, &u->end, &own, &theirs);
	if (status != UCS_OK)
		return ucx_complain(e->variant, status);
	if (u->in_bytes > 0)
		u->receive_count = e->work->op == WORK_MESSAGE ? WORK_DEPTH_MAX : e->work->depth;
	for (uint32_t i = 0; i < u->receive_count; i++)
		receive_start(u, i);
	return u->failed ? DXP_EIO : DXP_OK;
}

static int ucx_post(struct peer_end *e)
{
	struct message_end *u = e->state;

	if (message_send(u))
		return DXP_OK;
	return u->failed ? ucx_complain("send", UCS_ERR_IO_ERROR) : DXP_EAGAIN;
}

static int ucx_poll(struct peer_end *e)
{
	struct message_end *u = e->state;

	ucp_worker_progress(u->end.worker);
	receives_dequeue(u);
	if (u->failed)
		return DXP_EIO;
	uint64_t all = u->in_bytes > 0 ? u->received : u->sent;
	int ended = (int)(all - u->counted);
	u->counted = all;
	return ended;
}

static void ucx_serve(struct peer_end *e)
{
	struct message_end *u = e->state;
	uint64_t before = u->received;

	ucp_worker_progress(u->end.worker);
	receives_dequeue(u);
	if (u->failed)
		exit(1);
	uint64_t came = u->received - before;
	if (e->work->op == WORK_MESSAGE) {
		if (came > 0)
			e->tally->counted += came;
		return;
	}
	u->owed += came;
	while (u->owed > 0 && message_send(u))
		u->owed--;
}

__attribute__((visibility("default")))
const struct peer_ops peer_ops_exported = {ucx_open, ucx_post, ucx_poll, ucx_serve};
