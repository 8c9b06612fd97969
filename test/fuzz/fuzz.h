/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of every fuzz target: accepts any bytes, returns 0, keeps no state between calls. */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#endif
