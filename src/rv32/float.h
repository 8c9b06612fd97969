/* SPDX-License-Identifier: BSD-3-Clause */
/* Single-precision arithmetic of RISC-V with integers: every rounding mode, exact flags, canonical
 * NaN. The execution loop uses it if the arithmetic of this processor differs or the program can
 * observe flags. */
#ifndef RV32_FLOAT_H
#define RV32_FLOAT_H

#include <stdint.h>

#include "rv32/isa.h"

#define RV32_NAN 0x7fc00000u

/* The rounding mode of an operation, and the flags that it raises. */
struct rv32_rounder {
	uint8_t rounding; /* RV32_RNE .. RV32_RMM */
	uint8_t flags;    /* enum rv32_fflag; operations add flags to it */
};

/* Executes an instruction of the F extension that is not a load, a store or fused. a is the value
 * of fs1 or rs1, b the value of fs2. */
uint32_t rv32_float(enum rv32_opcode code, uint32_t a, uint32_t b, struct rv32_rounder *r);

/* Executes FMADD_S, FMSUB_S, FNMSUB_S or FNMADD_S. */
uint32_t rv32_float_fused(enum rv32_opcode code, uint32_t a, uint32_t b, uint32_t c,
			  struct rv32_rounder *r);

#endif
