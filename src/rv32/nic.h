/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication registers of a work-item, and the descriptor that `dxp.post` builds from them. */
#ifndef RV32_NIC_H
#define RV32_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/window.h>

/* Written by dxp.set, read by dxp.get. 64-bit values are two registers, low word first. */
enum rv32_nic_register {
	RV32_NIC_NODE,       /* destination; 0: this node */
	RV32_NIC_QUEUE,      /* function << 8 | queue pair there */
	RV32_NIC_MAGIC,      /* magic of that queue pair */
	RV32_NIC_LOCAL_KEY,  /* key of the region that contains the local bytes */
	RV32_NIC_REMOTE_KEY, /* CFG operations: 0 */
	/* offset in the remote region; CFG operations: register index * 4 */
	RV32_NIC_REMOTE_OFFSET,
	/* enum dxp_flag, and the number of this function's queue pair << 8 */
	RV32_NIC_FLAGS = 7,
	RV32_NIC_IMM,             /* dxp.take stores the completion's immediate data here */
	RV32_NIC_CONTEXT = 10,    /* dxp.take stores the completion's context here */
	RV32_NIC_LOCAL_BASE = 12, /* offset of the argument's first byte in the local region */
	RV32_NIC_TRAILER = 14,    /* COMPARE_SWAP: the new value */
	RV32_NIC_REGISTERS = 16
};

/* Read-only values of the NIC, by dxp.get. */
enum rv32_nic_value {
	RV32_NIC_ERROR = 64, /* negated status; 0: none */
	RV32_NIC_PRODUCER,
	RV32_NIC_CONSUMER,
	RV32_NIC_TOTAL_LOW,  /* low word; a read of it latches the high word for this work-item */
	RV32_NIC_TOTAL_HIGH, /* high word latched by the last read of RV32_NIC_TOTAL_LOW */
	RV32_NIC_OWN_NODE,
	RV32_NIC_VALUES_END
};

/* The NIC of a launch. All callbacks run in the core's thread and must not block. */
struct rv32_nic {
	void *context;
	/* Posts a descriptor like dxp_post_lists(); the lists have 0 or 1 entry. `data` is valid
	 * during the call. */
	int (*post)(void *context, const struct dxp_descriptor *head, const struct dxp_entry *src,
		    const struct dxp_entry *dst, const void *data);
	/* Dequeues a completion like dxp_sent_dequeue(). Returns 1 and sets *event, or returns
	 * 0. */
	int (*dequeue)(void *context, struct dxp_nic_event *event);
	/* Reads a value; RV32_NIC_TOTAL_LOW is total_bytes, all 64 bits. */
	uint64_t (*value)(void *context, enum rv32_nic_value which);
};

/* The operands of dxp.post that come from ordinary registers, not from communication registers. */
struct rv32_nic_source {
	uint32_t bytes;      /* rs2 */
	uint32_t offset;     /* offset of rs1 from the first byte of its argument */
	const uint8_t *data; /* host copy of the bytes, for inline payloads; NULL: none */
};

/* Posts the operation that the registers describe. Returns its status.
 * Errors: DXP_EUNSUPPORTED: no NIC (nic is NULL); DXP_EINVAL: not an operation, or a NAP or
 *         CFG_WRITE longer than DXP_NAP_BYTES; other statuses of dxp_post_lists(). */
int rv32_nic_post(const struct rv32_nic *nic, unsigned op,
		  const uint32_t registers[RV32_NIC_REGISTERS],
		  const struct rv32_nic_source *source);

/* Dequeues a completion into IMM and CONTEXT. Returns its status + 1, or 0 if there is none.
 * Errors: DXP_EUNSUPPORTED: no NIC. */
int rv32_nic_dequeue(const struct rv32_nic *nic, uint32_t registers[RV32_NIC_REGISTERS]);

/* Returns true if `op` carries its bytes in the descriptor. */
bool rv32_nic_inline(unsigned op);

#endif
