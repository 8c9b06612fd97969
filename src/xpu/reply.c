/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to hosts, and events to other xPUs. None is dropped: a host that is unreachable or does
 * not read is evicted. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/util.h"
#include "nic/limits.h"
#include "xpu/slot_internal.h"

static void sent(void *context, int status)
{
	struct tenant *t = context;

	t->busy--;
	if (status == DXP_OK || t->gone)
		return;
	log_warn(
		"host node %u is unreachable (%s): its commands are cancelled, its memory is freed",
		t->host, dxp_status_text(status));
	t->slot->hooks->evict(t, DXP_EPEERLOST);
}

/* Messages waiting for the host are within bounds. */
static bool host_reads(const struct tenant *t)
{
	const struct outbox *o = t->slot->outbox;

	return outbox_count(o, t->host) < XPU_OUTBOX_MAX &&
	       outbox_bytes(o, t->host) < XPU_OUTBOX_BYTES;
}

static void message_send(struct tenant *t, const uint8_t *data, int bytes)
{
	struct outbox *o = t->slot->outbox;

	assert(bytes > 0 && bytes <= NIC_NAP_BYTES_MAX);
	if (t->gone)
		return;
	bool reads = host_reads(t);
	if (!reads ||
	    outbox_nap(o, OUTBOX_HOST, &t->reply, data, (uint32_t)bytes, sent, t) != DXP_OK) {
		log_warn("host node %u %s: its commands are cancelled, its memory is freed",
			 t->host,
			 reads ? "gets no answer, because this machine is out of memory"
			       : "sends commands without reading the answers");
		t->slot->hooks->evict(t, DXP_EPEERLOST);
		return;
	}
	t->busy++;
}

void reply_send(struct tenant *t, const struct command_reply *r)
{
	uint8_t data[COMMAND_BYTES_MAX];

	slot_error_note(t->slot, r->status);
	message_send(t, data, command_reply_encode(r, data));
}

void reply_status(struct tenant *t, uint8_t op, uint32_t sequence, int status)
{
	struct command_reply r = {.op = op, .sequence = sequence, .status = status};
	uint8_t data[COMMAND_BYTES_MAX];

	slot_error_note(t->slot, status);
	int bytes = command_reply_encode(&r, data);
	/* A callback would use the tenant, which is freed when the reply to CLOSE is queued. */
	if (op == COMMAND_CLOSE)
		outbox_nap(t->slot->outbox, OUTBOX_HOST, &t->reply, data, (uint32_t)bytes, NULL,
			   NULL);
	else
		message_send(t, data, bytes);
}

void reply_print_send(struct tenant *t, const void *text, uint32_t bytes)
{
	uint8_t data[COMMAND_BYTES_MAX];

	for (uint32_t at = 0; at < bytes && !t->gone; at += COMMAND_PRINT_BYTES) {
		size_t part = min_u64(bytes - at, COMMAND_PRINT_BYTES);
		message_send(t, data, command_print_encode((const char *)text + at, part, data));
	}
}

/* Gets only the events of its commands, so that there is space for these. */
static bool host_slow(const struct tenant *t)
{
	return outbox_count(t->slot->outbox, t->host) >= XPU_OUTBOX_MAX / 2;
}

void reply_failed_send(struct tenant *t, uint64_t event, const char *sentence)
{
	char text[COMMAND_FAILURE_BYTES];
	uint8_t data[COMMAND_BYTES_MAX];

	if (event == 0 || !sentence[0] || host_slow(t))
		return;
	snprintf(text, sizeof(text), "%s", sentence);
	/* A hostile program may have chosen names in the sentence. */
	text_clean(text, strlen(text), TEXT_LINE, NULL);
	message_send(t, data, command_failed_encode(event, text, data));
}

void reply_cycles_send(struct tenant *t, uint64_t event, const struct dxp_event_cycles *cycles)
{
	uint8_t data[COMMAND_BYTES_MAX];

	if (event == 0 || cycles->cycles == 0 || host_slow(t))
		return;
	message_send(t, data, command_cycles_encode(event, cycles, data));
}

static void events_flush(struct tenant *t)
{
	uint32_t bytes = t->held_bytes;

	t->held_bytes = 0;
	t->held_hurried = false;
	if (bytes > 0)
		message_send(t, t->held, (int)bytes);
}

void reply_begun_send(struct tenant *t, uint64_t event)
{
	uint8_t data[COMMAND_BYTES_MAX];

	/* Earlier completions come first. */
	events_flush(t);
	message_send(t, data, command_begun_encode(event, data));
}

void reply_lost_send(struct tenant *t, const struct command_lost *lost)
{
	uint8_t data[COMMAND_BYTES_MAX];

	events_flush(t);
	if (lost->event)
		message_send(t, data, command_lost_encode(lost, data));
}

/* The host waits for this event, or a later one. */
static bool hurried(const struct tenant *t, uint64_t event)
{
	return t->hurried && !seq_before(t->hurry, EVENT_COUNT(event));
}

void reply_events_hurry(struct tenant *t, uint32_t upto)
{
	if (!t->hurried || seq_before(t->hurry, upto))
		t->hurry = upto;
	t->hurried = true;
	if (t->held_bytes > 0)
		events_flush(t);
}

void reply_event_send(struct tenant *t, const struct command_event *e, bool lazy)
{
	uint8_t data[COMMAND_BYTES_MAX];
	int bytes = command_event_encode(e, data);

	assert(bytes == COMMAND_EVENT_BYTES);
	if (t->held_bytes == 0)
		t->held_since_ns = clock_now_ns();
	memcpy(t->held + t->held_bytes, data, COMMAND_EVENT_BYTES);
	t->held_bytes += COMMAND_EVENT_BYTES;
	t->held_hurried |= hurried(t, e->event);
	/* Now, if the host waits for exactly this event, or no later event would carry it; a
	 * message for each would cost as much as its command. */
	if (!lazy || (t->hurried && t->hurry == EVENT_COUNT(e->event)) || e->status != DXP_OK ||
	    t->held_bytes == sizeof(t->held) || graph_count(t->graph) == 0)
		events_flush(t);
}

static uint64_t flush_ns(const struct tenant *t)
{
	return t->held_since_ns + (t->held_hurried ? XPU_EVENTS_HURRY_NS : XPU_EVENTS_HOLD_NS);
}

uint32_t reply_events_flush_due(struct slot *s)
{
	uint64_t now_ns = clock_now_ns();
	uint32_t flushed = 0;

	for (struct tenant *t = s->tenants; t; t = t->next) {
		if (t->held_bytes == 0 || now_ns < flush_ns(t))
			continue;
		events_flush(t);
		flushed++;
	}
	return flushed;
}

uint64_t reply_events_deadline(const struct slot *s)
{
	uint64_t deadline = UINT64_MAX;

	for (const struct tenant *t = s->tenants; t; t = t->next)
		if (t->held_bytes > 0)
			deadline = min_u64(deadline, flush_ns(t));
	return deadline;
}

int reply_event_notify(struct slot *s, const struct dxp_target *to, const struct command_event *e,
		       outbox_done done, void *context)
{
	uint8_t data[COMMAND_BYTES_MAX];
	int bytes = command_event_encode(e, data);

	return outbox_nap(s->outbox, OUTBOX_PEER, to, data, (uint32_t)bytes, done, context);
}
