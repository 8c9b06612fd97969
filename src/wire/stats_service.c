/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/stats_service.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/leb128.h"
#include "wire/manage_entry.h"
#include "wire/printable.h"

#define HEAD_BYTES 25 /* before the service, as in wire/stats.c */
/* zeros: a request is as long as the longest rejection, so that this is no amplification */
#define PADDING    45
#define REQUEST_NS (S_NS / STATS_SERVICE_PER_S)

bool stats_service_allowed(struct stats_service_limit *l, uint64_t now_ns)
{
	if (l->free_ns > now_ns + STATS_SERVICE_BURST * REQUEST_NS)
		return false;
	l->free_ns = max_u64(l->free_ns, now_ns) + REQUEST_NS;
	return true;
}

void stats_value_add(struct stats_value *values, size_t *count, const char *name, bool level,
		     uint64_t value)
{
	struct stats_value *v = &values[(*count)++];

	snprintf(v->name, sizeof(v->name), "%s", name);
	v->level = level;
	v->value = value;
}

#define ABOVE "parent_"
#define BELOW "child_"

void stats_neighbour_add(struct stats_value *values, size_t *count, bool above, unsigned index,
			 uint32_t ip)
{
	char name[FABRIC_NAME_BYTES];

	snprintf(name, sizeof(name), "%s%u", above ? ABOVE : BELOW, index);
	stats_value_add(values, count, name, true, ip);
}

bool stats_neighbour_get(const struct stats_value *value, bool *above, uint32_t *ip)
{
	const bool parent = strncmp(value->name, ABOVE, sizeof(ABOVE) - 1) == 0;

	if (!parent && strncmp(value->name, BELOW, sizeof(BELOW) - 1) != 0)
		return false;
	/* neither multicast nor reserved */
	if (!value->level || value->value == 0 || value->value >= 0xe0000000u)
		return false;
	*above = parent;
	*ip = (uint32_t)value->value;
	return true;
}

void stats_service_page_fill(struct stats_service_page *page, const struct stats_value *values,
			     size_t count)
{
	page->count = 0;
	for (size_t i = page->first; i < count && page->count < STATS_SERVICE_ROWS; i++)
		page->values[page->count++] = values[i];
	page->next = page->first + page->count < count ? (uint16_t)(page->first + page->count) : 0;
}

size_t stats_service_request_encode(const struct stats_request *request, uint16_t node,
				    const uint8_t *key, struct mac *mac, uint8_t *out)
{
	static const uint8_t padding[PADDING];
	struct put_cursor c = {out + WIRE_COMMON_BYTES, out + MANAGE_FRAME_BYTES - MAC_BYTES,
			       false};

	put_64(&c, request->request);
	put_64(&c, request->nonce);
	put_8(&c, STATS_PART_SERVICE);
	put_16(&c, request->first);
	put_bytes(&c, padding, sizeof(padding));
	assert(!c.bad);
	const size_t bytes = (size_t)(c.at - out) - WIRE_COMMON_BYTES;
	if (node == WIRE_NODE_MANAGER)
		return manage_seal_keyed(WIRE_STATS, WIRE_NODE_NONE, bytes, key, mac, out);
	return manage_seal(WIRE_STATS, WIRE_NODE_NONE, node, bytes, mac, out);
}

int stats_service_request_decode(struct manage_body body, struct stats_request *out)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct stats_request request = {
		.request = get_64(&c), .nonce = get_64(&c), .part = get_8(&c), .first = get_16(&c)};
	uint8_t padding[PADDING] = {0}, any = 0;

	get_bytes(&c, padding, sizeof(padding));
	for (size_t i = 0; i < sizeof(padding); i++)
		any |= padding[i];
	if (!get_done(&c) || any != 0 || request.part != STATS_PART_SERVICE)
		return DXP_EMALFORMED;
	*out = request;
	return DXP_OK;
}

/* A letter of a-z, then a-z 0-9 _. */
static bool name_sound(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

	return *name && strchr(letters, *name) &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static void service_put(struct put_cursor *c, const struct stats_service *s)
{
	put_8(c, s->role);
	put_32(c, s->pid);
	put_64(c, s->up_ns);
	printable_put(c, s->name, sizeof(s->name));
	printable_put(c, s->program, sizeof(s->program));
}

static void service_get(struct get_cursor *c, struct stats_service *s)
{
	s->role = get_8(c);
	s->pid = get_32(c);
	s->up_ns = get_64(c);
	printable_get(c, s->name, sizeof(s->name));
	printable_get(c, s->program, sizeof(s->program));
	c->bad = c->bad || s->role < STATS_ROLE_MANAGER || s->role > STATS_ROLE_SWITCH;
}

static void value_get(struct get_cursor *c, struct stats_value *v)
{
	uint8_t level = get_8(c);

	get_text(c, v->name, sizeof(v->name));
	v->level = level;
	v->value = leb128_get(c);
	c->bad = c->bad || level > 1 || !name_sound(v->name);
}

size_t stats_service_page_encode(const struct stats_service_page *page, uint16_t node,
				 struct mac *mac, uint8_t *out)
{
	uint8_t *body = out + WIRE_COMMON_BYTES;
	struct put_cursor head = {body, body + HEAD_BYTES, false};
	struct put_cursor c = {head.end, out + FABRIC_DATAGRAM_BYTES - MAC_BYTES, false};
	uint16_t next = page->next;
	uint8_t count = 0;

	service_put(&c, &page->service);
	for (; count < page->count; count++) {
		struct put_cursor row = c;
		put_8(&row, page->values[count].level);
		put_text(&row, page->values[count].name);
		leb128_put(&row, page->values[count].value);
		if (row.bad) {
			next = (uint16_t)(page->first + count);
			break;
		}
		c = row;
	}
	put_64(&head, page->request);
	put_64(&head, page->nonce);
	put_16(&head, STATS_SERVICE_VERSION);
	put_8(&head, STATS_PART_SERVICE);
	put_8(&head, 1); /* published */
	put_16(&head, page->first);
	put_16(&head, next);
	put_8(&head, count);
	assert(!c.bad && !head.bad && head.at == head.end);
	return manage_seal(WIRE_STATS_PAGE, node, WIRE_NODE_NONE, (size_t)(c.at - body), mac, out);
}

int stats_service_page_decode(struct manage_body body, struct stats_service_page *out)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct stats_service_page page = {.request = get_64(&c), .nonce = get_64(&c)};
	uint16_t version = get_16(&c);
	uint8_t part = get_8(&c), published = get_8(&c);

	page.first = get_16(&c);
	page.next = get_16(&c);
	page.count = get_8(&c);
	if (c.bad || part != STATS_PART_SERVICE)
		return DXP_EMALFORMED;
	if (version != STATS_SERVICE_VERSION)
		return DXP_EUNSUPPORTED;
	/* all pages but the last have rows, so a reader reaches the last */
	if (published != 1 || page.count > STATS_SERVICE_ROWS ||
	    (page.next != 0 && (page.count == 0 || page.next != page.first + page.count)))
		return DXP_EMALFORMED;
	service_get(&c, &page.service);
	for (unsigned i = 0; i < page.count && !c.bad; i++)
		value_get(&c, &page.values[i]);
	if (!get_done(&c))
		return DXP_EMALFORMED;
	*out = page;
	return DXP_OK;
}
