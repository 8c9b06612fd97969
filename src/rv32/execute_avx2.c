/* SPDX-License-Identifier: BSD-3-Clause */
/* The execution loop for x86-64-v3 (AVX2 and FMA). */
#ifdef __AVX2__
#define EXECUTE_NAME rv32_execute_avx2
#include "rv32/execute_body.h"
#else
#include "rv32/execute.h"

const struct execute rv32_execute_avx2 = {0};
#endif
