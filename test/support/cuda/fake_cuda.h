/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fake CUDA driver offers besides the driver's own calls; found by dlsym in libcuda.so.1,
 * and not in a real one. */
#ifndef TEST_SUPPORT_CUDA_FAKE_CUDA_H
#define TEST_SUPPORT_CUDA_FAKE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_CUDA_FUNCTIONS(X)                                                              \
	/* The n-th call from now on returns 999, or `error` unless 0; n = 0: none does. */ \
	X(void, fake_cuda_fail, (unsigned n, int error))                                    \
	X(unsigned, fake_cuda_calls, (void))    /* since fake_cuda_fail */                  \
	X(void, fake_cuda_delay, (uint64_t ns)) /* of each copy */                          \
	/* Nothing of these kinds ends: 1: copies from the host; 2: all else. */            \
	X(void, fake_cuda_hang, (unsigned kinds))                                           \
	X(void, fake_cuda_heal, (void)) /* after an error that stays */                     \
	/* Contexts, allocations, streams, events, modules and locked ranges. */            \
	X(unsigned, fake_cuda_alive, (void))

#endif
