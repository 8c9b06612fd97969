/* SPDX-License-Identifier: BSD-3-Clause */
/* The compatible format: exactly the source paper's fields (N-03, N-04), in DATA and QUERY .. RENEW
 * with INC_FLAG_COMPAT. inc_packet_encode() and inc_packet_decode() handle both formats. Fields
 * that the source lacks are fixed: an operation is one allreduce of one packet.
 *
 * The source's switches observe packets and their addresses; here packets are addressed to
 * switches. So an extension behind the control payload has what these cannot observe. */
#ifndef WIRE_INC_COMPAT_H
#define WIRE_INC_COMPAT_H

#include "wire/inc.h"

/* MPI header: X(field, offset, bytes). */
#define INC_COMPAT_FIELDS(X)    \
	X(TAG, 0, 4)            \
	X(SRC_RANK, 4, 4)       \
	X(COMM_ID, 8, 2)        \
	X(OP_CODE, 10, 1)       \
	X(OPER_AND_TYPE, 11, 1) \
	X(REQ_ID, 12, 1)        \
	X(PKT_PARA_NUM, 13, 2)
#define INC_COMPAT_HEADER_BYTES 15
#define INC_COMPAT_OFF_COMM     8 /* COMM_ID */

/* X(bits, field): control payload of the source. */
#define INC_COMPAT_CONTROL_FIELDS(X) \
	X(16, sup_mpi_type)          \
	X(8, fail_cause)             \
	X(8, master_num)             \
	X(8, query_notify_hop)       \
	X(8, sup_comm_type)          \
	X(16, sup_allreduce_op)      \
	X(16, sup_data_type)         \
	X(16, sup_max_data_size)     \
	X(16, global_group_size)     \
	X(16, local_group_size)      \
	X(32, true_comm_id)          \
	X(32, ava_grp_num)           \
	X(32, dst_rank)              \
	X(32, tor1_ip)               \
	X(32, spine_ip)              \
	X(32, tor2_ip)               \
	X(64, job_id)                \
	X(32, c_id)                  \
	X(32, world_rank)

/* X(bits, field): extension behind it. */
#define INC_COMPAT_EXTENSION_FIELDS(X) \
	X(32, qkey)                    \
	X(32, lease_ms)                \
	X(32, member_ip)               \
	X(32, first_ip)                \
	X(32, cause_ip)                \
	X(16, member_port)             \
	X(16, first_port)              \
	X(16, epoch)                   \
	X(16, status)                  \
	X(16, children1)               \
	X(16, children2)               \
	X(16, children3)               \
	X(16, index1)                  \
	X(16, index2)                  \
	X(16, index3)
#define INC_COMPAT_CONTROL_BYTES   56
#define INC_COMPAT_EXTENSION_BYTES 40

#define INC_COMPAT_TAG 0xff3344f4u /* as in the source's code */
/* of control packets; groups are 1 .. 0xfffe */
#define INC_COMPAT_COMM 0xffffu
/* query_notify_hop: from this bit on kind - INC_QUERY, below it inc_control.hop */
#define INC_COMPAT_HOP_SHIFT 5
#define INC_COMPAT_PATH_MAX  3 /* switches on a path: tor1, spine, tor2 */

bool inc_compat_is(const struct inc_header *h);

/* The req_id nearest to `near` with these low 24 bits. */
uint32_t inc_compat_req_id(uint32_t near, uint32_t low);

void inc_compat_header_put(const struct inc_header *h, uint8_t out[INC_COMPAT_HEADER_BYTES]);

/* Decodes what follows DETH or BTH; the caller has set out->roce. Data get epoch 0, INC_FLAG_SHORT,
 * INC_FLAG_LAST and a req_id of 24 bits; the receiver derives the direction from the sender.
 * Without elements, their status is -DXP_EINVAL. DXP_EMALFORMED. */
int inc_compat_decode(const uint8_t *data, size_t bytes, struct inc_packet *out);

/* src_rank, epoch, kind and status are in `h`; src_rank is sent only down the tree. The path has at
 * most INC_COMPAT_PATH_MAX switches; sizes above 65535 become 65535. */
size_t inc_compat_control_encode(const struct inc_header *h, const struct inc_control *c,
				 uint8_t out[INC_CONTROL_BYTES_MAX]);
int inc_compat_control_decode(const uint8_t *data, size_t bytes, struct inc_header *h,
			      struct inc_control *out);

#endif
