/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes the BRIDGE command of a fake xPU: moves piece after piece between the other side's
 * memory and its own, with the shipped GET and PUT. Its "stream core" adds a register to each word.
 * A test injects failures from another thread. */
#ifndef TEST_FAKE_BRIDGE_H
#define TEST_FAKE_BRIDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "wire/command.h"

/* Each fault occurs when a transfer has moved so many pieces. 0: never. */
struct fake_bridge_faults {
	_Atomic uint32_t fail_after; /* fails with `fail_status` */
	_Atomic int fail_status;
	_Atomic uint32_t lie_after;    /* reports a failure, but continues the transfer */
	_Atomic uint32_t freeze_after; /* the xPU is no longer polled, as if it were dead */
	/* waits until this is 0 again, or the next command cancels the transfer */
	_Atomic uint32_t hold_after;
};

struct fake_bridge {
	struct node *node;
	uint8_t *memory;
	uint64_t memory_bytes;
	uint32_t key;            /* of `memory` */
	const uint32_t *operand; /* of the stream core: added to each word */
	struct dxp_target host;  /* requested the transfer */
	/* stops the xPU's polls; only `freeze_after` sets it */
	_Atomic bool *frozen;
	_Atomic uint32_t *started; /* transfers that moved at least one piece */
	const struct fake_bridge_faults *faults;
	void (*lie)(void *context, const struct command *c);
	void *context;
};

/* Returns the status for the command's event. */
int fake_bridge_run(const struct fake_bridge *b, const struct command *c);

#endif
