/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote xPUs as if they were local: the library that a program uses to find xPUs of its fabric,
 * move memory, touch registers, run kernels and let one xPU send to another (X-02, X-09, X-11,
 *
 *
 *   dxp_fabric_open()  join as a host            dxp_xpu_open()   take one xPU
 *   dxp_mem_alloc()    memory on the xPU         dxp_mem_write()  dxp_mem_read()   by PUT and GET
 *   dxp_reg_read()     CFG registers             dxp_reg_write()
 *   dxp_program_build() OpenCL C on the xPU      dxp_run()        one kernel, asynchronous
 *   dxp_send()         xPU to xPU, not via us    dxp_event_wait() wait for any of them
 *
 * Threads: every call may be made from any thread; calls on one fabric take turns.
 * Time: calls that wait take a bound; no call waits for ever. A node that dies ends everything that
 * waits for it within the fabric's lease time (4.5 s), mostly within 3.5 s, with DXP_EPEERLOST;
 * dxp_fabric_error() names it. Errors: enum dxp_status. A failing call changes nothing unless its
 * comment says otherwise. */
#ifndef DXP_MMD_H
#define DXP_MMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DXP_NAME_BYTES    32
#define DXP_WAIT_MAX      8    /* events in one message: longer wait lists make more of them */
#define DXP_ARGUMENTS_MAX 128  /* arguments of one kernel */
#define DXP_VALUE_MAX     1024 /* bytes of one argument's value */

struct dxp_fabric;  /* membership of one program in one fabric */
struct dxp_xpu;     /* one remote xPU in use by this program */
struct dxp_program; /* a program built on one xPU */

/* How to join. Zero everywhere is the usual choice. */
struct dxp_fabric_options {
	const char *directory; /* where `dxp up` left address and key; NULL: $DXP_DIR, else the
				  user's state folder */
	const char *manager;   /* "address:port"; NULL: from the directory */
	const char *key_file;  /* file with the fabric key; NULL: from the directory */
	const char *bind;      /* own address; NULL: the one that leads to the manager */
	const char *name;      /* [A-Za-z0-9._-], at most 31; NULL: program name and process id */
	uint32_t timeout_ms;   /* bound on joining and on opening an xPU; 0: 5000 */
	uint32_t spin_us;      /* about how long a waiting call spins before it sleeps; 0: 50;
				  UINT32_MAX:      never spin */
	bool no_payload_crc;   /* leave payload to the UDP checksum alone */
};

/* Joins the fabric as a host. On success *out must be closed with dxp_fabric_close.
 * Errors: DXP_ENOENT no fabric there (start one with `dxp up`), DXP_ETIMEDOUT manager silent,
 * DXP_EAUTH wrong key, DXP_EBUSY name or identity in use by a live node, DXP_EINVAL, DXP_EIO. The
 * text is in dxp_fabric_error(NULL). */
DXP_API int dxp_fabric_open(const struct dxp_fabric_options *options, struct dxp_fabric **out);

/* Leaves the fabric; xPUs and programs must be closed before. NULL is allowed. */
DXP_API void dxp_fabric_close(struct dxp_fabric *fabric);

/* The last error of this thread as a sentence that names the node and the next step; never NULL.
 * Valid until this thread's next call. */
DXP_API const char *dxp_fabric_error(const struct dxp_fabric *fabric);

enum dxp_node_kind { DXP_NODE_HOST = 1, DXP_NODE_XPU = 2 };

/* How the network reaches an xPU's memory. Every call works with either; what differs is speed. */
enum dxp_memory_kind {
	DXP_MEMORY_NONE,    /* it has none: a host */
	DXP_MEMORY_DIRECT,  /* its NIC reads and writes it in place */
	DXP_MEMORY_BRIDGED, /* only DMA engines of the device reach it: through buffers */
};

/* A line of the node table. */
struct dxp_node_info {
	uint16_t id;
	enum dxp_node_kind kind;
	bool granted; /* this host may use it */
	bool alive;   /* holds a lease */
	char name[DXP_NAME_BYTES];
	char address[64]; /* "ip:port" */
	char engine[DXP_NAME_BYTES];
	uint64_t memory_bytes;
	enum dxp_memory_kind memory_kind;
};

/* Copies up to `count` lines of the node table, ordered by id. Returns how many nodes there are,
 * also when that is more than count. Hosts see the xPUs granted to them. */
DXP_API int dxp_fabric_nodes(struct dxp_fabric *fabric, struct dxp_node_info *out, size_t count);

/* Traffic of this program's NIC with one node since joining. */
struct dxp_link_bytes {
	uint64_t sent_bytes;     /* payload handed to the node, repeats not counted */
	uint64_t received_bytes; /* payload taken from the node, duplicates not counted */
};
DXP_API int dxp_fabric_traffic(struct dxp_fabric *fabric, uint16_t node,
			       struct dxp_link_bytes *out);

/* Takes an xPU by name or decimal id. Opening one again gives the same object, to be closed as
 * often. DXP_ENOENT no such node, DXP_EACCESS not granted to this host, DXP_EPEERLOST it is dead.
 * After DXP_EPEERLOST or DXP_EPEERRESET from any call an xPU object can only be closed; open the
 * xPU again when it is back. */
DXP_API int dxp_xpu_open(struct dxp_fabric *fabric, const char *name, struct dxp_xpu **out);

/* The last close frees everything this program holds on the xPU; its programs must be released
 * before. NULL is allowed. */
DXP_API void dxp_xpu_close(struct dxp_xpu *xpu);

struct dxp_xpu_caps {
	uint16_t node;
	char name[DXP_NAME_BYTES];
	char engine[DXP_NAME_BYTES];
	char device[96]; /* what the engine calls its device */
	uint64_t memory_bytes;
	uint64_t free_bytes;
	uint32_t compute_units;
	enum dxp_memory_kind memory_kind;
	bool streams;          /* has a stream core: DXP_BRIDGE_THROUGH works */
	uint32_t buffers;      /* of each ring of its bridge; 0: none */
	uint32_t buffer_bytes; /* of each of them */
};
DXP_API int dxp_xpu_caps(struct dxp_xpu *xpu, struct dxp_xpu_caps *out);

/* Device memory. Addresses are offsets in the xPU's memory region, 256-byte aligned. It is zero,
 * and this program's alone until it is freed: programs, and kernels of others, reach neither it nor
 * what moves there. DXP_ENOMEM: no room there, or no more for one host (`dxpd --host-memory`). */
DXP_API int dxp_mem_alloc(struct dxp_xpu *xpu, uint64_t bytes, uint64_t *address);
DXP_API int dxp_mem_free(struct dxp_xpu *xpu, uint64_t address);

/* Host memory to xPU memory and back; returns when the bytes are in place. Any alignment; 0 bytes
 * is allowed. What no program has allocated may be used too, and is common to all; it reads as zero
 * until somebody writes there, and is somebody's as soon as it is allocated. DXP_ERANGE outside the
 * region, DXP_EACCESS where another program has memory (nothing written), DXP_EPEERLOST,
 * DXP_ETIMEDOUT. */
DXP_API int dxp_mem_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes);
DXP_API int dxp_mem_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes);

/* CFG registers of 4 bytes (docs/registers.md), `count` consecutive ones from index `first`.
 * Written once each, in order. */
DXP_API int dxp_reg_read(struct dxp_xpu *xpu, uint32_t first, uint32_t *values, uint32_t count);
DXP_API int dxp_reg_write(struct dxp_xpu *xpu, uint32_t first, const uint32_t *values,
			  uint32_t count);

/* The NIC function that this program's kernels drive on an xPU by DXP_ARGUMENT_NIC and
 * dxp/device.h, and what others need to address it: kernels on other xPUs get it as ordinary
 * arguments. */
struct dxp_xpu_nic {
	uint16_t node;
	uint8_t function;
	uint32_t qp_magic[4];
	uint32_t memory_key; /* of what this program has allocated, for own descriptors and for
				those of others: the offset of a struct dxp_entry is a device
				address */
};

/* Opens the function, or tells of the one that is open. Where a kernel has broken the rules of its
 * window, the NIC has stopped the function: kernels read why from dxp_error(), and this gives a
 * fresh one, with other magics and another key. It ends with the last close of the xPU: a kernel
 * that still waits then reads DXP_ECLOSED.
 *
 * An xPU runs one kernel at a time: kernels that wait for each other belong on different ones. One
 * work item takes events. What a kernel leaves in the rings is there for the next one.
 * DXP_EBUSY: all virtual functions of that NIC are in use; DXP_EUNSUPPORTED: its engine's kernels
 * cannot reach it. */
DXP_API int dxp_xpu_nic(struct dxp_xpu *xpu, struct dxp_xpu_nic *out);

/* Builds OpenCL C on the xPU; it may include <dxp/device.h>, and nothing else. On DXP_OK and on
 * DXP_EBUILD *out is set (dxp_program_log tells why it failed) and must be released; otherwise it
 * is not. `options` may be NULL. */
DXP_API int dxp_program_build(struct dxp_xpu *xpu, const char *source, const char *options,
			      struct dxp_program **out);
DXP_API const char *dxp_program_log(const struct dxp_program *program);
DXP_API void dxp_program_release(struct dxp_program *program);

/* Names one command on one xPU; 0 is no event. Valid until dxp_event_wait has reported it or its
 * xPU is closed. */
typedef uint64_t dxp_event;

enum dxp_argument_kind {
	DXP_ARGUMENT_BYTES,
	DXP_ARGUMENT_BUFFER,
	DXP_ARGUMENT_LOCAL,
	DXP_ARGUMENT_NIC, /* the kernel sees a `global struct dxp_window *`: dxp_xpu_nic() */
	DXP_ARGUMENT_IMAGE,
	DXP_ARGUMENT_SAMPLER
};

#define DXP_NULL_ADDRESS UINT64_MAX /* of a BUFFER: the kernel sees a null pointer */

struct dxp_argument {
	enum dxp_argument_kind kind;
	uint32_t bytes;   /* BYTES: size of the value, 1 .. DXP_VALUE_MAX (without `data`: .. 16);
			     LOCAL: size of local memory */
	uint64_t address; /* BUFFER: device address; the kernel sees a pointer to it. IMAGE: of its
			     pixels */
	uint8_t value[16];
	const void *data; /* BYTES: the value, where it is not NULL; IMAGE: a struct dxp_image;
			     SAMPLER: a struct dxp_sampler (dxp/async.h). Copied by the call. */
};

struct dxp_launch {
	const struct dxp_program *program;
	const char *kernel;
	uint32_t dimensions; /* 1 .. 3 */
	uint64_t global[3];
	uint64_t local[3];  /* all 0: the device chooses */
	uint64_t offset[3]; /* of the first work item's global id */
	const struct dxp_argument *arguments;
	uint32_t argument_count;
	const dxp_event *
		wait; /* runs after all of these; they may be events of other xPUs of this fabric */
	uint32_t wait_count;
	/* Nobody will wait for this one soon: its end may be told up to 5 ms late, together with
	 * that of later ones. Kernels that follow it, here or on other xPUs, are not delayed. */
	bool lazy;
};

/* Starts a kernel when its wait list is done; returns at once, without a round trip. Commands
 * without dependencies on each other run in the order posted. If an event of the wait list failed,
 * this one ends as DXP_ECANCELED. `event` may be NULL where nobody will wait. Entries of the wait
 * list that are 0 are skipped; DXP_ENOENT: one was waited for already. DXP_EINVAL: the sentence
 * names the field. Where the commands of this xPU that have not ended take 48 MiB there (about
 * 70,000 short ones), the call waits until some have; DXP_EAGAIN: none ended in a second, and the
 * program itself has events to set, for which they may wait. Events that have ended and are kept
 * take no such room.
 *
 * The first launch of a kernel in a local size may compile it on the xPU (PoCL does: 0.1 to 0.2 s a
 * kernel and size). A program that must not pause later launches one work-group of each kernel
 * while its data is still on the way; examples/classify/run.c does. */
DXP_API int dxp_run(struct dxp_xpu *xpu, const struct dxp_launch *launch, dxp_event *event);

/* Lets `from` PUT `bytes` of its memory into the memory of `to`, when the wait list is done. The
 * data goes between the two; the event is known to both of them and to this host, so commands on
 * `to` may wait for it. `event` may be NULL. The two must differ. */
struct dxp_transfer {
	uint64_t from_address;
	uint64_t to_address;
	uint64_t bytes;
	const dxp_event *wait;
	uint32_t wait_count;
};
DXP_API int dxp_send(struct dxp_xpu *from, struct dxp_xpu *to, const struct dxp_transfer *transfer,
		     dxp_event *event);

/* When and for how long a finished command ran, on its node's clock. */
struct dxp_event_times {
	uint64_t queued_ns, started_ns, ended_ns;
};

/* Waits until the command is done and forgets the event. Returns the command's status, or
 * DXP_ETIMEDOUT while it is not done (the event stays valid then). `times` may be NULL. */
DXP_API int dxp_event_wait(struct dxp_fabric *fabric, dxp_event event, uint64_t timeout_ns,
			   struct dxp_event_times *times);

/* 1 when the command is done (dxp_event_wait will not wait), 0 when not, or a negative status. */
DXP_API int dxp_event_done(struct dxp_fabric *fabric, dxp_event event);

#ifdef __cplusplus
}
#endif
#endif
