/* SPDX-License-Identifier: BSD-3-Clause */
/* PUTs of peers into memory that only DMA can access. The NIC feeds payload to the bridge, and is
 * notified when the device has all.
 *
 * A write has two owners, the NIC until write_end and the pump until `ended`; the last one frees
 * it. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "xpu/bridged_internal.h"
#include "xpu/limits.h"

struct nic_staged_write {
	struct pump_transfer pump;
	struct bridged *bridged;
	struct nic_staged_write *next, **link;
	bool known; /* the NIC still owns the PUT */
	uint64_t bytes;
	uint16_t node; /* of the sender; 0: a function of this NIC */
	int status;    /* valid if `ended` */
	bool ended;
	bool requested; /* write_settled returned DXP_EAGAIN */
};

static void write_unlink(struct nic_staged_write *w)
{
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
}

static void write_free(struct nic_staged_write *w)
{
	write_unlink(w);
	free(w);
}

static void write_ended(struct pump_transfer *t, const struct bridge_end *end)
{
	struct nic_staged_write *w = CONTAINER_OF(t, struct nic_staged_write, pump);
	struct bridged *b = w->bridged;

	w->ended = true;
	b->write_count--;
	w->status = bridged_end_status(end);
	if (w->status != DXP_OK)
		bridged_complain(b, "PUT into device memory", end);
	if (!w->known) {
		write_free(w);
		return;
	}
	/* The NIC may call write_end, which frees w. */
	if ((w->requested || w->status != DXP_OK) && b->nic)
		nic_staged_settled(b->nic, w, clock_now_ns());
}

static void write_granted(struct pump_transfer *t, const struct bridge_grant *grant)
{
	struct nic_staged_write *w = CONTAINER_OF(t, struct nic_staged_write, pump);

	if (w->known && w->bridged->nic)
		nic_staged_granted(w->bridged->nic, w, grant->bytes, clock_now_ns());
}

static bool write_patient(const struct pump_transfer *t)
{
	const struct nic_staged_write *w = CONTAINER_OF(t, struct nic_staged_write, pump);

	return w->known && bridged_silent(w->bridged, w->node);
}

struct nic_staged_write *bridged_write_begin(void *context, struct nic_staged_span *span)
{
	struct bridged *b = context;
	const struct bridge_order order = {
		.path = BRIDGE_IN,
		.fed = true,
		.bytes = span->bytes,
		.unit = span->unit,
		.source = span->source,
	};

	if (b->write_count >= XPU_STAGED_WRITES)
		return NULL;
	struct nic_staged_write *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->bridged = b;
	w->known = true;
	w->pump.device_to = span->offset;
	w->bytes = span->bytes;
	w->pump.ended = write_ended;
	w->pump.granted = write_granted;
	w->pump.patient = write_patient;
	w->node = (uint16_t)span->source;
	w->next = b->writes;
	w->link = &b->writes;
	if (w->next)
		w->next->link = &w->next;
	b->writes = w;
	b->write_count++;
	if (pump_begin(b->pump, &w->pump, &order, clock_now_ns()) == DXP_OK) {
		span->block = bridge_block_bytes(w->pump.bridge);
		return w;
	}
	b->write_count--;
	write_free(w);
	return NULL;
}

/* Before the end, DXP_ETIMEDOUT means that the device made no progress. */
static int sender_notified(int status)
{
	return status == DXP_ETIMEDOUT ? DXP_EDEVICE : status;
}

int bridged_write_place(void *context, struct nic_staged_write *w, uint64_t at,
			const uint8_t *payload, uint32_t bytes, bool first)
{
	struct bridged *b = context;

	if (w->ended)
		return w->status == DXP_OK ? DXP_ERANGE : w->status;
	return sender_notified(bridge_feed(pump_bridge(b->pump), w->pump.bridge, at, payload, bytes,
					   first, clock_now_ns()));
}

int bridged_write_settled(void *context, struct nic_staged_write *w)
{
	int status = w->ended ? w->status : sender_notified(bridge_settled(w->pump.bridge));

	w->requested = status == DXP_EAGAIN;
	return status;
}

void bridged_write_end(void *context, struct nic_staged_write *w)
{
	struct bridged *b = context;

	w->known = false;
	if (w->ended)
		write_free(w);
	else
		pump_cancel(b->pump, &w->pump, DXP_ECANCELED);
}

bool bridged_write_touches(void *context, uint64_t offset, uint64_t bytes)
{
	return bridged_writes_touch(context, offset, bytes);
}

void bridged_writes_close(struct bridged *b)
{
	for (struct nic_staged_write *w = b->writes, *next; w; w = next) {
		next = w->next;
		if (w->known)
			bridged_write_end(b, w);
	}
}

void bridged_writes_nodes(const struct bridged *b, void (*visit)(void *context, uint16_t node),
			  void *context)
{
	for (const struct nic_staged_write *w = b->writes; w; w = w->next)
		if (!w->ended && w->node != 0)
			visit(context, w->node);
}

static bool write_touches(const struct nic_staged_write *w, uint64_t address, uint64_t bytes)
{
	return !w->ended && w->pump.device_to < address + bytes &&
	       address < w->pump.device_to + w->bytes;
}

void bridged_writes_reclaim(struct bridged *b, uint64_t address, uint64_t bytes)
{
	for (struct nic_staged_write *w = b->writes; w; w = w->next)
		if (write_touches(w, address, bytes))
			pump_cancel(b->pump, &w->pump, DXP_EACCESS);
}

bool bridged_writes_touch(const struct bridged *b, uint64_t address, uint64_t bytes)
{
	const struct nic_staged_write *w = b->writes;

	while (w && !write_touches(w, address, bytes))
		w = w->next;
	return w != NULL;
}
