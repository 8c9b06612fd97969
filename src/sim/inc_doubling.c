/* SPDX-License-Identifier: BSD-3-Clause */
/* Step 0: even ranks below 2 * `rest` send to the next rank. Steps 1 .. `steps`: recursive doubling
 * among the others. Then the senders get the result. A host is at most one operation ahead of one
 * on which it depends, so it keeps messages of two. */
#include "sim/inc_doubling.h"

#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"

#define STEPS_MAX     24
#define MESSAGE_BYTES 16 /* operation, step and sum */
#define PADDING_MAX   4096
#define PORT          9000

struct doubling;

struct host {
	struct doubling *all;
	uint32_t rank, call, step;
	bool sent; /* by step: was sent */
	uint64_t sum;
	uint64_t here[2][STEPS_MAX];
	bool came[2][STEPS_MAX];
	/* message to send next; INC_TREE_NONE: none */
	uint32_t out_to, out_step, out_call;
	uint64_t out_sum;
};

struct doubling {
	struct inc_doubling_options options;
	struct inc_net *net;
	struct host *hosts;
	uint32_t count, power, rest, steps; /* count = power + rest; power = 2^steps */
	uint32_t done;
	bool wrong;
	uint64_t last_ns;
	uint8_t padding[PADDING_MAX];
};

static uint32_t rank_of(const struct doubling *d, uint32_t location)
{
	return location < d->rest ? 2 * location + 1 : location + d->rest;
}

static uint32_t index_of(const struct doubling *d, uint32_t rank)
{
	return rank < 2 * d->rest ? rank / 2 : rank - d->rest;
}

static void call_begin(struct host *h)
{
	h->step = 0;
	h->sum = h->rank + 1;
	h->sent = false;
}

static void message_out(struct host *h, uint32_t to, uint32_t step)
{
	h->out_to = to;
	h->out_step = step;
	h->out_call = h->call;
	h->out_sum = h->sum;
	h->sent = true;
}

/* Removes this step's message, if it has arrived. */
static bool message_remove(struct host *h, uint32_t step, uint64_t *sum)
{
	bool *came = &h->came[h->call & 1][step];

	if (!*came)
		return false;
	*came = false;
	*sum = h->here[h->call & 1][step];
	return true;
}

static void call_end(struct host *h, uint64_t now_ns)
{
	struct doubling *d = h->all;

	d->wrong |= h->sum != (uint64_t)d->count * (d->count + 1) / 2;
	d->last_ns = now_ns;
	if (++h->call == d->options.calls)
		d->done++;
	call_begin(h);
}

static bool step_doubling(struct host *h)
{
	const struct doubling *d = h->all;
	uint32_t location = index_of(d, h->rank);
	uint64_t sum;

	if (!h->sent) {
		message_out(h, rank_of(d, location ^ 1u << (h->step - 1)), h->step);
		return true;
	}
	if (!message_remove(h, h->step, &sum))
		return false;
	h->sum += sum;
	h->step++;
	h->sent = false;
	return true;
}

/* Makes one step. Returns false if the host must wait for a message. */
static bool host_move(struct host *h, uint64_t now_ns)
{
	struct doubling *d = h->all;
	bool rest = h->rank < 2 * d->rest, even = h->rank % 2 == 0;
	uint32_t last = d->steps + 1;
	uint64_t sum;

	if (h->call == d->options.calls || h->out_to != INC_TREE_NONE)
		return false;
	if (h->step == 0) {
		if (rest && even)
			message_out(h, h->rank + 1, 0);
		else if (rest && !message_remove(h, 0, &sum))
			return false;
		else
			h->sum += rest ? sum : 0;
		h->step = rest && even ? last : 1;
		h->sent = false;
		return true;
	}
	if (h->step < last)
		return step_doubling(h);
	if (rest && even) {
		if (!message_remove(h, last, &h->sum))
			return false;
	} else if (rest && !h->sent) {
		message_out(h, h->rank - 1, last);
		return true;
	}
	call_end(h, now_ns);
	return true;
}

static void host_receive(void *node, const uint8_t *data, size_t bytes,
			 const struct roce_path *path, uint64_t now_ns)
{
	struct host *h = node;
	uint32_t call, step;

	(void)path;
	(void)now_ns;
	if (bytes < MESSAGE_BYTES)
		return;
	call = get_be32(data);
	step = get_be32(data + 4) % STEPS_MAX;
	h->here[call & 1][step] = (uint64_t)get_be32(data + 8) << 32 | get_be32(data + 12);
	h->came[call & 1][step] = true;
}

static size_t host_send(void *node, struct inc_batch *out, uint64_t now_ns)
{
	struct host *h = node;
	struct doubling *d = h->all;

	while (host_move(h, now_ns))
		continue;
	if (h->out_to == INC_TREE_NONE)
		return 0;
	struct datagram *dg = &out->datagrams[out->count];
	*dg = (struct datagram){
		.to = address_v4(inc_tree_ip(inc_net_tree(d->net), h->out_to), PORT),
		.header_bytes = MESSAGE_BYTES,
		.slice_count = 1};
	put_be32(dg->header, h->out_call);
	put_be32(dg->header + 4, h->out_step);
	put_be32(dg->header + 8, (uint32_t)(h->out_sum >> 32));
	put_be32(dg->header + 12, (uint32_t)h->out_sum);
	dg->slices[0].base = d->padding;
	dg->slices[0].bytes = d->options.bytes > MESSAGE_BYTES
				      ? min_u64(d->options.bytes - MESSAGE_BYTES, PADDING_MAX)
				      : 0;
	out->from_ports[out->count++] = PORT;
	h->out_to = INC_TREE_NONE;
	return 1;
}

static uint64_t host_deadline(void *node)
{
	(void)node;
	return UINT64_MAX;
}

static const struct inc_node_ops host_ops = {host_receive, host_send, host_deadline};

static bool all_done(void *context)
{
	const struct doubling *d = context;

	return d->done == d->count || d->wrong;
}

static int doubling_run(struct doubling *d, struct inc_doubling_result *out)
{
	double calls = d->options.calls;
	uint64_t begin_ns = inc_net_now(d->net);

	for (uint32_t i = 0; i < d->count; i++) {
		d->hosts[i] = (struct host){.all = d, .rank = i, .out_to = INC_TREE_NONE};
		call_begin(&d->hosts[i]);
		inc_net_set(d->net, i, &host_ops, &d->hosts[i]);
	}
	if (!inc_net_run(d->net, 3600 * S_NS, all_done, d) || d->wrong)
		return DXP_EIO;
	const struct inc_net_counters *c = inc_net_counters(d->net);
	*out = (struct inc_doubling_result){.latency_ns = (double)(d->last_ns - begin_ns) / calls,
					    .packets = (double)c->host_sent / calls,
					    .crossings = (double)c->crossings / calls,
					    .busy_ns = (double)c->host_busy_ns / calls / d->count};
	return DXP_OK;
}

int inc_doubling_run(const struct inc_doubling_options *options, struct inc_doubling_result *out)
{
	struct doubling *d = calloc(1, sizeof(*d));
	int status = DXP_ENOMEM;

	if (!d)
		return DXP_ENOMEM;
	d->options = *options;
	d->count = options->net.tree.hosts;
	d->power = 1;
	while (2 * d->power <= d->count) {
		d->power *= 2;
		d->steps++;
	}
	d->rest = d->count - d->power;
	d->hosts = calloc(d->count, sizeof(*d->hosts));
	if (d->hosts)
		status = inc_net_create(&options->net, &d->net);
	if (status == DXP_OK) {
		status = doubling_run(d, out);
		inc_net_destroy(d->net);
	}
	free(d->hosts);
	free(d);
	return status;
}
