/* SPDX-License-Identifier: BSD-3-Clause */
/* Bulk transfer between device memory and another node: the xPU's own GETs and PUTs, several pieces
 * at once (S-05, S-06). BRIDGED memory: each piece passes through a buffer of the rings. Slot's
 * thread only. */
#ifndef XPU_BULK_H
#define XPU_BULK_H

#include "xpu/bridged.h"
#include "xpu/outbox.h"

struct slot;

/* A part of its owner's struct; the owner fills the fields up to `ended`. */
struct bulk {
	struct slot *slot;
	struct dxp_target to;
	enum outbox_kind kind; /* kind of the PUTs: PEER if an event follows them, else PUSH */
	uint8_t path, mode;    /* enum bridge_path: IN, OUT or THROUGH; enum bridge_mode */
	uint32_t piece_bytes;  /* 0: chosen here */
	uint32_t owner;        /* THROUGH: as engine_dma */
	uint64_t bytes;
	uint64_t address;                  /* in device memory: IN, OUT */
	uint32_t key;                      /* of device memory, unless BRIDGED */
	uint32_t from_key, to_key;         /* keys at the peer: of the source, of the destination */
	uint64_t from_address, to_address; /* at the peer */
	/* reports that every PUT is in the outbox; may be NULL */
	void (*posted)(struct bulk *h);
	void (*ended)(struct bulk *h, const struct bridge_end *end); /* the last call */

	struct pump_transfer pump;
	uint64_t handed;       /* bytes whose GET (DIRECT: IN) or PUT is in the outbox */
	uint32_t flight;       /* DIRECT: outstanding pieces */
	struct bridge_end end; /* DIRECT: to be reported */
};

/* Starts a transfer. `ended` is called later, or within this call if no piece starts; never after
 * an error. DXP_EUNSUPPORTED: THROUGH with DIRECT memory; else as pump_begin. */
int bulk_begin(struct bulk *h);
/* Starts no further piece. `ended` is called after the outstanding pieces, or within this call. */
void bulk_cancel(struct bulk *h, int status);

/* bulk_direct.c: the two functions above for memory that the NIC reaches. */
int bulk_direct_begin(struct bulk *h);
void bulk_direct_cancel(struct bulk *h, int status);

#endif
