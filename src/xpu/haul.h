/* SPDX-License-Identifier: BSD-3-Clause */
/* A haul: bytes between device memory of this xPU and memory of another node, moved by our own GETs
 * and PUTs, piece by piece and several at once (S-05, S-06). With DIRECT memory the NIC works in it
 * in place; with BRIDGED memory each piece goes through a buffer of the rings. One thread: the
 * slot's. */
#ifndef XPU_HAUL_H
#define XPU_HAUL_H

#include "xpu/bridged.h"
#include "xpu/outbox.h"

struct slot;

/* Part of its owner's struct, which fills in the first half. */
struct haul {
	struct slot *slot;
	struct dxp_target to;
	enum outbox_kind kind; /* of PUTs: PEER where an event follows them, else PUSH */
	uint8_t path, mode;    /* enum bridge_path: IN, OUT or THROUGH; enum bridge_mode */
	uint32_t piece_bytes;  /* 0: chosen */
	uint64_t bytes;
	uint64_t address;                  /* in device memory: IN, OUT */
	uint32_t from_key, to_key;         /* over there: of what is read, of what is written */
	uint64_t from_address, to_address; /* over there */
	void (*posted)(struct haul *h);    /* every PUT is in the outbox now; may be NULL */
	void (*ended)(struct haul *h, const struct bridge_end *end); /* the last call */

	struct pump_transfer pump;
	uint64_t handed;       /* bytes whose GET (DIRECT: IN) or PUT is in the outbox */
	uint32_t flight;       /* DIRECT: pieces under way */
	struct bridge_end end; /* DIRECT: as it will be told */
};

/* `ended` comes later, or from here when there is nothing to do or nothing can be begun.
 * DXP_EUNSUPPORTED: THROUGH with DIRECT memory; as pump_begin; `ended` is not called then. */
int haul_begin(struct haul *h);
/* No piece of it begins any more; `ended` comes when those under way have ended, or from here. */
void haul_cancel(struct haul *h, int status);

/* haul_direct.c: the same where the NIC reaches device memory. */
int haul_direct_begin(struct haul *h);
void haul_direct_cancel(struct haul *h, int status);

#endif
