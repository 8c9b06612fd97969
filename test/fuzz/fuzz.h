/* SPDX-License-Identifier: BSD-3-Clause */
/* What every fuzz target defines: takes any bytes, always returns 0, keeps nothing between calls.
 */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#endif
