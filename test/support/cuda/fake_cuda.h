/* SPDX-License-Identifier: BSD-3-Clause */
/* Control of the fake CUDA driver by tests, which find these functions with dlsym in the fake
 * libcuda.so.1. A real driver does not have them. */
#ifndef TEST_SUPPORT_CUDA_FAKE_CUDA_H
#define TEST_SUPPORT_CUDA_FAKE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_CUDA_FUNCTIONS(X)                                                                  \
	/* The n-th call from now returns `error`, or 999 if `error` is 0; n = 0: none. */      \
	X(void, fake_cuda_fail, (unsigned n, int error))                                        \
	X(unsigned, fake_cuda_calls, (void))    /* calls since fake_cuda_fail */                \
	X(void, fake_cuda_delay, (uint64_t ns)) /* slows each copy by `ns` */                   \
	/* Work of these kinds never completes: 1: copies from the host; 2: everything else. */ \
	X(void, fake_cuda_hang, (unsigned kinds))                                               \
	X(void, fake_cuda_heal, (void)) /* clears the error of a kernel */                      \
	/* Number of live contexts, allocations, streams, events, modules and locked ranges. */ \
	X(unsigned, fake_cuda_alive, (void))

#endif
