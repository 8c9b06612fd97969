/* SPDX-License-Identifier: BSD-3-Clause */
/* Long transfers between memory of this program and memory of a remote xPU that only DMA engines
 * reach, by the xPU's own pulling and pushing (S-03, S-05): it reads our memory buffer by buffer,
 * several reads in flight, passes each to its DMA engine as it fills, and writes results back as
 * they come. dxp_mem_write() and dxp_mem_read() reach the same memory; here are the ways that they
 * do not have: through the device's stream core and back, sequentially for comparison, with a size
 * of buffer of one's choice, without waiting, and between two xPUs.
 *
 * With an xPU whose memory is DXP_MEMORY_DIRECT everything but DXP_BRIDGE_THROUGH works too. */
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
	/* memory of `peer` at `device_from` -> memory of this xPU at `device_to`: this one pulls,
	 * no byte passes the host (dxp_send() pushes) */
	DXP_BRIDGE_DEVICE_TO_DEVICE,
};

enum dxp_bridge_mode {
	DXP_BRIDGE_PIPELINED,
	DXP_BRIDGE_SEQUENTIAL, /* each buffer waits for the end of the one before */
};

struct dxp_bridge_transfer {
	enum dxp_bridge_path path;
	enum dxp_bridge_mode mode;
	const void *from; /* host memory; stays as it is until the end */
	void *to;         /* host memory; may be `from` */
	/* Of memory that dxp_mem_alloc() gave this program on that xPU, else the transfer ends with
	 * DXP_ERANGE; of the peer's as dxp_mem_read() says. */
	uint64_t device_from, device_to;
	struct dxp_xpu *peer;  /* DEVICE_TO_DEVICE: the other xPU, of the same fabric; else NULL */
	uint64_t bytes;        /* 0 is allowed */
	uint32_t piece_bytes;  /* of each piece, 4096 .. buffer_bytes of the xPU's caps; 0: it
				  chooses */
	const dxp_event *wait; /* begins after all of these; as dxp_launch.wait */
	uint32_t wait_count;
};

/* A transfer under way. */
struct dxp_bridge;

/* Starts a transfer; returns at once. On success *out must be given to dxp_bridge_wait until that
 * does not say DXP_ETIMEDOUT. DXP_EINVAL, DXP_ERANGE: the sentence of dxp_fabric_error() names the
 * field; nothing was moved. DXP_EUNSUPPORTED: THROUGH without a stream core; DXP_EAGAIN: as
 * dxp_run.
 */
DXP_API int dxp_bridge_start(struct dxp_xpu *xpu, const struct dxp_bridge_transfer *transfer,
			     struct dxp_bridge **out);

/* The event of its end, for wait lists of other commands; not for dxp_event_wait. */
DXP_API dxp_event dxp_bridge_event(const struct dxp_bridge *bridge);

/* Waits until the transfer has ended, which frees it, and returns how: DXP_OK: all bytes are in
 * place; DXP_EDEVICE: a DMA failed; DXP_ETIMEDOUT: not yet, it goes on; DXP_EPEERLOST: the xPU is
 * gone; what was written up to then is unknown. `times` may be NULL. */
DXP_API int dxp_bridge_wait(struct dxp_bridge *bridge, uint64_t timeout_ns,
			    struct dxp_event_times *times);

/* Start and wait. */
DXP_API int dxp_bridge_move(struct dxp_xpu *xpu, const struct dxp_bridge_transfer *transfer,
			    struct dxp_event_times *times);

/* The stream core of an xPU: what DXP_BRIDGE_THROUGH does with the words that pass (4 bytes each,
 * lowest first; a stream's last 1 to 3 bytes are the low ones of its last word). DXP_EUNSUPPORTED:
 * it has none, or not this one. */
enum dxp_core { DXP_CORE_PASS, DXP_CORE_ADD, DXP_CORE_CHECKSUM, DXP_CORE_KERNEL };
DXP_API int dxp_core_set(struct dxp_xpu *xpu, enum dxp_core core, uint32_t operand);
/* `result`: of CHECKSUM the sum of all words of the last stream, modulo 2^64. */
DXP_API int dxp_core_get(struct dxp_xpu *xpu, enum dxp_core *core, uint32_t *operand,
			 uint64_t *result);

#ifdef __cplusplus
}
#endif
#endif
