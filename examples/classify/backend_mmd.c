/* SPDX-License-Identifier: BSD-3-Clause */
/* Backend for xPUs of a fabric, through the host library. Its messages are those of
 * dxp_fabric_error(), which name the node and the next step. */
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/async.h>
#include <dxp/mmd.h>

#define NODES_MAX 4096 /* rows of the largest node table */

struct mmd_stage {
	struct dxp_xpu *xpu;
	struct dxp_program *program;
	uint16_t node;
};

/* Host memory for one transfer between stages. It can be reused: a photo's transfers complete
 * before another photo uses the same addresses. */
struct passage {
	struct passage *next;
	uint32_t from;
	uint64_t from_address, bytes;
	uint8_t memory[];
};

struct mmd {
	struct backend base;
	struct dxp_fabric *fabric;
	bool through_host;
	struct passage *passages;
	struct mmd_stage stages[STAGES_MAX];
};

static int failed(const struct mmd *m, int status, const char *what, struct fault *fault)
{
	const char *why = dxp_fabric_error(m->fabric);

	return fault_set(fault, status, "%s: %s", what,
			 why && *why ? why : dxp_status_text(status));
}

static int done(const struct mmd *m, int status, uint32_t stage, struct fault *fault)
{
	return status < 0 ? failed(m, status, m->base.names[stage], fault) : DXP_OK;
}

static int mmd_alloc(struct backend *b, uint32_t stage, uint64_t bytes, uint64_t *address,
		     struct fault *fault)
{
	struct mmd *m = (struct mmd *)b;
	return done(m, dxp_mem_alloc(m->stages[stage].xpu, bytes, address), stage, fault);
}

static int mmd_write(struct backend *b, uint32_t stage, uint64_t address, const void *from,
		     uint64_t bytes, struct fault *fault)
{
	struct mmd *m = (struct mmd *)b;
	return done(m, dxp_mem_write(m->stages[stage].xpu, address, from, bytes), stage, fault);
}

static int mmd_read(struct backend *b, uint32_t stage, void *to, uint64_t address, uint64_t bytes,
		    struct fault *fault)
{
	struct mmd *m = (struct mmd *)b;
	return done(m, dxp_mem_read(m->stages[stage].xpu, to, address, bytes), stage, fault);
}

static int mmd_build(struct backend *b, uint32_t stage, const char *source, struct fault *fault)
{
	struct mmd *m = (struct mmd *)b;
	struct mmd_stage *s = &m->stages[stage];
	int status = dxp_program_build(s->xpu, source, NULL, &s->program);

	if (status == DXP_EBUILD)
		return fault_set(fault, status, "the kernels do not build on %s (%s): %.700s",
				 b->names[stage], b->devices[stage], dxp_program_log(s->program));
	return done(m, status, stage, fault);
}

static int mmd_launch(struct backend *b, uint32_t stage, const struct backend_launch *launch,
		      dxp_event *event, struct fault *fault)
{
	struct mmd *m = (struct mmd *)b;
	struct dxp_launch l = {.program = m->stages[stage].program,
			       .kernel = launch->kernel,
			       .dimensions = 2,
			       .global = {launch->global[0], launch->global[1], 1},
			       .local = {1, 1, 1},
			       .arguments = launch->arguments,
			       .argument_count = launch->argument_count,
			       .wait = launch->wait,
			       .wait_count = launch->wait_count,
			       .lazy = launch->lazy};
	int status = dxp_run(m->stages[stage].xpu, &l, event);

	return status == DXP_EAGAIN ? status : done(m, status, stage, fault);
}

/* Allocates at first use; NULL: out of memory. */
static uint8_t *passage_of(struct mmd *m, const struct backend_transfer *t)
{
	struct passage *p = m->passages;

	while (p &&
	       (p->from != t->from || p->from_address != t->from_address || p->bytes != t->bytes))
		p = p->next;
	if (p)
		return p->memory;
	p = calloc(1, sizeof(*p) + t->bytes);
	if (!p)
		return NULL;
	p->from = t->from;
	p->from_address = t->from_address;
	p->bytes = t->bytes;
	p->next = m->passages;
	m->passages = p;
	return p->memory;
}

/* Reads the bytes to host memory, then writes them to the other xPU, as systems without a NIC at
 * the xPU do. */
static int send_through_host(struct mmd *m, const struct backend_transfer *t, dxp_event *event)
{
	uint8_t *memory = passage_of(m, t);
	const struct dxp_waits before = {.events = t->wait, .count = t->wait_count};
	dxp_event in;

	if (!memory)
		return DXP_ENOMEM;
	int status =
		dxp_read(m->stages[t->from].xpu, memory, t->from_address, t->bytes, &before, &in);
	if (status != DXP_OK)
		return status;
	const struct dxp_waits arrived = {.events = &in, .count = 1, .late = true};
	status = dxp_write(m->stages[t->to].xpu, t->to_address, memory, t->bytes, &arrived, event);
	dxp_event_forget(m->fabric, in);
	return status;
}

static int mmd_send(struct backend *b, const struct backend_transfer *t, dxp_event *event,
		    struct fault *fault)
{
	struct mmd *m = (struct mmd *)b;
	struct dxp_transfer transfer = {.from_address = t->from_address,
					.to_address = t->to_address,
					.bytes = t->bytes,
					.wait = t->wait,
					.wait_count = t->wait_count};
	int status = m->through_host ? send_through_host(m, t, event)
				     : dxp_send(m->stages[t->from].xpu, m->stages[t->to].xpu,
						&transfer, event);

	return status == DXP_EAGAIN ? status : done(m, status, t->from, fault);
}

static int mmd_wait(struct backend *b, dxp_event event, uint64_t timeout_ns,
		    struct dxp_event_times *times, struct fault *fault)
{
	struct mmd *m = (struct mmd *)b;
	int status = dxp_event_wait(m->fabric, event, timeout_ns, times);

	return status < 0 ? failed(m, status, "the run was stopped", fault) : DXP_OK;
}

static void mmd_traffic(struct backend *b, uint32_t stage, struct dxp_link_bytes *out)
{
	struct mmd *m = (struct mmd *)b;
	struct dxp_link_bytes bytes;

	*out = (struct dxp_link_bytes){0};
	if (dxp_fabric_traffic(m->fabric, m->stages[stage].node, &bytes) == DXP_OK)
		*out = bytes;
}

static void mmd_close(struct backend *b)
{
	struct mmd *m = (struct mmd *)b;

	for (uint32_t i = 0; i < STAGES_MAX; i++)
		if (m->stages[i].program)
			dxp_program_release(m->stages[i].program);
	for (uint32_t i = 0; i < STAGES_MAX; i++)
		dxp_xpu_close(m->stages[i].xpu);
	dxp_fabric_close(m->fabric);
	for (struct passage *p = m->passages, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	free(m);
}

static const struct backend_ops mmd_ops = {
	.alloc = mmd_alloc,
	.write = mmd_write,
	.read = mmd_read,
	.build = mmd_build,
	.launch = mmd_launch,
	.send = mmd_send,
	.wait = mmd_wait,
	.traffic = mmd_traffic,
	.close = mmd_close,
};

int backend_mmd_open(struct backend **out, struct fault *fault)
{
	struct dxp_fabric_options options = {0};
	struct mmd *m = calloc(1, sizeof(*m));

	if (!m)
		return fault_set(fault, DXP_ENOMEM, "out of memory");
	m->base.ops = &mmd_ops;
	int status = dxp_fabric_open(&options, &m->fabric);
	if (status != DXP_OK) {
		failed(m, status, "could not join a fabric (--local needs none)", fault);
		free(m);
		return status;
	}
	*out = &m->base;
	return DXP_OK;
}

void backend_mmd_through_host(struct backend *b)
{
	((struct mmd *)b)->through_host = true;
}

int backend_mmd_granted(struct backend *b, char names[][DXP_NAME_BYTES], struct fault *fault)
{
	struct mmd *m = (struct mmd *)b;
	struct dxp_node_info *nodes = calloc(NODES_MAX, sizeof(*nodes));
	int count = nodes ? dxp_fabric_nodes(m->fabric, nodes, NODES_MAX) : DXP_ENOMEM;
	int found = 0;

	if (count < 0) {
		free(nodes);
		return failed(m, count, "node table", fault);
	}
	for (int i = 0; i < count && i < NODES_MAX && found < STAGES_MAX; i++) {
		const struct dxp_node_info *n = &nodes[i];
		if (n->kind == DXP_NODE_XPU && n->granted && n->alive)
			memcpy(names[found++], n->name, DXP_NAME_BYTES);
	}
	free(nodes);
	if (found == 0)
		return fault_set(
			fault, DXP_ENOENT,
			"the fabric has no xPU for this host; `dxp nodes` lists its nodes");
	return found;
}

int backend_mmd_acquire(struct backend *b, const char *const *names, uint32_t count,
			struct fault *fault)
{
	struct mmd *m = (struct mmd *)b;

	for (uint32_t i = 0; i < count; i++) {
		struct dxp_xpu_caps caps;
		struct mmd_stage *s = &m->stages[i];
		int status = dxp_xpu_open(m->fabric, names[i], &s->xpu);
		if (status == DXP_OK)
			status = dxp_xpu_caps(s->xpu, &caps);
		if (status != DXP_OK)
			return failed(m, status, names[i], fault);
		s->node = caps.node;
		memcpy(b->names[i], caps.name, sizeof(b->names[i]));
		memcpy(b->devices[i], caps.device, sizeof(b->devices[i]));
		b->stage_count = i + 1;
	}
	return DXP_OK;
}
