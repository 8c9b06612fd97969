/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender in CUDA: 256 threads compute a block, the first rings the doorbell. Window, picture
 * and report are mapped host memory, so no driver, copy or host thread is between kernel and
 * NIC. */
#include "gpu.h"

#include <cuda_runtime.h>

#define WORKERS 256

__global__ void send(struct dxp_window *nic, dxp_u8 *image, struct shape shape, struct route route,
		     struct report *report)
{
	__shared__ struct sending sending;

	if (threadIdx.x == 0)
		sending.done = sending.early = 0, sending.status = DXP_OK;
	__syncthreads();
	for (dxp_u32 block = 0; block < shape.blocks; block++) {
		block_compute(&shape, block, image, threadIdx.x, WORKERS);
		/* Makes all threads' stores visible to the NIC before the doorbell. */
		__threadfence_system();
		__syncthreads();
		if (threadIdx.x == 0)
			sending_block(nic, image, &shape, &route, block, &sending);
		__syncthreads();
		if (sending.status != DXP_OK)
			break;
	}
	if (threadIdx.x == 0)
		sending_end(nic, &shape, &route, 0, &sending, report);
}

static const char *text_of(cudaError_t error)
{
	return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

const char *gpu_open(void)
{
	int count = 0;
	cudaError_t error = cudaGetDeviceCount(&count);

	if (error == cudaErrorInsufficientDriver)
		return "no NVIDIA driver";
	if (error == cudaSuccess && count == 0)
		return "no CUDA device";
	if (error == cudaSuccess)
		error = cudaSetDeviceFlags(cudaDeviceMapHost);
	return text_of(error);
}

const char *gpu_map(void *base, size_t bytes, void **device)
{
	cudaError_t error = cudaHostRegister(base, bytes,
					     cudaHostRegisterMapped | cudaHostRegisterPortable);

	if (error == cudaSuccess)
		error = cudaHostGetDevicePointer(device, base, 0);
	return text_of(error);
}

const char *gpu_send(struct dxp_window *nic, dxp_u8 *image, const struct shape *s,
		     const struct route *r, struct report *report)
{
	send<<<1, WORKERS>>>(nic, image, *s, *r, report);
	cudaError_t error = cudaGetLastError();

	return text_of(error == cudaSuccess ? cudaDeviceSynchronize() : error);
}

void gpu_unmap(void *base)
{
	cudaHostUnregister(base);
}
