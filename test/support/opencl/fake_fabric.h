/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the host library in tests of the OpenCL plugin, without a network: the functions of
 * dxp/async.h and dxp/mmd.h that the plugin uses. The test defines the nodes. A command completes
 * when its wait list has completed, or when the test releases it. Any thread may call these
 * functions. */
#ifndef FAKE_FABRIC_H
#define FAKE_FABRIC_H

#include <dxp/async.h>

#define FAKE_NODES_MAX 4

/* Adds node "n1", "n2", ..., alive and granted. Without `opencl`, its engine is no OpenCL device.
 * Returns its index. */
uint32_t fake_node(uint64_t memory_bytes, bool opencl);
/* The dead node's commands and all calls return DXP_EPEERLOST. */
void fake_lose(uint32_t node);
/* All earlier state of the node is lost. */
void fake_return(uint32_t node);
/* If `held`, no command completes by itself. Otherwise completes all commands that can complete. */
void fake_hold(bool held);
/* Makes the next command that completes on any node return `status`. */
void fake_fail_next(int status);
/* Sets all nodes' clocks `ns` ahead of the host's. */
void fake_clock_ahead(int64_t ns);

/* Completes up to `count` commands, even held ones, in an order drawn from `seed`. Returns their
 * number. */
uint32_t fake_step(uint32_t count, uint64_t seed);
/* Posts a command. When its wait list has completed without error, calls act(context), whose result
 * is the status. Frees `context` afterwards, also without that call. Returns 0 or DXP_EPEERLOST. */
int fake_post(struct dxp_xpu *xpu, const struct dxp_waits *waits, int (*act)(void *context),
	      void *context, dxp_event *event);
/* NULL: the node was lost after the xPU was opened. */
uint8_t *fake_memory(const struct dxp_xpu *xpu);
/* bytes moved so far: between nodes, from the host to nodes, from nodes to the host */
extern uint64_t fake_sent, fake_written, fake_read;

/* Counts events that the caller has not released and whose xPU is still open. */
uint32_t fake_events(void);
/* Bytes allocated on the node; calls of dxp_mem_alloc so far. */
uint64_t fake_allocated(uint32_t node);
uint32_t fake_alloc_calls(void);
/* Events that the last posted command waits for. */
uint32_t fake_last_waits(void);
/* Most events that one command waited for since the last call. */
uint32_t fake_most_waits(void);

#endif
