/* SPDX-License-Identifier: BSD-3-Clause */
/* RISC-V's single precision by integers: every rounding mode, exact flags, canonical NaN. For
 * programs that observe flags, or where this processor differs. */
#ifndef RV32_FLOAT_H
#define RV32_FLOAT_H

#include <stdint.h>

#include "rv32/isa.h"

#define RV32_NAN 0x7fc00000u

struct rv32_rounder {
	uint8_t rounding; /* RV32_RNE .. RV32_RMM */
	uint8_t flags;    /* enum rv32_fflag; only added to */
};

/* Executes F instructions except loads, stores and fused ones. a: fs1 or rs1; b: fs2. */
uint32_t rv32_float(enum rv32_opcode code, uint32_t a, uint32_t b, struct rv32_rounder *r);

/* Executes FMADD_S, FMSUB_S, FNMSUB_S or FNMADD_S. */
uint32_t rv32_float_fused(enum rv32_opcode code, uint32_t a, uint32_t b, uint32_t c,
			  struct rv32_rounder *r);

#endif
