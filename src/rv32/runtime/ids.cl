/* SPDX-License-Identifier: BSD-3-Clause */
/* Runtime of kernels, part 1: ids, sizes, barriers and fences. Ids are CSRs from 0xCC0 on
 * (docs/reference/rv32.md), not volatile, so the compiler may move and merge reads. */

#define RT  __attribute__((overloadable, always_inline))
#define RTC __attribute__((overloadable, always_inline, const))

#define CSR_READ(number)                                     \
	({                                                   \
		uint value_;                                 \
		__asm__("csrr %0, " #number : "=r"(value_)); \
		value_;                                      \
	})

/* `other`: for dimensions that do not exist. */
#define ID_FUNCTION(name, x, y, z, other)                                                          \
	RTC size_t name(uint d)                                                                    \
	{                                                                                          \
		return d == 0 ? CSR_READ(x) : d == 1 ? CSR_READ(y) : d == 2 ? CSR_READ(z) : other; \
	}

ID_FUNCTION(get_global_id, 0xCC0, 0xCC1, 0xCC2, 0)
ID_FUNCTION(get_local_id, 0xCC3, 0xCC4, 0xCC5, 0)
ID_FUNCTION(get_group_id, 0xCC6, 0xCC7, 0xCC8, 0)
ID_FUNCTION(get_global_size, 0xCC9, 0xCCA, 0xCCB, 1)
ID_FUNCTION(get_local_size, 0xCCC, 0xCCD, 0xCCE, 1)
ID_FUNCTION(get_num_groups, 0xCCF, 0xCD0, 0xCD1, 1)
ID_FUNCTION(get_global_offset, 0xCD2, 0xCD3, 0xCD4, 0)

RTC uint get_work_dim(void)
{
	return CSR_READ(0xCD5);
}

/* It also orders memory, because one thread executes a core's warps. */
RT void barrier(cl_mem_fence_flags flags)
{
	__asm__ volatile(".insn r 0x0B, 4, 0, x0, x0, x0" ::: "memory");
}

RT void mem_fence(cl_mem_fence_flags flags)
{
	__asm__ volatile("fence rw, rw" ::: "memory");
}

RT void read_mem_fence(cl_mem_fence_flags flags)
{
	__asm__ volatile("fence r, rw" ::: "memory");
}

RT void write_mem_fence(cl_mem_fence_flags flags)
{
	__asm__ volatile("fence rw, w" ::: "memory");
}
