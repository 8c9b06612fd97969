/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of in-network computing behind RoCEv2: MPI header of N-03 and control payload of N-04,
 * both extended, and rows about a switch. Big-endian; data elements are little-endian. Decoders
 * check lengths first. Tables: docs/reference/wire.md "In-network computing"; protocol:
 * docs/reference/inc.md. */
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
#define INC_COMM_CONTROL 0xffffffffu /* of control packets */
/* of control packets; data have their group's */
#define INC_CONTROL_QKEY 0x80445850u
#define INC_QP           0x445850u /* of each switch and host */

/* Destination of results to all children: 239.192/14, and the group id's low bits. */
#define INC_MULTICAST_IP   0xefc00000u
#define INC_MULTICAST_MASK 0x0003ffffu

/* MPI header: X(field, offset, bytes). */
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

/* X(name, value, text), with path and content. */
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
	INC_FLAG_RESULT = 1 << 0, /* down the tree; without it, up */
	INC_FLAG_SWITCH = 1 << 1, /* up: from a switch, not a member */
	INC_FLAG_REPEAT = 1 << 2, /* retransmission */
	INC_FLAG_SHORT = 1 << 3,  /* the operation is one segment of at most 256 bytes */
	INC_FLAG_TRAIN = 1 << 4,  /* part of a GSO batch (roce.h) */
	INC_FLAG_LAST = 1 << 5,   /* last of the operation */
	INC_FLAG_COMPAT = 1 << 6, /* in memory only: compatible format */
};
#define INC_FLAGS_KNOWN 0x3fu

enum inc_collective { INC_ALLREDUCE = 1, INC_REDUCE = 2, INC_BROADCAST = 3, INC_BARRIER = 4 };

struct inc_header {
	/* Up: the member that sent the packet, or first below the sending switch; down: first below
	 * the root. */
	uint32_t src_rank;
	uint32_t comm_id; /* id of the group */
	uint16_t epoch;
	uint8_t op, type; /* enum dxp_inc_op, dxp_inc_type */
	/* of the segment in the group, wraps; its low 24 bits are the PSN */
	uint32_t req_id;
	uint32_t call_elements; /* of the whole operation */
	uint16_t elements;      /* pkt_para_num: in this payload */
	uint16_t root;          /* REDUCE, BROADCAST: member */
	uint8_t kind, flags;
	uint8_t status; /* of a result or answer: 0 or a negated dxp_status */
	uint8_t collective;
};

/* `payload` points into the datagram. */
struct inc_packet {
	struct roce_header roce;
	struct inc_header header;
	const uint8_t *payload;
	size_t payload_bytes; /* DATA: of the elements, or 0 */
};

/* Checks lengths, tag, kind, flags, op and type, and that the operation is defined on the type; not
 * the ICRC. DATA and FETCHED must carry the bytes of their elements, or none with a status or as
 * contribution to a broadcast. SHORT packets must be short. comm_id must be INC_COMM_CONTROL in
 * QUERY .. RENEW, and another value in DATA and between members. An RC_ACK to INC_QP returns DXP_OK
 * with kind 0. DXP_ENOENT: no tag, so a foreign packet; count and ignore it. DXP_EMALFORMED:
 * invalid, with the tag. */
int inc_packet_decode(const uint8_t *data, size_t bytes, struct inc_packet *out);

/* A message of a reliable connection: MPI header, payload. The decoder checks as
 * inc_packet_decode() does; out->roce is unchanged. */
void inc_message_encode(const struct inc_header *h, uint8_t out[INC_HEADER_BYTES]);
int inc_message_decode(const uint8_t *message, size_t bytes, struct inc_packet *out);

/* Private data of a REQ, for the connection's group. X(field, offset, bytes). */
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
/* DXP_EMALFORMED: no INC_TAG. */
int inc_connect_decode(const uint8_t in[RC_CM_PRIVATE_BYTES], struct inc_connect *out);

#define INC_TRAILER_BYTES ROCE_TRAILER_BYTES
#define INC_UD_BYTES      (ROCE_BTH_BYTES + ROCE_DETH_BYTES + INC_HEADER_BYTES)

/* Builds a datagram: headers in d->header, payload as a slice (not copied), `trailer` with pad and
 * ICRC. Payload and trailer must not change until it is sent. h->req_id is the PSN; d->to, and
 * addresses in the ICRC, come from `path`. ROCE_RC_SEND_ONLY requests an acknowledgement;
 * ROCE_RC_ACK uses only h->req_id. */
void inc_packet_encode(const struct inc_header *h, uint8_t roce_opcode, uint32_t qkey,
		       uint32_t dest_qp, uint32_t source_qp, const struct roce_path *path,
		       const void *payload, size_t payload_bytes, struct datagram *d,
		       uint8_t trailer[INC_TRAILER_BYTES]);

/* CRC-32 of a payload for many receivers, which is then read once, and the table that joins it to
 * each header's. */
struct inc_sum {
	const struct crc32_shift *shift; /* for its length, a multiple of 4 */
	uint32_t crc;
};

/* The packet lacks INC_FLAG_TRAIN, so it must not be in a GSO batch, where the kernel increments IP
 * Identification, and captures below the sockets show one packet. */
bool inc_packet_alone(const struct datagram *d);

/* inc_packet_encode() with the payload's CRC from `sum`, without reading the payload. */
void inc_packet_encode_summed(const struct inc_header *h, uint8_t roce_opcode, uint32_t qkey,
			      uint32_t dest_qp, uint32_t source_qp, const struct roce_path *path,
			      const void *payload, const struct inc_sum *sum, struct datagram *d,
			      uint8_t trailer[INC_TRAILER_BYTES]);

/* Output of a member's or switch's state machine, appended at `count`, up to `space`. */
struct inc_batch {
	struct datagram *datagrams;
	uint8_t (*trailers)[INC_TRAILER_BYTES];
	uint16_t *from_ports;
	size_t count, space;
};

/* ---- control ---- */

#define INC_PATH_MAX 8 /* switches from a member's leaf to the root */

struct inc_hop {
	uint32_t ip; /* IPv4, host order */
	/* NOTIFY: of the group at this switch; QUERY: groups that it can still accept */
	uint16_t children;
	uint16_t index; /* NOTIFY: child towards this member */
};

enum inc_plane { INC_PLANE_USER = 1 << 0, INC_PLANE_KERNEL = 1 << 1 };

/* Payload of QUERY, NOTIFY, NOTIFIED, KILL, RENEW (N-04); src_rank is the member, comm_id
 * INC_COMM_CONTROL. A QUERY starts with the host's abilities, which each switch reduces to its own;
 * a NOTIFY has those of all members and switches. */
struct inc_control {
	uint8_t master_num;    /* enum dxp_inc_mode */
	uint16_t sup_mpi_type; /* 1 << enum dxp_inc_mode; only in the compatible format */
	uint8_t hop;           /* query_notify_hop: switches passed */
	uint8_t sup_comm_type; /* 1 << enum inc_collective */
	/* enum inc_cause, of the first switch that rejected */
	uint8_t fail_cause;
	uint32_t sup_op;        /* sup_allreduce_op: 1 << enum dxp_inc_op */
	uint32_t sup_type;      /* sup_data_type: 1 << enum dxp_inc_type */
	uint16_t segment_bytes; /* sup_max_data_size: payload per packet, a multiple of 16 */
	uint16_t window;        /* segments in flight */
	uint8_t planes;         /* enum inc_plane, of all switches on the path */
	uint8_t path_count;
	uint32_t members;      /* global_group_size */
	uint32_t true_comm_id; /* id of the group */
	uint32_t qkey;         /* of the group's data */
	uint32_t free_groups;  /* ava_grp_num: fewest of a switch on the path */
	uint32_t lease_ms;     /* shortest on the path */
	uint64_t job_id;
	uint32_t c_id, world_rank;
	/* of the member (QUERY: the sender); of member 0 */
	uint32_t member_ip, first_ip;
	/* their UDP source ports, from ROCE_SOURCE_PORT on */
	uint16_t member_port, first_port;
	uint32_t cause_ip;                 /* rejecting switch */
	struct inc_hop path[INC_PATH_MAX]; /* [0] is the nearest: tor1_ip, spine_ip .. */
};
#define INC_CONTROL_BYTES_MAX (72 + INC_PATH_MAX * 8)

/* X(name, value, text for users). */
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

/* INC_FLAG_COMPAT in `h` or p->header selects the compatible format. */
size_t inc_packet_control_encode(const struct inc_header *h, const struct inc_control *c,
				 uint8_t out[INC_CONTROL_BYTES_MAX]);
int inc_packet_control_decode(const struct inc_packet *p, struct inc_control *out);

/* ---- between members ---- */

/* Payload of FREEZE, FROZEN, FETCH, AWAIT, AWAITED (FETCHED: as a DATA result); comm_id is the
 * group. If the sender of a FREEZE or FROZEN treats members as dead, a bitmap of them follows,
 * lowest bit of the first byte first. */
struct inc_peer {
	uint32_t member; /* sender */
	/* first segment without a result; AWAITED: first not sent */
	uint32_t next;
};
#define INC_PEER_BYTES     8
#define INC_PEER_BYTES_MAX (INC_PEER_BYTES + DXP_INC_MEMBERS_MAX / 8)
size_t inc_peer_encode(const struct inc_peer *p, uint8_t out[INC_PEER_BYTES]);
int inc_peer_decode(const uint8_t *data, size_t bytes, struct inc_peer *out);

/* ---- state of a switch: `dxp inc` ---- */

enum inc_section { INC_SECTION_SWITCH = 1, INC_SECTION_GROUPS = 2, INC_SECTION_REFUSALS = 3 };

struct inc_inquiry {
	uint8_t section;
	uint32_t first;
};
#define INC_INQUIRY_BYTES 8

#define INC_NAME_BYTES  32
#define INC_PARENTS_MAX 4
/* group rows are the longest, and 13 fit in INC_ANSWER_BYTES_MAX */
#define INC_ROWS_MAX         13
#define INC_ANSWER_BYTES_MAX 1400

struct inc_switch_row {
	char name[INC_NAME_BYTES];
	uint32_t ip;
	uint8_t planes, parent_count;
	uint32_t parents[INC_PARENTS_MAX];
	uint32_t groups, groups_max;
	uint64_t uptime_ms, memory_bytes, memory_max;
	/* of packets, see struct switch_counters */
	uint64_t received, sent, contributions, results, repeats, duplicates, stale, foreign,
		malformed, icrc_wrong, refused, kernel_contributions, kernel_results, kernel_passed,
		limited, expired;
	/* of packets in the arbiter, see struct input_counters */
	uint64_t forwarded_queued, computed_queued, forwarded_first, computed_first,
		forwarded_dropped, computed_dropped;
};
struct inc_group_row {
	uint32_t id, members, children, children_here, parent_ip;
	uint16_t epoch;
	uint8_t planes, master_num;
	uint64_t job_id, age_ms, idle_ms, lease_ms;
	uint32_t world_rank;
	uint32_t slots, slots_busy; /* of the user-space plane: all; in use */
	uint64_t contributions, results, repeats, mismatches;
};
struct inc_refusal_row {
	uint8_t cause; /* enum inc_cause; of data, 128 + a negated dxp_status */
	uint64_t count, last_ms_ago;
	uint32_t last_ip, last_group;
};
struct inc_answer {
	uint8_t section;
	uint32_t total; /* of the section */
	uint32_t first; /* in this answer */
	uint8_t count;  /* 0 .. INC_ROWS_MAX; INC_SECTION_SWITCH: 1 */
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
