/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/switch_net.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rc/connection.h"

#define BATCH_MAX 1024
/* in one swnet_run; more means that packets circulate */
#define RUN_MAX 100000

static struct datagram datagrams[BATCH_MAX];
static uint8_t trailers[BATCH_MAX][INC_TRAILER_BYTES];
static uint16_t from_ports[BATCH_MAX];

static void list_add(struct swnet_list *list, struct swnet_packet *p)
{
	if (list->count == list->space) {
		list->space = list->space ? 2 * list->space : 64;
		list->packets = realloc(list->packets, list->space * sizeof(*list->packets));
		assert(list->packets);
	}
	list->packets[list->count++] = p;
}

static struct swnet_packet *list_remove(struct swnet_list *list, size_t index)
{
	struct swnet_packet *p = list->packets[index];

	list->count--;
	memmove(list->packets + index, list->packets + index + 1,
		(list->count - index) * sizeof(*list->packets));
	return p;
}

static void list_free(struct swnet_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->packets[i]);
	free(list->packets);
	*list = (struct swnet_list){0};
}

static struct swnet_packet *packet_make(const struct datagram *d, const struct roce_path *path)
{
	struct swnet_packet *p;
	size_t bytes = d->header_bytes;

	for (unsigned i = 0; i < d->slice_count; i++)
		bytes += d->slices[i].bytes;
	p = calloc(1, sizeof(*p) + bytes);
	assert(p);
	p->path = *path;
	memcpy(p->data, d->header, d->header_bytes);
	p->bytes = d->header_bytes;
	for (unsigned i = 0; i < d->slice_count; i++) {
		memcpy(p->data + p->bytes, d->slices[i].base, d->slices[i].bytes);
		p->bytes += d->slices[i].bytes;
	}
	return p;
}

static struct swnet_packet *packet_copy(const struct swnet_packet *from)
{
	struct swnet_packet *p = malloc(sizeof(*p) + from->bytes);

	assert(p);
	memcpy(p, from, sizeof(*p) + from->bytes);
	return p;
}

/* The packet whose number the test configured is duplicated or dropped. */
static void wire_add(struct switch_net *net, struct swnet_packet *p)
{
	net->carried++;
	if (net->carried == net->repeat)
		list_add(&net->wire, packet_copy(p));
	if (net->carried == net->lose)
		free(p);
	else
		list_add(&net->wire, p);
}

static void wrong_note(struct switch_net *net, const char *what, const struct swnet_packet *p)
{
	if (net->wrong[0] == 0)
		snprintf(net->wrong, sizeof(net->wrong), "packet %llu from %x:%u to %x:%u: %s",
			 (unsigned long long)net->carried, p->path.from_ip, p->path.from_port,
			 p->path.to_ip, p->path.to_port, what);
}

static uint32_t ip_of(const struct udp_address *a)
{
	return (uint32_t)a->ip[12] << 24 | (uint32_t)a->ip[13] << 16 | (uint32_t)a->ip[14] << 8 |
	       a->ip[15];
}

static void switch_drain(struct switch_net *net, unsigned index)
{
	size_t space = net->batch ? net->batch : 64;
	struct inc_batch batch = {datagrams, trailers, from_ports, 0, space};

	while (batch.count = 0, switch_send(net->switches[index], &batch, net->now_ns) > 0) {
		for (size_t i = 0; i < batch.count; i++) {
			const struct datagram *d = &datagrams[i];
			struct roce_path path = {net->ips[index], ip_of(&d->to), from_ports[i],
						 d->to.port};
			struct swnet_packet *p = packet_make(d, &path);

			if (!roce_icrc_right(&path, p->data, p->bytes))
				wrong_note(net, "its ICRC is wrong", p);
			if (!rc_packet(p->data, p->bytes) &&
			    inc_packet_decode(p->data, p->bytes, &p->decoded) != DXP_OK)
				wrong_note(net, "it does not decode", p);
			wire_add(net, p);
		}
	}
	if (switch_deadline(net->switches[index]) == 0)
		snprintf(net->wrong, sizeof(net->wrong), "a switch says that it has more");
}

void swnet_open(struct switch_net *net)
{
	*net = (struct switch_net){.now_ns = 1000 * S_NS};
}

void swnet_close(struct switch_net *net)
{
	for (unsigned i = 0; i < net->count; i++)
		switch_destroy(net->switches[i]);
	list_free(&net->wire);
	list_free(&net->inbox);
}

struct sw *swnet_switch(struct switch_net *net, const struct sw_options *options)
{
	assert(net->count < NET_SWITCHES);
	if (switch_create(options, net->now_ns, &net->switches[net->count]) != DXP_OK)
		return NULL;
	net->ips[net->count] = options->ip;
	return net->switches[net->count++];
}

static int switch_index(const struct switch_net *net, uint32_t ip)
{
	for (unsigned i = 0; i < net->count; i++)
		if (net->ips[i] == ip)
			return (int)i;
	return -1;
}

struct sw *swnet_switch_at(const struct switch_net *net, uint32_t ip)
{
	int index = switch_index(net, ip);

	return index < 0 ? NULL : net->switches[index];
}

void swnet_switch_kill(struct switch_net *net, uint32_t ip)
{
	int index = switch_index(net, ip);

	assert(index >= 0);
	switch_destroy(net->switches[index]);
	net->count--;
	net->switches[index] = net->switches[net->count];
	net->ips[index] = net->ips[net->count];
}

void swnet_send(struct switch_net *net, const struct swnet_send *what)
{
	struct datagram d;
	uint8_t trailer[INC_TRAILER_BYTES];

	inc_packet_encode(&what->header, what->rc ? ROCE_RC_SEND_ONLY : ROCE_UD_SEND_ONLY,
			  what->rc ? 0 : what->qkey, INC_QP, INC_QP, &what->path, what->payload,
			  what->bytes, &d, trailer);
	wire_add(net, packet_make(&d, &what->path));
}

void swnet_raw(struct switch_net *net, const struct roce_path *path, const void *data, size_t bytes)
{
	int index = switch_index(net, path->to_ip);

	assert(index >= 0);
	/* exact size, so that a sanitizer detects reads past its end */
	uint8_t *copy = malloc(bytes ? bytes : 1);

	assert(copy);
	memcpy(copy, data, bytes);
	switch_receive(net->switches[index], copy, bytes, path, net->now_ns);
	free(copy);
	switch_drain(net, (unsigned)index);
}

void swnet_receive(struct switch_net *net)
{
	for (size_t i = 0; i < net->wire.count; i++) {
		struct swnet_packet *p = net->wire.packets[i];
		int index = switch_index(net, p->path.to_ip);

		assert(index >= 0);
		switch_receive(net->switches[index], p->data, p->bytes, &p->path, net->now_ns);
		free(p);
	}
	net->wire.count = 0;
}

void swnet_run(struct switch_net *net)
{
	uint64_t end = net->carried + RUN_MAX;

	for (unsigned i = 0; i < net->count; i++)
		switch_drain(net, i);
	while (net->wire.count > 0) {
		struct swnet_packet *p = list_remove(&net->wire, 0);
		int index = switch_index(net, p->path.to_ip);

		if (net->carried > end) {
			wrong_note(net, "packets make packets for ever", p);
			index = -1;
		}
		if (index < 0) {
			if (inc_packet_decode(p->data, p->bytes, &p->decoded) == DXP_OK)
				list_add(&net->inbox, p);
			else
				free(p);
			continue;
		}
		swnet_raw(net, &p->path, p->data, p->bytes);
		free(p);
	}
}

struct swnet_packet *swnet_dequeue(struct switch_net *net, uint32_t ip, uint16_t port, uint8_t kind)
{
	for (size_t i = 0; i < net->inbox.count; i++) {
		const struct swnet_packet *p = net->inbox.packets[i];

		if (p->path.to_ip == ip && p->decoded.header.kind == kind &&
		    (p->path.to_port == port ||
		     (p->path.to_port == ROCE_PORT && p->path.from_port == port)))
			return list_remove(&net->inbox, i);
	}
	return NULL;
}

void swnet_forget(struct switch_net *net)
{
	list_free(&net->inbox);
}

void swnet_group_plan(struct swnet_group *g, uint32_t count, const uint32_t *leaves, uint32_t each,
		      uint32_t root)
{
	*g = (struct swnet_group){.id = 7,
				  .qkey = 0x1234567,
				  .epoch = 1,
				  .segment_bytes = 1408,
				  .window = 4,
				  .planes = INC_PLANE_USER,
				  .job_id = 99,
				  .count = count};
	for (uint32_t m = 0; m < count; m++) {
		struct swnet_member *member = &g->members[m];

		member->ip = 0x0a000100 + m;
		member->port = ROCE_SOURCE_PORT + m % 3;
		if (leaves)
			member->path[member->path_count++] = leaves[m / each];
		member->path[member->path_count++] = root;
	}
}

/* Position on the member's path; -1: not there. */
static int switch_index_on(const struct swnet_member *member, uint32_t ip)
{
	for (unsigned i = 0; i < member->path_count; i++)
		if (member->path[i] == ip)
			return (int)i;
	return -1;
}

/* Key of the switch's child on member m's path: at position 0 the member itself, else the switch
 * before. */
static uint64_t child_key(const struct swnet_group *g, uint32_t m, int position)
{
	const struct swnet_member *member = &g->members[m];

	return position == 0 ? (uint64_t)member->ip << 32 | member->port
			     : member->path[position - 1];
}

static struct inc_hop hop_of(const struct swnet_group *g, uint32_t m, unsigned position)
{
	uint32_t ip = g->members[m].path[position];
	struct inc_hop hop = {.ip = ip};
	uint64_t keys[NET_MEMBERS];

	for (uint32_t i = 0; i < g->count; i++) {
		int at = switch_index_on(&g->members[i], ip);
		unsigned k = 0;

		if (at < 0)
			continue;
		while (k < hop.children && keys[k] != child_key(g, i, at))
			k++;
		if (k == hop.children)
			keys[hop.children++] = child_key(g, i, at);
		if (i == m)
			hop.index = (uint16_t)k;
	}
	return hop;
}

struct inc_control swnet_control(const struct swnet_group *g, uint32_t m)
{
	const struct swnet_member *member = &g->members[m], *first = &g->members[0];
	struct inc_control c = {
		.sup_mpi_type = 7,
		.sup_comm_type = 0x1e,
		.sup_op = 0xffffffff,
		.sup_type = 0xffffffff,
		.segment_bytes = g->segment_bytes,
		.window = g->window,
		.planes = g->planes,
		.path_count = member->path_count,
		.members = g->count,
		.true_comm_id = g->id,
		.qkey = g->qkey,
		.free_groups = UINT32_MAX,
		.job_id = g->job_id,
		.member_ip = member->ip,
		.member_port = member->port,
		.first_ip = first->ip,
		.first_port = first->port,
	};

	for (unsigned i = 0; i < member->path_count; i++)
		c.path[i] = hop_of(g, m, i);
	return c;
}

void swnet_control_send(struct switch_net *net, const struct swnet_group *g, uint8_t kind,
			uint32_t member, const struct inc_control *c, const struct roce_path *path)
{
	uint8_t payload[INC_CONTROL_BYTES_MAX];
	struct swnet_send what = {
		.path = *path,
		.header = {.src_rank = member,
			   .comm_id = INC_COMM_CONTROL,
			   .epoch = g->epoch,
			   .kind = kind,
			   .flags = g->compat ? INC_FLAG_COMPAT : 0},
		.qkey = INC_CONTROL_QKEY,
		.payload = payload,
	};

	what.bytes = inc_packet_control_encode(&what.header, c, payload);
	swnet_send(net, &what);
}

void swnet_notify(struct switch_net *net, const struct swnet_group *g, uint32_t m, uint8_t kind)
{
	struct inc_control c = swnet_control(g, m);
	struct roce_path path = {c.first_ip, c.path[c.path_count - 1].ip, c.first_port, ROCE_PORT};

	swnet_control_send(net, g, kind, m, &c, &path);
}

void swnet_notify_all(struct switch_net *net, const struct swnet_group *g, uint8_t kind)
{
	for (uint32_t m = 0; m < g->count; m++)
		swnet_notify(net, g, m, kind);
}

bool swnet_group_make(struct switch_net *net, const struct swnet_group *g)
{
	bool all = true;

	swnet_notify_all(net, g, INC_NOTIFY);
	swnet_run(net);
	for (uint32_t m = 0; m < g->count; m++) {
		struct swnet_packet *p =
			swnet_dequeue(net, g->members[m].ip, g->members[m].port, INC_NOTIFY);

		all &= p != NULL;
		free(p);
	}
	return all;
}

struct inc_header swnet_call(uint32_t seq, enum dxp_inc_op op, enum dxp_inc_type type,
			     uint16_t elements)
{
	return (struct inc_header){
		.op = (uint8_t)op,
		.type = (uint8_t)type,
		.req_id = seq,
		.call_elements = elements,
		.elements = elements,
		.kind = INC_DATA,
		.flags = INC_FLAG_LAST,
		.collective = INC_ALLREDUCE,
	};
}

void swnet_contribute(struct switch_net *net, const struct swnet_group *g, uint32_t m,
		      const struct inc_header *h, const void *payload, size_t bytes)
{
	const struct swnet_member *member = &g->members[m];
	struct swnet_send what = {
		.path = {member->ip, member->path[0], member->port, ROCE_PORT},
		.header = *h,
		.qkey = g->qkey,
		.payload = payload,
		.bytes = bytes,
	};

	what.header.src_rank = m;
	what.header.comm_id = g->id;
	what.header.epoch = g->epoch;
	what.header.flags |= g->compat ? INC_FLAG_COMPAT : 0;
	swnet_send(net, &what);
}

struct swnet_packet *swnet_result(struct switch_net *net, const struct swnet_group *g, uint32_t m)
{
	return swnet_dequeue(net, g->members[m].ip, g->members[m].port, INC_DATA);
}
