/* SPDX-License-Identifier: BSD-3-Clause */
/* Ordered loads and stores of a function window: acquire, release and fence in C and C++, CUDA C,
 * OpenCL C and C for RISC-V. */
#ifndef DXP_SHARED_H
#define DXP_SHARED_H

#ifndef DXP_WINDOW_H
#include <dxp/window.h>
#endif

/* OpenCL C 2.0 has atomics with order and scope, but PoCL does not implement them. In OpenCL C 3.0,
 * macros state what a device implements. */
#if defined(DXP_DEVICE_OPENCL) && __OPENCL_C_VERSION__ >= 300
#if defined(__opencl_c_atomic_order_seq_cst)
#define DXP_DEVICE_ATOMICS 1
#endif
#if defined(__opencl_c_atomic_scope_all_devices)
#define DXP_SCOPE memory_scope_all_svm_devices
#else
#define DXP_SCOPE memory_scope_device
#endif
#elif defined(DXP_DEVICE_OPENCL) && __OPENCL_C_VERSION__ >= 200 && \
	!defined(POCL_DEVICE_ADDRESS_BITS)
#define DXP_DEVICE_ATOMICS 1
#define DXP_SCOPE          memory_scope_all_svm_devices
#endif

/* Other devices load 64 bits as two halves, and the engine may store between the two loads. */
#if !defined(__SIZEOF_POINTER__) || __SIZEOF_POINTER__ >= 8
#define DXP_WHOLE_64 1
#endif

/* A 32-bit word of memory that may alias any type. */
typedef dxp_u32 __attribute__((may_alias)) dxp_word;

#if defined(__CUDA_ARCH__)
DXP_FN dxp_u32 dxp_load_acquire(const dxp_u32 *p)
{
	dxp_u32 v;
	asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}
DXP_FN void dxp_store_release(dxp_u32 *p, dxp_u32 v)
{
	asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
}
DXP_FN dxp_u64 dxp_load_acquire64(const dxp_u64 *p)
{
	dxp_u64 v;
	asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
	return v;
}
DXP_FN int dxp_exchange_if(dxp_u32 *p, dxp_u32 expected, dxp_u32 desired)
{
	return atomicCAS_system(p, expected, desired) == expected;
}
DXP_FN void dxp_fence(void)
{
	__threadfence_system();
}
DXP_FN void dxp_relax(void)
{
	__nanosleep(20);
}
#elif defined(DXP_DEVICE_ATOMICS)
DXP_FN dxp_u32 dxp_load_acquire(const DXP_SHARED dxp_u32 *p)
{
	return atomic_load_explicit((volatile __global atomic_uint *)p, memory_order_acquire,
				    DXP_SCOPE);
}
DXP_FN void dxp_store_release(DXP_SHARED dxp_u32 *p, dxp_u32 v)
{
	atomic_store_explicit((volatile __global atomic_uint *)p, v, memory_order_release,
			      DXP_SCOPE);
}
#if defined(DXP_WHOLE_64)
DXP_FN dxp_u64 dxp_load_acquire64(const DXP_SHARED dxp_u64 *p)
{
	dxp_u64 v = *(const volatile __global ulong *)p;
	atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, DXP_SCOPE);
	return v;
}
#endif
DXP_FN int dxp_exchange_if(DXP_SHARED dxp_u32 *p, dxp_u32 expected, dxp_u32 desired)
{
	return atomic_compare_exchange_strong_explicit((volatile __global atomic_uint *)p,
						       &expected, desired, memory_order_relaxed,
						       memory_order_relaxed, DXP_SCOPE);
}
DXP_FN void dxp_fence(void)
{
	atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, DXP_SCOPE);
}
DXP_FN void dxp_relax(void)
{
}
#elif defined(DXP_DEVICE_OPENCL)
/* For compilers without such atomics: volatile accesses and fences, which these compilers implement
 * with the required order. */
DXP_FN dxp_u32 dxp_load_acquire(const DXP_SHARED dxp_u32 *p)
{
	dxp_u32 v = *(const volatile __global uint *)p;
	mem_fence(CLK_GLOBAL_MEM_FENCE);
	return v;
}
DXP_FN void dxp_store_release(DXP_SHARED dxp_u32 *p, dxp_u32 v)
{
	mem_fence(CLK_GLOBAL_MEM_FENCE);
	*(volatile __global uint *)p = v;
}
#if defined(DXP_WHOLE_64)
DXP_FN dxp_u64 dxp_load_acquire64(const DXP_SHARED dxp_u64 *p)
{
	dxp_u64 v = *(const volatile __global ulong *)p;
	mem_fence(CLK_GLOBAL_MEM_FENCE);
	return v;
}
#endif
DXP_FN int dxp_exchange_if(DXP_SHARED dxp_u32 *p, dxp_u32 expected, dxp_u32 desired)
{
	return atomic_cmpxchg((volatile __global uint *)p, expected, desired) == expected;
}
DXP_FN void dxp_fence(void)
{
	mem_fence(CLK_GLOBAL_MEM_FENCE);
}
DXP_FN void dxp_relax(void)
{
#if defined(__riscv)
	__asm__ volatile(".insn i 0x0F, 0, x0, x0, 0x10"); /* pause, so that other warps run */
#endif
}
#else
DXP_FN dxp_u32 dxp_load_acquire(const dxp_u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
DXP_FN void dxp_store_release(dxp_u32 *p, dxp_u32 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}
#if defined(DXP_WHOLE_64)
DXP_FN dxp_u64 dxp_load_acquire64(const dxp_u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
/* Only the engine calls this. */
DXP_FN void dxp_store_release64(dxp_u64 *p, dxp_u64 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}
#endif
DXP_FN int dxp_exchange_if(dxp_u32 *p, dxp_u32 expected, dxp_u32 desired)
{
	return __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}
DXP_FN void dxp_fence(void)
{
#if defined(__SANITIZE_THREAD__)
	/* TSan ignores fences; an atomic addition acts as a fence on every CPU */
	static dxp_u32 word;
	__atomic_fetch_add(&word, 0, __ATOMIC_SEQ_CST);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
DXP_FN void dxp_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}
#endif

#if !defined(__CUDA_ARCH__) && !defined(DXP_WHOLE_64)
/* The engine stores all 64 bits at once, and the value only grows. So if the upper half is equal
 * before and after reading the lower half, both belong together. */
DXP_FN dxp_u64 dxp_load_acquire64(const DXP_SHARED dxp_u64 *p)
{
	const DXP_SHARED dxp_word *words = (const DXP_SHARED dxp_word *)(const DXP_SHARED void *)p;
	dxp_u32 high, low, again;

	do {
		high = dxp_load_acquire(words + 1);
		low = dxp_load_acquire(words);
		again = dxp_load_acquire(words + 1);
	} while (high != again);
	return (dxp_u64)high << 32 | low;
}
#endif

/* Copies private memory to shared memory; `to` is aligned to 4 bytes. Devices store words, because
 * a byte costs as much as a word. Freestanding devices may have no memcpy. */
DXP_FN void dxp_store_bytes(DXP_SHARED dxp_u8 *to, const void *from, dxp_u32 bytes)
{
#if defined(DXP_DEVICE_OPENCL) || defined(__CUDA_ARCH__) || defined(DXP_DEVICE_ALONE)
	const dxp_u8 *data = (const dxp_u8 *)from;
	dxp_u32 i = 0;

	for (; bytes - i >= 4; i += 4)
		*(DXP_SHARED dxp_word *)(DXP_SHARED void *)(to + i) =
			(dxp_u32)data[i] | (dxp_u32)data[i + 1] << 8 | (dxp_u32)data[i + 2] << 16 |
			(dxp_u32)data[i + 3] << 24;
	for (; i < bytes; i++)
		to[i] = data[i];
#else
	if (from)
		__builtin_memcpy(to, from, bytes);
#endif
}

#endif
