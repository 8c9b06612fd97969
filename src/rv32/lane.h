/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers that work lane by lane, in lane order. They serve all builds of the execution loop. The
 * immediate of a step is, for JAL: a number of steps; JALR: a number of bytes; CSR: the CSR |
 * opcode << 16; floats: opcode | rounding << 8; atomics: opcode; dxp.*: the instruction's
 * immediate. */
#ifndef RV32_LANE_H
#define RV32_LANE_H

#include "rv32/execute.h"

/* One lane of a warp, as the callbacks of a launch use it. */
struct rv32_item {
	struct warp *warp;
	uint32_t lane;
};

/* Returns the lane handler of an instruction. */
step_fn rv32_lane_handler(enum rv32_opcode code);

/* Execute a load or store that the vector handlers cannot execute: its lanes do not all access
 * plain memory of one segment. */
struct step *rv32_lane_load(struct warp *w, struct step *s, enum rv32_opcode code);
struct step *rv32_lane_store(struct warp *w, struct step *s, enum rv32_opcode code);

/* Traps, because a lane of `mask` jumps to an address that has no instruction. */
struct step *rv32_lane_no_target(struct warp *w, struct step *s, uint32_t mask);

/* Stops the launch with a trap in one lane. */
struct step *rv32_lane_trap(struct warp *w, struct step *s, uint32_t lane, enum rv32_trap_kind kind,
			    uint32_t address, uint32_t bytes);

/* Copies memory that one lane can read. Returns false if a part is not readable; the bytes before
 * that part may have been copied. */
bool rv32_lane_read(const struct warp *w, uint32_t lane, uint32_t address, void *to,
		    uint32_t bytes);

/* Handlers: each executes one step. */
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
