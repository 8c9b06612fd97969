/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the host library in tests of the OpenCL plugin, without a network: the functions of
 * dxp/async.h and dxp/mmd.h that the plugin uses. The test defines the nodes. A command completes
 * when its waits have completed, or when the test releases it. Callable from any thread. */
#ifndef FAKE_FABRIC_H
#define FAKE_FABRIC_H

#include <dxp/async.h>

#define FAKE_NODES_MAX 4

/* Adds a node "n1", "n2" ... with this much memory, alive and granted. If `opencl` is false, its
 * engine is not an OpenCL device. Returns its index. */
uint32_t fake_node(uint64_t memory_bytes, bool opencl);
/* Makes the node dead: its commands and all calls return DXP_EPEERLOST. */
void fake_lose(uint32_t node);
/* Makes the node live again, with all its state lost. */
void fake_return(uint32_t node);
/* Holds commands, so that none completes by itself. The release completes all that can complete. */
void fake_hold(bool held);
/* Makes the next command that completes on a node return `status`. */
void fake_fail_next(int status);
/* Sets all node clocks this much ahead of the host's. */
void fake_clock_ahead(int64_t ns);

/* Completes up to `count` commands, even while held, in an order drawn from `seed`. Returns their
 * number. */
uint32_t fake_step(uint32_t count, uint64_t seed);
/* Posts a command. act(context) runs when its waits have completed without error, and returns
 * its status. `context` is freed after that, or when act is never called. Returns 0 or
 * DXP_EPEERLOST. */
int fake_post(struct dxp_xpu *xpu, const struct dxp_waits *waits, int (*act)(void *context),
	      void *context, dxp_event *event);
/* Returns the node's memory; NULL if the node was lost after the xPU was opened. */
uint8_t *fake_memory(const struct dxp_xpu *xpu);
/* Bytes moved so far: between nodes, from the host, to the host. */
extern uint64_t fake_sent, fake_written, fake_read;

/* Returns the number of events neither forgotten nor released with their xPU. */
uint32_t fake_events(void);
/* Bytes allocated on the node; calls of dxp_mem_alloc so far. */
uint64_t fake_allocated(uint32_t node);
uint32_t fake_alloc_calls(void);
/* Returns the number of events that the last posted command waits for. */
uint32_t fake_last_waits(void);
/* Returns the largest number of waits of one command since the last call. */
uint32_t fake_most_waits(void);

#endif
