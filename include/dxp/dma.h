/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory that only DMA engines of this machine can access, used by this program only (S-02):
 * a board with two DMA controllers, an OpenCL device or a GPU. Data passes through rings of pinned
 * buffers, or directly from and to pinned user memory. No network or fabric is involved. Threads:
 * any thread may call; calls on one device are serialized. */
#ifndef DXP_DMA_H
#define DXP_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dxp/bridge.h>
#include <dxp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dxp_dma;          /* an open device */
struct dxp_dma_transfer; /* an outstanding transfer */

struct dxp_dma_options {
	const char *engine;    /* name as in `dxpd --engine`; NULL: "board" */
	uint64_t memory_bytes; /* bytes of device memory; 0: 256 MiB */
	uint32_t buffers;      /* buffers per ring, 1 .. 64; 0: 8 */
	/* bytes of a buffer, 4 KiB .. 16 MiB, a multiple of 4096; 0: the smallest size that is
	 * almost as fast as the fastest one, by measurement */
	uint32_t buffer_bytes;
};

/* Opens a device; close *out with dxp_dma_close(). `options` may be NULL.
 * Errors: DXP_EINVAL: unknown engine, or an option out of range; DXP_EUNSUPPORTED: no such device,
 *         or its memory does not need DMA; DXP_ENOMEM; DXP_EIO. dxp_fabric_error(NULL) has the
 *         text. */
DXP_API int dxp_dma_open(const struct dxp_dma_options *options, struct dxp_dma **out);
/* Closes a device, after completing outstanding transfers with DXP_ECLOSED. Accepts NULL. */
DXP_API void dxp_dma_close(struct dxp_dma *dma);

struct dxp_dma_caps {
	char engine[DXP_NAME_BYTES];
	char device[96];
	uint64_t memory_bytes;
	uint32_t buffers, buffer_bytes;
	bool streams;
};
DXP_API void dxp_dma_caps(const struct dxp_dma *dma, struct dxp_dma_caps *out);

enum dxp_dma_kind {
	DXP_DMA_TO_DEVICE,        /* `from` -> `device_to` */
	DXP_DMA_FROM_DEVICE,      /* `device_from` -> `to` */
	DXP_DMA_THROUGH,          /* `from` -> stream core -> `to` */
	DXP_DMA_DEVICE_TO_DEVICE, /* `device_from` -> `device_to`; ranges may overlap */
};

struct dxp_dma_order {
	enum dxp_dma_kind kind;
	/* True: the device's DMA accesses user memory directly (zero copy). The memory is pinned
	 * for this transfer, unless dxp_dma_pin() pinned it before. False: the data is copied
	 * through the rings. */
	bool in_place;
	enum dxp_bridge_mode mode;
	const void *from;
	void *to;
	uint64_t device_from, device_to;
	uint64_t bytes;       /* 0 is allowed */
	uint32_t piece_bytes; /* bytes per DMA; 0: the library chooses */
};

/* Start a transfer, wait for it, or both, as the functions of dxp/bridge.h do. A waiting thread
 * helps to copy.
 * Owner:  pass a started transfer to dxp_dma_wait() until its status is not DXP_ETIMEDOUT, even
 *         after dxp_dma_close().
 * Errors: DXP_ERANGE: outside device memory, nothing was moved; DXP_EDEVICE: a DMA failed or
 *         stalled, or the device was reset; DXP_EAGAIN: 1024 transfers are outstanding;
 *         DXP_ETIMEDOUT (dxp_dma_wait): the transfer continues. */
DXP_API int dxp_dma_start(struct dxp_dma *dma, const struct dxp_dma_order *order,
			  struct dxp_dma_transfer **out);
DXP_API int dxp_dma_wait(struct dxp_dma_transfer *transfer, uint64_t timeout_ns);
DXP_API int dxp_dma_move(struct dxp_dma *dma, const struct dxp_dma_order *order);

/* Pins host memory for later transfers in place.
 * Errors: DXP_EINVAL: NULL, 0 bytes, or a range that wraps; DXP_EEXIST: it overlaps a pinned range
 *         or a transfer in place; DXP_EBUSY: 64 ranges are pinned; DXP_ENOMEM; DXP_EIO. */
DXP_API int dxp_dma_pin(struct dxp_dma *dma, void *base, uint64_t bytes);
/* Unpins the range at `base`. DXP_ENOENT: not pinned; DXP_EBUSY: a transfer uses it. */
DXP_API int dxp_dma_unpin(struct dxp_dma *dma, void *base);

/* Resets the device: outstanding transfers complete with DXP_EDEVICE; later ones work. */
DXP_API int dxp_dma_reset(struct dxp_dma *dma);

DXP_API int dxp_dma_core_set(struct dxp_dma *dma, enum dxp_core core, uint32_t operand);
DXP_API int dxp_dma_core_get(struct dxp_dma *dma, enum dxp_core *core, uint32_t *operand,
			     uint64_t *result);

#ifdef __cplusplus
}
#endif
#endif
