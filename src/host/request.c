/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends messages to an xPU, one NAP each, and receives replies to synchronous commands. The
 * transport delivers each NAP once, so this code retransmits nothing. */
#include "base/util.h"
#include "base/clock.h"
#include <dxp/collective.h>

#include "host/internal.h"

struct posting {
	struct dxp_xpu *xpu;
	const uint8_t *message;
	uint32_t bytes;
	uint64_t context;
	int status;
};

static bool posted(void *context)
{
	struct posting *p = context;
	struct dxp_xpu *x = p->xpu;

	p->status = x->status;
	if (p->status == DXP_OK)
		p->status = dxp_post_nap(x->fabric->window, HOST_QP_COMMANDS, &x->target,
					 p->message, p->bytes, 0, p->context);
	return p->status != DXP_EAGAIN;
}

int request_post(struct dxp_xpu *x, const uint8_t *message, uint32_t bytes, uint64_t context)
{
	struct posting p = {.xpu = x, .message = message, .bytes = bytes, .context = context};

	watch_begin(x);
	int status = host_fabric_wait(x->fabric, posted, &p, clock_now_ns() + HOST_REPLY_NS);
	watch_end(x);
	if (status == DXP_OK && p.status == DXP_OK)
		/* The poll sends the message: the NIC's engine runs in polls of this thread. */
		host_fabric_poll(x->fabric);
	return status == DXP_OK ? p.status : status;
}

static bool answered(void *context)
{
	struct host_request *r = context;

	if (!r->done && r->op.pending == 0 && r->op.status != DXP_OK) {
		r->status = r->op.status;
		r->done = true;
	}
	if (!r->done && r->stop && *r->stop) {
		r->status = DXP_ECLOSED;
		r->done = true;
	}
	return r->done;
}

static bool acknowledged(void *context)
{
	return ((struct host_request *)context)->op.pending == 0;
}

static void unlink_request(struct dxp_fabric *f, const struct host_request *r)
{
	struct host_request **at = &f->requests;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
}

void request_fail(struct dxp_fabric *f, const struct dxp_xpu *x, int status)
{
	for (struct host_request *r = f->requests; r; r = r->next) {
		if (r->xpu != x || r->done)
			continue;
		r->status = status;
		r->done = true;
	}
}

/* Sends a request. DXP_OK: request_end() must be called. */
static int request_begin(struct host_request *r, struct command *c)
{
	struct dxp_xpu *x = r->xpu;
	struct dxp_fabric *f = x->fabric;
	uint8_t message[COMMAND_BYTES_MAX];

	if (x->status != DXP_OK)
		return x->status;
	c->sequence = r->sequence = ++f->sequence;
	int bytes = command_encode(c, message);
	if (bytes < 0)
		return bytes;
	r->next = f->requests;
	f->requests = r;
	r->op.pending = 1;
	int status = request_post(x, message, (uint32_t)bytes, (uintptr_t)&r->op);
	if (status != DXP_OK)
		unlink_request(f, r);
	return status;
}

/* Waits for the reply and for the completion of the NAP. It must wait for the completion because
 * its context points to the request. The transport limits the time until that completion. */
static int request_end(struct host_request *r, uint64_t deadline_ns)
{
	struct dxp_xpu *x = r->xpu;
	struct dxp_fabric *f = x->fabric;

	watch_begin(x);
	int status = host_fabric_wait(f, answered, r, deadline_ns);
	if (host_fabric_wait(f, acknowledged, r, clock_now_ns() + 2 * RLTP_DEAD_NS) != DXP_OK) {
		nic_peer_reset(node_nic(f->node), x->node, DXP_ETIMEDOUT);
		host_fabric_wait(f, acknowledged, r, UINT64_MAX);
	}
	watch_end(x);
	unlink_request(f, r);
	if (status == DXP_OK)
		status = r->status;
	return r->op.status != DXP_OK ? xpu_judge(x, r->op.status) : status;
}

int request_call(struct dxp_xpu *x, struct command *c, struct command_reply *reply,
		 uint64_t timeout_ns)
{
	struct host_request r = {.xpu = x, .reply = reply};
	int status = request_begin(&r, c);

	return status == DXP_OK ? request_end(&r, clock_now_ns() + timeout_ns) : status;
}

void request_call_all(const struct request_set *set)
{
	struct host_request requests[DXP_GROUP_MEMBERS_MAX];
	const uint64_t deadline_ns = clock_now_ns() + set->timeout_ns;
	bool begun[DXP_GROUP_MEMBERS_MAX];

	for (uint32_t i = 0; i < set->count; i++) {
		requests[i] = (struct host_request){
			.xpu = set->xpus[i], .reply = &set->replies[i], .stop = set->stop};
		set->status[i] = request_begin(&requests[i], &set->commands[i]);
		begun[i] = set->status[i] == DXP_OK;
	}
	for (uint32_t i = 0; i < set->count; i++)
		if (begun[i])
			set->status[i] = request_end(&requests[i], deadline_ns);
}
