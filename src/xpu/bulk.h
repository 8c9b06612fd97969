/* SPDX-License-Identifier: BSD-3-Clause */
/* Bulk transfer between device memory and another node: the xPU's own GETs and PUTs, several pieces
 * at once (S-05, S-06); with BRIDGED memory, through buffers of the rings. Only for the slot's
 * thread. */
#ifndef XPU_BULK_H
#define XPU_BULK_H

#include "xpu/bridged.h"
#include "xpu/outbox.h"

struct slot;

/* Part of the owner's struct, which sets the fields up to `ended`. */
struct bulk {
	struct slot *slot;
	struct dxp_target to;
	enum outbox_kind kind; /* kind of the PUTs: PEER if an event follows them, else PUSH */
	uint8_t path, mode;    /* enum bridge_path (IN, OUT, THROUGH); enum bridge_mode */
	uint32_t piece_bytes;  /* 0: bulk.c chooses */
	uint32_t owner;        /* THROUGH: see engine_dma */
	uint64_t bytes;
	uint64_t address;                  /* IN, OUT: in device memory */
	uint32_t key;                      /* of device memory; unused if BRIDGED */
	uint32_t from_key, to_key;         /* at the peer */
	uint64_t from_address, to_address; /* at the peer */
	/* all PUTs are in the outbox; may be NULL */
	void (*posted)(struct bulk *h);
	/* the last call for the transfer */
	void (*ended)(struct bulk *h, const struct bridge_end *end);

	struct pump_transfer pump;
	/* posted as PUTs (DIRECT, path IN: GETs) */
	uint64_t handed;
	uint32_t flight;       /* DIRECT: outstanding pieces */
	struct bridge_end end; /* DIRECT: argument for `ended` */
};

/* `ended` is called later, or within this call if no piece starts; never after an error.
 * DXP_EUNSUPPORTED: THROUGH with DIRECT memory. Others: see pump_begin. */
int bulk_begin(struct bulk *h);
/* Starts no further piece. `ended` follows the outstanding pieces, perhaps within this call. */
void bulk_cancel(struct bulk *h, int status);

/* bulk_direct.c: the same for memory that the NIC accesses itself. */
int bulk_direct_begin(struct bulk *h);
void bulk_direct_cancel(struct bulk *h, int status);

#endif
