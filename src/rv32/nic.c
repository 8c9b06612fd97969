/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds NIC descriptors from communication registers. */
#include "rv32/nic.h"

#include <string.h>

#include <dxp/status.h>

#define QUEUE_BITS 8 /* of the upper number in FLAGS and QUEUE */
#define LOW_BYTE   255u
#define ATOMIC     8u /* operand of an atomic */

static uint64_t wide(const uint32_t registers[RV32_NIC_REGISTERS], enum rv32_nic_register low)
{
	return (uint64_t)registers[low + 1] << 32 | registers[low];
}

static void set_wide(uint32_t registers[RV32_NIC_REGISTERS], enum rv32_nic_register low,
		     uint64_t value)
{
	registers[low] = (uint32_t)value;
	registers[low + 1] = (uint32_t)(value >> 32);
}

static bool is_atomic(unsigned op)
{
	return op >= DXP_OP_FETCH_ADD && op <= DXP_OP_FETCH_XOR;
}

bool rv32_nic_inline(unsigned op)
{
	return op == DXP_OP_NAP || op == DXP_OP_CFG_WRITE;
}

static struct dxp_descriptor head_of(unsigned op, const uint32_t r[RV32_NIC_REGISTERS])
{
	struct dxp_descriptor d;

	memset(&d, 0, sizeof(d));
	d.op = (dxp_u8)op;
	d.flags = (dxp_u8)(r[RV32_NIC_FLAGS] & LOW_BYTE);
	d.qp = (dxp_u8)(r[RV32_NIC_FLAGS] >> QUEUE_BITS & LOW_BYTE);
	d.dst_function = (dxp_u8)(r[RV32_NIC_QUEUE] >> QUEUE_BITS & LOW_BYTE);
	d.dst_node = (dxp_u16)r[RV32_NIC_NODE];
	d.dst_qp = (dxp_u16)(r[RV32_NIC_QUEUE] & LOW_BYTE);
	d.dst_magic = r[RV32_NIC_MAGIC];
	d.context = wide(r, RV32_NIC_CONTEXT);
	d.imm = wide(r, RV32_NIC_IMM);
	d.trailer = wide(r, RV32_NIC_TRAILER);
	return d;
}

int rv32_nic_post(const struct rv32_nic *nic, unsigned op,
		  const uint32_t registers[RV32_NIC_REGISTERS],
		  const struct rv32_nic_source *source)
{
	const bool fetches = op == DXP_OP_GET || op == DXP_OP_CFG_READ;
	struct dxp_descriptor head = head_of(op, registers);
	struct dxp_entry local = {wide(registers, RV32_NIC_LOCAL_BASE) + source->offset,
				  source->bytes, registers[RV32_NIC_LOCAL_KEY]};
	struct dxp_entry remote = {wide(registers, RV32_NIC_REMOTE_OFFSET),
				   is_atomic(op) ? ATOMIC : source->bytes,
				   registers[RV32_NIC_REMOTE_KEY]};

	if (!nic)
		return DXP_EUNSUPPORTED;
	if (!is_atomic(op) && (op < DXP_OP_NAP || op > DXP_OP_CFG_WRITE))
		return DXP_EINVAL;
	if (registers[RV32_NIC_NODE] > UINT16_MAX)
		return DXP_EINVAL;
	if (rv32_nic_inline(op)) {
		if (source->bytes > DXP_NAP_BYTES)
			return DXP_EINVAL;
		head.flags |= DXP_FLAG_INLINE;
		head.inline_bytes = (dxp_u16)source->bytes;
	}
	head.dst_count = op != DXP_OP_NAP;
	/* The completion of an atomic has the old value. If the source has 8 bytes, the NIC
	 * writes the value there too. */
	head.src_count = !rv32_nic_inline(op) && (!is_atomic(op) || source->bytes == ATOMIC);
	return nic->post(nic->context, &head, fetches ? &remote : &local,
			 fetches ? &local : &remote, source->data);
}

int rv32_nic_dequeue(const struct rv32_nic *nic, uint32_t registers[RV32_NIC_REGISTERS])
{
	struct dxp_nic_event event;

	if (!nic)
		return DXP_EUNSUPPORTED;
	if (!nic->dequeue(nic->context, &event))
		return 0;
	set_wide(registers, RV32_NIC_IMM, event.imm);
	set_wide(registers, RV32_NIC_CONTEXT, event.context);
	return event.status + 1;
}
