/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote xPUs as if they were local: finds xPUs of the fabric, moves memory, accesses registers,
 * runs kernels, and sends from one xPU to another.
 *
 *   dxp_fabric_open()  join as a host            dxp_xpu_open()   open one xPU
 *   dxp_mem_alloc()    memory on the xPU         dxp_mem_write()  dxp_mem_read()   by PUT and GET
 *   dxp_reg_read()     CFG registers             dxp_reg_write()
 *   dxp_program_build() OpenCL C on the xPU      dxp_run()        one kernel, asynchronous
 *   dxp_send()         xPU to xPU directly       dxp_event_wait() wait for any of them
 *
 * Threads: any thread may call; calls on one fabric are serialized.
 *
 * Time:   every wait has a bound. When a node dies, all that waits for it fails with DXP_EPEERLOST
 *         within the fabric's lease time (4.5 s), mostly within 3.5 s; dxp_fabric_error() names the
 *         node.
 *
 * Errors: enum dxp_status. A failing call changes nothing unless its comment states otherwise. */
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
#define DXP_WAIT_MAX      8    /* events in one message; longer wait lists use several */
#define DXP_ARGUMENTS_MAX 128  /* arguments of one kernel */
#define DXP_VALUE_MAX     1024 /* bytes of one argument's value */

struct dxp_fabric;  /* membership of this program in one fabric */
struct dxp_xpu;     /* one remote xPU in use by this program */
struct dxp_program; /* a program built on one xPU */

/* Options for joining. Zero in all fields is the usual choice. */
struct dxp_fabric_options {
	const char *directory; /* where `dxp up` stored address and key; NULL: $DXP_DIR, else the
				  user's state folder */
	const char *manager;   /* "address:port"; NULL: from the directory */
	const char *key_file;  /* file with the fabric key; NULL: from the directory */
	const char *bind;      /* own address; NULL: that of the route to the manager */
	const char *name;      /* [A-Za-z0-9._-], at most 31; NULL: program name and process id */
	uint32_t timeout_ms;   /* bound on joining and on opening an xPU; 0: 5000 */
	uint32_t spin_us;    /* approximate time that a waiting call spins before it sleeps; 0: 50;
				UINT32_MAX: never spins */
	bool no_payload_crc; /* protects payload by the UDP checksum alone */
};

/* Joins the fabric as a host. *out must be closed with dxp_fabric_close().
 * Errors: DXP_ENOENT: no fabric there (start one with `dxp up`); DXP_ETIMEDOUT: no answer from the
 *         manager; DXP_EAUTH: wrong key; DXP_EBUSY: a live node uses the name or identity;
 *         DXP_EINVAL; DXP_EIO. dxp_fabric_error(NULL) has the text.
 * Source. */
DXP_API int dxp_fabric_open(const struct dxp_fabric_options *options, struct dxp_fabric **out);

/* Leaves the fabric. xPUs and programs must be closed before. NULL is allowed. */
DXP_API void dxp_fabric_close(struct dxp_fabric *fabric);

/* Returns this thread's last error as a sentence with the node and the next step; never NULL. Valid
 * until this thread's next call. */
DXP_API const char *dxp_fabric_error(const struct dxp_fabric *fabric);

enum dxp_node_kind { DXP_NODE_HOST = 1, DXP_NODE_XPU = 2 };

/* How the network reaches an xPU's memory. Affects speed only: every call works with both kinds. */
enum dxp_memory_kind {
	DXP_MEMORY_NONE,    /* no memory: a host */
	DXP_MEMORY_DIRECT,  /* its NIC reads and writes it directly */
	DXP_MEMORY_BRIDGED, /* only the device's DMA engines reach it, through buffers */
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

/* Copies up to `count` lines of the node table, ordered by id. Returns the number of nodes, even if
 * larger than `count`. A host sees only the xPUs granted to it. */
DXP_API int dxp_fabric_nodes(struct dxp_fabric *fabric, struct dxp_node_info *out, size_t count);

/* Traffic between this program's NIC and one node since joining. */
struct dxp_link_bytes {
	uint64_t sent_bytes;     /* payload sent to the node, without retransmissions */
	uint64_t received_bytes; /* payload received from the node, without duplicates */
};
DXP_API int dxp_fabric_traffic(struct dxp_fabric *fabric, uint16_t node,
			       struct dxp_link_bytes *out);

/* Opens an xPU by name or decimal id. Opening it again returns the same object, which must be
 * closed as often.
 * Errors: DXP_ENOENT: no such node; DXP_EACCESS: not granted to this host; DXP_EPEERLOST: it is
 *         dead; DXP_EBUSY: open in as many programs as it admits; DXP_EINVAL: a host. After
 *         DXP_EPEERLOST or DXP_EPEERRESET from any call the object can only be closed; open the xPU
 *         again when it is back.
 * Source. */
DXP_API int dxp_xpu_open(struct dxp_fabric *fabric, const char *name, struct dxp_xpu **out);

/* Closes an xPU. The last close frees everything of this program on it; its programs must be
 * released before. NULL is allowed. */
DXP_API void dxp_xpu_close(struct dxp_xpu *xpu);

struct dxp_xpu_caps {
	uint16_t node;
	char name[DXP_NAME_BYTES];
	char engine[DXP_NAME_BYTES];
	char device[96]; /* the engine's name of its device */
	uint64_t memory_bytes;
	uint64_t free_bytes;
	uint32_t compute_units;
	enum dxp_memory_kind memory_kind;
	bool streams;          /* has a stream core: DXP_BRIDGE_THROUGH works */
	uint32_t buffers;      /* entries of each ring of its bridge; 0: no bridge */
	uint32_t buffer_bytes; /* bytes of each buffer */
};
DXP_API int dxp_xpu_caps(struct dxp_xpu *xpu, struct dxp_xpu_caps *out);

/* dxp_mem_alloc() allocates `bytes` bytes of zeroed device memory for this program only. Other
 * programs and their kernels reach neither it nor its traffic.
 * Shape:  an address is an offset in bytes in the xPU's memory, a multiple of 256.
 * Owner:  until dxp_mem_free() or the last dxp_xpu_close().
 * Errors: DXP_ENOMEM: no space there, or the limit per host (`dxpd --host-memory`); DXP_EINVAL: 0
 *         bytes; dxp_mem_free(): DXP_ENOENT. */
DXP_API int dxp_mem_alloc(struct dxp_xpu *xpu, uint64_t bytes, uint64_t *address);
DXP_API int dxp_mem_free(struct dxp_xpu *xpu, uint64_t address);

/* Copies host memory to xPU memory, or back. Returns when the bytes are in place.
 * Shape:  any alignment; 0 bytes is allowed.
 * Owner:  memory that no program has allocated is shared by all: it reads as zero until written,
 *         and belongs to a program once allocated.
 * Errors: DXP_ERANGE: outside device memory; DXP_EACCESS: another program's memory, nothing was
 *         written; DXP_EPEERLOST; DXP_ETIMEDOUT.
 * Source: C-18, C-19. */
DXP_API int dxp_mem_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes);
DXP_API int dxp_mem_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes);

/* Reads or writes `count` consecutive CFG registers of 4 bytes from index `first`
 * (docs/reference/registers.md). Writes each once, in order. Source: X-07. */
DXP_API int dxp_reg_read(struct dxp_xpu *xpu, uint32_t first, uint32_t *values, uint32_t count);
DXP_API int dxp_reg_write(struct dxp_xpu *xpu, uint32_t first, const uint32_t *values,
			  uint32_t count);

/* The NIC function that this program's kernels drive on an xPU (DXP_ARGUMENT_NIC, dxp/device.h),
 * with the numbers needed to address it. Kernels on other xPUs receive these as ordinary
 * arguments. */
struct dxp_xpu_nic {
	uint16_t node;
	uint8_t function;
	uint32_t qp_magic[4];
	/* Key of all memory that this program has allocated there, for its own and its peers'
	 * descriptors; the offset of a struct dxp_entry is a device address. */
	uint32_t memory_key;
};

/* Opens the function, or describes the one that is open. The NIC stops a function whose kernel
 * broke the rules of its window; kernels read the reason from dxp_error(). This call then opens a
 * new one with other magics and another key. The last dxp_xpu_close() closes it: a kernel that
 * still waits reads DXP_ECLOSED.
 * Order:  an xPU runs one kernel at a time; kernels that wait for each other belong on different
 *         xPUs. One work item dequeues events. Events left in the rings remain for the next kernel.
 * Errors: DXP_EBUSY: all virtual functions of that NIC are in use; DXP_EUNSUPPORTED: kernels of its
 *         engine cannot reach the NIC.
 * Source: C-03, C-36. */
DXP_API int dxp_xpu_nic(struct dxp_xpu *xpu, struct dxp_xpu_nic *out);

/* Builds OpenCL C on the xPU. The source may include <dxp/device.h> only. `options` (for the
 * compiler) may be NULL.
 * Owner:  on DXP_OK and DXP_EBUILD *out is set and must be released; its log has the reason of a
 *         failure.
 * Errors: DXP_EBUILD: does not compile; DXP_EINVAL: empty or too long; DXP_EUNSUPPORTED and others:
 *         *out is not set.
 * Source: X-13. */
DXP_API int dxp_program_build(struct dxp_xpu *xpu, const char *source, const char *options,
			      struct dxp_program **out);
DXP_API const char *dxp_program_log(const struct dxp_program *program);
DXP_API void dxp_program_release(struct dxp_program *program);

/* Name of one command on one xPU; 0: no event. Valid until dxp_event_wait() returned its status or
 * its xPU is closed. */
typedef uint64_t dxp_event;

enum dxp_argument_kind {
	DXP_ARGUMENT_BYTES,
	DXP_ARGUMENT_BUFFER,
	DXP_ARGUMENT_LOCAL,
	DXP_ARGUMENT_NIC, /* the kernel receives a `global struct dxp_window *`: dxp_xpu_nic() */
	DXP_ARGUMENT_IMAGE,
	DXP_ARGUMENT_SAMPLER
};

#define DXP_NULL_ADDRESS UINT64_MAX /* address of a BUFFER: the kernel receives a null pointer */

struct dxp_argument {
	enum dxp_argument_kind kind;
	uint32_t bytes;   /* BYTES: size of the value, 1 .. DXP_VALUE_MAX (without `data`: .. 16);
			     LOCAL: bytes of local memory; BUFFER: bytes that the kernel may
			     access, 0: up to the allocation's end. Only engine rv32 checks it;
			     others may reach the whole allocation. */
	uint64_t address; /* BUFFER: device address, passed as a pointer; IMAGE: address of its
			     pixels */
	uint8_t value[16];
	const void *data; /* BYTES: the value, unless NULL; IMAGE: a struct dxp_image; SAMPLER: a
			     struct dxp_sampler (dxp/async.h). Copied by the call. */
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
	/* Starts when all of these are complete; events of other xPUs of the fabric are allowed. */
	const dxp_event *wait;
	uint32_t wait_count;
	/* No wait for this event is near: its completion may arrive up to 5 ms late, together with
	 * later ones. Dependent kernels, here or on other xPUs, are not delayed. */
	bool lazy;
};

/* Starts a kernel when its wait list is complete. Returns at once, without a round trip. `event`
 * may be NULL. Entries of the wait list that are 0 are skipped.
 * Order:  commands without mutual dependencies run in the order posted. If an event of the wait
 *         list failed, this one completes as DXP_ECANCELED.
 * Time:   while pending commands fill 48 MiB on the xPU (about 70,000 short ones), the call waits
 *         until some complete. The first launch of a kernel in a local size may compile it there
 *         (PoCL: 0.1 to 0.2 s). To avoid that pause later, launch one work-group of each kernel
 *         during the data transfer, as examples/classify/run.c does.
 * Errors: DXP_ENOENT: an event was waited for already; DXP_EINVAL: dxp_fabric_error() names the
 *         field; DXP_EAGAIN: no command completed in 1 s of such a wait, and this program has
 *         pending events of its own, on which the commands may depend.
 * Source. */
DXP_API int dxp_run(struct dxp_xpu *xpu, const struct dxp_launch *launch, dxp_event *event);

/* Lets `from` PUT `bytes` bytes of its memory into the memory of `to` when the wait list is
 * complete. The data does not pass through this host. `event` may be NULL.
 * Shape:  `from` and `to` are different xPUs.
 * Order:  both xPUs and this host receive the completion: commands on `to` may wait for it.
 * Source. */
struct dxp_transfer {
	uint64_t from_address;
	uint64_t to_address;
	uint64_t bytes;
	const dxp_event *wait;
	uint32_t wait_count;
};
DXP_API int dxp_send(struct dxp_xpu *from, struct dxp_xpu *to, const struct dxp_transfer *transfer,
		     dxp_event *event);

/* Times of a completed command, in ns of its node's clock. */
struct dxp_event_times {
	uint64_t queued_ns, started_ns, ended_ns;
};

/* Waits until the command completes, releases the event and returns the command's status. `times`
 * may be NULL.
 * Errors: DXP_ETIMEDOUT: not complete; the event stays valid. */
DXP_API int dxp_event_wait(struct dxp_fabric *fabric, dxp_event event, uint64_t timeout_ns,
			   struct dxp_event_times *times);

/* Returns 1 if the command is complete (dxp_event_wait() will not wait), 0 if not, or a negative
 * status. */
DXP_API int dxp_event_done(struct dxp_fabric *fabric, dxp_event event);

#ifdef __cplusplus
}
#endif
#endif
