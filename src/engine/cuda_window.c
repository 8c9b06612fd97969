/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps a NIC's window for a kernel. */
#include <stdio.h>

#include "engine/cuda_engine.h"

int cuda_window_map(struct engine_cuda *c, void *window, uint64_t bytes, uint64_t *pointer,
		    char text[ENGINE_TEXT_BYTES])
{
	int error =
		c->cu->cuMemHostRegister_v2(window, bytes, CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED);

	if (error == CUDA_OK) {
		error = c->cu->cuMemHostGetDevicePointer_v2(pointer, window, 0);
		if (error != CUDA_OK)
			c->cu->cuMemHostUnregister(window);
	}
	if (error != CUDA_OK)
		snprintf(text, ENGINE_TEXT_BYTES,
			 "the NIC's window of %llu bytes cannot be mapped for kernels: %.120s "
			 "(%d)%s",
			 (unsigned long long)bytes, cuda_error_text(c->cu, error), error,
			 error == CUDA_OUT_OF_MEMORY ? "; raise the limit of locked memory "
						       "(\"ulimit -l\", LimitMEMLOCK=)"
						     : "; restart the xPU");
	return cuda_check(c, error);
}

void cuda_window_unmap(struct engine_cuda *c, void *window)
{
	cuda_check(c, c->cu->cuMemHostUnregister(window));
}
