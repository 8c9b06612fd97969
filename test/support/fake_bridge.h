/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fake xPU does for BRIDGE: piece by piece, one after another, straight between the other
 * side's memory and its own, by the shipped GET and PUT. Its "stream core" adds a register to each
 * word. Failures are ordered by the test, from another thread. */
#ifndef TEST_FAKE_BRIDGE_H
#define TEST_FAKE_BRIDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "wire/command.h"

/* Counts of pieces from the start of each transfer on; 0: never. */
struct fake_bridge_faults {
	_Atomic uint32_t fail_after; /* the transfer ends with `fail_status` */
	_Atomic int fail_status;
	_Atomic uint32_t lie_after;    /* says that the transfer has failed, and goes on with it */
	_Atomic uint32_t freeze_after; /* the xPU is not turned any more: dead */
	_Atomic uint32_t hold_after;   /* waits there until this is 0 again, or canceled by the
					  next command */
};

struct fake_bridge {
	struct node *node;
	uint8_t *memory;
	uint64_t memory_bytes;
	uint32_t key;              /* of `memory` */
	const uint32_t *operand;   /* the core's */
	struct dxp_target host;    /* who asked */
	_Atomic bool *frozen;      /* the xPU's: looked at, and set by freeze_after */
	_Atomic uint32_t *started; /* counts transfers that have moved a piece */
	const struct fake_bridge_faults *faults;
	void (*lie)(void *context, const struct command *c);
	void *context;
};

/* Carries out `c`; DXP_OK or how its event ends. */
int fake_bridge_run(const struct fake_bridge *b, const struct command *c);

#endif
