/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/grants.h"

#include <assert.h>

#include <dxp/status.h>

#include "wire/manage_entry.h"

#define HEAD_BYTES 38 /* page's body before its rows */
/* zeros: a request is as long as the longest rejection, so that this is no amplification */
#define PADDING 46

size_t grants_request_encode(const struct grants_request *request, struct mac *mac, uint8_t *out)
{
	static const uint8_t padding[PADDING];
	struct put_cursor c = {out + WIRE_COMMON_BYTES, out + MANAGE_FRAME_BYTES - MAC_BYTES,
			       false};

	put_64(&c, request->request);
	put_64(&c, request->nonce);
	put_16(&c, request->first);
	put_bytes(&c, padding, sizeof(padding));
	assert(!c.bad);
	return manage_seal_keyed(WIRE_GRANTS, WIRE_NODE_NONE,
				 (size_t)(c.at - out) - WIRE_COMMON_BYTES, request->key, mac, out);
}

int grants_request_decode(struct manage_body body, struct grants_request *out)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct grants_request request = {
		.request = get_64(&c), .nonce = get_64(&c), .first = get_16(&c)};
	uint8_t padding[PADDING] = {0}, any = 0;

	get_bytes(&c, padding, sizeof(padding));
	for (size_t i = 0; i < sizeof(padding); i++)
		any |= padding[i];
	if (!get_done(&c) || any != 0)
		return DXP_EMALFORMED;
	*out = request;
	return DXP_OK;
}

size_t grants_page_encode(const struct grants_page *page, struct mac *mac, uint8_t *out)
{
	uint8_t *body = out + WIRE_COMMON_BYTES;
	struct put_cursor head = {body, body + HEAD_BYTES, false};
	struct put_cursor c = {head.end, out + FABRIC_DATAGRAM_BYTES - MAC_BYTES, false};
	uint16_t next = page->next;
	uint8_t count = 0;

	for (; count < page->count; count++) {
		struct put_cursor row = c;
		put_text(&row, page->rows[count].host);
		put_text(&row, page->rows[count].xpu);
		if (row.bad) {
			next = (uint16_t)(page->first + count);
			break;
		}
		c = row;
	}
	put_64(&head, page->request);
	put_64(&head, page->nonce);
	put_64(&head, page->epoch);
	put_64(&head, page->version);
	put_8(&head, page->rule);
	put_16(&head, page->first);
	put_16(&head, next);
	put_8(&head, count);
	assert(!head.bad && head.at == head.end);
	return manage_seal(WIRE_GRANTS_PAGE, WIRE_NODE_MANAGER, WIRE_NODE_NONE,
			   (size_t)(c.at - body), mac, out);
}

static bool name_sound(const char *name)
{
	return manage_name_valid(name) || strcmp(name, "*") == 0;
}

static bool page_sound(const struct grants_page *p)
{
	if ((p->rule != GRANTS_RULE_ANY && p->rule != GRANTS_RULE_EXPLICIT) ||
	    p->count > GRANTS_PAGE_ROWS)
		return false;
	/* all pages but the last have rows, so a reader reaches the last */
	return p->next == 0 || (p->count > 0 && p->next == p->first + p->count);
}

int grants_page_decode(struct manage_body body, struct grants_page *out)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct grants_page page = {.request = get_64(&c),
				   .nonce = get_64(&c),
				   .epoch = get_64(&c),
				   .version = get_64(&c),
				   .rule = get_8(&c),
				   .first = get_16(&c),
				   .next = get_16(&c),
				   .count = get_8(&c)};

	if (c.bad || !page_sound(&page))
		return DXP_EMALFORMED;
	for (unsigned i = 0; i < page.count; i++) {
		struct grants_row *row = &page.rows[i];
		get_text(&c, row->host, sizeof(row->host));
		get_text(&c, row->xpu, sizeof(row->xpu));
		c.bad = c.bad || !name_sound(row->host) || !name_sound(row->xpu);
	}
	if (!get_done(&c))
		return DXP_EMALFORMED;
	*out = page;
	return DXP_OK;
}
