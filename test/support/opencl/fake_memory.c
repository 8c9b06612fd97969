/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory commands of the fake fabric. Each moves its bytes as late as possible: when it
 * completes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/opencl/fake_fabric.h"

uint64_t fake_sent, fake_written, fake_read;

struct move {
	struct dxp_xpu *from, *to; /* NULL: memory of the host */
	uint64_t from_at, to_at;   /* in host or device memory */
	struct dxp_rect rect;
	uint32_t pattern_bytes; /* of a fill; 0: no fill */
	/* data copied at the post; follows this struct */
	uint8_t *bytes;
};

static void row_move(const struct move *m, uint8_t *to, const uint8_t *from, uint64_t y, uint64_t z)
{
	const struct dxp_rect *r = &m->rect;

	to += y * r->to_row_pitch + z * r->to_slice_pitch;
	from += y * r->from_row_pitch + z * r->from_slice_pitch;
	if (!m->pattern_bytes)
		memcpy(to, from, r->row_bytes);
	for (uint64_t x = 0; m->pattern_bytes && x < r->row_bytes; x++)
		to[x] = m->bytes[x % m->pattern_bytes];
}

static int act(void *context)
{
	const struct move *m = context;
	uint8_t *to = m->to ? fake_memory(m->to) : (uint8_t *)(uintptr_t)m->to_at;
	const uint8_t *from = m->bytes  ? m->bytes
			      : m->from ? fake_memory(m->from)
					: (const uint8_t *)(uintptr_t)m->from_at;

	if (!to || !from)
		return DXP_EPEERLOST;
	to += m->to ? m->to_at : 0;
	from += m->from && !m->bytes ? m->from_at : 0;
	for (uint64_t z = 0; z < m->rect.slices; z++)
		for (uint64_t y = 0; y < m->rect.rows; y++)
			row_move(m, to, from, y, z);
	return DXP_OK;
}

static struct move *move_new(const struct move *m, const void *data, uint64_t bytes)
{
	struct move *out = malloc(sizeof(*out) + bytes);

	*out = *m;
	if (data) {
		out->bytes = (uint8_t *)(out + 1);
		memcpy(out->bytes, data, bytes);
	}
	return out;
}

int dxp_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes,
	      const struct dxp_waits *waits, dxp_event *event)
{
	const struct move m = {.to = xpu,
			       .from_at = (uintptr_t)from,
			       .to_at = address,
			       .rect = {.row_bytes = bytes, .rows = 1, .slices = 1}};
	bool now = bytes <= DXP_INLINE_BYTES && !waits->late;

	fake_written += bytes;
	return fake_post(xpu, waits, act, move_new(&m, now ? from : NULL, now ? bytes : 0), event);
}

int dxp_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes,
	     const struct dxp_waits *waits, dxp_event *event)
{
	const struct move m = {.from = xpu,
			       .from_at = address,
			       .to_at = (uintptr_t)to,
			       .rect = {.row_bytes = bytes, .rows = 1, .slices = 1}};

	fake_read += bytes;
	return fake_post(xpu, waits, act, move_new(&m, NULL, 0), event);
}

int dxp_copy(struct dxp_xpu *xpu, uint64_t from, uint64_t to, const struct dxp_rect *rect,
	     const struct dxp_waits *waits, dxp_event *event)
{
	const struct move m = {.from = xpu, .to = xpu, .from_at = from, .to_at = to, .rect = *rect};

	assert(rect->row_bytes && rect->rows && rect->slices);
	return fake_post(xpu, waits, act, move_new(&m, NULL, 0), event);
}

int dxp_fill(struct dxp_xpu *xpu, uint64_t address, const void *pattern, uint32_t pattern_bytes,
	     const struct dxp_rect *rect, const struct dxp_waits *waits, dxp_event *event)
{
	const struct move m = {
		.to = xpu, .to_at = address, .rect = *rect, .pattern_bytes = pattern_bytes};

	assert(rect->row_bytes % pattern_bytes == 0);
	return fake_post(xpu, waits, act, move_new(&m, pattern, pattern_bytes), event);
}

int dxp_send(struct dxp_xpu *from, struct dxp_xpu *to, const struct dxp_transfer *t,
	     dxp_event *event)
{
	const struct move m = {.from = from,
			       .to = to,
			       .from_at = t->from_address,
			       .to_at = t->to_address,
			       .rect = {.row_bytes = t->bytes, .rows = 1, .slices = 1}};
	const struct dxp_waits waits = {.events = t->wait, .count = t->wait_count};

	assert(from != to);
	fake_sent += t->bytes;
	return fake_post(from, &waits, act, move_new(&m, NULL, 0), event);
}

int dxp_event_wait(struct dxp_fabric *fabric, dxp_event event, uint64_t timeout_ns,
		   struct dxp_event_times *times)
{
	return DXP_ETIMEDOUT;
}
