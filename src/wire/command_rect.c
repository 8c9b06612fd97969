/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/command.h"

void command_rect_pitches(const struct dxp_rect *r, enum command_rect_side side,
			  uint64_t *row_pitch, uint64_t *slice_pitch)
{
	uint64_t row = side == RECT_FROM ? r->from_row_pitch : r->to_row_pitch;
	uint64_t slice = side == RECT_FROM ? r->from_slice_pitch : r->to_slice_pitch;

	*row_pitch = row ? row : r->row_bytes;
	*slice_pitch = slice ? slice : *row_pitch * r->rows;
}

bool command_rect_span(const struct dxp_rect *r, enum command_rect_side side, uint64_t *bytes)
{
	uint64_t row, slice, rows, slices, whole;

	if (r->row_bytes == 0 || r->rows == 0 || r->slices == 0)
		return false;
	command_rect_pitches(r, side, &row, &slice);
	if (row < r->row_bytes || __builtin_mul_overflow(row, r->rows, &whole) || slice < whole)
		return false;
	rows = row * (r->rows - 1);
	if (__builtin_mul_overflow(slice, r->slices - 1, &slices) ||
	    __builtin_add_overflow(slices, rows, &whole) ||
	    __builtin_add_overflow(whole, r->row_bytes, &whole))
		return false;
	*bytes = whole;
	return true;
}
