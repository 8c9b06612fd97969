/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote xPUs as if they were local: finds xPUs of the fabric, moves memory, accesses registers,
 * runs kernels, and sends from one xPU to another.
 *
 *   dxp_fabric_open()  join as a host            dxp_xpu_open()   open one xPU
 *   dxp_mem_alloc()    memory on the xPU         dxp_mem_write()  dxp_mem_read()   by PUT and GET
 *   dxp_reg_read()     CFG registers             dxp_reg_write()  dxp_reg_write_list()
 *   dxp_program_build() OpenCL C on the xPU      dxp_run()        one kernel, asynchronous
 *   dxp_send()         xPU to xPU directly       dxp_event_wait() wait for any of them
 *
 * Threads: any thread may call; calls on one fabric are serialized.
 * Time:   every wait is bounded. When a node dies, everything that waits for it fails with
 *         DXP_EPEERLOST within the fabric's lease time (4.5 s), mostly within 3.5 s;
 *         dxp_fabric_error() names the node.
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
#define DXP_WAIT_MAX      8    /* events per message; longer wait lists use several */
#define DXP_ARGUMENTS_MAX 128  /* arguments of one kernel */
#define DXP_VALUE_MAX     1024 /* bytes; value of one argument */

struct dxp_fabric;  /* this program's membership in a fabric */
struct dxp_xpu;     /* a remote xPU that this program uses */
struct dxp_program; /* a program on one xPU */

/* Options for joining. Zeroed is the usual choice. */
struct dxp_fabric_options {
	const char *directory; /* where `dxp up` stored address and key; NULL: $DXP_DIR, otherwise
				  the user's state folder */
	const char *manager;   /* "address:port"; NULL: from the directory */
	const char *key_file;  /* file with the fabric key; NULL: from the directory */
	const char *bind;      /* address of this host; NULL: that on the route to the manager */
	const char *name;      /* [A-Za-z0-9._-], at most 31; NULL: program name and process id */
	uint32_t timeout_ms;   /* bound of joining and of opening an xPU; 0: 5000 */
	uint32_t spin_us;    /* time that a waiting call spins before it sleeps, approximate; 0: 50;
				UINT32_MAX: never */
	bool no_payload_crc; /* only the UDP checksum protects the payload */
};

/* Joins the fabric as a host; leave it with dxp_fabric_close().
 * Errors: DXP_ENOENT: no fabric there (start one with `dxp up`); DXP_ETIMEDOUT: no answer from the
 *         manager; DXP_EAUTH: wrong key; DXP_EBUSY: a live node uses the name or identity;
 *         DXP_EINVAL; DXP_EIO. dxp_fabric_error(NULL) has the text.
 * Source. */
DXP_API int dxp_fabric_open(const struct dxp_fabric_options *options, struct dxp_fabric **out);

/* Leaves the fabric. Close xPUs and programs before. Accepts NULL. */
DXP_API void dxp_fabric_close(struct dxp_fabric *fabric);

/* Returns this thread's last error as a sentence with the node and the next step; never NULL. Valid
 * until the thread's next call. */
DXP_API const char *dxp_fabric_error(const struct dxp_fabric *fabric);

enum dxp_node_kind { DXP_NODE_HOST = 1, DXP_NODE_XPU = 2 };

/* How the network reaches an xPU's memory. Affects only speed. */
enum dxp_memory_kind {
	DXP_MEMORY_NONE,    /* no memory: the node is a host */
	DXP_MEMORY_DIRECT,  /* its NIC reads and writes it directly */
	DXP_MEMORY_BRIDGED, /* only the device's DMA engines reach it, through buffers */
};

/* A row of the node table. */
struct dxp_node_info {
	uint16_t id;
	enum dxp_node_kind kind;
	bool granted; /* this host may use the node; always true in a host's own table */
	bool alive;   /* holds a lease */
	char name[DXP_NAME_BYTES];
	char address[64]; /* "ip:port" */
	char engine[DXP_NAME_BYTES];
	uint64_t memory_bytes;
	enum dxp_memory_kind memory_kind;
};

/* Copies up to `count` rows of the node table, sorted by id. Returns the number of nodes, even if
 * larger than `count`. A host sees only xPUs granted to it. */
DXP_API int dxp_fabric_nodes(struct dxp_fabric *fabric, struct dxp_node_info *out, size_t count);
/* The same for rows of `row_bytes` bytes, of an older or newer version of the struct: writes the
 * fields that both have, and zeros after them. The macro passes the size that the caller compiled.
 */
DXP_API int dxp_fabric_nodes_sized(struct dxp_fabric *fabric, struct dxp_node_info *out,
				   size_t count, size_t row_bytes);
#define dxp_fabric_nodes(fabric, out, count) \
	dxp_fabric_nodes_sized((fabric), (out), (count), sizeof(struct dxp_node_info))

/* Payload exchanged between this program's NIC and one node since joining. */
struct dxp_link_bytes {
	uint64_t sent_bytes;     /* without retransmissions */
	uint64_t received_bytes; /* without duplicates */
};
DXP_API int dxp_fabric_traffic(struct dxp_fabric *fabric, uint16_t node,
			       struct dxp_link_bytes *out);

/* Opens an xPU by name or decimal id. If it is already open, returns the same object, which must be
 * closed as often.
 * Errors: DXP_ENOENT: no such node, or not granted to this host; DXP_EPEERLOST: dead; DXP_EBUSY:
 *         open in as many programs as it admits; DXP_EINVAL: a host. After DXP_EPEERLOST
 *         or DXP_EPEERRESET from any call the object can only be closed; open the xPU again when it
 *         is back.
 * Source. */
DXP_API int dxp_xpu_open(struct dxp_fabric *fabric, const char *name, struct dxp_xpu **out);

/* Closes an xPU. The last close frees everything of this program on it. Release its programs
 * before. Accepts NULL. */
DXP_API void dxp_xpu_close(struct dxp_xpu *xpu);

struct dxp_xpu_caps {
	uint16_t node;
	char name[DXP_NAME_BYTES];
	char engine[DXP_NAME_BYTES];
	char device[96]; /* device name from the engine */
	uint64_t memory_bytes;
	uint64_t free_bytes;
	uint32_t compute_units;
	enum dxp_memory_kind memory_kind;
	bool streams;          /* a stream core exists: DXP_BRIDGE_THROUGH works */
	uint32_t buffers;      /* buffers per ring of its bridge; 0: no bridge */
	uint32_t buffer_bytes; /* bytes per buffer */
};
DXP_API int dxp_xpu_caps(struct dxp_xpu *xpu, struct dxp_xpu_caps *out);
/* The same for a struct of `out_bytes` bytes, as dxp_fabric_nodes_sized(). */
DXP_API int dxp_xpu_caps_sized(struct dxp_xpu *xpu, struct dxp_xpu_caps *out, size_t out_bytes);
#define dxp_xpu_caps(xpu, out) dxp_xpu_caps_sized((xpu), (out), sizeof(struct dxp_xpu_caps))

/* dxp_mem_alloc() allocates `bytes` bytes of zeroed device memory. Other programs and their kernels
 * cannot reach it or its traffic.
 * Shape:  an address is an offset in bytes in the xPU's memory, a multiple of 256.
 * Owner:  this program, until dxp_mem_free() or the last dxp_xpu_close().
 * Errors: DXP_ENOMEM: no space there, or the limit per host (`dxpd --host-memory`); DXP_EINVAL: 0
 *         bytes; dxp_mem_free(): DXP_ENOENT. */
DXP_API int dxp_mem_alloc(struct dxp_xpu *xpu, uint64_t bytes, uint64_t *address);
DXP_API int dxp_mem_free(struct dxp_xpu *xpu, uint64_t address);

/* Copies host memory to xPU memory, or back. Returns when the bytes are in place.
 * Shape:  any alignment; 0 bytes is allowed.
 * Owner:  memory that no program has allocated is shared by all. It reads as zero until written,
 *         and belongs to a program after allocation.
 * Errors: DXP_ERANGE: outside device memory; DXP_EACCESS: another program's memory, nothing was
 *         written; DXP_EPEERLOST; DXP_ETIMEDOUT.
 * Source: C-18, C-19. */
DXP_API int dxp_mem_write(struct dxp_xpu *xpu, uint64_t address, const void *from, uint64_t bytes);
DXP_API int dxp_mem_read(struct dxp_xpu *xpu, void *to, uint64_t address, uint64_t bytes);

/* Read or write `count` consecutive CFG registers of 4 bytes from index `first`
 * (docs/reference/registers.md), once each, in order. Source: X-07. */
DXP_API int dxp_reg_read(struct dxp_xpu *xpu, uint32_t first, uint32_t *values, uint32_t count);
DXP_API int dxp_reg_write(struct dxp_xpu *xpu, uint32_t first, const uint32_t *values,
			  uint32_t count);

struct dxp_reg_value {
	uint32_t index, value;
};

/* Writes `count` registers, each by an access of its own, without waiting between them. The xPU
 * executes the writes in the order of the list. Returns when all are complete. An index may occur
 * several times.
 * Errors: status of the first failed write; writes after it may have taken effect.
 * Source. */
DXP_API int dxp_reg_write_list(struct dxp_xpu *xpu, const struct dxp_reg_value *list,
			       uint32_t count);

/* The NIC function of an xPU for this program's kernels (DXP_ARGUMENT_NIC, dxp/device.h), and the
 * numbers that address it. Kernels on other xPUs get these as ordinary arguments. */
struct dxp_xpu_nic {
	uint16_t node;
	uint8_t function;
	uint32_t qp_magic[4];
	/* Key of all memory that this program allocates there, for its own and its peers'
	 * descriptors. The offset in a struct dxp_entry is a device address. */
	uint32_t memory_key;
};

/* Opens the function, or describes the open one. The NIC stops a function whose kernel violates the
 * rules of its window; kernels read the reason from dxp_error(). This call then opens a new one
 * with other magics and another key. The last dxp_xpu_close() closes the function; a kernel that
 * waits then gets DXP_ECLOSED.
 * Order:  an xPU runs one kernel at a time, so kernels that wait for each other must be on
 *         different xPUs. One work-item dequeues events. Events left in the rings remain for the
 *         next kernel.
 * Errors: DXP_EBUSY: all virtual functions of that NIC are in use; DXP_EUNSUPPORTED: kernels of its
 *         engine cannot reach the NIC.
 * Source: C-03, C-36. */
DXP_API int dxp_xpu_nic(struct dxp_xpu *xpu, struct dxp_xpu_nic *out);

/* Builds OpenCL C on the xPU. The source may include only <dxp/device.h>. `options` (for the
 * compiler) may be NULL.
 * Owner:  after DXP_OK and DXP_EBUILD, *out must be released; its log has the reason of a failure.
 * Errors: DXP_EBUILD: does not compile; DXP_EINVAL: empty or too long; DXP_EUNSUPPORTED and others:
 *         *out is not set.
 * Source: X-13. */
DXP_API int dxp_program_build(struct dxp_xpu *xpu, const char *source, const char *options,
			      struct dxp_program **out);
DXP_API const char *dxp_program_log(const struct dxp_program *program);
DXP_API void dxp_program_release(struct dxp_program *program);

/* Name of one command on one xPU; 0: no event. Valid until dxp_event_wait() has returned its
 * status, or its xPU is closed. */
typedef uint64_t dxp_event;

enum dxp_argument_kind {
	DXP_ARGUMENT_BYTES,
	DXP_ARGUMENT_BUFFER,
	DXP_ARGUMENT_LOCAL,
	DXP_ARGUMENT_NIC, /* the kernel gets a `global struct dxp_window *`: dxp_xpu_nic() */
	DXP_ARGUMENT_IMAGE,
	DXP_ARGUMENT_SAMPLER
};

#define DXP_NULL_ADDRESS UINT64_MAX /* address of a BUFFER: the kernel gets a null pointer */

struct dxp_argument {
	enum dxp_argument_kind kind;
	/* BYTES: size of the value, 1 .. DXP_VALUE_MAX (without `data`: .. 16); LOCAL: bytes of
	 * local memory; BUFFER: bytes that the kernel may access, 0: up to the allocation's end.
	 * Only the engine rv32 checks this; kernels of other engines may reach the whole
	 * allocation. */
	uint32_t bytes;
	uint64_t address; /* BUFFER: device address, passed as a pointer; IMAGE: address of its
			     pixels */
	uint8_t value[16];
	const void *data; /* BYTES: the value, unless NULL; IMAGE: a struct dxp_image; SAMPLER: a
			     struct dxp_sampler (dxp/async.h). The call copies it. */
};

struct dxp_launch {
	const struct dxp_program *program;
	const char *kernel;
	uint32_t dimensions; /* 1 .. 3 */
	uint64_t global[3];
	uint64_t local[3];  /* all 0: the device chooses */
	uint64_t offset[3]; /* offset of the first work-item's global id */
	const struct dxp_argument *arguments;
	uint32_t argument_count;
	/* Starts when all of these are complete. Events of other xPUs of the fabric are allowed. */
	const dxp_event *wait;
	uint32_t wait_count;
	/* The program does not expect to wait for this event soon. Its completion may arrive up to
	 * 5 ms late, with later completions. Dependent kernels, on any xPU, are not delayed. */
	bool lazy;
};

/* Starts a kernel when its wait list is complete. Returns at once, without a round trip. `event`
 * may be NULL. Entries of the wait list with 0 are skipped.
 * Order:  commands without mutual dependencies run in the order posted. If an event of the wait
 *         list failed, the command's event completes with DXP_ECANCELED.
 * Time:   while pending commands fill 48 MiB on the xPU (about 70,000 short ones), the call waits
 *         until some complete. The first launch of a kernel with a local size may compile it there
 *         (PoCL: 0.1 to 0.2 s). To avoid this later, launch one work-group of each kernel during
 *         the data transfer, like examples/classify/run.c. Errors: DXP_ENOENT: an event was already
 *         waited for; DXP_EINVAL: dxp_fabric_error() names the field; DXP_EAGAIN: no command
 *         completed in 1 s of waiting for space, and the commands may depend on pending events of
 *         this program. Source. */
DXP_API int dxp_run(struct dxp_xpu *xpu, const struct dxp_launch *launch, dxp_event *event);

/* Makes `from` PUT `bytes` bytes of its memory to the memory of `to` when the wait list is
 * complete. The data does not pass through this host. `event` may be NULL.
 * Shape:  `from` and `to` are different xPUs.
 * Order:  both xPUs and this host receive the completion, so commands on `to` may wait for it.
 * Source. */
struct dxp_transfer {
	uint64_t from_address;
	uint64_t to_address;
	uint64_t bytes;
	const dxp_event *wait;
	uint32_t wait_count;
	bool lazy; /* see dxp_launch.lazy; the destination is not delayed */
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

/* Returns 1 if the command is complete (dxp_event_wait() would not wait), 0 if not, or a negative
 * status. */
DXP_API int dxp_event_done(struct dxp_fabric *fabric, dxp_event event);

#ifdef __cplusplus
}
#endif
#endif
