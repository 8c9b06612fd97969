/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes attach messages, by one table of each type's fields. The head (magic,
 * version, type, status) is the same in all versions, so that each side can report a mismatch. */
#include "wire/attach.h"

#include <string.h>

#include <dxp/status.h>

#include "wire/cursor.h"
#include "wire/manage.h"

#define RIGHTS_ALL 7
/* lowest status: an event stores it in one byte */
#define STATUS_MIN (-127)

enum field {
	FUNCTION = 1 << 0,
	QP = 1 << 1,
	ON = 1 << 2,
	RIGHTS = 1 << 3,
	KEY = 1 << 4,
	VADDR = 1 << 5,
	OFFSET = 1 << 6,
	BYTES = 1 << 7,
	VALUE = 1 << 8,
	LABEL = 1 << 9,
	LABEL_OR_NONE = 1 << 10,
	/* `qp` is ATTACH_QP_ALL, ATTACH_QP() or ATTACH_QP_ANY */
	QP_CHOICE = 1 << 11,
};

static const uint16_t request_fields[] = {
	[ATTACH_OPEN] = FUNCTION | QP_CHOICE | LABEL_OR_NONE,
	[ATTACH_REGISTER] = RIGHTS | OFFSET | BYTES,
	[ATTACH_REVOKE] = KEY,
	[ATTACH_LOOKUP] = KEY | VADDR | OFFSET | BYTES,
	[ATTACH_FIND] = QP | LABEL,
	[ATTACH_ARM] = ON,
	[ATTACH_LIST] = FUNCTION | QP,
	[ATTACH_WEIGHT] = FUNCTION | VALUE,
	[ATTACH_LIMIT] = FUNCTION | VALUE,
	[ATTACH_RESET] = FUNCTION,
	[ATTACH_AREAS] = FUNCTION | QP,
	[ATTACH_PRIORITY] = FUNCTION | VALUE,
};

static bool type_known(uint8_t type)
{
	return type >= ATTACH_OPEN && type <= ATTACH_PRIORITY;
}

static struct put_cursor head_put(uint8_t *out, uint8_t type)
{
	put_be32(out, ATTACH_MAGIC);
	out[4] = ATTACH_VERSION;
	out[5] = type;
	return (struct put_cursor){.at = out + 6, .end = out + ATTACH_BYTES_MAX};
}

static int head_get(struct get_cursor *c, uint8_t *type)
{
	uint32_t magic = get_32(c);
	uint8_t version = get_8(c);

	*type = get_8(c);
	if (c->bad || magic != ATTACH_MAGIC)
		return DXP_EMALFORMED;
	return version == ATTACH_VERSION ? DXP_OK : DXP_EUNSUPPORTED;
}

/* Sets `bad` above `high`. */
static uint8_t get_small(struct get_cursor *c, uint8_t high)
{
	uint8_t v = get_8(c);

	c->bad |= v > high;
	return v;
}

static uint8_t get_choice(struct get_cursor *c)
{
	uint8_t v = get_8(c);

	c->bad |= v > ATTACH_QP(DXP_QPS - 1) && v != ATTACH_QP_ANY;
	return v;
}

static void get_label(struct get_cursor *c, char label[FABRIC_NAME_BYTES], bool needed)
{
	get_text(c, label, FABRIC_NAME_BYTES);
	if (!c->bad && (needed || label[0]))
		c->bad = !manage_name_valid(label);
}

size_t attach_request_encode(const struct attach_request *r, uint8_t *out)
{
	struct put_cursor c = head_put(out, r->type);
	unsigned fields = type_known(r->type) ? request_fields[r->type] : 0;

	if (fields & FUNCTION)
		put_8(&c, r->function);
	if (fields & (QP | QP_CHOICE))
		put_8(&c, r->qp);
	if (fields & ON)
		put_8(&c, r->on);
	if (fields & RIGHTS)
		put_32(&c, r->rights);
	if (fields & KEY)
		put_32(&c, r->key);
	if (fields & VADDR)
		put_64(&c, r->vaddr);
	if (fields & OFFSET)
		put_64(&c, r->offset);
	if (fields & BYTES)
		put_64(&c, r->bytes);
	if (fields & VALUE)
		put_64(&c, r->value);
	if (fields & (LABEL | LABEL_OR_NONE))
		put_text(&c, r->label);
	return (size_t)(c.at - out);
}

int attach_request_decode(const uint8_t *data, size_t bytes, struct attach_request *out)
{
	struct get_cursor c = {.at = data, .end = data + bytes};
	struct attach_request r = {0};
	int status = head_get(&c, &r.type);

	if (status != DXP_OK)
		return status;
	if (!type_known(r.type))
		return DXP_EMALFORMED;
	unsigned fields = request_fields[r.type];
	if (fields & FUNCTION)
		r.function = get_small(&c, WIRE_FUNCTIONS - 1);
	if (fields & QP)
		r.qp = get_small(&c, DXP_QPS - 1);
	if (fields & QP_CHOICE)
		r.qp = get_choice(&c);
	if (fields & ON)
		r.on = get_small(&c, 1);
	if (fields & RIGHTS)
		r.rights = get_32(&c);
	if (fields & KEY)
		r.key = get_32(&c);
	if (fields & VADDR)
		r.vaddr = get_64(&c);
	if (fields & OFFSET)
		r.offset = get_64(&c);
	if (fields & BYTES)
		r.bytes = get_64(&c);
	if (fields & VALUE)
		r.value = get_64(&c);
	if (fields & (LABEL | LABEL_OR_NONE))
		get_label(&c, r.label, fields & LABEL);
	if (!get_done(&c) || r.rights > RIGHTS_ALL)
		return DXP_EMALFORMED;
	*out = r;
	return DXP_OK;
}

/* ---- answers ---- */

static void row_put(struct put_cursor *c, const struct attach_row *r)
{
	put_8(c, r->function);
	put_8(c, r->qp);
	put_8(c, r->qps);
	put_8(c, r->state);
	put_8(c, r->weight);
	put_8(c, r->priority);
	put_8(c, r->armed);
	put_32(c, r->error);
	put_32(c, r->pid);
	put_32(c, r->regions);
	put_64(c, r->mapped_bytes);
	put_64(c, r->limit_bytes_per_s);
	put_text(c, r->label);
#define COUNTER_PUT(name) put_64(c, r->counters.name);
	DXP_COUNTER_LIST(COUNTER_PUT)
#undef COUNTER_PUT
}

static void row_get(struct get_cursor *c, struct attach_row *r)
{
	r->function = get_small(c, WIRE_FUNCTIONS - 1);
	r->qp = get_small(c, DXP_QPS - 1);
	r->qps = get_small(c, DXP_QPS);
	c->bad |= r->qps == 0 || r->qp + r->qps > DXP_QPS;
	r->state = get_small(c, DXP_FUNCTION_CLOSED);
	r->weight = get_8(c);
	r->priority = get_small(c, 1);
	r->armed = get_small(c, 1);
	r->error = get_32(c);
	r->pid = get_32(c);
	r->regions = get_32(c);
	r->mapped_bytes = get_64(c);
	r->limit_bytes_per_s = get_64(c);
	get_label(c, r->label, false);
#define COUNTER_GET(name) r->counters.name = get_64(c);
	DXP_COUNTER_LIST(COUNTER_GET)
#undef COUNTER_GET
	c->bad |= r->error > -STATUS_MIN;
}

/* Registers of a device, in the order of the register block. */
#define REGISTER_LIST(X)  \
	X(64, send_vaddr) \
	X(32, send_bytes) \
	X(32, node)       \
	X(32, ip)         \
	X(32, port)       \
	X(32, queue)      \
	X(32, qp)         \
	X(32, send_go)    \
	X(64, recv_vaddr) \
	X(32, recv_bytes) \
	X(32, recv_go)    \
	X(32, send_error) \
	X(32, send_done)  \
	X(32, recv_error) \
	X(32, recv_done)  \
	X(32, recv_used)

static void areas_put(struct put_cursor *c, const struct attach_answer *a)
{
	put_8(c, a->area_count);
	for (uint8_t i = 0; i < a->area_count; i++) {
		put_64(c, a->areas[i].vaddr);
		put_64(c, a->areas[i].bytes);
		put_64(c, a->areas[i].offset);
		put_32(c, a->areas[i].key);
	}
	put_64(c, a->total_bytes);
#define REGISTER_PUT(bits, name) put_##bits(c, a->registers.name);
	REGISTER_LIST(REGISTER_PUT)
#undef REGISTER_PUT
}

static void areas_get(struct get_cursor *c, struct attach_answer *a)
{
	a->area_count = get_small(c, ATTACH_AREAS_MAX);
	for (uint8_t i = 0; i < a->area_count && !c->bad; i++) {
		a->areas[i].vaddr = get_64(c);
		a->areas[i].bytes = get_64(c);
		a->areas[i].offset = get_64(c);
		a->areas[i].key = get_32(c);
	}
	a->total_bytes = get_64(c);
#define REGISTER_GET(bits, name) a->registers.name = get_##bits(c);
	REGISTER_LIST(REGISTER_GET)
#undef REGISTER_GET
}

static void target_put(struct put_cursor *c, const struct dxp_target *t)
{
	put_16(c, t->node);
	put_8(c, t->function);
	put_8(c, t->qp);
	put_32(c, t->magic);
}

static void target_get(struct get_cursor *c, struct dxp_target *t)
{
	t->node = get_16(c);
	t->function = get_small(c, WIRE_FUNCTIONS - 1);
	t->qp = get_small(c, DXP_QPS - 1);
	t->magic = get_32(c);
}

size_t attach_answer_encode(const struct attach_answer *a, uint8_t *out)
{
	struct put_cursor c = head_put(out, a->type);

	put_32(&c, (uint32_t)a->status);
	switch (a->status == DXP_OK ? a->type : 0) {
	case ATTACH_OPEN:
		put_8(&c, a->function);
		put_8(&c, a->qp);
		put_16(&c, a->node);
		break;
	case ATTACH_REGISTER: put_32(&c, a->key); break;
	case ATTACH_FIND: target_put(&c, &a->target); break;
	case ATTACH_LIST:
		put_64(&c, a->malformed);
		put_8(&c, a->row_count);
		for (uint8_t i = 0; i < a->row_count; i++)
			row_put(&c, &a->rows[i]);
		break;
	case ATTACH_AREAS: areas_put(&c, a); break;
	default: break;
	}
	return (size_t)(c.at - out);
}

static void body_get(struct get_cursor *c, struct attach_answer *a)
{
	switch (a->type) {
	case ATTACH_OPEN:
		a->function = get_small(c, WIRE_FUNCTIONS - 1);
		a->qp = get_small(c, DXP_QPS - 1);
		a->node = get_16(c);
		break;
	case ATTACH_REGISTER: a->key = get_32(c); break;
	case ATTACH_FIND: target_get(c, &a->target); break;
	case ATTACH_LIST:
		a->malformed = get_64(c);
		a->row_count = get_small(c, ATTACH_ROWS);
		for (uint8_t i = 0; i < a->row_count && !c->bad; i++)
			row_get(c, &a->rows[i]);
		break;
	case ATTACH_AREAS: areas_get(c, a); break;
	default: break;
	}
}

int attach_answer_decode(const uint8_t *data, size_t bytes, struct attach_answer *out)
{
	struct get_cursor c = {.at = data, .end = data + bytes};
	struct attach_answer a = {0};
	int status = head_get(&c, &a.type);

	if (status != DXP_OK)
		return status;
	a.status = (int32_t)get_32(&c);
	if (a.status > DXP_OK || a.status < STATUS_MIN)
		return DXP_EMALFORMED;
	if (a.status == DXP_OK) {
		c.bad |= !type_known(a.type);
		body_get(&c, &a);
	}
	if (!get_done(&c) || a.type > ATTACH_PRIORITY)
		return DXP_EMALFORMED;
	*out = a;
	return DXP_OK;
}
