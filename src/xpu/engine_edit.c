/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE, COPY and FILL in memory that we address; engines with memory of their own do them
 * themselves. */
#include <string.h>

#include <dxp/status.h>

#include "xpu/engine.h"

static bool within(const struct engine_edit *e, uint64_t address, uint64_t bytes)
{
	return bytes <= e->memory_bytes && address <= e->memory_bytes - bytes;
}

static int edit_check(const struct engine_edit *e)
{
	uint64_t bytes;

	if (e->op == COMMAND_WRITE)
		return within(e, e->to, e->data_bytes) ? DXP_OK : DXP_ERANGE;
	if (!command_box_span(&e->box, BOX_TO, &bytes) ||
	    (e->op == COMMAND_FILL &&
	     (e->data_bytes == 0 || e->box.row_bytes % e->data_bytes != 0)))
		return DXP_EINVAL;
	if (!within(e, e->to, bytes))
		return DXP_ERANGE;
	if (e->op == COMMAND_FILL)
		return DXP_OK;
	if (!command_box_span(&e->box, BOX_FROM, &bytes))
		return DXP_EINVAL;
	return within(e, e->from, bytes) ? DXP_OK : DXP_ERANGE;
}

/* Doubles what is there. */
static void row_fill(uint8_t *to, uint64_t bytes, const void *pattern, uint64_t pattern_bytes)
{
	memcpy(to, pattern, pattern_bytes);
	for (uint64_t done = pattern_bytes; done < bytes;) {
		uint64_t more = done < bytes - done ? done : bytes - done;
		memcpy(to + done, to, more);
		done += more;
	}
}

static void box_edit(const struct engine_edit *e)
{
	uint64_t to_row, to_slice, from_row = 0, from_slice = 0;

	command_box_pitches(&e->box, BOX_TO, &to_row, &to_slice);
	if (e->op == COMMAND_COPY)
		command_box_pitches(&e->box, BOX_FROM, &from_row, &from_slice);
	for (uint64_t z = 0; z < e->box.slices; z++)
		for (uint64_t y = 0; y < e->box.rows; y++) {
			uint8_t *to = e->memory + e->to + z * to_slice + y * to_row;
			if (e->op == COMMAND_FILL)
				row_fill(to, e->box.row_bytes, e->data, e->data_bytes);
			else
				memmove(to, e->memory + e->from + z * from_slice + y * from_row,
					e->box.row_bytes);
		}
}

int engine_edit(struct engine *engine, const struct engine_edit *e)
{
	if (engine->ops->edit)
		return engine->ops->edit(engine, e);
	if (!e->memory)
		return DXP_EUNSUPPORTED;
	int status = edit_check(e);
	if (status != DXP_OK)
		return status;
	if (e->op == COMMAND_WRITE)
		memcpy(e->memory + e->to, e->data, e->data_bytes);
	else
		box_edit(e);
	return DXP_OK;
}
