/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers that work lane by lane, in lane order. They serve all builds of the execution loop. The
 * immediate of a step holds for JAL: a number of steps; JALR: a number of bytes; CSR: the CSR |
 * opcode << 16; floats: opcode | rounding << 8; atomics: opcode; dxp.*: the instruction's
 * immediate. */
#ifndef RV32_LANE_H
#define RV32_LANE_H

#include "rv32/execute.h"

/* One lane, as callbacks and messages see it. */
struct rv32_item {
	struct warp *warp;
	uint32_t lane;
};

/* Returns the handler of an instruction without a vector handler. */
step_fn rv32_lane_handler(enum rv32_opcode code);

/* Execute a load or store whose lanes do not all lie in plain memory of one segment. */
struct step *rv32_lane_load(struct warp *w, struct step *s, enum rv32_opcode code);
struct step *rv32_lane_store(struct warp *w, struct step *s, enum rv32_opcode code);

/* Traps because a lane of `mask` jumps to an address without instruction. */
struct step *rv32_lane_no_target(struct warp *w, struct step *s, uint32_t mask);

/* Traps in a lane. */
struct step *rv32_lane_trap(struct warp *w, struct step *s, uint32_t lane, enum rv32_trap_kind kind,
			    uint32_t address, uint32_t bytes);

/* Copies memory of one lane. False: not permitted; part of it may have been copied. */
bool rv32_lane_read(const struct warp *w, uint32_t lane, uint32_t address, void *to,
		    uint32_t bytes);

/* Execute one step. */
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
