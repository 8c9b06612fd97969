/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of test/unit/engine_cuda.c. kernels.ptx is the output of
 *   nvcc -ptx -O2 -arch=compute_75 kernels.cu
 * without the compiler's heading. Its .version is 6.4, so that older drivers load it; the code uses
 * nothing newer. */
extern "C" __global__ void add(const unsigned *a, unsigned *out, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = a[i] + n;
}
extern "C" __global__ void share(unsigned *out)
{
	extern __shared__ unsigned l[];
	l[threadIdx.x] = threadIdx.x;
	__syncthreads();
	out[blockIdx.x * blockDim.x + threadIdx.x] = l[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void crash(unsigned *out)
{
	*(volatile unsigned *)8 = *out;
}
