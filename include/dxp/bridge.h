/* SPDX-License-Identifier: BSD-3-Clause */
/* Long transfers between memory of this program and xPU memory that only DMA engines reach (S-03,
 * S-05). The xPU itself reads host memory buffer by buffer, with several reads under way, passes
 * each full buffer to its DMA engine, and writes results back as they complete.
 *
 * dxp_mem_write() and dxp_mem_read() reach the same memory. This file adds: transfers through the
 * device's stream core, a sequential mode for comparison, a choice of buffer size, asynchronous
 * transfers, and transfers between two xPUs.
 *
 * An xPU with DXP_MEMORY_DIRECT supports all of it except DXP_BRIDGE_THROUGH. */
#ifndef DXP_BRIDGE_H
#define DXP_BRIDGE_H

#include <dxp/mmd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dxp_bridge_path {
	DXP_BRIDGE_TO_DEVICE,   /* host `from` -> device `device_to` */
	DXP_BRIDGE_FROM_DEVICE, /* device `device_from` -> host `to` */
	DXP_BRIDGE_THROUGH,     /* host `from` -> the device's stream core -> host `to` */
	/* Memory of `peer` at `device_from` -> memory of this xPU at `device_to`. This xPU GETs; no
	 * byte passes through the host. (dxp_send() PUTs.) */
	DXP_BRIDGE_DEVICE_TO_DEVICE,
};

enum dxp_bridge_mode {
	DXP_BRIDGE_PIPELINED,
	DXP_BRIDGE_SEQUENTIAL, /* each buffer waits until the one before completes */
};

struct dxp_bridge_transfer {
	enum dxp_bridge_path path;
	enum dxp_bridge_mode mode;
	const void *from; /* host memory; must stay unchanged until completion */
	void *to;         /* host memory; may be `from` */
	/* Device addresses in memory that dxp_mem_alloc() gave this program on that xPU; else the
	 * transfer completes with DXP_ERANGE. For the peer's memory dxp_mem_read()'s rules
	 * apply. */
	uint64_t device_from, device_to;
	struct dxp_xpu *peer;  /* DEVICE_TO_DEVICE: the other xPU, same fabric; else NULL */
	uint64_t bytes;        /* 0 is allowed */
	uint32_t piece_bytes;  /* bytes per GET or PUT, 4096 .. caps.buffer_bytes; 0: default */
	const dxp_event *wait; /* starts when all of these are complete; as dxp_launch.wait */
	uint32_t wait_count;
};

/* A transfer under way. */
struct dxp_bridge;

/* Starts a transfer and returns at once.
 * Owner:  `from` and `to` belong to the library until completion. *out must be passed to
 *         dxp_bridge_wait() until that returns another status than DXP_ETIMEDOUT.
 * Errors: nothing is moved then. DXP_EINVAL, DXP_ERANGE: dxp_fabric_error() names the field;
 *         DXP_EUNSUPPORTED: THROUGH without a stream core; DXP_EAGAIN: as dxp_run(), or memory
 *         regions used up; DXP_ENOMEM. */
DXP_API int dxp_bridge_start(struct dxp_xpu *xpu, const struct dxp_bridge_transfer *transfer,
			     struct dxp_bridge **out);

/* Returns the completion event, for wait lists of other commands. Must not be passed to
 * dxp_event_wait(). */
DXP_API dxp_event dxp_bridge_event(const struct dxp_bridge *bridge);

/* Waits up to timeout_ns for the transfer, frees it, and returns its status. `times` may be NULL.
 * Errors: DXP_ETIMEDOUT: not complete; the transfer continues and is not freed. DXP_EDEVICE: a DMA
 *         failed. DXP_EPEERLOST: the xPU is lost. After an error the destination's content is
 *         undefined. */
DXP_API int dxp_bridge_wait(struct dxp_bridge *bridge, uint64_t timeout_ns,
			    struct dxp_event_times *times);

/* Starts a transfer and waits until it completes; DXP_OK: all bytes are in place. Errors as above,
 * except DXP_ETIMEDOUT. */
DXP_API int dxp_bridge_move(struct dxp_xpu *xpu, const struct dxp_bridge_transfer *transfer,
			    struct dxp_event_times *times);

/* Stream core of an xPU: the operation of DXP_BRIDGE_THROUGH on each 4-byte little-endian word. The
 * last 1 to 3 bytes of a stream are the low bytes of its last word.
 * Errors: DXP_EUNSUPPORTED: the xPU has no stream core, or not this one. */
enum dxp_core { DXP_CORE_PASS, DXP_CORE_ADD, DXP_CORE_CHECKSUM, DXP_CORE_KERNEL };
DXP_API int dxp_core_set(struct dxp_xpu *xpu, enum dxp_core core, uint32_t operand);
/* *result of CHECKSUM: sum of all words of the last stream, modulo 2^64. */
DXP_API int dxp_core_get(struct dxp_xpu *xpu, enum dxp_core *core, uint32_t *operand,
			 uint64_t *result);

#ifdef __cplusplus
}
#endif
#endif
