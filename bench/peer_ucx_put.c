/* SPDX-License-Identifier: BSD-3-Clause */
/* Module that measures UCX's one-sided PUT between processes that share memory. UCX allocates it,
 * so the other end can map it. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "bench/ucx_end.h"

struct put_end {
	struct ucx_end end;
	ucp_mem_h memory;
	ucp_rkey_h rkey;
	uint8_t *region;
	uint64_t remote;
	uint64_t posted, ended, counted;
	bool failed;
};

static ucs_status_t memory_open(const struct peer_end *e, struct put_end *p)
{
	ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
						     UCP_MEM_MAP_PARAM_FIELD_FLAGS,
				       .length = work_region_bytes(e->work),
				       .flags = UCP_MEM_MAP_ALLOCATE};
	ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
	ucs_status_t status = ucp_mem_map(p->end.context, &params, &p->memory);

	if (status == UCS_OK)
		status = ucp_mem_query(p->memory, &attr);
	if (status == UCS_OK) {
		p->region = attr.address;
		memset(p->region, 0, work_region_bytes(e->work));
	}
	return status;
}

static ucs_status_t hello_make(const struct put_end *p, struct ucx_hello *h)
{
	size_t bytes;
	void *rkey;
	ucs_status_t status = ucp_rkey_pack(p->end.context, p->memory, &rkey, &bytes);

	if (status != UCS_OK || bytes > sizeof(h->rkey))
		return status != UCS_OK ? status : UCS_ERR_BUFFER_TOO_SMALL;
	h->region = (uint64_t)(uintptr_t)p->region;
	memcpy(h->rkey, rkey, bytes);
	ucp_rkey_buffer_release(rkey);
	return UCS_OK;
}

static ucs_status_t meet(const struct peer_end *e, struct put_end *p)
{
	struct ucx_hello own = {0}, theirs;
	ucs_status_t status = hello_make(p, &own);

	if (status == UCS_OK)
		status = ucx_meet(e, &p->end, &own, &theirs);
	if (status != UCS_OK)
		return status;
	p->remote = theirs.region;
	return ucp_ep_rkey_unpack(p->end.ep, theirs.rkey, &p->rkey);
}

static int put_open(struct peer_end *e)
{
	struct put_end *p = calloc(1, sizeof(*p));

	e->state = p;
	if (!p)
		return DXP_ENOMEM;
	if (e->work->op != WORK_PUT)
		return DXP_EUNSUPPORTED;
	ucs_status_t status = ucx_worker_open(e, &p->end, UCP_FEATURE_RMA, NULL);
	if (status == UCS_OK)
		status = memory_open(e, p);
	if (status == UCS_OK)
		status = meet(e, p);
	return status == UCS_OK ? DXP_OK : ucx_complain(e->variant, status);
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
	uint64_t at = work_offset(e->work, p->posted++);
	ucs_status_ptr_t request = ucp_put_nbx(p->end.ep, p->region + at, e->work->bytes,
					       p->remote + at, p->rkey, &params);

	if (!request)
		/* already complete: UCX copied into the other end's memory */
		p->ended++;
	else if (UCS_PTR_IS_ERR(request))
		return ucx_complain("put", UCS_PTR_STATUS(request));
	return DXP_OK;
}

static int put_poll(struct peer_end *e)
{
	struct put_end *p = e->state;

	ucp_worker_progress(p->end.worker);
	if (p->failed)
		return DXP_EIO;
	int ended = (int)(p->ended - p->counted);
	p->counted = p->ended;
	return ended;
}

static void put_serve(struct peer_end *e)
{
	struct put_end *p = e->state;

	ucp_worker_progress(p->end.worker);
}

__attribute__((visibility("default")))
const struct peer_ops peer_ops_exported = {put_open, put_post, put_poll, put_serve};
