/* SPDX-License-Identifier: BSD-3-Clause */
/* Calculates rectangles of bytes (struct dxp_box), each with two sides: source (from) and
 * destination (to). Pure. */
#ifndef DOOR_BOX_H
#define DOOR_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

/* Returns the bytes from the first to the last byte of one side, including gaps between rows. */
uint64_t box_from_span(const struct dxp_box *b);
uint64_t box_to_span(const struct dxp_box *b);
uint64_t box_bytes(const struct dxp_box *b);
/* Rewrites b as the same bytes in as few rows and slices as possible; sets all pitches. */
void box_fold(struct dxp_box *b);
bool box_is_line(const struct dxp_box *b);
/* Returns the offset of row `index` (0 .. rows * slices - 1) from the rectangle's first byte. */
uint64_t box_from_row(const struct dxp_box *b, uint64_t index);
uint64_t box_to_row(const struct dxp_box *b, uint64_t index);
/* Sets that side's pitches so that its rows are adjacent. */
void box_pack_from(struct dxp_box *b);
void box_pack_to(struct dxp_box *b);
bool box_from_is_tight(const struct dxp_box *b);
bool box_to_is_tight(const struct dxp_box *b);
/* Copies the rectangle in host memory. */
void box_copy(const struct dxp_box *b, void *to, const void *from);
/* Returns whether the two sides of a folded rectangle share a byte, if they begin at offsets `from`
 * and `to` of the same object. */
bool box_overlaps(const struct dxp_box *b, uint64_t from, uint64_t to);

#endif
