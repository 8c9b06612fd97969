/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication registers of a work-item, and the descriptor that `dxp.post` builds from them. */
#ifndef RV32_NIC_H
#define RV32_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/window.h>

/* Communication registers. dxp.set writes them, dxp.get reads them. A 64-bit value occupies two
 * registers, low word first. */
enum rv32_nic_register {
	RV32_NIC_NODE,       /* node id of the destination; 0: this node */
	RV32_NIC_QUEUE,      /* destination at that node: function << 8 | queue pair */
	RV32_NIC_MAGIC,      /* magic of the destination's queue pair */
	RV32_NIC_LOCAL_KEY,  /* key of the region that contains the bytes to send or receive */
	RV32_NIC_REMOTE_KEY, /* key of the remote region; CFG operations: 0 */
	/* offset in the remote region; CFG operations: register index * 4 */
	RV32_NIC_REMOTE_OFFSET,
	/* enum dxp_flag, and in the bits from 8 on the number of the queue pair that posts */
	RV32_NIC_FLAGS = 7,
	RV32_NIC_IMM,          /* dxp.take stores the completion's immediate data here */
	RV32_NIC_CONTEXT = 10, /* dxp.take stores the completion's context here */
	/* offset, in the local region, of the kernel argument that dxp.post sends from or receives
	 * into */
	RV32_NIC_LOCAL_BASE = 12,
	RV32_NIC_TRAILER = 14, /* COMPARE_SWAP: the new value to store */
	RV32_NIC_REGISTERS = 16
};

/* Values of the NIC that dxp.get reads; a program cannot write them. */
enum rv32_nic_value {
	RV32_NIC_ERROR = 64, /* negated status of the function; 0: no error */
	RV32_NIC_PRODUCER,
	RV32_NIC_CONSUMER,
	/* bytes received in total, low word; a read also stores the high word for this work-item */
	RV32_NIC_TOTAL_LOW,
	RV32_NIC_TOTAL_HIGH, /* high word that the last read of RV32_NIC_TOTAL_LOW stored */
	RV32_NIC_OWN_NODE,
	RV32_NIC_VALUES_END
};

/* The NIC of a launch. The core's thread calls these functions, so they must not block. */
struct rv32_nic {
	void *context;
	/* Posts a descriptor as dxp_post_lists() does. Each list has 0 or 1 entry. `data` is valid
	 * only during the call. */
	int (*post)(void *context, const struct dxp_descriptor *head, const struct dxp_entry *src,
		    const struct dxp_entry *dst, const void *data);
	/* Dequeues a completion as dxp_sent_dequeue() does. Returns 1 and sets *event, or returns
	 * 0. */
	int (*dequeue)(void *context, struct dxp_nic_event *event);
	/* Reads a value. RV32_NIC_TOTAL_LOW returns all 64 bits of total_bytes. */
	uint64_t (*value)(void *context, enum rv32_nic_value which);
};

/* Operands of dxp.post that come from ordinary registers, not from communication registers. */
struct rv32_nic_source {
	uint32_t bytes; /* number of bytes: value of rs2 */
	/* offset of the first byte (address in rs1) from the start of its argument */
	uint32_t offset;
	/* copy of the bytes in host memory, for inline payloads; NULL: no inline payload */
	const uint8_t *data;
};

/* Posts the operation that the communication registers describe. Returns its status.
 * Errors: DXP_EUNSUPPORTED: no NIC (nic is NULL); DXP_EINVAL: not an operation, or a NAP or
 * CFG_WRITE longer than DXP_NAP_BYTES; other statuses of dxp_post_lists(). */
int rv32_nic_post(const struct rv32_nic *nic, unsigned op,
		  const uint32_t registers[RV32_NIC_REGISTERS],
		  const struct rv32_nic_source *source);

/* Dequeues a completion, and stores its values in the registers IMM and CONTEXT. Returns the
 * completion's status + 1, or 0 if there is no completion.
 * Errors: DXP_EUNSUPPORTED: no NIC. */
int rv32_nic_dequeue(const struct rv32_nic *nic, uint32_t registers[RV32_NIC_REGISTERS]);

/* Returns true if a descriptor of operation `op` carries its bytes inline. */
bool rv32_nic_inline(unsigned op);

#endif
