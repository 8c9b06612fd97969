/* SPDX-License-Identifier: BSD-3-Clause */
/* A NIC function of one's own: to have one, to give it memory, to find others, to sleep. What is
 * done with it then, post and take events, is dxp/device.h and needs no call of this file.
 *
 *   dxp_function_attach()  a virtual function of a NIC that runs on this machine (dxpd, or any
 *                          program that called dxp_nic_serve())
 *   dxp_nic_open()         a NIC inside this program, and dxp_nic_function() one of its functions
 *   dxp_memory_create()    memory that descriptors and peers may name
 *   dxp_function_find()    whom to send to
 *   dxp_function_kick() dxp_function_wait()   wake the NIC, be woken by it
 *
 * Threads: posting is for any thread; taking events for one at a time; the calls here for one at a
 * time on the same function or on functions of the same dxp_nic, but for dxp_function_kick().
 * Errors: enum dxp_status; dxp_function_error() has the sentence. A failing call changes nothing.
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

struct dxp_function; /* one function of a NIC, in use by this program */
struct dxp_nic;      /* a NIC that runs inside this program */

/* ---- a function of a NIC that somebody else runs ---- */

/* Which one. Zero everywhere is the usual choice. */
struct dxp_function_options {
	const char *nic;   /* name of a node on this machine, or, with a '/', the path of a socket
			      that offers functions; NULL: $DXP_NIC, else the only one there is */
	uint32_t function; /* 1 .. 7; 0: any that is free */
	const char *label; /* [A-Za-z0-9._-], at most 31: how others of the NIC find this function;
			      NULL: not at all */
	uint32_t timeout_ms; /* bound on each call that asks the NIC's program; 0: 5000 */
	uint32_t spin_us;    /* how long dxp_function_wait() spins before it sleeps; 0: 50;
				UINT32_MAX: never spin. With one CPU nobody spins. */
};

/* Errors: DXP_ENOENT no such NIC, DXP_EBUSY the function (or all) in use or the label taken,
 * DXP_EACCESS no permission, DXP_ETIMEDOUT its program does not answer, DXP_EINVAL also when it is
 * not clear which NIC is meant, DXP_ENOMEM, DXP_EIO. */
DXP_API int dxp_function_attach(const struct dxp_function_options *options,
				struct dxp_function **out);

/* Gives the function back: what is in flight is given up, its keys are worthless, its memory is
 * unmapped by the NIC when nothing points into it any more. NULL is allowed. A process that ends
 * without calling this is treated the same. */
DXP_API void dxp_function_close(struct dxp_function *f);

/* The last error of this thread as a sentence with the next step; never NULL. */
DXP_API const char *dxp_function_error(void);

/* The window, for dxp/device.h. Valid until the function is closed. */
DXP_API struct dxp_window *dxp_function_window(const struct dxp_function *f);

/* ---- memory ---- */
enum dxp_rights {
	DXP_LOCAL = 0,         /* own descriptors only */
	DXP_REMOTE_READ = 1,   /* GET by whoever has the key */
	DXP_REMOTE_WRITE = 2,  /* PUT by whoever has the key */
	DXP_REMOTE_ATOMIC = 4, /* fetch-and-op by whoever has the key */
};

struct dxp_memory {
	void *base;
	uint64_t bytes;
	uint32_t key; /* for struct dxp_entry; offsets count from `base` */
	int fd;       /* a sealed memfd, to share with others; the library's */
};

/* Fresh zeroed memory, registered. Ends with the function, or with dxp_memory_destroy().
 * DXP_ENOMEM, DXP_EBUSY too many regions, DXP_ECLOSED. */
DXP_API int dxp_memory_create(struct dxp_function *f, uint64_t bytes, uint32_t rights,
			      struct dxp_memory *out);
DXP_API void dxp_memory_destroy(struct dxp_function *f, struct dxp_memory *memory);

/* Registers `bytes` at `offset` of a memfd that cannot shrink (F_SEAL_SHRINK), page-aligned offset.
 * An embedded NIC takes any memory by dxp_memory_register_at(). DXP_EINVAL: not such a memfd. */
DXP_API int dxp_memory_register(struct dxp_function *f, int fd, uint64_t offset, uint64_t bytes,
				uint32_t rights, uint32_t *key);
DXP_API int dxp_memory_register_at(struct dxp_function *f, void *base, uint64_t bytes,
				   uint32_t rights, uint32_t *key);

/* From the return on, the key opens nothing: what arrives with it is refused, and memory of
 * dxp_memory_register_at() is the caller's again. DXP_ENOENT. */
DXP_API int dxp_memory_revoke(struct dxp_function *f, uint32_t key);

/* Register mode: bytes [vaddr, vaddr + bytes) of the device are bytes [offset, ...) of region `key`
 * (the lookup table of P-01). DXP_EEXIST: overlaps another area; DXP_EBUSY: the table is full. */
DXP_API int dxp_lookup_add(struct dxp_function *f, uint64_t vaddr, uint64_t bytes, uint32_t key,
			   uint64_t offset);

/* ---- whom to send to ---- */

/* Queue pair 0 .. 3 of the function of the same NIC that has this label, or, when `label` names a
 * node of the fabric, the service queue pair of that node. DXP_ENOENT; DXP_EACCESS not granted;
 * DXP_EPEERLOST. */
DXP_API int dxp_function_find(struct dxp_function *f, const char *label, uint8_t qp,
			      struct dxp_target *out);

/* How others address queue pair `qp` of this function: to be told to them. `node` is the fabric's
 * id; functions of the same NIC may also say 0. */
DXP_API int dxp_function_target(const struct dxp_function *f, uint8_t qp, struct dxp_target *out);

/* ---- sleeping and waking ---- */

/* After posting: wakes the NIC if it sleeps. A fence and a load when it does not. Any thread. */
DXP_API void dxp_function_kick(struct dxp_function *f);

/* Until there is an event of either kind to take, or the function's error, or the time is over:
 * spins, announces that it sleeps, looks again, sleeps. For an embedded NIC it turns the NIC
 * meanwhile. DXP_OK, DXP_ETIMEDOUT, or as dxp_error(); DXP_ECLOSED: the NIC's program has ended. */
DXP_API int dxp_function_wait(struct dxp_function *f, uint64_t timeout_ns);

/* While a function is armed its NIC does not sleep: for devices that post and cannot kick. Counted:
 * as many disarms as arms. */
DXP_API int dxp_function_arm(struct dxp_function *f);
DXP_API int dxp_function_disarm(struct dxp_function *f);

/* ---- a NIC inside this program ---- */

/* How it lives. Zero everywhere: alone, known to nobody but those whom it serves. */
struct dxp_nic_options {
	bool join;             /* become a node of a fabric */
	const char *directory; /* these four as struct dxp_fabric_options */
	const char *manager;
	const char *key_file;
	const char *bind;
	const char *name;    /* of the node; NULL: program name and process id */
	uint32_t timeout_ms; /* bound on joining; 0: 5000 */
	uint32_t spin_us;    /* as struct dxp_function_options */
	bool thread;         /* a thread of its own turns the NIC; else the calls that wait do, and
				dxp_nic_turn() */
};

/* DXP_ETIMEDOUT, DXP_EAUTH, DXP_EBUSY as dxp_fabric_open(); DXP_ENOMEM; DXP_EIO. */
DXP_API int dxp_nic_open(const struct dxp_nic_options *options, struct dxp_nic **out);

/* Its functions must be closed before; those of other processes read DXP_ECLOSED. NULL is allowed.
 */
DXP_API void dxp_nic_close(struct dxp_nic *nic);

/* A function of this NIC, `label` and errors as above. The first is function 0, by whose service
 * queue pair 0 others know the node; then any that is free. */
DXP_API int dxp_nic_function(struct dxp_nic *nic, const char *label, struct dxp_function **out);

/* Takes doorbells, arrivals and timers once; returns how much happened. */
DXP_API int dxp_nic_turn(struct dxp_nic *nic);

/* Offers the NIC's free functions to other processes of this machine, which attach by its node's
 * name or, when `path` is not NULL, by that socket. DXP_EBUSY: offered already, or the path is in
 * use; DXP_ENOENT, DXP_EACCESS: no such folder, or not yours; DXP_EUNSUPPORTED: DXP_RUN is empty.
 */
DXP_API int dxp_nic_serve(struct dxp_nic *nic, const char *path);

#ifdef __cplusplus
}
#endif
#endif
