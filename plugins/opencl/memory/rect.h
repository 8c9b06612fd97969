/* SPDX-License-Identifier: BSD-3-Clause */
/* Calculations with rectangles of bytes (struct dxp_rect). Source (`from_`) and destination (`to_`)
 * have the same rows, but may have different pitches. The functions use only their arguments. */
#ifndef OPENCL_RECT_H
#define OPENCL_RECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

/* Bytes from the first to the last byte of one side, including gaps. */
uint64_t rect_from_span(const struct dxp_rect *r);
uint64_t rect_to_span(const struct dxp_rect *r);
uint64_t rect_bytes(const struct dxp_rect *r);
/* Makes `r` describe the same bytes with as few rows and slices as possible. Sets all pitches. */
void rect_fold(struct dxp_rect *r);
bool rect_is_line(const struct dxp_rect *r);
/* Offset of row `index`, 0 .. rows * slices - 1, from the rectangle's first byte on one side. */
uint64_t rect_from_row(const struct dxp_rect *r, uint64_t index);
uint64_t rect_to_row(const struct dxp_rect *r, uint64_t index);
/* Set the pitches of one side, so that its rows are adjacent. */
void rect_pack_from(struct dxp_rect *r);
void rect_pack_to(struct dxp_rect *r);
bool rect_from_is_tight(const struct dxp_rect *r);
bool rect_to_is_tight(const struct dxp_rect *r);
void rect_copy(const struct dxp_rect *r, void *to, const void *from);
/* The two sides, at offsets `from` and `to` of the same object, have a byte in common. Requires
 * rect_fold(r) before. */
bool rect_overlaps(const struct dxp_rect *r, uint64_t from, uint64_t to);

#endif
