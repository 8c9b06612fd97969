/* SPDX-License-Identifier: BSD-3-Clause */
/* The execution loop for any processor. */
#define EXECUTE_NAME rv32_execute_baseline
#include "rv32/execute_body.h"
