/* SPDX-License-Identifier: BSD-3-Clause */
/* Calculates rectangles of bytes (struct dxp_rect), each with two sides: source (from) and
 * destination (to). Pure. */
#ifndef OPENCL_RECT_H
#define OPENCL_RECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

/* Returns the bytes from the first to the last byte of one side, including gaps between rows. */
uint64_t rect_from_span(const struct dxp_rect *r);
uint64_t rect_to_span(const struct dxp_rect *r);
uint64_t rect_bytes(const struct dxp_rect *r);
/* Rewrites r as the same bytes in as few rows and slices as possible; sets all pitches. */
void rect_fold(struct dxp_rect *r);
bool rect_is_line(const struct dxp_rect *r);
/* Returns the offset of row `index` (0 .. rows * slices - 1) from the rectangle's first byte. */
uint64_t rect_from_row(const struct dxp_rect *r, uint64_t index);
uint64_t rect_to_row(const struct dxp_rect *r, uint64_t index);
/* Set the pitches of a side so that its rows are adjacent. */
void rect_pack_from(struct dxp_rect *r);
void rect_pack_to(struct dxp_rect *r);
bool rect_from_is_tight(const struct dxp_rect *r);
bool rect_to_is_tight(const struct dxp_rect *r);
/* Copies the rectangle in host memory. */
void rect_copy(const struct dxp_rect *r, void *to, const void *from);
/* Returns whether the two sides of a folded rectangle share a byte, if they begin at offsets `from`
 * and `to` of the same object. */
bool rect_overlaps(const struct dxp_rect *r, uint64_t from, uint64_t to);

#endif
