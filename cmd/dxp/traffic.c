/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counters of all xPUs in parallel, one thread for each, so that unreachable xPUs cost
 * one timeout in total. */
#include "cmd/dxp/traffic.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/util.h"
#include "xpu/cfg.h"

#define THREADS_MAX 32 /* threads: more xPUs are rarely unreachable at once */

/* SENT_LO, SENT_HI, RECEIVED_LO and RECEIVED_HI are adjacent. */
#define COUNTERS 4

struct inquest {
	struct dxp_fabric *fabric;
	const struct node_entry *nodes;
	struct traffic *out;
	size_t count;
	_Atomic size_t next; /* index of the next node to read */
};

static void read_one(struct dxp_fabric *fabric, const char *name, struct traffic *out)
{
	struct dxp_xpu *xpu;
	uint32_t words[COUNTERS];

	if (dxp_xpu_open(fabric, name, &xpu) != DXP_OK)
		return;
	if (dxp_reg_read(xpu, CFG_SENT_LO, words, COUNTERS) == DXP_OK) {
		out->out_bytes = words[0] | (uint64_t)words[1] << 32;
		out->in_bytes = words[2] | (uint64_t)words[3] << 32;
		out->known = true;
	}
	dxp_xpu_close(xpu);
}

static void *read_some(void *context)
{
	struct inquest *q = context;
	size_t i;

	while ((i = atomic_fetch_add_explicit(&q->next, 1, memory_order_relaxed)) < q->count) {
		if (q->nodes[i].kind == MANAGE_XPU && q->nodes[i].alive)
			read_one(q->fabric, q->nodes[i].name, &q->out[i]);
	}
	return NULL;
}

static void read_all(struct inquest *q)
{
	size_t wanted = min_u64(q->count, THREADS_MAX), started = 0;
	pthread_t threads[THREADS_MAX];

	while (started + 1 < wanted && pthread_create(&threads[started], NULL, read_some, q) == 0)
		started++;
	read_some(q); /* this thread works too, possibly alone */
	while (started > 0)
		pthread_join(threads[--started], NULL);
}

struct traffic *traffic_read(const struct session_options *options, const struct node_entry *nodes,
			     size_t count)
{
	struct traffic *all = calloc(count + 1, sizeof(*all));
	struct inquest q = {.nodes = nodes, .out = all, .count = count};

	/* A host that may not join still gets the table. */
	if (!all || dxp_fabric_open(&options->fabric, &q.fabric) != DXP_OK)
		return all;
	read_all(&q);
	dxp_fabric_close(q.fabric);
	return all;
}
