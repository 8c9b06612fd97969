/* SPDX-License-Identifier: BSD-3-Clause */
/* Runtime of kernels, part 3: vloadn, vstoren, async copies, prefetch. Vectors may be aligned to
 * one element; vectors of three must not access a fourth. */

#define V3_LOAD(type, space)                             \
	RT type##3 vload3(size_t i, const space type *p) \
	{                                                \
		p += 3 * i;                              \
		return (type##3)(p[0], p[1], p[2]);      \
	}
#define V3_STORE(type, space)                               \
	RT void vstore3(type##3 v, size_t i, space type *p) \
	{                                                   \
		p += 3 * i;                                 \
		p[0] = v.s0;                                \
		p[1] = v.s1;                                \
		p[2] = v.s2;                                \
	}
#define VN_LOAD(type, n, space)                                     \
	RT type##n vload##n(size_t i, const space type *p)          \
	{                                                           \
		return *(const space type##n##_loose *)(p + n * i); \
	}
#define VN_STORE(type, n, space)                              \
	RT void vstore##n(type##n v, size_t i, space type *p) \
	{                                                     \
		*(space type##n##_loose *)(p + n * i) = v;    \
	}
#define V_LOADS(type, space)    \
	VN_LOAD(type, 2, space) \
	V3_LOAD(type, space)    \
	VN_LOAD(type, 4, space) \
	VN_LOAD(type, 8, space) \
	VN_LOAD(type, 16, space)
#define V_STORES(type, space)    \
	VN_STORE(type, 2, space) \
	V3_STORE(type, space)    \
	VN_STORE(type, 4, space) \
	VN_STORE(type, 8, space) \
	VN_STORE(type, 16, space)
#define LOOSE(type, n) typedef type##n type##n##_loose __attribute__((aligned(sizeof(type))));
#define VECTORS(type)           \
	LOOSE(type, 2)          \
	LOOSE(type, 4)          \
	LOOSE(type, 8)          \
	LOOSE(type, 16)         \
	V_LOADS(type, global)   \
	V_LOADS(type, local)    \
	V_LOADS(type, constant) \
	V_LOADS(type, private)  \
	V_STORES(type, global)  \
	V_STORES(type, local)   \
	V_STORES(type, private)

VECTORS(char)
VECTORS(uchar)
VECTORS(short)
VECTORS(ushort)
VECTORS(int)
VECTORS(uint)
VECTORS(long)
VECTORS(ulong)
VECTORS(float)

/* Linear in the work-group. Work-item i of n copies elements i, i + n, i + 2n ...;
 * wait_group_events() is a barrier. */
RTC size_t rt_item(void)
{
	return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
	       get_local_id(0);
}

RTC size_t rt_items(void)
{
	return get_local_size(0) * get_local_size(1) * get_local_size(2);
}

#define COPY(type, to, from)                                                               \
	RT event_t async_work_group_copy(to type *dst, const from type *src, size_t count, \
					 event_t event)                                    \
	{                                                                                  \
		for (size_t i = rt_item(); i < count; i += rt_items())                     \
			dst[i] = src[i];                                                   \
		return event;                                                              \
	}
#define COPY_STRIDED(type)                                                                   \
	RT event_t async_work_group_strided_copy(local type *dst, const global type *src,    \
						 size_t count, size_t stride, event_t event) \
	{                                                                                    \
		for (size_t i = rt_item(); i < count; i += rt_items())                       \
			dst[i] = src[i * stride];                                            \
		return event;                                                                \
	}                                                                                    \
	RT event_t async_work_group_strided_copy(global type *dst, const local type *src,    \
						 size_t count, size_t stride, event_t event) \
	{                                                                                    \
		for (size_t i = rt_item(); i < count; i += rt_items())                       \
			dst[i * stride] = src[i];                                            \
		return event;                                                                \
	}
#define COPIES(type)                                         \
	COPY(type, local, global)                            \
	COPY(type, global, local)                            \
	COPY_STRIDED(type)                                   \
	RT void prefetch(const global type *p, size_t count) \
	{                                                    \
	}
#define COPIES_ALL(type) \
	COPIES(type)     \
	COPIES(type##2)  \
	COPIES(type##3)  \
	COPIES(type##4)  \
	COPIES(type##8)  \
	COPIES(type##16)

COPIES_ALL(char)
COPIES_ALL(uchar)
COPIES_ALL(short)
COPIES_ALL(ushort)
COPIES_ALL(int)
COPIES_ALL(uint)
COPIES_ALL(long)
COPIES_ALL(ulong)
COPIES_ALL(float)

RT void wait_group_events(int count, event_t *events)
{
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* The name under which clang 15 declares wait_group_events(). */
__attribute__((always_inline)) void
rt_wait(int count, event_t *events) __asm__("_Z17wait_group_eventsiPU9CLgeneric9ocl_event");
void rt_wait(int count, event_t *events)
{
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
