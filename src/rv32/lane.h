/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers by lane, in lane order, for all builds. The immediate: JAL: steps; JALR: bytes; CSR: the
 * CSR | opcode << 16; floats: opcode | rounding << 8; atomics: opcode; dxp.*: as encoded. */
#ifndef RV32_LANE_H
#define RV32_LANE_H

#include "rv32/execute.h"

/* One lane of a warp, as the callbacks of a launch use it. */
struct rv32_item {
	struct warp *warp;
	uint32_t lane;
};

step_fn rv32_lane_handler(enum rv32_opcode code);

/* Execute accesses whose lanes do not all use plain memory of one segment. */
struct step *rv32_lane_load(struct warp *w, struct step *s, enum rv32_opcode code);
struct step *rv32_lane_store(struct warp *w, struct step *s, enum rv32_opcode code);

/* Traps: a lane of `mask` jumps to an address without an instruction. */
struct step *rv32_lane_no_target(struct warp *w, struct step *s, uint32_t mask);

struct step *rv32_lane_trap(struct warp *w, struct step *s, uint32_t lane, enum rv32_trap_kind kind,
			    uint32_t address, uint32_t bytes);

/* Returns false if a part is not readable; the bytes before it may have been copied. */
bool rv32_lane_read(const struct warp *w, uint32_t lane, uint32_t address, void *to,
		    uint32_t bytes);

/* Execute one step each. */
struct step *rv32_lane_float(struct warp *w, struct step *s);
struct step *rv32_lane_csr(struct warp *w, struct step *s);
struct step *rv32_lane_atomic(struct warp *w, struct step *s);
struct step *rv32_lane_jal(struct warp *w, struct step *s);
struct step *rv32_lane_jalr(struct warp *w, struct step *s);
struct step *rv32_lane_set(struct warp *w, struct step *s);
struct step *rv32_lane_get(struct warp *w, struct step *s);
struct step *rv32_lane_post(struct warp *w, struct step *s);
struct step *rv32_lane_dequeue(struct warp *w, struct step *s);

#endif
