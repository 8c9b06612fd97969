/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/inc_compat.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "wire/cursor.h"
#include "wire/limits.h"

#define OFFSET_ENUM(name, offset, bytes) OFF_##name = (offset),
enum compat_offset { INC_COMPAT_FIELDS(OFFSET_ENUM) };
#undef OFFSET_ENUM

/* Fields of the control payload and of its extension, with the source's names. */
#define MEMBER(bits, field) uint##bits##_t field;
struct compat_control {
	INC_COMPAT_CONTROL_FIELDS(MEMBER)
	INC_COMPAT_EXTENSION_FIELDS(MEMBER)
};
#undef MEMBER

#define HOP_MASK ((1u << INC_COMPAT_HOP_SHIFT) - 1)

_Static_assert(INC_COMPAT_CONTROL_BYTES + INC_COMPAT_EXTENSION_BYTES <= INC_CONTROL_BYTES_MAX,
	       "callers have space for both formats");

static bool kind_control(uint8_t kind)
{
	return kind >= INC_QUERY && kind <= INC_RENEW;
}

/* Returns whether packets go down, from member 0 to the member. */
static bool kind_down(uint8_t kind)
{
	return kind == INC_NOTIFY || kind == INC_KILL;
}

bool inc_compat_is(const struct inc_header *h)
{
	return h->flags & INC_FLAG_COMPAT && (h->kind == INC_DATA || kind_control(h->kind));
}

uint32_t inc_compat_req_id(uint32_t near, uint32_t low)
{
	uint32_t ahead = (low - near) & 0xffffff;

	return ahead < 0x800000 ? near + ahead : near + ahead - 0x1000000;
}

void inc_compat_header_put(const struct inc_header *h, uint8_t out[INC_COMPAT_HEADER_BYTES])
{
	bool control = kind_control(h->kind);

	assert(control || (h->comm_id > 0 && h->comm_id < INC_COMPAT_COMM));
	put_be32(out + OFF_TAG, INC_COMPAT_TAG);
	put_be32(out + OFF_SRC_RANK, kind_down(h->kind) ? 0 : h->src_rank);
	put_be16(out + OFF_COMM_ID, control ? INC_COMPAT_COMM : (uint16_t)h->comm_id);
	out[OFF_OP_CODE] = h->op;
	out[OFF_OPER_AND_TYPE] = h->type;
	out[OFF_REQ_ID] = (uint8_t)h->req_id;
	put_be16(out + OFF_PKT_PARA_NUM, h->status ? 0 : h->elements);
}

/* ---- control payload ---- */

static uint16_t limit_16(uint32_t value)
{
	return (uint16_t)min_u64(value, UINT16_MAX);
}

static struct compat_control control_of(const struct inc_header *h, const struct inc_control *c)
{
	struct inc_hop path[INC_COMPAT_PATH_MAX] = {0};

	memcpy(path, c->path, c->path_count * sizeof(path[0]));
	return (struct compat_control){
		.sup_mpi_type = c->sup_mpi_type,
		.fail_cause = c->fail_cause,
		.master_num = c->master_num,
		.query_notify_hop =
			(uint8_t)((h->kind - INC_QUERY) << INC_COMPAT_HOP_SHIFT | c->hop),
		.sup_comm_type = c->sup_comm_type,
		.sup_allreduce_op = (uint16_t)c->sup_op,
		.sup_data_type = (uint16_t)c->sup_type,
		.sup_max_data_size = c->segment_bytes,
		.global_group_size = limit_16(c->members),
		.local_group_size = kind_down(h->kind) ? path[0].children : 0,
		.true_comm_id = c->true_comm_id,
		.ava_grp_num = c->free_groups,
		.dst_rank = kind_down(h->kind) ? h->src_rank : 0,
		.tor1_ip = path[0].ip,
		.spine_ip = path[1].ip,
		.tor2_ip = path[2].ip,
		.job_id = c->job_id,
		.c_id = c->c_id,
		.world_rank = c->world_rank,
		.qkey = c->qkey,
		.lease_ms = c->lease_ms,
		.member_ip = c->member_ip,
		.first_ip = c->first_ip,
		.cause_ip = c->cause_ip,
		.member_port = c->member_port,
		.first_port = c->first_port,
		.epoch = h->epoch,
		.status = h->status,
		.children1 = path[0].children,
		.children2 = path[1].children,
		.children3 = path[2].children,
		.index1 = path[0].index,
		.index2 = path[1].index,
		.index3 = path[2].index,
	};
}

#define PUT(bits, field) put_##bits(&p, from.field);
#define GET(bits, field) to->field = get_##bits(&g);

size_t inc_compat_control_encode(const struct inc_header *h, const struct inc_control *c,
				 uint8_t out[INC_CONTROL_BYTES_MAX])
{
	struct put_cursor p = {.at = out, .end = out + INC_CONTROL_BYTES_MAX};

	assert(c->path_count <= INC_COMPAT_PATH_MAX && kind_control(h->kind));
	const struct compat_control from = control_of(h, c);
	INC_COMPAT_CONTROL_FIELDS(PUT)
	INC_COMPAT_EXTENSION_FIELDS(PUT)
	assert(!p.bad);
	return (size_t)(p.at - out);
}

/* False: a switch follows a missing one, or an index is not below the children. */
static bool path_get(const struct compat_control *from, struct inc_control *out)
{
	const struct inc_hop hops[INC_COMPAT_PATH_MAX] = {
		{from->tor1_ip, from->children1, from->index1},
		{from->spine_ip, from->children2, from->index2},
		{from->tor2_ip, from->children3, from->index3},
	};

	for (unsigned i = 0; i < INC_COMPAT_PATH_MAX; i++) {
		const struct inc_hop *hop = &hops[i];

		if (hop->ip == 0 && (hop->children || hop->index))
			return false;
		if (hop->ip == 0)
			continue;
		if (out->path_count != i || (hop->index > 0 && hop->index >= hop->children))
			return false;
		out->path[out->path_count++] = *hop;
	}
	return true;
}

static bool control_sound(const struct compat_control *from, uint8_t kind)
{
	return kind_control(kind) && (from->query_notify_hop & HOP_MASK) <= INC_PATH_MAX &&
	       from->master_num <= DXP_INC_FLAT && from->fail_cause < INC_CAUSES &&
	       from->sup_max_data_size % 16 == 0 && from->status <= UINT8_MAX &&
	       from->true_comm_id > 0 && from->true_comm_id < INC_COMPAT_COMM &&
	       (kind_down(kind) ? from->local_group_size == from->children1
				: from->dst_rank == 0 && from->local_group_size == 0);
}

int inc_compat_control_decode(const uint8_t *data, size_t bytes, struct inc_header *h,
			      struct inc_control *out)
{
	struct get_cursor g = {.at = data, .end = data + bytes};
	struct compat_control from = {0}, *to = &from;

	INC_COMPAT_CONTROL_FIELDS(GET)
	INC_COMPAT_EXTENSION_FIELDS(GET)
	uint8_t kind = (uint8_t)(INC_QUERY + (from.query_notify_hop >> INC_COMPAT_HOP_SHIFT));
	struct inc_control c = {
		.sup_mpi_type = from.sup_mpi_type,
		.master_num = from.master_num,
		.hop = from.query_notify_hop & HOP_MASK,
		.sup_comm_type = from.sup_comm_type,
		.fail_cause = from.fail_cause,
		.sup_op = from.sup_allreduce_op,
		.sup_type = from.sup_data_type,
		.segment_bytes = from.sup_max_data_size,
		.window = 1,
		.planes = INC_PLANE_USER,
		.members = from.global_group_size,
		.true_comm_id = from.true_comm_id,
		.qkey = from.qkey,
		.free_groups = from.ava_grp_num,
		.lease_ms = from.lease_ms,
		.job_id = from.job_id,
		.c_id = from.c_id,
		.world_rank = from.world_rank,
		.member_ip = from.member_ip,
		.first_ip = from.first_ip,
		.member_port = from.member_port,
		.first_port = from.first_port,
		.cause_ip = from.cause_ip,
	};
	if (!get_done(&g) || !control_sound(&from, kind) || !path_get(&from, &c))
		return DXP_EMALFORMED;
	h->kind = kind;
	h->epoch = from.epoch;
	h->status = (uint8_t)from.status;
	if (kind_down(kind))
		h->src_rank = from.dst_rank;
	*out = c;
	return DXP_OK;
}

/* ---- packets ---- */

static bool data_sound(const struct inc_header *h, size_t payload_bytes)
{
	return h->comm_id > 0 && h->op < DXP_INC_OPS && h->type < DXP_INC_TYPES &&
	       dxp_inc_defined(h->op, h->type) && payload_bytes <= INC_SHORT_BYTES &&
	       payload_bytes == h->elements * dxp_inc_type_bytes(h->type);
}

static struct inc_header header_get(const uint8_t *in, uint32_t psn)
{
	return (struct inc_header){
		.src_rank = get_be32(in + OFF_SRC_RANK),
		.comm_id = get_be16(in + OFF_COMM_ID),
		.op = in[OFF_OP_CODE],
		.type = in[OFF_OPER_AND_TYPE],
		.req_id = psn,
		.call_elements = get_be16(in + OFF_PKT_PARA_NUM),
		.elements = get_be16(in + OFF_PKT_PARA_NUM),
		.kind = INC_DATA,
		.flags = INC_FLAG_COMPAT | INC_FLAG_SHORT | INC_FLAG_LAST,
		.collective = INC_ALLREDUCE,
	};
}

int inc_compat_decode(const uint8_t *data, size_t bytes, struct inc_packet *out)
{
	struct inc_packet p = {.roce = out->roce};
	struct inc_control control;

	if (bytes < INC_COMPAT_HEADER_BYTES || data[OFF_REQ_ID] != (uint8_t)p.roce.psn)
		return DXP_EMALFORMED;
	p.header = header_get(data, p.roce.psn);
	p.payload = data + INC_COMPAT_HEADER_BYTES;
	p.payload_bytes = bytes - INC_COMPAT_HEADER_BYTES;
	if (p.header.comm_id == INC_COMPAT_COMM) {
		if (p.header.op || p.header.type || p.header.elements || p.header.req_id)
			return DXP_EMALFORMED;
		p.header.comm_id = INC_COMM_CONTROL;
		p.header.flags = INC_FLAG_COMPAT;
		p.header.collective = 0;
		uint32_t sender = p.header.src_rank;
		int status =
			inc_compat_control_decode(p.payload, p.payload_bytes, &p.header, &control);
		if (status != DXP_OK || (kind_down(p.header.kind) && sender != 0))
			return DXP_EMALFORMED;
	} else if (!data_sound(&p.header, p.payload_bytes)) {
		return DXP_EMALFORMED;
	} else if (p.header.elements == 0) {
		p.header.status = (uint8_t)-DXP_EINVAL;
	}
	*out = p;
	return DXP_OK;
}
