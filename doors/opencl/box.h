/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes of bytes (struct dxp_box), each with two sides: where from, where to. Pure. */
#ifndef DOOR_BOX_H
#define DOOR_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/async.h>

/* One side: bytes from the first byte of the box to its last, what lies between rows included. */
uint64_t box_from_span(const struct dxp_box *b);
uint64_t box_to_span(const struct dxp_box *b);
uint64_t box_bytes(const struct dxp_box *b);
/* The same bytes in as few rows and slices as can be; all pitches are set. */
void box_fold(struct dxp_box *b);
bool box_is_line(const struct dxp_box *b);
/* Row `index` of rows * slices, as an offset from the box's first byte. */
uint64_t box_from_row(const struct dxp_box *b, uint64_t index);
uint64_t box_to_row(const struct dxp_box *b, uint64_t index);
/* Makes that side tight, all rows next to each other. */
void box_pack_from(struct dxp_box *b);
void box_pack_to(struct dxp_box *b);
bool box_from_is_tight(const struct dxp_box *b);
bool box_to_is_tight(const struct dxp_box *b);
/* On the host. */
void box_copy(const struct dxp_box *b, void *to, const void *from);
/* Do the two sides of a folded box share a byte, where the one begins at `from` and the other at
 * `to` of the same object? */
bool box_overlaps(const struct dxp_box *b, uint64_t from, uint64_t to);

#endif
