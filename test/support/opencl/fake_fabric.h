/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the host library in tests of the OpenCL plugin, without a network. It has the functions
 * of dxp/async.h and dxp/mmd.h that the plugin uses. The test defines the nodes. A command
 * completes when the events that it waits for have completed, or when the test releases it. Any
 * thread may call these functions. */
#ifndef FAKE_FABRIC_H
#define FAKE_FABRIC_H

#include <dxp/async.h>

#define FAKE_NODES_MAX 4

/* Adds a node "n1", "n2", ... with this much memory; it is alive and granted. If `opencl` is false,
 * its engine is not an OpenCL device. Returns the node's index. */
uint32_t fake_node(uint64_t memory_bytes, bool opencl);
/* Makes the node dead: its commands and all calls return DXP_EPEERLOST. */
void fake_lose(uint32_t node);
/* Makes a dead node alive again. All its earlier state is lost. */
void fake_return(uint32_t node);
/* If `held`, no command completes by itself. Otherwise completes all commands that can complete. */
void fake_hold(bool held);
/* Makes the next command that completes on any node return `status`. */
void fake_fail_next(int status);
/* Sets the clocks of all nodes `ns` ahead of the host's clock. */
void fake_clock_ahead(int64_t ns);

/* Completes up to `count` commands, even while commands are held, in an order drawn from `seed`.
 * Returns the number of completed commands. */
uint32_t fake_step(uint32_t count, uint64_t seed);
/* Posts a command. When the events that it waits for have completed without error, calls
 * act(context), whose result is the command's status. Frees `context` afterwards, also if it never
 * calls act. Returns 0 or DXP_EPEERLOST. */
int fake_post(struct dxp_xpu *xpu, const struct dxp_waits *waits, int (*act)(void *context),
	      void *context, dxp_event *event);
/* Returns the node's memory, or NULL if the node was lost after the xPU was opened. */
uint8_t *fake_memory(const struct dxp_xpu *xpu);
/* bytes moved so far: between nodes, from the host to nodes, from nodes to the host */
extern uint64_t fake_sent, fake_written, fake_read;

/* Returns the number of live events: those that the caller has not released and whose xPU is still
 * open. */
uint32_t fake_events(void);
/* fake_allocated returns the bytes allocated on the node. fake_alloc_calls returns the number of
 * calls of dxp_mem_alloc so far. */
uint64_t fake_allocated(uint32_t node);
uint32_t fake_alloc_calls(void);
/* Returns the number of events that the last posted command waits for. */
uint32_t fake_last_waits(void);
/* Returns the largest number of events that one command waited for since the last call of this
 * function. */
uint32_t fake_most_waits(void);

#endif
