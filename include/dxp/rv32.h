/* SPDX-License-Identifier: BSD-3-Clause */
/* NIC instructions of an rv32 xPU for kernels in OpenCL C: the work-item sets communication
 * registers once, then each operation is one instruction. Same names and statuses as dxp/device.h,
 * with dxp_insn_ before them; a kernel chooses by `#ifdef __riscv`. The kernel needs a parameter
 * `global struct dxp_window *`, for which the host gives the NIC; without it, each instruction
 * returns DXP_EUNSUPPORTED (-13). docs/reference/rv32.md has the encoding.
 *
 * Posting: dxp_insn_peer_set(), dxp_insn_keys_set(), then dxp_insn_put() and others, any number of
 * times. All active work-items of a warp post, in the order of their ids. DXP_EAGAIN: all
 * descriptors are in use; post again, as dxp_insn_post_wait() does. Sources, P-02. */
#ifndef DXP_RV32_H
#define DXP_RV32_H

/* Empty for other devices, so that one text serves all. */
#if defined(__riscv) && defined(__OPENCL_C_VERSION__)
#ifndef DXP_WINDOW_H
#include <dxp/device.h>
#endif

/* Communication registers. 64-bit values are two registers, the low word first. */
#define DXP_REGISTER_NODE          0  /* destination; 0: this node */
#define DXP_REGISTER_QUEUE         1  /* function << 8 | queue pair there */
#define DXP_REGISTER_MAGIC         2  /* of that queue pair */
#define DXP_REGISTER_LOCAL_KEY     3  /* of the region with the local bytes */
#define DXP_REGISTER_REMOTE_KEY    4  /* CFG operations: 0 */
#define DXP_REGISTER_REMOTE_OFFSET 5  /* 64 bits; CFG operations: register index * 4 */
#define DXP_REGISTER_FLAGS         7  /* enum dxp_flag, own queue pair << 8 */
#define DXP_REGISTER_IMM           8  /* 64 bits; after a take: the completion's */
#define DXP_REGISTER_CONTEXT       10 /* 64 bits; after a take: the completion's */
#define DXP_REGISTER_LOCAL_BASE    12 /* 64 bits: offset of the argument in the local region */
#define DXP_REGISTER_TRAILER       14 /* 64 bits */
/* Values of the NIC, read only. */
#define DXP_REGISTER_ERROR    64 /* negated status */
#define DXP_REGISTER_PRODUCER 65
#define DXP_REGISTER_CONSUMER 66
#define DXP_REGISTER_TOTAL    67 /* 64 bits: the low word latches the high one */
#define DXP_REGISTER_OWN_NODE 69

/* `number` is a constant in all of these. */
#define DXP_INSN_SET(number, value) \
	__asm__ volatile(".insn i 0x2B, 1, x0, %0, " #number : : "r"((dxp_u32)(value)))
#define DXP_INSN_GET(number)                                                                       \
	({                                                                                         \
		dxp_u32 value_;                                                                    \
		__asm__ volatile(".insn i 0x2B, 2, %0, x0, " #number : "=r"(value_) : : "memory"); \
		value_;                                                                            \
	})
#define DXP_INSN_POST(op, own, bytes)                                       \
	({                                                                  \
		int status_;                                                \
		__asm__ volatile(".insn r 0x2B, 0, %3, %0, %1, %2"          \
				 : "=r"(status_)                            \
				 : "r"(own), "r"((dxp_u32)(bytes)), "i"(op) \
				 : "memory");                               \
		status_;                                                    \
	})

/* Sets the peer of later operations and the own queue pair. */
DXP_FN void dxp_insn_peer_set(const struct dxp_target *to, dxp_u8 qp)
{
	DXP_INSN_SET(0, to->node);
	DXP_INSN_SET(1, (dxp_u32)to->function << 8 | to->qp);
	DXP_INSN_SET(2, to->magic);
	DXP_INSN_SET(7, (dxp_u32)qp << 8);
}

/* Sets both regions. `base`: the offset in the local region of the first byte of the kernel's
 * argument that holds the local bytes. */
DXP_FN void dxp_insn_keys_set(dxp_u32 local_key, dxp_u64 base, dxp_u32 remote_key)
{
	DXP_INSN_SET(3, local_key);
	DXP_INSN_SET(4, remote_key);
	DXP_INSN_SET(12, base);
	DXP_INSN_SET(13, base >> 32);
}

DXP_FN void dxp_insn_remote_set(dxp_u64 offset)
{
	DXP_INSN_SET(5, offset);
	DXP_INSN_SET(6, offset >> 32);
}

DXP_FN void dxp_insn_context_set(dxp_u64 context)
{
	DXP_INSN_SET(10, context);
	DXP_INSN_SET(11, context >> 32);
}

DXP_FN void dxp_insn_imm_set(dxp_u64 imm)
{
	DXP_INSN_SET(8, imm);
	DXP_INSN_SET(9, imm >> 32);
}

DXP_FN void dxp_insn_trailer_set(dxp_u64 trailer)
{
	DXP_INSN_SET(14, trailer);
	DXP_INSN_SET(15, trailer >> 32);
}

/* Sets DXP_FLAG_NOTIFY or 0, and keeps the queue pair. */
DXP_FN void dxp_insn_flags_set(dxp_u32 flags)
{
	DXP_INSN_SET(7, (DXP_INSN_GET(7) & 0xff00u) | flags);
}

/* Posts a PUT of `bytes` from `own` to the remote offset: one instruction. Statuses: as
 * dxp_post_put(). */
DXP_FN int dxp_insn_put(const DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_PUT, own, bytes);
}

DXP_FN int dxp_insn_get(DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_GET, own, bytes);
}

/* Posts a NAP of up to DXP_NAP_BYTES bytes; `own` may be reused at once. */
DXP_FN int dxp_insn_nap(const DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_NAP, own, bytes);
}

/* Registers of the peer, or of this node with node 0: words from the register whose index * 4 is
 * the remote offset. */
DXP_FN int dxp_insn_cfg_read(DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_CFG_READ, own, bytes);
}

DXP_FN int dxp_insn_cfg_write(const DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_CFG_WRITE, own, bytes);
}

/* Adds `imm` (dxp_insn_imm_set) to 8 bytes at the remote offset. The old value comes in the
 * completion. */
DXP_FN int dxp_insn_fetch_add(void)
{
	return DXP_INSN_POST(DXP_OP_FETCH_ADD, 0, 0);
}

/* Stores `trailer` at the remote offset if `imm` is there. */
DXP_FN int dxp_insn_compare_swap(void)
{
	return DXP_INSN_POST(DXP_OP_COMPARE_SWAP, 0, 0);
}

/* Returns the oldest completion's status + 1, or 0 for none; its context and value go to the
 * registers. */
DXP_FN int dxp_insn_sent_dequeue(void)
{
	int result;

	__asm__ volatile(".insn r 0x2B, 3, 0, %0, x0, x0" : "=r"(result) : : "memory");
	return result;
}

DXP_FN dxp_u64 dxp_insn_context(void)
{
	dxp_u32 low = DXP_INSN_GET(10), high = DXP_INSN_GET(11);

	return (dxp_u64)high << 32 | low;
}

/* Returns the value of an atomic's completion. */
DXP_FN dxp_u64 dxp_insn_value(void)
{
	dxp_u32 low = DXP_INSN_GET(8), high = DXP_INSN_GET(9);

	return (dxp_u64)high << 32 | low;
}

/* As dxp_error(). */
DXP_FN int dxp_insn_error(void)
{
	return (int)(0u - DXP_INSN_GET(64));
}

/* Returns the bytes that PUTs of peers have placed here. */
DXP_FN dxp_u64 dxp_insn_total(void)
{
	dxp_u32 low = DXP_INSN_GET(67), high = DXP_INSN_GET(68);

	return (dxp_u64)high << 32 | low;
}

/* Lets other warps of the core run. */
DXP_FN void dxp_insn_relax(void)
{
	__asm__ volatile(".insn i 0x0F, 0, x0, x0, 0x10");
}

/* Takes a completion; polls at most `looks` times. *status: the operation's. Returns DXP_OK,
 * DXP_ETIMEDOUT, or as dxp_insn_error(). */
DXP_FN int dxp_insn_sent_wait(int *status, dxp_u32 looks)
{
	do {
		int dequeued = dxp_insn_sent_dequeue();
		if (dequeued) {
			*status = dequeued - 1;
			return DXP_OK;
		}
		int error = dxp_insn_error();
		if (error)
			return error;
		dxp_insn_relax();
	} while (looks-- > 1);
	return DXP_ETIMEDOUT;
}

/* Waits until PUTs of peers have placed `total` bytes here. */
DXP_FN int dxp_insn_total_wait(dxp_u64 total, dxp_u32 looks)
{
	do {
		if (dxp_insn_total() >= total)
			return DXP_OK;
		int error = dxp_insn_error();
		if (error)
			return error;
		dxp_insn_relax();
	} while (looks-- > 1);
	return DXP_ETIMEDOUT;
}

#endif

#endif
