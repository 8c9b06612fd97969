/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes the BRIDGE command of a fake xPU. It moves piece after piece between the other side's
 * memory and its own memory, with the shipped GET and PUT. Its "stream core" adds a register to
 * each word. A test injects failures from another thread. */
#ifndef TEST_FAKE_BRIDGE_H
#define TEST_FAKE_BRIDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "wire/command.h"

/* Faults that a test sets. Each field is a number of pieces; the fault occurs when a transfer has
 * moved so many pieces. 0: never. */
struct fake_bridge_faults {
	_Atomic uint32_t fail_after; /* the transfer fails with `fail_status` */
	_Atomic int fail_status;
	_Atomic uint32_t lie_after;    /* the xPU reports a failure, but continues the transfer */
	_Atomic uint32_t freeze_after; /* the xPU is no longer polled, as if it were dead */
	/* the transfer waits until this field is 0 again, or the next command cancels the
	 * transfer */
	_Atomic uint32_t hold_after;
};

struct fake_bridge {
	struct node *node;
	uint8_t *memory;
	uint64_t memory_bytes;
	uint32_t key;            /* memory key of `memory` */
	const uint32_t *operand; /* register of the stream core: added to each word */
	struct dxp_target host;  /* the node that requested the transfer */
	/* flag of the xPU that stops its polls; only read here; `freeze_after` sets it */
	_Atomic bool *frozen;
	_Atomic uint32_t *started; /* counter of transfers that moved at least one piece */
	const struct fake_bridge_faults *faults;
	void (*lie)(void *context, const struct command *c);
	void *context;
};

/* Executes the command `c`. Returns the status for the command's event. */
int fake_bridge_run(const struct fake_bridge *b, const struct command *c);

#endif
