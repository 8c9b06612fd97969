/* SPDX-License-Identifier: BSD-3-Clause */
/* Long transfers between memory of this program and xPU memory that only DMA engines can access
 * (S-03, S-05). The xPU reads host memory buffer by buffer, with several reads outstanding. It
 * passes each full buffer to its DMA engine, and writes results back as they complete.
 *
 * dxp_mem_write() and dxp_mem_read() access the same memory. This file adds transfers through the
 * device's stream core, transfers between two xPUs, asynchronous transfers, a choice of buffer
 * size, and a sequential mode for comparison.
 *
 * An xPU with DXP_MEMORY_DIRECT supports all of this except DXP_BRIDGE_THROUGH. */
#ifndef DXP_BRIDGE_H
#define DXP_BRIDGE_H

#include <dxp/mmd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dxp_bridge_path {
	DXP_BRIDGE_TO_DEVICE,   /* host `from` -> device `device_to` */
	DXP_BRIDGE_FROM_DEVICE, /* device `device_from` -> host `to` */
	DXP_BRIDGE_THROUGH,     /* host `from` -> stream core of the device -> host `to` */
	/* Memory of `peer` at `device_from` -> memory of this xPU at `device_to`. This xPU GETs the
	 * bytes; none passes through the host. (With dxp_send(), the source PUTs.) */
	DXP_BRIDGE_DEVICE_TO_DEVICE,
};

enum dxp_bridge_mode {
	DXP_BRIDGE_PIPELINED,
	DXP_BRIDGE_SEQUENTIAL, /* each buffer waits for the previous one */
};

struct dxp_bridge_transfer {
	enum dxp_bridge_path path;
	enum dxp_bridge_mode mode;
	const void *from; /* host memory; must not change until completion */
	void *to;         /* host memory; may be `from` */
	/* Device addresses in this program's dxp_mem_alloc() memory on that xPU; otherwise the
	 * transfer completes with DXP_ERANGE. For memory of `peer`, the rules of dxp_mem_read()
	 * apply. */
	uint64_t device_from, device_to;
	struct dxp_xpu *peer; /* DEVICE_TO_DEVICE: the other xPU of this fabric; else NULL */
	uint64_t bytes;       /* 0 is allowed */
	uint32_t piece_bytes; /* bytes of each GET or PUT, 4096 .. caps.buffer_bytes; 0: default */
	/* the transfer starts after all these events; see dxp_launch.wait */
	const dxp_event *wait;
	uint32_t wait_count;
};

/* An outstanding transfer. */
struct dxp_bridge;

/* Starts a transfer and returns at once.
 * Owner:  `from` and `to` belong to the library until completion. Pass *out to dxp_bridge_wait()
 *         until its status is not DXP_ETIMEDOUT.
 * Errors: nothing is moved. DXP_EINVAL, DXP_ERANGE: dxp_fabric_error() names the field;
 *         DXP_EUNSUPPORTED: THROUGH without a stream core; DXP_EAGAIN: see dxp_run(), or no more
 *         memory regions; DXP_ENOMEM. */
DXP_API int dxp_bridge_start(struct dxp_xpu *xpu, const struct dxp_bridge_transfer *transfer,
			     struct dxp_bridge **out);

/* Returns the completion event, for wait lists; do not pass it to dxp_event_wait(). */
DXP_API dxp_event dxp_bridge_event(const struct dxp_bridge *bridge);

/* Waits up to timeout_ns for the transfer, frees it, and returns its status. `times` may be NULL.
 * Errors: DXP_ETIMEDOUT: the transfer continues and is not freed. DXP_EDEVICE: a DMA failed.
 *         DXP_EPEERLOST: the xPU is lost. After an error the content of the destination is
 *         undefined. */
DXP_API int dxp_bridge_wait(struct dxp_bridge *bridge, uint64_t timeout_ns,
			    struct dxp_event_times *times);

/* Starts a transfer and waits for it. DXP_OK: all bytes are in place. Errors: see
 * dxp_bridge_start() and dxp_bridge_wait(), except DXP_ETIMEDOUT. */
DXP_API int dxp_bridge_move(struct dxp_xpu *xpu, const struct dxp_bridge_transfer *transfer,
			    struct dxp_event_times *times);

enum dxp_core { DXP_CORE_PASS, DXP_CORE_ADD, DXP_CORE_CHECKSUM, DXP_CORE_KERNEL };
/* Sets the stream core of an xPU for this host: the operation of DXP_BRIDGE_THROUGH on each 4-byte
 * little-endian word. The last 1 to 3 bytes of a stream are the low bytes of its last word.
 * Errors: DXP_EUNSUPPORTED: the xPU has no stream core, or not this one. */
DXP_API int dxp_core_set(struct dxp_xpu *xpu, enum dxp_core core, uint32_t operand);
/* Returns this host's setting of the stream core. For CHECKSUM, *result is the sum of all words of
 * this host's last stream, modulo 2^64. */
DXP_API int dxp_core_get(struct dxp_xpu *xpu, enum dxp_core *core, uint32_t *operand,
			 uint64_t *result);

#ifdef __cplusplus
}
#endif
#endif
