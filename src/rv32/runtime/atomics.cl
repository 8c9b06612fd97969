/* SPDX-License-Identifier: BSD-3-Clause */
/* Runtime of kernels, part 2: atomics on 32-bit words, by AMO and LR/SC. */

#define ATOMIC_OP(name, builtin, type, space)                 \
	RT type atomic_##name(volatile space type *p, type v) \
	{                                                     \
		return builtin(p, v, __ATOMIC_RELAXED);       \
	}                                                     \
	RT type atom_##name(volatile space type *p, type v)   \
	{                                                     \
		return builtin(p, v, __ATOMIC_RELAXED);       \
	}

#define ATOMIC_REST(type, space)                                                  \
	RT type atomic_inc(volatile space type *p)                                \
	{                                                                         \
		return __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);                \
	}                                                                         \
	RT type atomic_dec(volatile space type *p)                                \
	{                                                                         \
		return __atomic_fetch_sub(p, 1, __ATOMIC_RELAXED);                \
	}                                                                         \
	RT type atomic_cmpxchg(volatile space type *p, type expected, type v)     \
	{                                                                         \
		__atomic_compare_exchange_n(p, &expected, v, 0, __ATOMIC_RELAXED, \
					    __ATOMIC_RELAXED);                    \
		return expected;                                                  \
	}                                                                         \
	RT type atom_inc(volatile space type *p)                                  \
	{                                                                         \
		return atomic_inc(p);                                             \
	}                                                                         \
	RT type atom_dec(volatile space type *p)                                  \
	{                                                                         \
		return atomic_dec(p);                                             \
	}                                                                         \
	RT type atom_cmpxchg(volatile space type *p, type expected, type v)       \
	{                                                                         \
		return atomic_cmpxchg(p, expected, v);                            \
	}

#define ATOMICS(type, space)                              \
	ATOMIC_OP(add, __atomic_fetch_add, type, space)   \
	ATOMIC_OP(sub, __atomic_fetch_sub, type, space)   \
	ATOMIC_OP(and, __atomic_fetch_and, type, space)   \
	ATOMIC_OP(or, __atomic_fetch_or, type, space)     \
	ATOMIC_OP(xor, __atomic_fetch_xor, type, space)   \
	ATOMIC_OP(min, __atomic_fetch_min, type, space)   \
	ATOMIC_OP(max, __atomic_fetch_max, type, space)   \
	ATOMIC_OP(xchg, __atomic_exchange_n, type, space) \
	ATOMIC_REST(type, space)

ATOMICS(int, global)
ATOMICS(uint, global)
ATOMICS(int, local)
ATOMICS(uint, local)

#define ATOMIC_FLOAT(space)                                                               \
	RT float atomic_xchg(volatile space float *p, float v)                            \
	{                                                                                 \
		return as_float(__atomic_exchange_n((volatile space uint *)p, as_uint(v), \
						    __ATOMIC_RELAXED));                   \
	}

ATOMIC_FLOAT(global)
ATOMIC_FLOAT(local)
