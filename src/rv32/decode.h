/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes and encodes instructions. Reserved encodings are illegal. */
#ifndef RV32_DECODE_H
#define RV32_DECODE_H

#include "rv32/isa.h"

/* Decodes a word; an illegal one becomes RV32_ILLEGAL with operands 0. */
struct rv32_op rv32_decode(uint32_t word);

/* Inverts rv32_decode() for legal words. */
uint32_t rv32_encode(const struct rv32_op *op);

#endif
