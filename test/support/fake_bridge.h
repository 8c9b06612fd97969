/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes the BRIDGE command of a fake xPU: moves piece after piece between the other side's
 * memory and its own, with the shipped GET and PUT. Its "stream core" adds a register to each word.
 * The test injects failures from another thread. */
#ifndef TEST_FAKE_BRIDGE_H
#define TEST_FAKE_BRIDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "wire/command.h"

/* Each field is the number of pieces of a transfer after which the fault occurs; 0: never. */
struct fake_bridge_faults {
	_Atomic uint32_t fail_after; /* the transfer completes with `fail_status` */
	_Atomic int fail_status;
	_Atomic uint32_t lie_after;    /* reports a failure but continues the transfer */
	_Atomic uint32_t freeze_after; /* the xPU is no longer polled: dead */
	/* waits until this is 0 again, or the next command cancels the transfer */
	_Atomic uint32_t hold_after;
};

struct fake_bridge {
	struct node *node;
	uint8_t *memory;
	uint64_t memory_bytes;
	uint32_t key;              /* key of `memory` */
	const uint32_t *operand;   /* operand of the core */
	struct dxp_target host;    /* the requester */
	_Atomic bool *frozen;      /* belongs to the xPU: only read here; freeze_after sets it */
	_Atomic uint32_t *started; /* counts transfers that moved a piece */
	const struct fake_bridge_faults *faults;
	void (*lie)(void *context, const struct command *c);
	void *context;
};

/* Executes `c`. Returns DXP_OK or the status of its event. */
int fake_bridge_run(const struct fake_bridge *b, const struct command *c);

#endif
