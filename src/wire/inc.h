/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of in-network computing behind the RoCEv2 headers: the MPI header of N-03 and the control
 * payload of N-04, both extended, and rows that describe a switch. Big-endian; data elements are
 * little-endian. Decoders check every length first. Tables: docs/reference/wire.md "In-network
 * computing"; protocol: docs/reference/inc.md. */
#ifndef WIRE_INC_H
#define WIRE_INC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/inc.h>

#include "base/datagram.h"
#include "wire/rc_cm.h"
#include "wire/roce.h"

#define INC_TAG          0x44585049u /* "DXPI" */
#define INC_COMM_CONTROL 0xffffffffu /* comm_id of control packets */
/* Q_Key of control packets; data packets have the Q_Key of their group */
#define INC_CONTROL_QKEY 0x80445850u
#define INC_QP           0x445850u /* number of the queue pair of each switch and host */

/* Destination address of results that a switch sends to all its children: 239.192/14 and the low
 * bits of the group id. */
#define INC_MULTICAST_IP   0xefc00000u
#define INC_MULTICAST_MASK 0x0003ffffu

/* Fields of the MPI header: X(field, offset, bytes), from its start. */
#define INC_FIELDS(X)           \
	X(TAG, 0, 4)            \
	X(SRC_RANK, 4, 4)       \
	X(COMM_ID, 8, 4)        \
	X(EPOCH, 12, 2)         \
	X(OP_CODE, 14, 1)       \
	X(OPER_AND_TYPE, 15, 1) \
	X(REQ_ID, 16, 4)        \
	X(CALL_ELEMENTS, 20, 4) \
	X(PKT_PARA_NUM, 24, 2)  \
	X(ROOT, 26, 2)          \
	X(KIND, 28, 1)          \
	X(FLAGS, 29, 1)         \
	X(STATUS, 30, 1)        \
	X(COLLECTIVE, 31, 1)
#define INC_HEADER_BYTES 32

#define INC_OFFSET_ENUM(name, offset, bytes) INC_OFF_##name = (offset),
enum inc_offset { INC_FIELDS(INC_OFFSET_ENUM) };
#undef INC_OFFSET_ENUM

/* Kinds of packets: X(name, value, text). The comments state the path and the content. */
#define INC_KIND_LIST(X)                                                                     \
	X(DATA, 1, "data")         /* contribution (up) or result (down) */                  \
	X(REFUSED, 2, "refused")   /* answer to rejected DATA: the reason */                 \
	X(QUERY, 3, "query")       /* member -> switches -> member 0: abilities */           \
	X(NOTIFY, 4, "notify")     /* member 0 -> root -> .. -> leaf -> member: new group */ \
	X(NOTIFIED, 5, "notified") /* member or rejecting switch -> member 0: status */      \
	X(KILL, 6, "kill")         /* same path as NOTIFY: the group ends */                 \
	X(RENEW, 7, "renew")       /* member -> leaf -> .. -> root: renews the lease */      \
	X(FREEZE, 8, "freeze")     /* member -> member: group lost; first missing result */  \
	X(FROZEN, 9, "frozen")     /* answer to FREEZE: first missing result */              \
	X(FETCH, 10, "fetch")      /* member -> member: requests the result of req_id */     \
	X(FETCHED, 11, "fetched")  /* answer to FETCH: the result */                         \
	X(INQUIRE, 12, "inquire")  /* any node -> switch: requests rows about the switch */  \
	X(ANSWER, 13, "answer")                                                              \
	X(AWAIT, 14, "await")     /* member -> member: requests the first unsent segment */  \
	X(AWAITED, 15, "awaited") /* answer to AWAIT: the first unsent segment */

#define INC_KIND_ENUM(name, value, text) INC_##name = (value),
enum inc_kind { INC_KIND_LIST(INC_KIND_ENUM) };
#undef INC_KIND_ENUM

enum inc_flag {
	INC_FLAG_RESULT = 1 << 0, /* the packet goes down the tree; without this flag, up */
	INC_FLAG_SWITCH = 1 << 1, /* packet up the tree: its sender is a switch, not a member */
	INC_FLAG_REPEAT = 1 << 2, /* retransmission */
	INC_FLAG_SHORT = 1 << 3,  /* the operation is one segment of at most 256 bytes */
	INC_FLAG_TRAIN = 1 << 4,  /* the packet is part of a GSO batch (see roce.h) */
	INC_FLAG_LAST = 1 << 5,   /* last segment of the operation */
	INC_FLAG_COMPAT = 1 << 6, /* not on the wire: the packet has the compatible format */
};
#define INC_FLAGS_KNOWN 0x3fu

enum inc_collective { INC_ALLREDUCE = 1, INC_REDUCE = 2, INC_BROADCAST = 3, INC_BARRIER = 4 };

struct inc_header {
	/* Packets up the tree: the member that sent the packet, or the first member below the
	 * switch that sent it. Packets down the tree: the first member below the root. */
	uint32_t src_rank;
	uint32_t comm_id; /* id of the group */
	uint16_t epoch;
	uint8_t op, type; /* enum dxp_inc_op, dxp_inc_type */
	/* number of the segment in the group, wraps; its low 24 bits are the PSN */
	uint32_t req_id;
	uint32_t call_elements; /* elements of the whole operation */
	uint16_t elements;      /* pkt_para_num: elements in this payload */
	uint16_t root;          /* REDUCE, BROADCAST: the member that is root */
	uint8_t kind, flags;
	uint8_t status; /* status of a result or answer: 0 or a negated dxp_status */
	uint8_t collective;
};

/* A received packet; `payload` points into the datagram. */
struct inc_packet {
	struct roce_header roce;
	struct inc_header header;
	const uint8_t *payload;
	size_t payload_bytes; /* DATA: elements times their size, or 0 */
};

/* Decodes a packet. Checks lengths, tag, kind, flags, op and type, and that the operation is
 * defined on the type. DATA and FETCHED must carry as many bytes as their elements need. They may
 * carry none if they have a status or contribute to a broadcast. SHORT packets must be short.
 * comm_id must be INC_COMM_CONTROL in QUERY .. RENEW. In DATA and in packets between members it
 * must have another value. Does not check the ICRC. An RC_ACK to INC_QP returns DXP_OK with kind 0.
 * Errors: DXP_ENOENT: the packet has no tag, so it is a foreign packet; count and ignore it.
 *         DXP_EMALFORMED: the packet has the tag, but is invalid. */
int inc_packet_decode(const uint8_t *data, size_t bytes, struct inc_packet *out);

/* Encode and decode a message of a reliable connection: MPI header, then payload. The decoder does
 * the checks of inc_packet_decode(). It leaves out->roce unchanged. */
void inc_message_encode(const struct inc_header *h, uint8_t out[INC_HEADER_BYTES]);
int inc_message_decode(const uint8_t *message, size_t bytes, struct inc_packet *out);

/* Private data of a REQ, which identifies the connection's group. X(field, offset, bytes). */
#define INC_CONNECT_FIELDS(X) \
	X(TAG, 0, 4)          \
	X(COMM_ID, 4, 4)      \
	X(QKEY, 8, 4)         \
	X(EPOCH, 12, 2)
struct inc_connect {
	uint32_t comm_id, qkey;
	uint16_t epoch;
};
void inc_connect_encode(const struct inc_connect *c, uint8_t out[RC_CM_PRIVATE_BYTES]);
/* Decodes the private data of a REQ. DXP_EMALFORMED: the data does not have INC_TAG. */
int inc_connect_decode(const uint8_t in[RC_CM_PRIVATE_BYTES], struct inc_connect *out);

#define INC_TRAILER_BYTES ROCE_TRAILER_BYTES
#define INC_UD_BYTES      (ROCE_BTH_BYTES + ROCE_DETH_BYTES + INC_HEADER_BYTES)

/* Builds a datagram in `d`: headers in d->header, the payload as a slice (not copied), then
 * `trailer` with pad and ICRC as last slice. Payload and trailer must not change until the datagram
 * is sent. h->req_id is the PSN. d->to comes from `path`, and the ICRC covers the addresses in
 * `path`. ROCE_RC_SEND_ONLY requests an acknowledgement; ROCE_RC_ACK uses only h->req_id. */
void inc_packet_encode(const struct inc_header *h, uint8_t roce_opcode, uint32_t qkey,
		       uint32_t dest_qp, uint32_t source_qp, const struct roce_path *path,
		       const void *payload, size_t payload_bytes, struct datagram *d,
		       uint8_t trailer[INC_TRAILER_BYTES]);

/* CRC-32 of a payload that goes to many receivers, and the table that joins this CRC to the CRC of
 * each packet's headers. So the payload is read only once. */
struct inc_sum {
	const struct crc32_shift *shift; /* table for the payload's length, a multiple of 4 */
	uint32_t crc;
};

/* Returns true if an encoded packet must not be in a GSO batch. Only packets with INC_FLAG_TRAIN
 * may be in a batch, because in a batch the kernel increments IP Identification, and packet
 * captures below the sockets show one packet. */
bool inc_packet_alone(const struct datagram *d);

/* Does what inc_packet_encode() does, but takes the payload's CRC from `sum` and does not read the
 * payload. */
void inc_packet_encode_summed(const struct inc_header *h, uint8_t roce_opcode, uint32_t qkey,
			      uint32_t dest_qp, uint32_t source_qp, const struct roce_path *path,
			      const void *payload, const struct inc_sum *sum, struct datagram *d,
			      uint8_t trailer[INC_TRAILER_BYTES]);

/* Output of a state machine of a member or switch: datagrams and their source ports. The state
 * machine appends at `count`, up to `space` entries. */
struct inc_batch {
	struct datagram *datagrams;
	uint8_t (*trailers)[INC_TRAILER_BYTES];
	uint16_t *from_ports;
	size_t count, space;
};

/* ---- control ---- */

#define INC_PATH_MAX 8 /* switches on a member's path, from its leaf to the root */

struct inc_hop {
	uint32_t ip; /* IPv4 address in host order */
	/* NOTIFY: children of the group at this switch; QUERY: groups that this switch can still
	 * accept */
	uint16_t children;
	uint16_t index; /* NOTIFY: index of the child that leads to this member */
};

enum inc_plane { INC_PLANE_USER = 1 << 0, INC_PLANE_KERNEL = 1 << 1 };

/* Payload of QUERY, NOTIFY, NOTIFIED, KILL and RENEW (N-04). In the header, src_rank is the member
 * and comm_id is INC_COMM_CONTROL. In a QUERY, masks and sizes start with the abilities of the
 * host. Each switch on the path reduces them to what it also supports. A NOTIFY carries the
 * abilities that all members and switches of the group have. */
struct inc_control {
	uint8_t master_num;    /* enum dxp_inc_mode */
	uint16_t sup_mpi_type; /* supported modes: 1 << enum dxp_inc_mode; only in the compatible
				  format */
	uint8_t hop;           /* query_notify_hop: number of switches that the packet has passed */
	uint8_t sup_comm_type; /* supported collectives: 1 << enum inc_collective */
	/* enum inc_cause: reason of the first switch that rejected the request */
	uint8_t fail_cause;
	uint32_t sup_op;        /* sup_allreduce_op: supported operators, 1 << enum dxp_inc_op */
	uint32_t sup_type;      /* sup_data_type: supported types, 1 << enum dxp_inc_type */
	uint16_t segment_bytes; /* sup_max_data_size: payload bytes per packet, a multiple of 16 */
	uint16_t window;        /* segments in flight at most */
	uint8_t planes; /* bits of enum inc_plane: the planes that all switches on the path have */
	uint8_t path_count;
	uint32_t members;      /* global_group_size */
	uint32_t true_comm_id; /* id of the group */
	uint32_t qkey;         /* Q_Key of the group's data */
	uint32_t free_groups;  /* ava_grp_num: fewest free groups of a switch on the path */
	uint32_t lease_ms;     /* shortest lease of a switch on the path */
	uint64_t job_id;
	uint32_t c_id, world_rank;
	/* addresses of the member (QUERY: the sender) and of member 0 */
	uint32_t member_ip, first_ip;
	/* UDP source ports of these two members, from ROCE_SOURCE_PORT on */
	uint16_t member_port, first_port;
	uint32_t cause_ip;                 /* address of the switch that rejected the request */
	struct inc_hop path[INC_PATH_MAX]; /* [0] is the nearest switch: tor1_ip, spine_ip .. */
};
#define INC_CONTROL_BYTES_MAX (72 + INC_PATH_MAX * 8)

/* Reasons of a rejection: X(name, value, text for users). */
#define INC_CAUSE_LIST(X)                                                    \
	X(INC_CAUSE_NONE, 0, "nothing")                                      \
	X(INC_CAUSE_GROUPS, 1, "no free group")                              \
	X(INC_CAUSE_MEMORY, 2, "no memory for the group's aggregators")      \
	X(INC_CAUSE_CHILDREN, 3, "too many hosts below one switch")          \
	X(INC_CAUSE_DEPTH, 4, "tree too deep")                               \
	X(INC_CAUSE_ID, 5, "group id in use by another job")                 \
	X(INC_CAUSE_DRAINED, 6, "switch is being drained")                   \
	X(INC_CAUSE_PARENT, 7, "no route to the switch above")               \
	X(INC_CAUSE_ADDRESS, 8, "request without the address of its sender") \
	X(INC_CAUSE_MODE, 9, "the switch does not support the group's mode")

#define INC_CAUSE_ENUM(name, value, text) name = (value),
enum inc_cause { INC_CAUSE_LIST(INC_CAUSE_ENUM) INC_CAUSES };
#undef INC_CAUSE_ENUM
const char *inc_cause_text(unsigned cause); /* never NULL */
const char *inc_kind_text(unsigned kind);   /* never NULL */

size_t inc_control_encode(const struct inc_control *c, uint8_t out[INC_CONTROL_BYTES_MAX]);
int inc_control_decode(const uint8_t *data, size_t bytes, struct inc_control *out);

/* Encode and decode the control payload of a packet. INC_FLAG_COMPAT in `h` or in p->header selects
 * the compatible format. */
size_t inc_packet_control_encode(const struct inc_header *h, const struct inc_control *c,
				 uint8_t out[INC_CONTROL_BYTES_MAX]);
int inc_packet_control_decode(const struct inc_packet *p, struct inc_control *out);

/* ---- between members ---- */

/* Payload of FREEZE, FROZEN, FETCH, AWAIT and AWAITED; comm_id is the group. FETCHED has the
 * payload of a DATA result. If the sender of a FREEZE or FROZEN treats members as dead, a bitmap
 * follows: one bit per member of the group, lowest bit of the first byte first. */
struct inc_peer {
	uint32_t member; /* member that sends this payload */
	/* first segment for which the sender has no result; AWAITED: first segment that it has not
	 * sent */
	uint32_t next;
};
#define INC_PEER_BYTES     8
#define INC_PEER_BYTES_MAX (INC_PEER_BYTES + DXP_INC_MEMBERS_MAX / 8)
size_t inc_peer_encode(const struct inc_peer *p, uint8_t out[INC_PEER_BYTES]);
int inc_peer_decode(const uint8_t *data, size_t bytes, struct inc_peer *out);

/* ---- state of a switch: `dxp inc` ---- */

enum inc_section { INC_SECTION_SWITCH = 1, INC_SECTION_GROUPS = 2, INC_SECTION_REFUSALS = 3 };

/* INQUIRE: requested section and first row. */
struct inc_inquiry {
	uint8_t section;
	uint32_t first;
};
#define INC_INQUIRY_BYTES 8

#define INC_NAME_BYTES  32
#define INC_PARENTS_MAX 4
/* rows per answer: group rows are the longest, and 13 fit in INC_ANSWER_BYTES_MAX */
#define INC_ROWS_MAX         13
#define INC_ANSWER_BYTES_MAX 1400

struct inc_switch_row {
	char name[INC_NAME_BYTES];
	uint32_t ip;
	uint8_t planes, parent_count;
	uint32_t parents[INC_PARENTS_MAX];
	uint32_t groups, groups_max;
	uint64_t uptime_ms, memory_bytes, memory_max;
	/* counts of packets, as struct switch_counters defines them */
	uint64_t received, sent, contributions, results, repeats, duplicates, stale, foreign,
		malformed, icrc_wrong, refused, kernel_contributions, kernel_results, kernel_passed,
		limited, expired;
	/* counts of packets in the arbiter, as struct input_counters defines them */
	uint64_t forwarded_queued, computed_queued, forwarded_first, computed_first,
		forwarded_dropped, computed_dropped;
};
struct inc_group_row {
	uint32_t id, members, children, children_here, parent_ip;
	uint16_t epoch;
	uint8_t planes, master_num;
	uint64_t job_id, age_ms, idle_ms, lease_ms;
	uint32_t world_rank;
	uint32_t slots, slots_busy; /* aggregators of the user-space plane: all, and those in use */
	uint64_t contributions, results, repeats, mismatches;
};
struct inc_refusal_row {
	uint8_t cause; /* enum inc_cause; for rejected data packets, 128 + a negated dxp_status */
	uint64_t count, last_ms_ago;
	uint32_t last_ip, last_group;
};
struct inc_answer {
	uint8_t section;
	uint32_t total; /* rows that the section has in all */
	uint32_t first; /* number of the first row in this answer */
	uint8_t count;  /* rows in this answer, 0 .. INC_ROWS_MAX; INC_SECTION_SWITCH: 1 */
	union {
		struct inc_switch_row self;
		struct inc_group_row groups[INC_ROWS_MAX];
		struct inc_refusal_row refusals[INC_ROWS_MAX];
	};
};
size_t inc_inquiry_encode(const struct inc_inquiry *q, uint8_t out[INC_INQUIRY_BYTES]);
int inc_inquiry_decode(const uint8_t *data, size_t bytes, struct inc_inquiry *out);
size_t inc_answer_encode(const struct inc_answer *a, uint8_t out[INC_ANSWER_BYTES_MAX]);
int inc_answer_decode(const uint8_t *data, size_t bytes, struct inc_answer *out);

#endif
