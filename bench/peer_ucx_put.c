/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX's one-sided PUT between two processes that share memory: both ends' memory is UCX's own, so
 * that it can be mapped by the other. A module, as peer_ucx.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ucp/api/ucp.h>

#include <dxp/status.h>

#include "bench/peer.h"

#define ADDRESS_BYTES 4096
#define RKEY_BYTES    1024

struct put_end {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
	ucp_mem_h memory;
	ucp_rkey_h rkey;
	uint8_t *place;
	uint64_t remote;
	uint64_t posted, ended, counted;
	bool failed;
};

struct hello {
	uint64_t place, address_bytes, rkey_bytes;
	uint8_t address[ADDRESS_BYTES], rkey[RKEY_BYTES];
};

static int complain(const char *what, ucs_status_t status)
{
	fprintf(stderr, "dxp bench: UCX %s: %s\n", what, ucs_status_string(status));
	return DXP_EIO;
}

static ucs_status_t worker_open(const struct peer_end *e, struct put_end *p)
{
	ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA};
	ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
				      .thread_mode = UCS_THREAD_MODE_SINGLE};
	ucp_config_t *config;
	ucs_status_t status = ucp_config_read(NULL, NULL, &config);

	if (status != UCS_OK)
		return status;
	ucp_config_modify(config, "TLS", e->variant);
	status = ucp_init(&params, config, &p->context);
	ucp_config_release(config);
	return status == UCS_OK ? ucp_worker_create(p->context, &worker, &p->worker) : status;
}

static ucs_status_t memory_open(const struct peer_end *e, struct put_end *p)
{
	ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
						     UCP_MEM_MAP_PARAM_FIELD_FLAGS,
				       .length = work_place_bytes(e->work),
				       .flags = UCP_MEM_MAP_ALLOCATE};
	ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
	ucs_status_t status = ucp_mem_map(p->context, &params, &p->memory);

	if (status == UCS_OK)
		status = ucp_mem_query(p->memory, &attr);
	if (status == UCS_OK) {
		p->place = attr.address;
		memset(p->place, 0, work_place_bytes(e->work));
	}
	return status;
}

static ucs_status_t hello_make(struct put_end *p, struct hello *h)
{
	ucp_address_t *address;
	size_t bytes, rkey_bytes;
	void *rkey;
	ucs_status_t status = ucp_worker_get_address(p->worker, &address, &bytes);

	if (status != UCS_OK)
		return status;
	status = ucp_rkey_pack(p->context, p->memory, &rkey, &rkey_bytes);
	if (status != UCS_OK || bytes > ADDRESS_BYTES || rkey_bytes > RKEY_BYTES)
		return status != UCS_OK ? status : UCS_ERR_BUFFER_TOO_SMALL;
	h->place = (uint64_t)(uintptr_t)p->place;
	h->address_bytes = bytes;
	h->rkey_bytes = rkey_bytes;
	memcpy(h->address, address, bytes);
	memcpy(h->rkey, rkey, rkey_bytes);
	ucp_worker_release_address(p->worker, address);
	ucp_rkey_buffer_release(rkey);
	return UCS_OK;
}

static ucs_status_t meet(struct peer_end *e, struct put_end *p)
{
	static struct hello mine, theirs;
	ucs_status_t status = hello_make(p, &mine);

	if (status != UCS_OK)
		return status;
	if (!control_write(e->control, &mine, sizeof(mine)) ||
	    !control_read(e->control, &theirs, sizeof(theirs)))
		return UCS_ERR_IO_ERROR;
	const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
					.address = (const ucp_address_t *)(void *)theirs.address};
	status = ucp_ep_create(p->worker, &params, &p->ep);
	p->remote = theirs.place;
	return status == UCS_OK ? ucp_ep_rkey_unpack(p->ep, theirs.rkey, &p->rkey) : status;
}

static int put_open(struct peer_end *e)
{
	struct put_end *p = calloc(1, sizeof(*p));

	e->state = p;
	if (!p)
		return DXP_ENOMEM;
	if (e->work->op != WORK_PUT)
		return DXP_EUNSUPPORTED;
	ucs_status_t status = worker_open(e, p);
	if (status == UCS_OK)
		status = memory_open(e, p);
	if (status == UCS_OK)
		status = meet(e, p);
	return status == UCS_OK ? DXP_OK : complain(e->variant, status);
}

static void put_ended(void *request, ucs_status_t status, void *context)
{
	struct put_end *p = context;

	p->failed |= status != UCS_OK;
	p->ended++;
	ucp_request_free(request);
}

static int put_post(struct peer_end *e)
{
	struct put_end *p = e->state;
	const ucp_request_param_t params = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
							    UCP_OP_ATTR_FIELD_USER_DATA,
					    .cb.send = put_ended,
					    .user_data = p};
	uint64_t at = work_place(e->work, p->posted++);
	ucs_status_ptr_t request =
		ucp_put_nbx(p->ep, p->place + at, e->work->bytes, p->remote + at, p->rkey, &params);

	if (!request)
		p->ended++; /* at once: it was a copy into the other's memory */
	else if (UCS_PTR_IS_ERR(request))
		return complain("put", UCS_PTR_STATUS(request));
	return DXP_OK;
}

static int put_poll(struct peer_end *e)
{
	struct put_end *p = e->state;

	ucp_worker_progress(p->worker);
	if (p->failed)
		return DXP_EIO;
	int ended = (int)(p->ended - p->counted);
	p->counted = p->ended;
	return ended;
}

static void put_serve(struct peer_end *e)
{
	struct put_end *p = e->state;

	ucp_worker_progress(p->worker);
}

__attribute__((visibility("default")))
const struct peer_ops peer_ops_exported = {put_open, put_post, put_poll, put_serve};
