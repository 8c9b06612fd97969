/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory layout of a NIC's function window: descriptors, events, registers and their offsets, in
 * C17, C++, CUDA C, OpenCL C and C for RISC-V. dxp/device.h has the operations.
 *
 * The user writes the parts marked "user", the engine all others. The engine copies the user's
 * parts and checks the copy before use. The memory contains offsets, keys and indices, but no
 * pointers. Little-endian. docs/reference/window.md has each byte and each rule of order. Sources:
 * C-12 .. C-16, C-23 .. C-30, C-36, P-02 .. P-06. */
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
#elif defined(__CUDACC_RTC__) /* CUDA's run-time compiler has no system headers */
#define DXP_DEVICE_ALONE 1
#define DXP_SHARED
#define DXP_FN static inline __device__
typedef unsigned char dxp_u8;
typedef signed char dxp_i8;
typedef unsigned short dxp_u16;
typedef unsigned int dxp_u32;
typedef unsigned long long dxp_u64;
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

/* Statuses that these headers return. dxp/status.h has all statuses, with texts. */
#if defined(DXP_DEVICE_OPENCL) || defined(DXP_DEVICE_ALONE)
enum dxp_status {
	DXP_OK = 0,
	DXP_EAGAIN = -1,
	DXP_EACCESS = -3,
	DXP_ETIMEDOUT = -4,
	DXP_EINVAL = -5,
	DXP_ENOMEM = -6,
	DXP_ENOENT = -7,
	DXP_EBUSY = -8,
	DXP_EPEERLOST = -10,
	DXP_ERANGE = -11,
	DXP_EUNSUPPORTED = -13,
	DXP_ECANCELED = -16,
	DXP_ECLOSED = -17,
	DXP_EOVERRUN = -21
};
#else
#include <dxp/status.h>
#endif

/* ---- sizes ---- */
#define DXP_WINDOW_MAGIC   0x57505844u /* "DXPW" */
#define DXP_WINDOW_VERSION 3
#define DXP_QPS            4       /* queue pairs per function (C-36) */
#define DXP_DOORBELLS      32      /* most descriptors that the engine has not read yet (C-15) */
#define DXP_EVENTS         512     /* entries of each event ring; number of NAP buffers */
#define DXP_NAP_BYTES      2048    /* longest NAP; size and alignment of a buffer (C-17, C-29) */
#define DXP_CFG_WORDS      256     /* CFG registers per access: one packet at any MTU */
#define DXP_LIST_ENTRIES   96      /* entries of source and destination list together */
#define DXP_CHAIN_ENTRIES  1048576 /* entries of a window's chains in progress: 16 MiB */
#define DXP_HEAD_BYTES     20      /* bytes of inline data that fit in the head */
#define DXP_EVENT_BYTES    28      /* bytes of a NAP that fit in a receive event */
#define DXP_NO_BUFFER      0xffff

/* bytes of the memfd of a window: a power of two, because a PCI device may present it */
#define DXP_WINDOW_FILE_BYTES (2u << 20)

/* ---- descriptors ---- */
enum dxp_op {
	DXP_OP_NAP = 1,   /* sends a message to the receive ring of a queue pair */
	DXP_OP_PUT,       /* copies the local list to the remote list */
	DXP_OP_GET,       /* copies the remote list to the local list */
	DXP_OP_CFG_READ,  /* copies registers of the peer to the local list */
	DXP_OP_CFG_WRITE, /* copies inline data to registers of the peer */
	/* Atomics on 8 bytes of the peer's memory, aligned to 8, which the only entry of the
	 * destination list names. They are serialized with all other atomics on these bytes, from
	 * any node. `imm` is the operand; COMPARE_SWAP stores `trailer` if it finds `imm`. The
	 * completion's `imm` is the previous value. If the source list has one entry (8 bytes of
	 * memory that this function registered), the previous value is stored there too. An atomic
	 * executes at most once. After DXP_EPEERRESET, DXP_EPEERLOST or DXP_ETIMEDOUT it is unknown
	 * whether the atomic has executed or still will. The numbers are also on the wire. */
	DXP_OP_FETCH_ADD = 16,
	DXP_OP_COMPARE_SWAP,
	DXP_OP_FETCH_MIN, /* operands are unsigned */
	DXP_OP_FETCH_MAX, /* operands are unsigned */
	DXP_OP_FETCH_AND,
	DXP_OP_FETCH_OR,
	DXP_OP_FETCH_XOR
};

enum dxp_flag {
	DXP_FLAG_INLINE = 1, /* the payload is in the descriptor; there is no source list */
	DXP_FLAG_NOTIFY = 2, /* PUT: raises a receive event, with imm and trailer */
	/* The descriptor's only entry names a struct dxp_chain; `op` is 0. Of the descriptor's
	 * head, the engine uses only `qp` and `context`. */
	DXP_FLAG_REFERENCE = 4
};

/* A range of registered memory. */
struct dxp_entry {
	dxp_u64 offset; /* bytes from the start of the region; CFG: register index times 4 */
	dxp_u32 bytes;
	dxp_u32 key;
};

/* Head of a descriptor with lists (C-23). The body has src_count + dst_count entries, then
 * inline_bytes of data, unless the data fit in `data`. The entries of both lists need not match;
 * only the totals must be equal (C-24). The engine checks all fields against the limits of the
 * operation. */
struct dxp_descriptor {
	dxp_u8 op;    /* enum dxp_op */
	dxp_u8 flags; /* enum dxp_flag */
	dxp_u8 qp;    /* queue pair of the sender, 0 .. qp_count - 1 of this window */
	dxp_u8 dst_function;
	dxp_u16 dst_node; /* number of the target node; 0: this node */
	dxp_u16 dst_qp;
	dxp_u32 dst_magic;
	dxp_u8 src_count, dst_count;
	dxp_u16 inline_bytes;
	dxp_u64 context; /* value that the completion returns */
	/* value in the receive event of a NAP or notifying PUT; atomics: operand */
	dxp_u64 imm;
	/* second value in this event, for higher software; COMPARE_SWAP: new value */
	dxp_u64 trailer;
	dxp_u8 data[DXP_HEAD_BYTES];
	dxp_u32 lap; /* doorbell: the user stores it last, with release order */
};

/* A descriptor in registered memory of the function, at any offset (C-14): this struct, then
 * src_count + dst_count entries. The NIC ignores these fields of `head`: `qp`, `context`, the
 * counts, inline data and `lap`. */
struct dxp_chain {
	struct dxp_descriptor head;
	dxp_u32 src_count, dst_count; /* together at most DXP_CHAIN_ENTRIES */
	dxp_u64 reserved;             /* must be 0 */
};

struct dxp_slot {
	struct dxp_descriptor head;
	dxp_u8 body[DXP_NAP_BYTES]; /* 96 list entries, or the longest NAP */
};

/* ---- events ---- */
enum dxp_event_type { DXP_EVENT_SENT = 1, DXP_EVENT_NAP, DXP_EVENT_PUT };

/* One cache line, so that the consumer's reads and the engine's next store use different lines. */
struct dxp_nic_event {
	dxp_u64 context; /* SENT: context of the descriptor; otherwise trailer of the sender */
	dxp_u64 imm;     /* SENT of an atomic: previous value; otherwise `imm` of the sender */
	dxp_u32 bytes;
	dxp_u16 node;    /* node of the peer */
	dxp_u16 peer_qp; /* function of the peer << 8 | its queue pair; SENT: those of the target */
	dxp_u8 qp;       /* queue pair of this window */
	dxp_u8 type;     /* enum dxp_event_type */
	dxp_i8 status;   /* enum dxp_status */
	dxp_u8 reserved;
	dxp_u16 buffer; /* NAP longer than `data`: number of the buffer that contains it */
	dxp_u16 reserved2;
	dxp_u8 data[DXP_EVENT_BYTES];
	dxp_u32 lap;
};

/* ---- registers (P-02): for devices that load and store single words ---- */

/* Used if the function has a lookup table. 64-bit words may be stored in halves, in any order, but
 * `send_go` or `recv_go` ("GO") last. Until the engine stores the same value in `send_done` or
 * `recv_done`, the user must not change the registers before the GO. The engine reads a GO that was
 * stored earlier only when the GO before it is done. */
struct dxp_registers {
	/* User: what to send. Store `send_go` last, with any value other than `send_done`. */
	/* device address; one area of the lookup table must contain the bytes */
	dxp_u64 send_vaddr;
	dxp_u32 send_bytes;
	dxp_u32 node;  /* destination node; 0: the peer at `ip` and `port` */
	dxp_u32 ip;    /* IPv4 address of the peer; 10.0.0.1 is 0x0a000001 */
	dxp_u32 port;  /* UDP port */
	dxp_u32 queue; /* function of the peer << 8 | its queue pair */
	dxp_u32 magic; /* magic of that queue pair */
	dxp_u32 qp;    /* queue pair of this window */
	dxp_u32 send_reserved[5];
	dxp_u32 send_go;
	dxp_u32 send_pad;
	/* User: the receive area. Messages to this function's registers are stored in it, one
	 * behind the other, until it is full. Store `recv_go` last; a new value starts again at the
	 * front. */
	dxp_u64 recv_vaddr;
	dxp_u32 recv_bytes; /* bytes of the area; 0: no area */
	dxp_u32 recv_go;
	dxp_u32 recv_reserved[12];
	/* Written by the engine. */
	dxp_u32 send_error; /* status of the last send: 0, or an enum dxp_status without its sign */
	dxp_u32 send_done;  /* value of `send_go` whose send is complete; stored after send_error */
	/* status of the current area; a message that is longer than the area also sets it */
	dxp_u32 recv_error;
	dxp_u32 recv_done; /* value of `recv_go` that the engine uses; stored after recv_error */
	dxp_u32 recv_used; /* bytes of the area that messages occupy */
	dxp_u32 engine_reserved[11];
};

/* ---- the window ---- */
enum dxp_function_state { DXP_FUNCTION_OPEN = 1, DXP_FUNCTION_STOPPED, DXP_FUNCTION_CLOSED };

/* Counters of a function. All wrap. */
#define DXP_COUNTER_LIST(X)                                                \
	X(doorbells)         /* descriptors that the engine has read */    \
	X(descriptors_bad)   /* descriptors that completed as invalid */   \
	X(sent_messages)     /* operations that completed without error */ \
	X(sent_bytes)        /* bytes of the sent_messages operations */   \
	X(failed)            /* operations that completed with an error */ \
	X(received_messages) /* operations of peers that completed here */ \
	X(received_bytes)                                                  \
	X(refused_magic) /* rejected requests of peers, by reason */       \
	X(refused_key)                                                     \
	X(refused_rights)                                                  \
	X(refused_bounds)                                                  \
	X(refused_other)                                                   \
	X(receiver_busy) /* rejected: full receive ring or table */        \
	X(credit_waits)  /* NAPs that waited for the receiver's buffers */ \
	X(rate_waits)    /* requests that the rate limit delayed */        \
	X(lookup_misses) /* register mode: addresses outside all areas */  \
	X(chains)        /* checked chains (DXP_FLAG_REFERENCE) */         \
	X(chain_waits)   /* requests that DXP_CHAIN_ENTRIES delayed */

#define DXP_COUNTER_FIELD(name) dxp_u64 name;
struct dxp_function_counters {
	DXP_COUNTER_LIST(DXP_COUNTER_FIELD)
};
#undef DXP_COUNTER_FIELD

struct dxp_window {
	/* page 0, written by the engine: identity of the function */
	dxp_u32 magic, version, bytes;
	dxp_u32 function;          /* number of the function; 0: physical, 1 .. 7: virtual */
	dxp_u32 qp_magic[DXP_QPS]; /* magics of the user's queue pairs */
	dxp_u32 node;              /* id of the NIC's node; 0xffff: none yet */
	/* The user's queue pairs 0 .. qp_count - 1 are the function's queue pairs from first_qp
	 * on. */
	dxp_u32 first_qp, qp_count;
	dxp_u32 pad0[5];
	struct dxp_function_counters counters;
	dxp_u8 pad1[4096 - 64 - 18 * 8];

	/* page 1, written by the engine: progress */
	dxp_u32 consumer;    /* number of descriptors that the engine has read */
	dxp_u32 error;       /* reason of a stop, which stays: negated enum dxp_status; 0: none */
	dxp_u32 state;       /* enum dxp_function_state */
	dxp_u32 need_wakeup; /* not 0: the engine sleeps; call dxp_function_kick() after posting */
	dxp_u8 pad2[64 - 16];
	/* bytes that PUTs of peers have stored; never decreases (regtotallen) */
	dxp_u64 total_bytes;
	dxp_u8 pad3[4096 - 64 - 8];

	/* page 2, written by the user: one cache line for each counter */
	dxp_u32 producer; /* number of claimed descriptors */
	dxp_u8 pad4[60];
	dxp_u32 sent_consumer;
	dxp_u8 pad5[60];
	dxp_u32 received_consumer;
	dxp_u8 pad6[60];
	dxp_u32 buffers_returned; /* number of entries that were stored in `buffers` */
	dxp_u8 pad7[60];
	/* not 0: the user sleeps. The value is new for each sleep, and the engine notifies each
	 * value once. */
	dxp_u32 user_waits;
	dxp_u8 pad8[4096 - 4 * 64 - 4];

	/* page 3 */
	struct dxp_registers registers;
	dxp_u8 pad9[4096 - 192];

	dxp_u16 buffers[DXP_EVENTS]; /* user: numbers of returned NAP buffers (C-30) */
	dxp_u8 pad10[4096 - 2 * DXP_EVENTS];
	struct dxp_nic_event sent[DXP_EVENTS];     /* engine: completions */
	struct dxp_nic_event received[DXP_EVENTS]; /* engine: receive events */
	dxp_u8 nap[DXP_EVENTS][DXP_NAP_BYTES];     /* engine: payloads, aligned to 2 KiB (C-29) */
	struct dxp_slot slots[DXP_DOORBELLS];      /* user: descriptors */
	dxp_u8 pad11[69632 - 2112 * DXP_DOORBELLS];
};

/* Address of a peer's queue pair. */
struct dxp_target {
	dxp_u16 node; /* number of the node; 0: this node */
	dxp_u8 function;
	dxp_u8 qp;
	dxp_u32 magic; /* magic of that queue pair; only its owner can give it to others */
};

#endif
