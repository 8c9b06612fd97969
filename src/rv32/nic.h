/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication registers, and the descriptor that `dxp.post` builds from them. */
#ifndef RV32_NIC_H
#define RV32_NIC_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/window.h>

/* dxp.set writes, dxp.get reads. 64 bits are two registers, low word first. */
enum rv32_nic_register {
	RV32_NIC_NODE,       /* of the destination; 0: this node */
	RV32_NIC_QUEUE,      /* function << 8 | queue pair */
	RV32_NIC_MAGIC,      /* of that queue pair */
	RV32_NIC_LOCAL_KEY,  /* of the region to send from or receive into */
	RV32_NIC_REMOTE_KEY, /* CFG operations: 0 */
	/* in the remote region; CFG operations: register * 4 */
	RV32_NIC_REMOTE_OFFSET,
	/* enum dxp_flag; from bit 8 on the posting queue pair */
	RV32_NIC_FLAGS = 7,
	RV32_NIC_IMM,          /* dxp.take stores immediate data */
	RV32_NIC_CONTEXT = 10, /* dxp.take stores the context */
	/* of the argument that dxp.post uses, in the local region */
	RV32_NIC_LOCAL_BASE = 12,
	RV32_NIC_TRAILER = 14, /* COMPARE_SWAP: new value */
	RV32_NIC_REGISTERS = 16
};

/* Read by dxp.get only. */
enum rv32_nic_value {
	RV32_NIC_ERROR = 64, /* of the function, negated; 0: none */
	RV32_NIC_PRODUCER,
	RV32_NIC_CONSUMER,
	/* received bytes, low word; stores the high word too */
	RV32_NIC_TOTAL_LOW,
	RV32_NIC_TOTAL_HIGH, /* stored by the last read of RV32_NIC_TOTAL_LOW */
	RV32_NIC_OWN_NODE,
	RV32_NIC_VALUES_END
};

/* The core's thread calls it, so it must not block. */
struct rv32_nic {
	void *context;
	/* Does what dxp_post_lists() does; lists have 0 or 1 entry. `data` is valid only during the
	 * call. */
	int (*post)(void *context, const struct dxp_descriptor *head, const struct dxp_entry *src,
		    const struct dxp_entry *dst, const void *data);
	/* Does what dxp_sent_dequeue() does; returns 1 with *event set, or 0. */
	int (*dequeue)(void *context, struct dxp_nic_event *event);
	/* RV32_NIC_TOTAL_LOW: all 64 bits. */
	uint64_t (*value)(void *context, enum rv32_nic_value which);
};

/* Operands of dxp.post in ordinary registers. */
struct rv32_nic_source {
	uint32_t bytes; /* rs2 */
	/* from its argument's start to the address in rs1 */
	uint32_t offset;
	/* inline payload, copied; NULL: none */
	const uint8_t *data;
};

/* Posts the operation in the registers. Errors: DXP_EUNSUPPORTED: no NIC (NULL); DXP_EINVAL: no
 * operation, or a NAP or CFG_WRITE above DXP_NAP_BYTES; those of dxp_post_lists(). */
int rv32_nic_post(const struct rv32_nic *nic, unsigned op,
		  const uint32_t registers[RV32_NIC_REGISTERS],
		  const struct rv32_nic_source *source);

/* Sets IMM and CONTEXT. Returns the completion's status + 1; 0: none. DXP_EUNSUPPORTED: no NIC. */
int rv32_nic_dequeue(const struct rv32_nic *nic, uint32_t registers[RV32_NIC_REGISTERS]);

/* Returns true if `op` carries its bytes inline. */
bool rv32_nic_inline(unsigned op);

#endif
