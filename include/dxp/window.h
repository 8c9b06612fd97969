/* SPDX-License-Identifier: BSD-3-Clause */
/* The function window of a NIC as memory: descriptors, events, registers and where each lies, in
 * C17, C++, CUDA C, OpenCL C and C for RISC-V alike. What is done with it is in dxp/device.h.
 *
 * Who writes what: the user writes the parts marked "user"; the engine writes all others, and of
 * the user's parts it believes only a copy, and that only when it has been checked. The memory
 * holds offsets, keys and indices, never a pointer. docs/window.md has each byte and each rule of
 * order. Little-endian. Sources: C-12 .. C-16, C-23 .. C-30, C-36, P-02 .. P-06. */
#ifndef DXP_WINDOW_H
#define DXP_WINDOW_H

/* ---- the language ---- */
#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)
#define DXP_DEVICE_OPENCL 1
#define DXP_SHARED        __global
#define DXP_FN            static inline
typedef uchar dxp_u8;
typedef char dxp_i8;
typedef ushort dxp_u16;
typedef uint dxp_u32;
typedef ulong dxp_u64;
#else
#include <stdint.h>
#define DXP_SHARED
#if defined(__CUDACC__)
#define DXP_FN static inline __host__ __device__
#else
#define DXP_FN static inline
#endif
typedef uint8_t dxp_u8;
typedef int8_t dxp_i8;
typedef uint16_t dxp_u16;
typedef uint32_t dxp_u32;
typedef uint64_t dxp_u64;
#endif

/* The statuses that calls of this file return; dxp/status.h has all of them and their texts. */
#if defined(DXP_DEVICE_OPENCL) || defined(DXP_DEVICE_ALONE)
enum dxp_status {
	DXP_OK = 0,
	DXP_EAGAIN = -1,
	DXP_EACCESS = -3,
	DXP_ETIMEDOUT = -4,
	DXP_EINVAL = -5,
	DXP_ENOENT = -7,
	DXP_EBUSY = -8,
	DXP_EPEERLOST = -10,
	DXP_ERANGE = -11,
	DXP_ECLOSED = -17
};
#else
#include <dxp/status.h>
#endif

/* ---- sizes ---- */
#define DXP_WINDOW_MAGIC   0x57505844u /* "DXPW" */
#define DXP_WINDOW_VERSION 2
#define DXP_QPS            4    /* queue pairs of a function */
#define DXP_DOORBELLS      32   /* descriptors posted and not taken yet */
#define DXP_EVENTS         512  /* entries of each event ring; and of NAP buffers */
#define DXP_NAP_BYTES      2048 /* longest NAP; size and alignment of a buffer */
#define DXP_LIST_ENTRIES   96   /* of source and destination together */
#define DXP_HEAD_BYTES     20   /* data that fits the head of a descriptor */
#define DXP_EVENT_BYTES    28   /* data that fits a receive event: it takes no buffer */
#define DXP_NO_BUFFER      0xffff

/* ---- descriptors ---- */
enum dxp_op {
	DXP_OP_NAP = 1,   /* message into the receive ring of a queue pair */
	DXP_OP_PUT,       /* local list into remote list */
	DXP_OP_GET,       /* remote list into local list */
	DXP_OP_CFG_READ,  /* registers of the peer into local list */
	DXP_OP_CFG_WRITE, /* immediate data into registers of the peer */
	/* On 8 bytes at the one entry of the destination list, which is the peer's and must be
	 * aligned to 8; one after the other with all other atomics, whoever asks. `imm` is the
	 * operand, CAS stores `trailer` where it finds `imm`. The value before comes back as `imm`
	 * of the completion, and also goes to the source list when that has an entry: one, of 8
	 * bytes, one's own. Done once or not at all; DXP_EPEERRESET, DXP_EPEERLOST, DXP_ETIMEDOUT:
	 * it is not known which, and may be under way. The numbers are the wire's too. */
	DXP_OP_FETCH_ADD = 16,
	DXP_OP_COMPARE_SWAP,
	DXP_OP_FETCH_MIN, /* unsigned */
	DXP_OP_FETCH_MAX, /* unsigned */
	DXP_OP_FETCH_AND,
	DXP_OP_FETCH_OR,
	DXP_OP_FETCH_XOR
};

enum dxp_flag {
	DXP_FLAG_INLINE = 1, /* the payload is in the descriptor, in place of a source list */
	DXP_FLAG_NOTIFY = 2  /* PUT: raise a receive event at the target, with imm and trailer */
};

/* One piece of registered memory. */
struct dxp_entry {
	dxp_u64 offset; /* from the region's start; CFG: register index times 4 */
	dxp_u32 bytes;
	dxp_u32 key;
};

/* The head of a chain descriptor (C-23). In the body follow src_count + dst_count entries, then
 * inline_bytes of data, unless these fit `data`. Only the totals of both lists must agree (C-24). A
 * body without end: everything is checked against what the operation takes. */
struct dxp_descriptor {
	dxp_u8 op;    /* enum dxp_op */
	dxp_u8 flags; /* enum dxp_flag */
	dxp_u8 qp;    /* own queue pair, 0 .. 3 */
	dxp_u8 dst_function;
	dxp_u16 dst_node; /* 0: this one */
	dxp_u16 dst_qp;
	dxp_u32 dst_magic;
	dxp_u8 src_count, dst_count;
	dxp_u16 inline_bytes;
	dxp_u64 context; /* comes back in the completion */
	dxp_u64 imm;     /* NAP, PUT with DXP_FLAG_NOTIFY: comes with the receive event */
	dxp_u64 trailer; /* likewise: for software above, looked at by nobody here */
	dxp_u8 data[DXP_HEAD_BYTES];
	dxp_u32 lap; /* written last: the doorbell */
};

struct dxp_slot {
	struct dxp_descriptor head;
	dxp_u8 body[DXP_NAP_BYTES]; /* 96 entries, or what the longest NAP carries */
};

/* ---- events ---- */
enum dxp_event_type { DXP_EVENT_SENT = 1, DXP_EVENT_NAP, DXP_EVENT_PUT };

/* One cache line, so that whoever takes events and the engine that writes the next one do not fight
 * for it. */
struct dxp_nic_event {
	dxp_u64 context; /* SENT: the descriptor's; else the sender's trailer */
	dxp_u64 imm;     /* SENT of an atomic: the value before; else the sender's */
	dxp_u32 bytes;
	dxp_u16 node;    /* the peer */
	dxp_u16 peer_qp; /* its function << 8 | queue pair; SENT: that was addressed */
	dxp_u8 qp;       /* own queue pair */
	dxp_u8 type;     /* enum dxp_event_type */
	dxp_i8 status;   /* enum dxp_status */
	dxp_u8 reserved;
	dxp_u16 buffer; /* NAP longer than `data`: where it lies, until it is returned */
	dxp_u16 reserved2;
	dxp_u8 data[DXP_EVENT_BYTES];
	dxp_u32 lap;
};

/* ---- registers (P-02): for devices that store words and know nothing of rings ---- */

/* Served once the function has a lookup table. 64-bit words may be stored in halves, and in any
 * order: the GO word comes last. From GO to done the user leaves the words before it alone; a GO
 * changed meanwhile is looked at after done. */
struct dxp_registers {
	/* user: what to send. `send_go` last; any value but the one in `send_done`. */
	dxp_u64 send_vaddr; /* as the device sees its memory: all in one area of the table */
	dxp_u32 send_bytes;
	dxp_u32 node;  /* to whom; 0: the peer at `ip` and `port` */
	dxp_u32 ip;    /* IPv4, 10.0.0.1 is 0x0a000001 */
	dxp_u32 port;  /* UDP */
	dxp_u32 queue; /* function << 8 | queue pair there */
	dxp_u32 magic; /* of that queue pair */
	dxp_u32 qp;    /* own queue pair */
	dxp_u32 send_reserved[5];
	dxp_u32 send_go;
	dxp_u32 send_pad;
	/* user: where what is sent to this function's registers goes, one message behind the
	 * other, until it is full. `recv_go` last; a new value starts at the front again. */
	dxp_u64 recv_vaddr;
	dxp_u32 recv_bytes; /* 0: nothing is taken */
	dxp_u32 recv_go;
	dxp_u32 recv_reserved[12];
	/* engine */
	dxp_u32 send_error; /* of the last send: 0, or an enum dxp_status negated */
	dxp_u32 send_done;  /* the `send_go` that ended: written after send_error */
	dxp_u32 recv_error; /* of the area in force; also when something did not fit it */
	dxp_u32 recv_done;  /* the `recv_go` that is in force: written after recv_error */
	dxp_u32 recv_used;  /* bytes of the area that have their sender */
	dxp_u32 engine_reserved[11];
};

/* ---- the window ---- */
enum dxp_function_state { DXP_FUNCTION_OPEN = 1, DXP_FUNCTION_STOPPED, DXP_FUNCTION_CLOSED };

/* All counts wrap. */
#define DXP_COUNTER_LIST(X)                                                           \
	X(doorbells)         /* descriptors taken */                                  \
	X(descriptors_bad)   /* that ended because they were wrong */                 \
	X(sent_messages)     /* operations that ended well */                         \
	X(sent_bytes)        /* that they moved */                                    \
	X(failed)            /* operations that ended with an error */                \
	X(received_messages) /* complete here, of others */                           \
	X(received_bytes)                                                             \
	X(refused_magic) /* what others asked of this function in vain, by reason */  \
	X(refused_key)                                                                \
	X(refused_rights)                                                             \
	X(refused_bounds)                                                             \
	X(refused_other)                                                              \
	X(receiver_busy) /* not taken because the receive ring or a table was full */ \
	X(credit_waits)  /* times that a NAP had to wait for its receiver */          \
	X(rate_waits)    /* times that the function's limit held it back */           \
	X(lookup_misses) /* register mode: addresses that no area holds */

#define DXP_COUNTER_FIELD(name) dxp_u64 name;
struct dxp_function_counters {
	DXP_COUNTER_LIST(DXP_COUNTER_FIELD)
};
#undef DXP_COUNTER_FIELD

struct dxp_window {
	/* page 0, engine: what the function is */
	dxp_u32 magic, version, bytes;
	dxp_u32 function; /* 0: physical, 1 .. 7: virtual */
	dxp_u32 qp_magic[DXP_QPS];
	dxp_u32 node; /* its node's id; 0xffff: not known yet */
	dxp_u32 pad0[7];
	struct dxp_function_counters counters;
	dxp_u8 pad1[4096 - 64 - 16 * 8];

	/* page 1, engine: how it goes */
	dxp_u32 consumer;    /* descriptors taken */
	dxp_u32 error;       /* sticky: enum dxp_status negated; 0: none */
	dxp_u32 state;       /* enum dxp_function_state */
	dxp_u32 need_wakeup; /* the engine sleeps: kick it after posting */
	dxp_u8 pad2[64 - 16];
	dxp_u64 total_bytes; /* placed here by PUTs of others, monotonic (regtotallen) */
	dxp_u8 pad3[4096 - 64 - 8];

	/* page 2, user: one line each */
	dxp_u32 producer; /* descriptors claimed */
	dxp_u8 pad4[60];
	dxp_u32 sent_consumer;
	dxp_u8 pad5[60];
	dxp_u32 received_consumer;
	dxp_u8 pad6[60];
	dxp_u32 buffers_returned; /* entries of `buffers` ever written; the engine begins with all
				   */
	dxp_u8 pad7[60];
	dxp_u32 user_waits; /* not 0: the user sleeps, and the engine tells it once of events;
			       another value at each sleep */
	dxp_u8 pad8[4096 - 4 * 64 - 4];

	/* page 3 */
	struct dxp_registers registers;
	dxp_u8 pad9[4096 - 192];

	dxp_u16 buffers[DXP_EVENTS]; /* user: NAP buffers given back (C-30) */
	dxp_u8 pad10[4096 - 2 * DXP_EVENTS];
	struct dxp_nic_event sent[DXP_EVENTS];     /* engine */
	struct dxp_nic_event received[DXP_EVENTS]; /* engine */
	dxp_u8 nap[DXP_EVENTS][DXP_NAP_BYTES];     /* engine; C-29: aligned to 2 KiB */
	struct dxp_slot slots[DXP_DOORBELLS];      /* user */
	dxp_u8 pad11[69632 - 2112 * DXP_DOORBELLS];
};

/* Whom an operation addresses. */
struct dxp_target {
	dxp_u16 node; /* 0: this one */
	dxp_u8 function;
	dxp_u8 qp;
	dxp_u32 magic; /* of that queue pair, told by its owner */
};

#endif
