/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory behind DMA engines of this machine, used by the program itself (S-02): a board with
 * two DMA controllers, an OpenCL device or a GPU. Data goes through rings of pinned buffers, or
 * straight from and to user memory where that is pinned. No network and no fabric take part.
 *
 * Threads: calls may come from any thread; calls on one device take turns. */
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

struct dxp_dma;          /* a device that this program has opened */
struct dxp_dma_transfer; /* one that is under way */

struct dxp_dma_options {
	const char *engine;    /* as `dxpd --engine`; NULL: "board" */
	uint64_t memory_bytes; /* of the device; 0: 256 MiB */
	uint32_t buffers;      /* of each ring, 1 .. 64; 0: 8 */
	uint32_t buffer_bytes; /* 4 KiB .. 16 MiB, a multiple of 4096; 0: measured now, the smallest
				  that is nearly as fast as the fastest */
};

/* On success *out must be closed. DXP_EINVAL: no such engine, or an option out of its range;
 * DXP_EUNSUPPORTED: there is no such device, or its memory is not behind DMA; DXP_ENOMEM; DXP_EIO.
 * The sentence is in dxp_fabric_error(NULL). */
DXP_API int dxp_dma_open(const struct dxp_dma_options *options, struct dxp_dma **out);
/* Transfers under way end with DXP_ECLOSED first. NULL is allowed. */
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
	DXP_DMA_DEVICE_TO_DEVICE, /* `device_from` -> `device_to`; they may overlap */
};

struct dxp_dma_order {
	enum dxp_dma_kind kind;
	/* User memory is used in place (zero copy): pinned for this transfer unless dxp_dma_pin()
	 * did before. Otherwise it is copied through the rings. */
	bool in_place;
	enum dxp_bridge_mode mode;
	const void *from;
	void *to;
	uint64_t device_from, device_to;
	uint64_t bytes;       /* 0 is allowed */
	uint32_t piece_bytes; /* 0: chosen */
};

/* As in dxp/bridge.h: start and wait, or both in one. DXP_ERANGE: outside device memory, nothing
 * was moved; DXP_EDEVICE: a DMA failed or stalled, or the device was reset; DXP_ETIMEDOUT: from
 * wait: not yet; DXP_EAGAIN: 1024 are under way. What was started must be given to wait until that
 * does not say DXP_ETIMEDOUT, also after dxp_dma_close. A thread that waits helps with copies. */
DXP_API int dxp_dma_start(struct dxp_dma *dma, const struct dxp_dma_order *order,
			  struct dxp_dma_transfer **out);
DXP_API int dxp_dma_wait(struct dxp_dma_transfer *transfer, uint64_t timeout_ns);
DXP_API int dxp_dma_move(struct dxp_dma *dma, const struct dxp_dma_order *order);

/* Host memory that transfers in place will use, pinned once. DXP_EINVAL: no memory; DXP_EEXIST:
 * some of it is pinned already, or a transfer in place uses it; DXP_EBUSY: 64 ranges are;
 * DXP_ENOMEM, DXP_EIO. */
DXP_API int dxp_dma_pin(struct dxp_dma *dma, void *base, uint64_t bytes);
/* DXP_ENOENT: `base` is not what was pinned; DXP_EBUSY: a transfer uses it. */
DXP_API int dxp_dma_unpin(struct dxp_dma *dma, void *base);

/* Resets the device: every transfer under way ends with DXP_EDEVICE, the next ones work. */
DXP_API int dxp_dma_reset(struct dxp_dma *dma);

DXP_API int dxp_dma_core_set(struct dxp_dma *dma, enum dxp_core core, uint32_t operand);
DXP_API int dxp_dma_core_get(struct dxp_dma *dma, enum dxp_core *core, uint32_t *operand,
			     uint64_t *result);

#ifdef __cplusplus
}
#endif
#endif
