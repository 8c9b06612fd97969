/* SPDX-License-Identifier: BSD-3-Clause */
/* NIC instructions of an rv32 xPU for kernels in OpenCL C. The work-item sets communication
 * registers once; then each operation is one instruction. Names and statuses are those of
 * dxp/device.h, with the prefix dxp_insn_; a kernel selects this file by `#ifdef __riscv`. The
 * kernel needs a parameter `global struct dxp_window *`, which the host sets to the NIC's window;
 * otherwise each instruction returns DXP_EUNSUPPORTED (-13). docs/reference/rv32.md has the
 * encoding.
 *
 * Posting: call dxp_insn_peer_set() and dxp_insn_keys_set(), then dxp_insn_put() and others any
 * number of times. All active work-items of a warp post, in the order of their ids. After
 * DXP_EAGAIN (all descriptors are in use) call dxp_insn_relax() and post again. Sources: X-07,
 * X-08, P-02. */
#ifndef DXP_RV32_H
#define DXP_RV32_H

/* The file is empty for other devices, so that one program text serves all devices. */
#if defined(__riscv) && defined(__OPENCL_C_VERSION__)
#ifndef DXP_WINDOW_H
#include <dxp/device.h>
#endif

/* Communication registers. A 64-bit value uses two registers, low word first. */
#define DXP_REGISTER_NODE       0 /* destination node; 0: this node */
#define DXP_REGISTER_QUEUE      1 /* function << 8 | queue pair of the peer */
#define DXP_REGISTER_MAGIC      2 /* magic of that queue pair */
#define DXP_REGISTER_LOCAL_KEY  3 /* key of the region that contains the local bytes */
#define DXP_REGISTER_REMOTE_KEY 4 /* key of the peer's region; CFG operations: 0 */
/* 64 bits: offset in the peer's region; CFG operations: register index * 4 */
#define DXP_REGISTER_REMOTE_OFFSET 5
#define DXP_REGISTER_FLAGS         7 /* bits 0 .. 7: enum dxp_flag; bits 8 .. 15: own queue pair */
/* 64 bits, set by dxp_insn_imm_set(); a dequeue stores the value of the completion here */
#define DXP_REGISTER_IMM 8
/* 64 bits, set by dxp_insn_context_set(); a dequeue stores the context of the completion here */
#define DXP_REGISTER_CONTEXT    10
#define DXP_REGISTER_LOCAL_BASE 12 /* 64 bits: offset of the argument in the local region */
#define DXP_REGISTER_TRAILER    14 /* 64 bits, set by dxp_insn_trailer_set() */
/* Values of the NIC, read only. */
#define DXP_REGISTER_ERROR    64 /* negated status of the function */
#define DXP_REGISTER_PRODUCER 65
#define DXP_REGISTER_CONSUMER 66
#define DXP_REGISTER_TOTAL    67 /* 64 bits; reading the low word latches the high word */
#define DXP_REGISTER_OWN_NODE 69 /* node number of this NIC */

/* Set and get a register. `number` must be a DXP_REGISTER_* constant, because it is a part of the
 * instruction. */
#define DXP_INSN_SET(number, value) \
	__asm__ volatile(".insn i 0x2B, 1, x0, %0, %1" : : "r"((dxp_u32)(value)), "i"(number))
#define DXP_INSN_GET(number)                                   \
	({                                                     \
		dxp_u32 value_;                                \
		__asm__ volatile(".insn i 0x2B, 2, %0, x0, %1" \
				 : "=r"(value_)                \
				 : "i"(number)                 \
				 : "memory");                  \
		value_;                                        \
	})
/* Set and get 64 bits: register `number` is the low word, the next one the high word. */
#define DXP_INSN_SET64(number, value)                    \
	do {                                             \
		const dxp_u64 wide_ = (value);           \
		DXP_INSN_SET(number, wide_);             \
		DXP_INSN_SET((number) + 1, wide_ >> 32); \
	} while (0)
#define DXP_INSN_GET64(number)                                     \
	({                                                         \
		const dxp_u64 low_ = DXP_INSN_GET(number);         \
		(dxp_u64) DXP_INSN_GET((number) + 1) << 32 | low_; \
	})
/* Posts operation `op` (enum dxp_op, a constant) of `bytes` bytes at `own`. */
#define DXP_INSN_POST(op, own, bytes)                                       \
	({                                                                  \
		int status_;                                                \
		__asm__ volatile(".insn r 0x2B, 0, %3, %0, %1, %2"          \
				 : "=r"(status_)                            \
				 : "r"(own), "r"((dxp_u32)(bytes)), "i"(op) \
				 : "memory");                               \
		status_;                                                    \
	})

/* Sets the peer of later operations, and the queue pair of the kernel's NIC function that they use.
 * Clears the flags. */
DXP_FN void dxp_insn_peer_set(const struct dxp_target *to, dxp_u8 qp)
{
	DXP_INSN_SET(DXP_REGISTER_NODE, to->node);
	DXP_INSN_SET(DXP_REGISTER_QUEUE, (dxp_u32)to->function << 8 | to->qp);
	DXP_INSN_SET(DXP_REGISTER_MAGIC, to->magic);
	DXP_INSN_SET(DXP_REGISTER_FLAGS, (dxp_u32)qp << 8);
}

/* Sets the keys of both regions. `base` is the offset, in the local region, of the kernel argument
 * that later operations read or write. */
DXP_FN void dxp_insn_keys_set(dxp_u32 local_key, dxp_u64 base, dxp_u32 remote_key)
{
	DXP_INSN_SET(DXP_REGISTER_LOCAL_KEY, local_key);
	DXP_INSN_SET(DXP_REGISTER_REMOTE_KEY, remote_key);
	DXP_INSN_SET64(DXP_REGISTER_LOCAL_BASE, base);
}

/* Sets the offset in the remote region. */
DXP_FN void dxp_insn_remote_set(dxp_u64 offset)
{
	DXP_INSN_SET64(DXP_REGISTER_REMOTE_OFFSET, offset);
}

/* Sets the context, which the completion returns. */
DXP_FN void dxp_insn_context_set(dxp_u64 context)
{
	DXP_INSN_SET64(DXP_REGISTER_CONTEXT, context);
}

/* Sets the value that a NAP or a PUT with DXP_FLAG_NOTIFY delivers, or an atomic's operand. */
DXP_FN void dxp_insn_imm_set(dxp_u64 imm)
{
	DXP_INSN_SET64(DXP_REGISTER_IMM, imm);
}

/* Sets the trailer that a NAP or a PUT with DXP_FLAG_NOTIFY delivers, or the new value of
 * dxp_insn_compare_swap(). */
DXP_FN void dxp_insn_trailer_set(dxp_u64 trailer)
{
	DXP_INSN_SET64(DXP_REGISTER_TRAILER, trailer);
}

/* Sets the flags, DXP_FLAG_NOTIFY or 0, and keeps the queue pair. */
DXP_FN void dxp_insn_flags_set(dxp_u32 flags)
{
	DXP_INSN_SET(DXP_REGISTER_FLAGS, (DXP_INSN_GET(DXP_REGISTER_FLAGS) & 0xff00u) | flags);
}

/* Posts a PUT of `bytes` from `own` to the remote offset: one instruction. Statuses: see
 * dxp_post_put(). */
DXP_FN int dxp_insn_put(const DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_PUT, own, bytes);
}

/* Posts a GET of `bytes` from the remote offset to `own`. */
DXP_FN int dxp_insn_get(DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_GET, own, bytes);
}

/* Posts a NAP of up to DXP_NAP_BYTES bytes; `own` may be reused at once. */
DXP_FN int dxp_insn_nap(const DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_NAP, own, bytes);
}

/* Reads registers of the peer into `own`; node 0: registers of this node. The remote offset is the
 * index of the first register times 4. */
DXP_FN int dxp_insn_cfg_read(DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_CFG_READ, own, bytes);
}

/* Writes registers of the peer from `own`. See dxp_insn_cfg_read() for node 0 and the remote
 * offset. */
DXP_FN int dxp_insn_cfg_write(const DXP_SHARED void *own, dxp_u32 bytes)
{
	return DXP_INSN_POST(DXP_OP_CFG_WRITE, own, bytes);
}

/* Posts an allreduce; see dxp_post_allreduce(), which does the same by loads and stores. First
 * address the node itself by dxp_insn_peer_set() with dxp_self(). Changes key and offset of the
 * remote region. dxp_allreduce_wait() waits for the result. */
DXP_FN int dxp_insn_allreduce(const struct dxp_allreduce_descriptor *d)
{
	DXP_INSN_SET(DXP_REGISTER_REMOTE_KEY, 0);
	DXP_INSN_SET64(DXP_REGISTER_REMOTE_OFFSET, 4 * DXP_ALLREDUCE_REGISTER);
	return DXP_INSN_POST(DXP_OP_CFG_WRITE, d, sizeof(*d));
}

/* Adds `imm` (dxp_insn_imm_set) to the 8 bytes at the remote offset. After completion,
 * dxp_insn_value() returns the old value. */
DXP_FN int dxp_insn_fetch_add(void)
{
	return DXP_INSN_POST(DXP_OP_FETCH_ADD, 0, 0);
}

/* Stores `trailer` (dxp_insn_trailer_set) at the remote offset if the 8 bytes there equal `imm`.
 * After completion, dxp_insn_value() returns the old value. */
DXP_FN int dxp_insn_compare_swap(void)
{
	return DXP_INSN_POST(DXP_OP_COMPARE_SWAP, 0, 0);
}

/* Dequeues the oldest completion, so that dxp_insn_context() and dxp_insn_value() return its
 * fields. Returns the completion's status + 1; or 0 if there is none. */
DXP_FN int dxp_insn_sent_dequeue(void)
{
	int result;

	__asm__ volatile(".insn r 0x2B, 3, 0, %0, x0, x0" : "=r"(result) : : "memory");
	return result;
}

/* Returns the context of the last dequeued completion. */
DXP_FN dxp_u64 dxp_insn_context(void)
{
	return DXP_INSN_GET64(DXP_REGISTER_CONTEXT);
}

/* Returns the value of the last dequeued completion: an atomic's old value. */
DXP_FN dxp_u64 dxp_insn_value(void)
{
	return DXP_INSN_GET64(DXP_REGISTER_IMM);
}

/* Returns the error of the kernel's NIC function; see dxp_error(). */
DXP_FN int dxp_insn_error(void)
{
	return (int)(0u - DXP_INSN_GET(DXP_REGISTER_ERROR));
}

/* Returns the bytes that PUTs of peers have placed in memory of the kernel's NIC function. */
DXP_FN dxp_u64 dxp_insn_total(void)
{
	return DXP_INSN_GET64(DXP_REGISTER_TOTAL);
}

/* Pauses, so that other warps of the core can run. */
DXP_FN void dxp_insn_relax(void)
{
	__asm__ volatile(".insn i 0x0F, 0, x0, x0, 0x10");
}

/* ---- waiting: at most `looks` polls (0: one) ---- */

/* Waits a moment after a poll without result. Returns DXP_OK if the caller must poll again. */
DXP_FN int dxp_insn_look_again(dxp_u32 *looks)
{
	int status = dxp_insn_error();

	if (status != DXP_OK)
		return status;
	dxp_insn_relax();
	return (*looks)-- > 1 ? DXP_OK : DXP_ETIMEDOUT;
}

/* Waits for a completion and writes the operation's status to *status. Returns DXP_OK,
 * DXP_ETIMEDOUT, or an error of dxp_insn_error(). */
DXP_FN int dxp_insn_sent_wait(int *status, dxp_u32 looks)
{
	int result;

	do {
		int dequeued = dxp_insn_sent_dequeue();
		if (dequeued) {
			*status = dequeued - 1;
			return DXP_OK;
		}
		result = dxp_insn_look_again(&looks);
	} while (result == DXP_OK);
	return result;
}

/* Waits until PUTs of peers have placed `total` bytes in memory of the kernel's NIC function.
 * Statuses: see dxp_insn_sent_wait(). */
DXP_FN int dxp_insn_total_wait(dxp_u64 total, dxp_u32 looks)
{
	int result;

	do {
		if (dxp_insn_total() >= total)
			return DXP_OK;
		result = dxp_insn_look_again(&looks);
	} while (result == DXP_OK);
	return result;
}

#endif

#endif
