/* SPDX-License-Identifier: BSD-3-Clause */
/* The function window of a NIC, and what whoever has one does with it: post descriptors, take
 * events, wait with a bound. Whoever can store to this memory can send: a process, another process,
 * a kernel on a device. One source for C17, C++, CUDA C, OpenCL C and C for RISC-V; nothing here
 * makes a system call, allocates or includes more than fixed-width integers.
 *
 * Who writes what: the user writes the parts marked "user"; the engine writes all others, and of
 * the user's parts it believes only a copy, and that only when it has been checked. The memory
 * holds offsets, keys and indices, never a pointer. docs/window.md has each byte and each rule of
 * order. Little-endian. Sources: C-12 .. C-16, C-23 .. C-30, C-36, P-02 .. P-06.
 *
 * Posting, from any number of threads and processes: dxp_post_*() or, for lists, dxp_claim(), fill
 * dxp_slot(), dxp_ring(). Each event ring has one taker at a time. Every wait ends: with what was
 * waited for, after a bound on looks, or with the function's error (dxp_error()).
 *
 * A process whose NIC may sleep calls dxp_function_kick() (dxp/function.h) after posting; a device
 * cannot, so its runtime arms the function (dxp_function_arm()) while its kernels run. */
#ifndef DXP_DEVICE_H
#define DXP_DEVICE_H

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

/* ---- loads and stores that others see ---- */

/* OpenCL C 2.0 has atomics with order and scope, but not in PoCL; 3.0 says what it has. */
#if defined(DXP_DEVICE_OPENCL) && __OPENCL_C_VERSION__ >= 300
#if defined(__opencl_c_atomic_order_seq_cst)
#define DXP_DEVICE_ATOMICS 1
#endif
#if defined(__opencl_c_atomic_scope_all_devices)
#define DXP_SCOPE memory_scope_all_svm_devices
#else
#define DXP_SCOPE memory_scope_device
#endif
#elif defined(DXP_DEVICE_OPENCL) && __OPENCL_C_VERSION__ >= 200 && \
	!defined(POCL_DEVICE_ADDRESS_BITS)
#define DXP_DEVICE_ATOMICS 1
#define DXP_SCOPE          memory_scope_all_svm_devices
#endif

/* A word of memory, whatever type lies there. */
typedef dxp_u32 __attribute__((may_alias)) dxp_word;

#if defined(__CUDA_ARCH__)
DXP_FN dxp_u32 dxp_load_acquire(const dxp_u32 *p)
{
	dxp_u32 v;
	asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}
DXP_FN void dxp_store_release(dxp_u32 *p, dxp_u32 v)
{
	asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
}
DXP_FN dxp_u64 dxp_load_acquire64(const dxp_u64 *p)
{
	dxp_u64 v;
	asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
	return v;
}
DXP_FN int dxp_exchange_if(dxp_u32 *p, dxp_u32 expected, dxp_u32 desired)
{
	return atomicCAS_system(p, expected, desired) == expected;
}
DXP_FN void dxp_fence(void)
{
	__threadfence_system();
}
DXP_FN void dxp_relax(void)
{
	__nanosleep(20);
}
#elif defined(DXP_DEVICE_ATOMICS)
DXP_FN dxp_u32 dxp_load_acquire(const DXP_SHARED dxp_u32 *p)
{
	return atomic_load_explicit((volatile __global atomic_uint *)p, memory_order_acquire,
				    DXP_SCOPE);
}
DXP_FN void dxp_store_release(DXP_SHARED dxp_u32 *p, dxp_u32 v)
{
	atomic_store_explicit((volatile __global atomic_uint *)p, v, memory_order_release,
			      DXP_SCOPE);
}
DXP_FN dxp_u64 dxp_load_acquire64(const DXP_SHARED dxp_u64 *p)
{
	dxp_u64 v = *(const volatile __global ulong *)p;
	atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, DXP_SCOPE);
	return v;
}
DXP_FN int dxp_exchange_if(DXP_SHARED dxp_u32 *p, dxp_u32 expected, dxp_u32 desired)
{
	return atomic_compare_exchange_strong_explicit((volatile __global atomic_uint *)p,
						       &expected, desired, memory_order_relaxed,
						       memory_order_relaxed, DXP_SCOPE);
}
DXP_FN void dxp_fence(void)
{
	atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, DXP_SCOPE);
}
DXP_FN void dxp_relax(void)
{
}
#elif defined(DXP_DEVICE_OPENCL)
/* No atomics of this kind: a volatile access and a fence, as these compilers understand them. */
DXP_FN dxp_u32 dxp_load_acquire(const DXP_SHARED dxp_u32 *p)
{
	dxp_u32 v = *(const volatile __global uint *)p;
	mem_fence(CLK_GLOBAL_MEM_FENCE);
	return v;
}
DXP_FN void dxp_store_release(DXP_SHARED dxp_u32 *p, dxp_u32 v)
{
	mem_fence(CLK_GLOBAL_MEM_FENCE);
	*(volatile __global uint *)p = v;
}
DXP_FN dxp_u64 dxp_load_acquire64(const DXP_SHARED dxp_u64 *p)
{
	dxp_u64 v = *(const volatile __global ulong *)p;
	mem_fence(CLK_GLOBAL_MEM_FENCE);
	return v;
}
DXP_FN int dxp_exchange_if(DXP_SHARED dxp_u32 *p, dxp_u32 expected, dxp_u32 desired)
{
	return atomic_cmpxchg((volatile __global uint *)p, expected, desired) == expected;
}
DXP_FN void dxp_fence(void)
{
	mem_fence(CLK_GLOBAL_MEM_FENCE);
}
DXP_FN void dxp_relax(void)
{
}
#else
DXP_FN dxp_u32 dxp_load_acquire(const dxp_u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
DXP_FN void dxp_store_release(dxp_u32 *p, dxp_u32 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}
DXP_FN dxp_u64 dxp_load_acquire64(const dxp_u64 *p)
{
#if __SIZEOF_POINTER__ >= 8
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#else
	/* It only grows: equal upper halves around the lower one belong to it. */
	const dxp_word *half = (const dxp_word *)(const void *)p;
	dxp_u32 high, low, again;

	do {
		high = __atomic_load_n(half + 1, __ATOMIC_ACQUIRE);
		low = __atomic_load_n(half, __ATOMIC_ACQUIRE);
		again = __atomic_load_n(half + 1, __ATOMIC_ACQUIRE);
	} while (high != again);
	return (dxp_u64)high << 32 | low;
#endif
}
#if __SIZEOF_POINTER__ >= 8
/* The engine's: devices have no need of it. */
DXP_FN void dxp_store_release64(dxp_u64 *p, dxp_u64 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}
#endif
DXP_FN int dxp_exchange_if(dxp_u32 *p, dxp_u32 expected, dxp_u32 desired)
{
	return __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}
DXP_FN void dxp_fence(void)
{
#if defined(__SANITIZE_THREAD__)
	static dxp_u32 word; /* the sanitizer knows no fences, but this is one on every CPU */
	__atomic_fetch_add(&word, 0, __ATOMIC_SEQ_CST);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
DXP_FN void dxp_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}
#endif

/* Private memory into shared memory; `to` is aligned to 4. Devices store words: one byte costs them
 * as much as four. Those alone may have no library to copy for them. */
DXP_FN void dxp_store_bytes(DXP_SHARED dxp_u8 *to, const void *from, dxp_u32 bytes)
{
#if defined(DXP_DEVICE_OPENCL) || defined(__CUDA_ARCH__) || defined(DXP_DEVICE_ALONE)
	const dxp_u8 *data = (const dxp_u8 *)from;
	dxp_u32 i = 0;

	for (; bytes - i >= 4; i += 4)
		*(DXP_SHARED dxp_word *)(DXP_SHARED void *)(to + i) =
			(dxp_u32)data[i] | (dxp_u32)data[i + 1] << 8 | (dxp_u32)data[i + 2] << 16 |
			(dxp_u32)data[i + 3] << 24;
	for (; i < bytes; i++)
		to[i] = data[i];
#else
	if (from)
		__builtin_memcpy(to, from, bytes);
#endif
}

/* ---- posting ---- */

/* The lap word of free-running index i in a ring of `size` entries: never 0, which is what fresh
 * memory holds, and the same again only after 2^32 entries. */
DXP_FN dxp_u32 dxp_lap(dxp_u32 i, dxp_u32 size)
{
	return i / size + 1;
}

/* Why the engine stopped serving this function, as a negative status; DXP_OK while it does. */
DXP_FN int dxp_error(const DXP_SHARED struct dxp_window *w)
{
	return (int)(0u - dxp_load_acquire(&w->error));
}

/* Takes the next free descriptor, to be filled and rung by whoever took it. DXP_EAGAIN: all
 * DXP_DOORBELLS are taken, nothing has changed; else as dxp_error(). */
DXP_FN int dxp_claim(DXP_SHARED struct dxp_window *w, dxp_u32 *index)
{
	dxp_u32 next, consumer;
	int error;

	do {
		/* `consumer` first: read last it may be ahead of an older `producer`, and the
		 * difference would read as full. Pairs with the engine's release of it: the slot
		 * was copied out. */
		consumer = dxp_load_acquire(&w->consumer);
		next = dxp_load_acquire(&w->producer);
		error = dxp_error(w);
		if (error)
			return error;
		if (next - consumer >= DXP_DOORBELLS)
			return DXP_EAGAIN;
	} while (!dxp_exchange_if(&w->producer, next, next + 1));
	*index = next;
	return DXP_OK;
}

DXP_FN DXP_SHARED struct dxp_slot *dxp_slot(DXP_SHARED struct dxp_window *w, dxp_u32 index)
{
	return &w->slots[index % DXP_DOORBELLS];
}

/* Publishes the descriptor; pairs with the engine's acquire. */
DXP_FN void dxp_ring(DXP_SHARED struct dxp_window *w, dxp_u32 index)
{
	dxp_store_release(&dxp_slot(w, index)->head.lap, dxp_lap(index, DXP_DOORBELLS));
}

/* Everything of the head but inline data, which dxp_head() does not set, and the doorbell. */
DXP_FN void dxp_head_store(DXP_SHARED struct dxp_slot *slot, const struct dxp_descriptor *head)
{
	dxp_store_bytes((DXP_SHARED dxp_u8 *)&slot->head, head,
			(dxp_u32)(sizeof(*head) - sizeof(head->data) - sizeof(head->lap)));
}

DXP_FN struct dxp_descriptor dxp_head(dxp_u8 op, dxp_u8 qp, const struct dxp_target *to,
				      dxp_u64 context)
{
	struct dxp_descriptor d;

	d.op = op;
	d.flags = 0;
	d.src_count = d.dst_count = 0;
	d.inline_bytes = 0;
	d.imm = d.trailer = 0;
	d.qp = qp;
	d.dst_function = to->function;
	d.dst_node = to->node;
	d.dst_qp = to->qp;
	d.dst_magic = to->magic;
	d.context = context;
	return d;
}

/* Posts `head` (dxp_head(), then its flags, imm, trailer, counts and inline_bytes) with its source
 * and destination list and its inline data; copies all of them. DXP_EINVAL when that does not fit a
 * descriptor; else as dxp_claim(). */
DXP_FN int dxp_post_lists(DXP_SHARED struct dxp_window *w, const struct dxp_descriptor *head,
			  const struct dxp_entry *src, const struct dxp_entry *dst,
			  const void *data)
{
	const dxp_u32 each = (dxp_u32)sizeof(struct dxp_entry);
	const dxp_u32 src_count = head->src_count, dst_count = head->dst_count;
	const dxp_u32 count = src_count + dst_count;
	const dxp_u32 bytes = head->flags & DXP_FLAG_INLINE ? head->inline_bytes : 0;
	dxp_u32 index = 0;

	if (count > DXP_LIST_ENTRIES || bytes > DXP_NAP_BYTES - count * each)
		return DXP_EINVAL;
	int status = dxp_claim(w, &index);
	if (status != DXP_OK)
		return status;
	DXP_SHARED struct dxp_slot *slot = dxp_slot(w, index);
	dxp_head_store(slot, head);
	for (dxp_u32 i = 0; i < src_count; i++)
		dxp_store_bytes(slot->body + i * each, src + i, each);
	for (dxp_u32 i = 0; i < dst_count; i++)
		dxp_store_bytes(slot->body + (src_count + i) * each, dst + i, each);
	if (bytes > DXP_HEAD_BYTES)
		dxp_store_bytes(slot->body + count * each, data, bytes);
	else if (bytes > 0)
		dxp_store_bytes(slot->head.data, data, bytes);
	dxp_ring(w, index);
	return DXP_OK;
}

/* The same, with both lists in one array, the source list first. */
DXP_FN int dxp_post(DXP_SHARED struct dxp_window *w, const struct dxp_descriptor *head,
		    const struct dxp_entry *entries, const void *data)
{
	return dxp_post_lists(w, head, entries, entries ? entries + head->src_count : 0, data);
}

/* NAP of up to DXP_NAP_BYTES, which travel inside the descriptor: `data` may be reused at once. */
DXP_FN int dxp_post_nap(DXP_SHARED struct dxp_window *w, dxp_u8 qp, const struct dxp_target *to,
			const void *data, dxp_u32 bytes, dxp_u64 imm, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(DXP_OP_NAP, qp, to, context);

	if (bytes > DXP_NAP_BYTES)
		return DXP_EINVAL;
	d.flags = DXP_FLAG_INLINE;
	d.inline_bytes = (dxp_u16)bytes;
	d.imm = imm;
	return dxp_post(w, &d, 0, data);
}

/* One piece to one piece; `from` and `to` may differ in offset and key, not in bytes. The memory is
 * the NIC's until the completion. `flags`: 0 or DXP_FLAG_NOTIFY. */
DXP_FN int dxp_post_put(DXP_SHARED struct dxp_window *w, dxp_u8 qp, const struct dxp_target *peer,
			const struct dxp_entry *from, const struct dxp_entry *to, dxp_u8 flags,
			dxp_u64 imm, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(DXP_OP_PUT, qp, peer, context);
	struct dxp_entry entries[2] = {*from, *to};

	d.flags = flags;
	d.src_count = d.dst_count = 1;
	d.imm = imm;
	return dxp_post(w, &d, entries, 0);
}

DXP_FN int dxp_post_get(DXP_SHARED struct dxp_window *w, dxp_u8 qp, const struct dxp_target *peer,
			const struct dxp_entry *from, const struct dxp_entry *to, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(DXP_OP_GET, qp, peer, context);
	struct dxp_entry entries[2] = {*from, *to};

	d.src_count = d.dst_count = 1;
	return dxp_post(w, &d, entries, 0);
}

/* `op` is one of DXP_OP_FETCH_* or COMPARE_SWAP; `at` names 8 aligned bytes of the peer. */
DXP_FN int dxp_post_atomic(DXP_SHARED struct dxp_window *w, dxp_u8 qp,
			   const struct dxp_target *peer, dxp_u8 op, const struct dxp_entry *at,
			   dxp_u64 operand, dxp_u64 swap, dxp_u64 context)
{
	struct dxp_descriptor d = dxp_head(op, qp, peer, context);

	d.dst_count = 1;
	d.imm = operand;
	d.trailer = swap;
	return dxp_post(w, &d, at, 0);
}

/* ---- taking events ---- */

/* The oldest completion. 1: *event is it; 0: there is none. */
DXP_FN int dxp_sent_take(DXP_SHARED struct dxp_window *w, struct dxp_nic_event *event)
{
	dxp_u32 index = w->sent_consumer;
	DXP_SHARED struct dxp_nic_event *slot = &w->sent[index % DXP_EVENTS];

	/* Pairs with the engine's release: the event is there. */
	if (dxp_load_acquire(&slot->lap) != dxp_lap(index, DXP_EVENTS))
		return 0;
	*event = *slot;
	/* It was read out; pairs with the engine's acquire before it writes there again. */
	dxp_store_release(&w->sent_consumer, index + 1);
	return 1;
}

/* The oldest receive event, or NULL. It stays until dxp_received_release(). */
DXP_FN const DXP_SHARED struct dxp_nic_event *
dxp_received_peek(const DXP_SHARED struct dxp_window *w)
{
	dxp_u32 index = w->received_consumer;
	const DXP_SHARED struct dxp_nic_event *slot = &w->received[index % DXP_EVENTS];

	return dxp_load_acquire(&slot->lap) == dxp_lap(index, DXP_EVENTS) ? slot : 0;
}

/* Where the data of a NAP lies: in the event or in its buffer. */
DXP_FN const DXP_SHARED dxp_u8 *dxp_received_data(const DXP_SHARED struct dxp_window *w,
						  const DXP_SHARED struct dxp_nic_event *event)
{
	return event->buffer < DXP_EVENTS ? w->nap[event->buffer] : event->data;
}

/* Gives a NAP buffer back, in any order and any time after its event. One caller at a time. */
DXP_FN void dxp_buffer_return(DXP_SHARED struct dxp_window *w, dxp_u16 buffer)
{
	dxp_u32 index = w->buffers_returned;

	w->buffers[index % DXP_EVENTS] = buffer;
	/* Publishes the entry; pairs with the engine's acquire when it fetches. */
	dxp_store_release(&w->buffers_returned, index + 1);
}

/* The event has been read; its buffer stays with the user, who returns it later. */
DXP_FN void dxp_received_keep(DXP_SHARED struct dxp_window *w)
{
	dxp_store_release(&w->received_consumer, w->received_consumer + 1);
}

/* The event has been read, and the data too. */
DXP_FN void dxp_received_release(DXP_SHARED struct dxp_window *w)
{
	dxp_u16 buffer = w->received[w->received_consumer % DXP_EVENTS].buffer;

	if (buffer != DXP_NO_BUFFER)
		dxp_buffer_return(w, buffer);
	dxp_received_keep(w);
}

/* ---- waiting: at most `looks` times, 0 means one; DXP_ETIMEDOUT, or as dxp_error() ---- */

/* After a look in vain: DXP_OK, look again. */
DXP_FN int dxp_look_again(const DXP_SHARED struct dxp_window *w, dxp_u64 *looks)
{
	int status = dxp_error(w);

	if (status == DXP_OK && (*looks)-- <= 1)
		status = DXP_ETIMEDOUT;
	dxp_relax();
	return status;
}

DXP_FN int dxp_sent_wait(DXP_SHARED struct dxp_window *w, struct dxp_nic_event *event,
			 dxp_u64 looks)
{
	int status;

	do {
		if (dxp_sent_take(w, event))
			return DXP_OK;
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

DXP_FN int dxp_received_wait(DXP_SHARED struct dxp_window *w, dxp_u64 looks)
{
	int status;

	do {
		if (dxp_received_peek(w))
			return DXP_OK;
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

/* Until `total` bytes were placed here by PUTs of others since the function was opened. */
DXP_FN int dxp_total_wait(const DXP_SHARED struct dxp_window *w, dxp_u64 total, dxp_u64 looks)
{
	int status;

	do {
		if (dxp_load_acquire64(&w->total_bytes) >= total)
			return DXP_OK;
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

/* ---- register mode: for devices that store words and look at words (P-03, P-04) ---- */

/* Starts to send `bytes` at `vaddr`, the device's address, which the lookup table must hold, to the
 * receive area of `to`. The bytes are the NIC's until dxp_register_wait() has said how it ended.
 * DXP_EBUSY: the last one has not ended; else as dxp_error(). */
DXP_FN int dxp_register_send(DXP_SHARED struct dxp_window *w, dxp_u8 qp,
			     const struct dxp_target *to, dxp_u64 vaddr, dxp_u32 bytes)
{
	DXP_SHARED struct dxp_registers *r = &w->registers;
	dxp_u32 go = r->send_go;
	int error = dxp_error(w);

	if (error)
		return error;
	if (dxp_load_acquire(&r->send_done) != go)
		return DXP_EBUSY;
	r->send_vaddr = vaddr;
	r->send_bytes = bytes;
	r->node = to->node ? to->node : dxp_load_acquire(&w->node);
	r->queue = (dxp_u32)to->function << 8 | to->qp;
	r->magic = to->magic;
	r->qp = qp;
	/* Publishes the order; pairs with the engine's acquire. */
	dxp_store_release(&r->send_go, go + 1);
	return DXP_OK;
}

/* How the last dxp_register_send() ended. DXP_ENOENT: no area holds these bytes; DXP_EBUSY: the
 * receiver had no room for a second; DXP_ERANGE: more than its whole area; DXP_EACCESS: wrong
 * magic, or no register mode there; DXP_EPEERLOST and others: the peer. */
DXP_FN int dxp_register_wait(DXP_SHARED struct dxp_window *w, dxp_u64 looks)
{
	DXP_SHARED struct dxp_registers *r = &w->registers;
	int status;

	do {
		/* Pairs with the engine's release: the error is there. */
		if (dxp_load_acquire(&r->send_done) == r->send_go)
			return (int)(0u - dxp_load_acquire(&r->send_error));
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

/* What is sent to this function's registers goes to these bytes from now on, one message behind the
 * other; 0 bytes: nowhere. dxp_total_wait() sees it come. DXP_ENOENT: no area holds them;
 * DXP_ETIMEDOUT: not in force yet, so the old area may still be written to. */
DXP_FN int dxp_register_receive(DXP_SHARED struct dxp_window *w, dxp_u64 vaddr, dxp_u32 bytes,
				dxp_u64 looks)
{
	DXP_SHARED struct dxp_registers *r = &w->registers;
	dxp_u32 go = r->recv_go + 1;
	int status;

	r->recv_vaddr = vaddr;
	r->recv_bytes = bytes;
	/* Publishes both; pairs with the engine's acquire. */
	dxp_store_release(&r->recv_go, go);
	do {
		/* Pairs with the engine's release: the error is there. */
		if (dxp_load_acquire(&r->recv_done) == go)
			return (int)(0u - dxp_load_acquire(&r->recv_error));
		status = dxp_look_again(w, &looks);
	} while (status == DXP_OK);
	return status;
}

#endif
