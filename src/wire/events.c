/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/events.h"

#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/manage_entry.h"
#include "wire/printable.h"

#define HEAD_BYTES 57 /* bytes of a page's body before its rows */
/* zero bytes that make a request as long as the longest rejection, so that a rejection is no
 * amplification */
#define PADDING 31

static const struct {
	uint8_t kind, severity;
	const char *name;
} kinds[] = {
#define ROW(constant, value, name, severity) {value, EVENT_##severity, name},
	EVENT_KIND_LIST(ROW)
#undef ROW
};

const char *event_kind_name(uint8_t kind)
{
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (kinds[i].kind == kind)
			return kinds[i].name;
	return "other";
}

uint8_t event_kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].kind;
	return 0;
}

enum event_severity event_kind_severity(uint8_t kind)
{
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (kinds[i].kind == kind)
			return kinds[i].severity;
	return EVENT_INFO;
}

size_t events_request_encode(const struct events_request *request, struct mac *mac, uint8_t *out)
{
	static const uint8_t padding[PADDING];
	struct put_cursor c = {out + WIRE_COMMON_BYTES, out + MANAGE_FRAME_BYTES - MAC_BYTES,
			       false};

	put_64(&c, request->request);
	put_64(&c, request->nonce);
	put_64(&c, request->from);
	put_64(&c, request->since_ms);
	put_8(&c, request->kind);
	put_bytes(&c, padding, sizeof(padding));
	assert(!c.bad);
	return manage_seal_keyed(WIRE_EVENTS, WIRE_NODE_NONE,
				 (size_t)(c.at - out) - WIRE_COMMON_BYTES, request->key, mac, out);
}

int events_request_decode(struct manage_body body, struct events_request *out)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct events_request request = {.request = get_64(&c),
					 .nonce = get_64(&c),
					 .from = get_64(&c),
					 .since_ms = get_64(&c),
					 .kind = get_8(&c)};
	uint8_t padding[PADDING] = {0}, any = 0;

	get_bytes(&c, padding, sizeof(padding));
	for (size_t i = 0; i < sizeof(padding); i++)
		any |= padding[i];
	if (!get_done(&c) || any != 0 || request.from > EVENT_SEQUENCE_MAX)
		return DXP_EMALFORMED;
	*out = request;
	return DXP_OK;
}

static bool row_put(struct put_cursor *c, const struct event_row *row)
{
	struct put_cursor at = *c;

	put_64(&at, row->sequence);
	put_64(&at, row->time_ms);
	put_8(&at, row->kind);
	printable_put(&at, row->subject, sizeof(row->subject));
	printable_put(&at, row->text, sizeof(row->text));
	if (!at.bad)
		*c = at;
	return !at.bad;
}

size_t events_page_encode(const struct events_page *page, struct mac *mac, uint8_t *out)
{
	uint8_t *body = out + WIRE_COMMON_BYTES;
	struct put_cursor head = {body, body + HEAD_BYTES, false};
	struct put_cursor c = {head.end, out + FABRIC_DATAGRAM_BYTES - MAC_BYTES, false};
	uint64_t next = page->next;
	uint8_t count = 0;

	for (; count < page->count; count++) {
		if (!row_put(&c, &page->rows[count])) {
			next = page->rows[count].sequence;
			break;
		}
	}
	put_64(&head, page->request);
	put_64(&head, page->nonce);
	put_64(&head, page->epoch);
	put_64(&head, page->oldest);
	put_64(&head, page->newest);
	put_64(&head, page->from);
	put_64(&head, next);
	put_8(&head, count);
	assert(!head.bad && head.at == head.end);
	return manage_seal(WIRE_EVENTS_PAGE, WIRE_NODE_MANAGER, WIRE_NODE_NONE,
			   (size_t)(c.at - body), mac, out);
}

/* Checks, among others, that a page but the last one advances, so that a reader reaches the end. */
static bool page_sound(const struct events_page *p)
{
	return p->count <= EVENTS_PAGE_ROWS && p->newest < EVENT_SEQUENCE_MAX &&
	       p->oldest <= p->newest + 1 && p->next <= p->newest + 1 &&
	       (p->next > p->from || p->next == p->newest + 1);
}

int events_page_decode(struct manage_body body, struct events_page *out)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct events_page page = {.request = get_64(&c),
				   .nonce = get_64(&c),
				   .epoch = get_64(&c),
				   .oldest = get_64(&c),
				   .newest = get_64(&c),
				   .from = get_64(&c),
				   .next = get_64(&c),
				   .count = get_8(&c)};
	uint64_t least = page.from;

	if (c.bad || !page_sound(&page))
		return DXP_EMALFORMED;
	for (unsigned i = 0; i < page.count; i++) {
		struct event_row *row = &page.rows[i];
		row->sequence = get_64(&c);
		row->time_ms = get_64(&c);
		row->kind = get_8(&c);
		printable_get(&c, row->subject, sizeof(row->subject));
		printable_get(&c, row->text, sizeof(row->text));
		if (c.bad || row->sequence < least || row->sequence >= page.next || row->kind == 0)
			return DXP_EMALFORMED;
		least = row->sequence + 1;
	}
	if (!get_done(&c))
		return DXP_EMALFORMED;
	*out = page;
	return DXP_OK;
}

static bool report_kind(uint8_t kind)
{
	return kind == EVENT_PATH_BLOCKED || kind == EVENT_PATH_SLOW || kind == EVENT_PATH_RESTORED;
}

size_t event_report_encode(uint16_t source, const struct event_report *report, struct mac *mac,
			   uint8_t *out)
{
	const struct manage_renew *base = &report->base;
	struct put_cursor c = {out + WIRE_COMMON_BYTES, out + MANAGE_FRAME_BYTES - MAC_BYTES,
			       false};

	put_64(&c, base->request);
	put_64(&c, base->nonce);
	put_64(&c, base->run);
	put_64(&c, base->incarnation);
	put_bytes(&c, base->uuid, sizeof(base->uuid));
	put_32(&c, report->number);
	put_8(&c, report->kind);
	put_64(&c, report->rtt_ns);
	put_64(&c, report->typical_ns);
	put_text(&c, report->peer);
	assert(!c.bad && report_kind(report->kind));
	return manage_seal_keyed(WIRE_REPORT, source, (size_t)(c.at - out) - WIRE_COMMON_BYTES,
				 base->key, mac, out);
}

int event_report_decode(struct manage_body body, struct event_report *out)
{
	struct get_cursor c = {body.data, body.data + body.bytes, false};
	struct event_report report = {.base = {.request = get_64(&c),
					       .nonce = get_64(&c),
					       .run = get_64(&c),
					       .incarnation = get_64(&c)}};

	get_bytes(&c, report.base.uuid, sizeof(report.base.uuid));
	report.number = get_32(&c);
	report.kind = get_8(&c);
	report.rtt_ns = get_64(&c);
	report.typical_ns = get_64(&c);
	get_text(&c, report.peer, sizeof(report.peer));
	if (!get_done(&c) || !report_kind(report.kind) || !manage_name_valid(report.peer) ||
	    report.base.nonce == 0)
		return DXP_EMALFORMED;
	*out = report;
	return DXP_OK;
}
