/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE, COPY and FILL: splits a rectangle into few contiguous runs for a mover. */
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "engine/engine.h"

/* bytes of repeated patterns: fits the L1 cache */
#define BLOCK_BYTES 8192u

/* Rows and slices without a gap between them are merged. */
struct runs {
	uint64_t bytes, rows, slices;
	uint64_t from_row, from_slice, to_row, to_slice;
};

static bool within(uint64_t memory_bytes, uint64_t address, uint64_t bytes)
{
	return bytes <= memory_bytes && address <= memory_bytes - bytes;
}

static int edit_check(const struct engine_edit *e)
{
	uint64_t bytes;

	if (e->op == COMMAND_WRITE)
		return within(e->memory_bytes, e->to, e->data_bytes) ? DXP_OK : DXP_ERANGE;
	if (!command_rect_span(&e->rect, RECT_TO, &bytes))
		return DXP_EINVAL;
	if (e->op == COMMAND_FILL && (e->data_bytes == 0 || e->data_bytes > DXP_PATTERN_MAX ||
				      e->rect.row_bytes % e->data_bytes != 0))
		return DXP_EINVAL;
	if (!within(e->memory_bytes, e->to, bytes))
		return DXP_ERANGE;
	if (e->op == COMMAND_FILL)
		return DXP_OK;
	if (!command_rect_span(&e->rect, RECT_FROM, &bytes))
		return DXP_EINVAL;
	return within(e->memory_bytes, e->from, bytes) ? DXP_OK : DXP_ERANGE;
}

/* FILL has no source: the destination's pitches serve both sides. */
static struct runs runs_make(const struct engine_edit *e)
{
	struct runs r = {e->rect.row_bytes, e->rect.rows, e->rect.slices, 0, 0, 0, 0};

	command_rect_pitches(&e->rect, RECT_TO, &r.to_row, &r.to_slice);
	r.from_row = r.to_row;
	r.from_slice = r.to_slice;
	if (e->op == COMMAND_COPY)
		command_rect_pitches(&e->rect, RECT_FROM, &r.from_row, &r.from_slice);
	if (r.rows == 1 || (r.from_row == r.bytes && r.to_row == r.bytes)) {
		r.bytes *= r.rows;
		r.rows = 1;
	}
	if (r.rows == 1 && r.from_slice == r.bytes && r.to_slice == r.bytes) {
		r.bytes *= r.slices;
		r.slices = 1;
	}
	return r;
}

/* `block` holds the repeated pattern. */
static int run_fill(const struct engine_mover *m, uint64_t to, uint64_t bytes, const uint8_t *block,
		    uint64_t block_bytes)
{
	int status = DXP_OK;

	for (uint64_t done = 0; status == DXP_OK && done < bytes; done += block_bytes)
		status = m->put(m->context, to + done, block, min_u64(block_bytes, bytes - done));
	return status;
}

static uint64_t block_make(const struct engine_edit *e, uint64_t bytes, uint8_t block[BLOCK_BYTES])
{
	uint64_t most = BLOCK_BYTES - BLOCK_BYTES % e->data_bytes, made = e->data_bytes;

	most = min_u64(most, bytes);
	memcpy(block, e->data, e->data_bytes);
	while (made < most) {
		uint64_t more = min_u64(made, most - made);
		memcpy(block + made, block, more);
		made += more;
	}
	return made;
}

static int rect_edit(const struct engine_edit *e, const struct engine_mover *m)
{
	const struct runs r = runs_make(e);
	uint8_t block[BLOCK_BYTES];
	uint64_t block_bytes = e->op == COMMAND_FILL ? block_make(e, r.bytes, block) : 0;
	int status = DXP_OK;

	for (uint64_t z = 0; z < r.slices; z++)
		for (uint64_t y = 0; status == DXP_OK && y < r.rows; y++) {
			uint64_t to = e->to + z * r.to_slice + y * r.to_row;
			uint64_t from = e->from + z * r.from_slice + y * r.from_row;
			status = e->op == COMMAND_FILL
					 ? run_fill(m, to, r.bytes, block, block_bytes)
					 : m->move(m->context, to, from, r.bytes);
		}
	return status;
}

int engine_edit_by(const struct engine_edit *e, const struct engine_mover *m)
{
	int status = edit_check(e);

	if (status != DXP_OK)
		return status;
	if (e->op == COMMAND_WRITE)
		return e->data_bytes ? m->put(m->context, e->to, e->data, e->data_bytes) : DXP_OK;
	return rect_edit(e, m);
}

static int memory_put(void *context, uint64_t to, const void *data, uint64_t bytes)
{
	uint8_t *memory = context;

	memcpy(memory + to, data, bytes);
	return DXP_OK;
}

static int memory_move(void *context, uint64_t to, uint64_t from, uint64_t bytes)
{
	uint8_t *memory = context;

	memmove(memory + to, memory + from, bytes);
	return DXP_OK;
}

int engine_edit_in_place(const struct engine_edit *e)
{
	const struct engine_mover m = {memory_put, memory_move, e->memory};

	return engine_edit_by(e, &m);
}

int engine_edit(struct engine *engine, const struct engine_edit *e)
{
	if (engine->ops->edit)
		return engine->ops->edit(engine, e);
	return e->memory ? engine_edit_in_place(e) : DXP_EUNSUPPORTED;
}
