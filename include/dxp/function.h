/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a NIC function, registers memory, finds peers, sleeps. dxp/device.h posts and dequeues
 * events without this file.
 *
 *   dxp_function_attach()  a virtual function of a NIC that runs on this machine (dxpd, or any
 *                          program that called dxp_nic_serve())
 *   dxp_nic_open()         a NIC inside this program, and dxp_nic_function() one of its functions
 *   dxp_memory_create()    memory that descriptors and peers may name
 *   dxp_function_find()    address of a peer's queue pair
 *   dxp_function_kick() dxp_function_wait()   wake the NIC, sleep until it wakes the caller
 *
 * Threads: any thread may post; one at a time dequeues events. The caller serializes calls to this
 *         file on one function and on functions of one dxp_nic, except dxp_function_kick().
 * Errors: enum dxp_status; dxp_function_error() has the text. Any call may return DXP_EINVAL for an
 *         invalid argument. A failing call changes nothing, with one exception: after DXP_ETIMEDOUT
 *         or DXP_EIO of a request to the NIC's program its effect is unknown, and further requests
 *         of that function fail.
 * Sources: C-03, C-12, C-36, P-01. */
#ifndef DXP_FUNCTION_H
#define DXP_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/device.h>
#include <dxp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dxp_function; /* a function of a NIC that this program uses */
struct dxp_nic;      /* a NIC inside this program */

/* ---- a function of a NIC of another program ---- */

#define DXP_QP(q)  ((q) + 1)
#define DXP_QP_ANY 255

/* Selects the function. All zero: any function of the only NIC. */
struct dxp_function_options {
	/* Name of a node on this machine, or, if it contains '/', the path of a socket that offers
	 * functions. NULL: $DXP_NIC, otherwise the only NIC. */
	const char *nic;
	uint32_t function; /* number of the function, 1 .. 7; 0: any free function */
	/* Queue pairs to use. 0: all queue pairs of a function, or the one that the socket offers.
	 * DXP_QP(0) .. DXP_QP(3) or DXP_QP_ANY: one queue pair, with a window of its own, in which
	 * it is queue pair 0. Other processes may then have the function's other queue pairs.
	 * Weight, priority and limit belong to the function. */
	uint32_t qp;
	/* Name by which other functions of the NIC find this one: [A-Za-z0-9._-], at most 31
	 * characters. NULL: they cannot find it. */
	const char *label;
	uint32_t timeout_ms; /* ms; longest time of each request to the NIC's program; 0: 5000 */
	/* Time in us that dxp_function_wait() spins before it sleeps; 0: 50; UINT32_MAX: does not
	 * spin. It never spins on a machine with one CPU. */
	uint32_t spin_us;
};

/* Attaches to a function; close *out with dxp_function_close(). `options` may be NULL.
 * Errors: DXP_ENOENT: no such NIC; DXP_EBUSY: the requested function, queue pair or label is in
 *         use; DXP_EACCESS: no permission; DXP_ETIMEDOUT: the NIC's program does not answer;
 *         DXP_EINVAL: also if several NICs match; DXP_ENOMEM; DXP_EIO. */
DXP_API int dxp_function_attach(const struct dxp_function_options *options,
				struct dxp_function **out);

/* Closes the function. As an exit of the process does, this cancels outstanding requests and
 * invalidates the function's keys. The NIC unmaps its memory when no packet refers to it. Accepts
 * NULL. */
DXP_API void dxp_function_close(struct dxp_function *f);

/* Returns this thread's last error as a sentence with the next step; never NULL. */
DXP_API const char *dxp_function_error(void);

/* Returns the window, for dxp/device.h; valid until the function is closed. */
DXP_API struct dxp_window *dxp_function_window(const struct dxp_function *f);

/* Returns the memfd of the window, DXP_WINDOW_FILE_BYTES long, for another process or a virtual
 * machine that uses the function in place of this program. The library owns it.
 * Errors: DXP_EUNSUPPORTED: the NIC is inside this program. */
DXP_API int dxp_function_window_fd(const struct dxp_function *f);

/* ---- memory ---- */
enum dxp_rights {
	DXP_LOCAL = 0,         /* only descriptors of this function may access the memory */
	DXP_REMOTE_READ = 1,   /* any node with the key may GET */
	DXP_REMOTE_WRITE = 2,  /* any node with the key may PUT */
	DXP_REMOTE_ATOMIC = 4, /* any node with the key may use atomics */
};

struct dxp_memory {
	void *base;
	uint64_t bytes;
	uint32_t key; /* key for struct dxp_entry, whose offsets count from `base` */
	int fd;       /* sealed memfd that may be shared; the library owns it */
};

/* Creates and registers zeroed memory, valid until dxp_memory_destroy() or dxp_function_close().
 * Errors: DXP_ENOMEM; DXP_EBUSY: too many regions, or, on another program's NIC, more than 64 GiB;
 *         DXP_ECLOSED; DXP_EIO. */
DXP_API int dxp_memory_create(struct dxp_function *f, uint64_t bytes, uint32_t rights,
			      struct dxp_memory *out);
DXP_API void dxp_memory_destroy(struct dxp_function *f, struct dxp_memory *memory);

/* Register `bytes` bytes and return their key. dxp_memory_register() registers memory at
 * page-aligned `offset` of a memfd that cannot shrink (F_SEAL_SHRINK). dxp_memory_register_at()
 * registers any memory of this program, but only for a NIC inside it.
 * Owner:  memory at `base` must stay mapped until dxp_memory_revoke().
 * Errors: DXP_EINVAL: not such a memfd; DXP_EUNSUPPORTED: dxp_memory_register_at() on another
 *         program's NIC; otherwise see dxp_memory_create(). */
DXP_API int dxp_memory_register(struct dxp_function *f, int fd, uint64_t offset, uint64_t bytes,
				uint32_t rights, uint32_t *key);
DXP_API int dxp_memory_register_at(struct dxp_function *f, void *base, uint64_t bytes,
				   uint32_t rights, uint32_t *key);

/* Revokes a key. After this call, requests with the key are rejected, and the caller may use memory
 * of dxp_memory_register_at() for other purposes. DXP_ENOENT: no such key. */
DXP_API int dxp_memory_revoke(struct dxp_function *f, uint32_t key);

/* Adds an entry to register mode's lookup table (P-01, P-05): maps [vaddr, vaddr + bytes) of the
 * device to bytes from `offset` on of region `key`.
 * Errors: DXP_EEXIST: overlaps another area; DXP_EBUSY: the table is full; DXP_ENOENT, DXP_EACCESS,
 *         DXP_ERANGE: this function has no such region, or it is shorter. */
DXP_API int dxp_lookup_add(struct dxp_function *f, uint64_t vaddr, uint64_t bytes, uint32_t key,
			   uint64_t offset);

/* ---- peers ---- */

/* Finds a queue pair of a peer. If a function of this NIC has the label, it is queue pair `qp` of
 * the function's window. If a node of the fabric has this name, it is the node's service queue
 * pair.
 * Errors: DXP_ENOENT: unknown, has fewer queue pairs, or not granted to this node;
 *         DXP_EPEERLOST. */
DXP_API int dxp_function_find(struct dxp_function *f, const char *label, uint8_t qp,
			      struct dxp_target *out);

/* Returns the address of queue pair `qp` of this function, for its peers. `out->node` is this
 * node's id in the fabric. Functions of this NIC may replace it by 0. */
DXP_API int dxp_function_target(const struct dxp_function *f, uint8_t qp, struct dxp_target *out);

/* ---- sleeping and waking ---- */

/* Wakes the NIC if it sleeps. Call it after posting, from any thread. If the NIC does not sleep, it
 * costs only a fence and a load. */
DXP_API void dxp_function_kick(struct dxp_function *f);

/* Waits for an event in either ring, the function's error, or the timeout (0: polls once;
 * UINT64_MAX: no timeout). Spins first, then sleeps. If the NIC is inside this program and has no
 * thread, also polls the NIC. Returns DXP_OK, DXP_ETIMEDOUT, or see dxp_error().
 * Errors: DXP_ECLOSED: the NIC's program has exited or closed the function. */
DXP_API int dxp_function_wait(struct dxp_function *f, uint64_t timeout_ns);

/* dxp_function_arm() arms the function: its NIC does not sleep until the function was disarmed as
 * often as armed. This is for devices, which post but cannot call dxp_function_kick(). */
DXP_API int dxp_function_arm(struct dxp_function *f);
DXP_API int dxp_function_disarm(struct dxp_function *f);

/* ---- the announced PUT (C-20) ---- */

/* A PUT with an agreement on the addresses before it, and on its completion after it. Sender and
 * receiver exchange NAPs: a request, an address, and the announcement that the data is in place.
 * One side calls ..._send(), the other ..._receive(), in any order. Fields that are not set must be
 * 0. */
struct dxp_announced_put {
	/* sender: set it to the receiver's queue pair; receiver: the call sets it */
	struct dxp_target peer;
	/* Sender: the bytes to send. Receiver: the memory for them, at least as many bytes, in a
	 * region with DXP_REMOTE_WRITE. */
	struct dxp_entry local;
	/* tag of the transfer, equal on both sides, different for each transfer between two queue
	 * pairs */
	uint32_t tag;
	uint32_t bytes; /* receiver: number of bytes that the sender announced; the call sets it */
	uint8_t qp;     /* queue pair of the caller's side */
	uint8_t step;   /* progress; must be 0 at first */
	uint16_t outstanding;
};

/* Transfer as sender and as receiver. DXP_OK: the data is in place and both sides know it. Each
 * function runs one transfer at a time, and its caller dequeues all other events.
 * Owner:  both ranges belong to the NIC from the first call until DXP_OK or another final status.
 * Errors: DXP_ETIMEDOUT: the peer has not answered within `timeout_ns`; DXP_EBUSY: the first event
 *         in a ring has another purpose. These two are not final: the next call with the same
 *         struct continues. Final: DXP_ERANGE: the receiver's range is too short, or has 0 bytes;
 *         the status of a failed NAP or PUT; a status of dxp_error(). */
DXP_API int dxp_announced_put_send(struct dxp_function *f, struct dxp_announced_put *put,
				   uint64_t timeout_ns);
DXP_API int dxp_announced_put_receive(struct dxp_function *f, struct dxp_announced_put *put,
				      uint64_t timeout_ns);

/* ---- a NIC inside this program ---- */

/* Options of a NIC. All zero: the NIC is not in a fabric. Then only its own functions, and those
 * that it serves, can send to it. */
struct dxp_nic_options {
	bool join; /* true: the NIC becomes a node of a fabric */
	/* this field and the next three: see struct dxp_fabric_options */
	const char *directory;
	const char *manager;
	const char *key_file;
	const char *bind;
	const char *name;    /* name of the node; NULL: program name and process id */
	uint32_t timeout_ms; /* ms; longest time for joining; 0: 5000 */
	uint32_t spin_us;    /* see struct dxp_function_options */
	/* True: a progress thread polls the NIC. False: waiting calls and dxp_nic_poll() poll
	 * it. */
	bool thread;
	/* Queue pairs of function 0 for this program, 1 .. 4; 0: all. dxp_nic_serve() offers the
	 * others. */
	uint32_t qps;
};

/* Opens a NIC; close *out with dxp_nic_close(). `options` may be NULL.
 * Errors: DXP_ETIMEDOUT, DXP_EAUTH, DXP_EBUSY: see dxp_fabric_open(); DXP_ENOMEM; DXP_EIO. */
DXP_API int dxp_nic_open(const struct dxp_nic_options *options, struct dxp_nic **out);

/* Closes a NIC. Close its functions before this call. Functions of other processes get DXP_ECLOSED.
 * Accepts NULL. */
DXP_API void dxp_nic_close(struct dxp_nic *nic);

/* Opens a function of this NIC. `label` and errors: see dxp_function_attach(). The first call opens
 * function 0; other nodes address it as the node's service queue pair 0. Each later call opens any
 * free function. */
DXP_API int dxp_nic_function(struct dxp_nic *nic, const char *label, struct dxp_function **out);

/* Polls doorbells, arrivals and timers once. Returns the number of items processed; always 0 if the
 * NIC has a thread. */
DXP_API int dxp_nic_poll(struct dxp_nic *nic);

/* Offers the NIC's free functions to other processes of this machine: under the name of its node
 * or, if `path` is not NULL, as this socket.
 * Errors: DXP_EBUSY: already offered, or the path is in use; DXP_ENOENT, DXP_EACCESS: no such
 *         folder, or no permission; DXP_EUNSUPPORTED: DXP_RUN is empty. */
DXP_API int dxp_nic_serve(struct dxp_nic *nic, const char *path);

#ifdef __cplusplus
}
#endif
#endif
