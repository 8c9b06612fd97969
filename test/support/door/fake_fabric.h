/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric for tests of the OpenCL door: the functions of dxp/async.h and dxp/mmd.h that the door's
 * frame calls, without a network. Compiled into a test, it takes the place of the host library.
 * Nodes are what the test says; commands end when what they wait for has ended, or when the test
 * lets them. Any thread. */
#ifndef FAKE_FABRIC_H
#define FAKE_FABRIC_H

#include <dxp/async.h>

#define FAKE_NODES_MAX 4

/* A node "n1", "n2" ... with this much memory, alive and granted. `opencl` false: its engine is no
 * OpenCL device. Returns its index. */
uint32_t fake_node(uint64_t memory_bytes, bool opencl);
/* Dies: what is under way there ends as DXP_EPEERLOST, as does every call. */
void fake_lose(uint32_t node);
/* Lives again, having forgotten everything. */
void fake_return(uint32_t node);
/* Commands do not end by themselves while it is held; releasing ends what can end. */
void fake_hold(bool held);
/* The next command that ends on a node ends so. */
void fake_fail_next(int status);
/* Every clock of nodes is this much ahead of the host's. */
void fake_clock_ahead(int64_t ns);

/* Ends up to `count` commands that can end, in an order that `seed` gives, though it is held.
 * Returns how many. */
uint32_t fake_step(uint32_t count, uint64_t seed);
/* Posts a command: act(context) is called when its waits have ended well, and says how it ends;
 * `context` is freed then, or where it never is called. Returns 0, or DXP_EPEERLOST. */
int fake_post(struct dxp_xpu *xpu, const struct dxp_waits *waits, int (*act)(void *context),
	      void *context, dxp_event *event);
/* A node's memory; NULL: it is lost since the xPU was opened. */
uint8_t *fake_memory(const struct dxp_xpu *xpu);
/* Bytes that went between nodes, and between nodes and host, so far. */
extern uint64_t fake_sent, fake_written, fake_read;

/* Events that were neither forgotten nor given up with their xPU. */
uint32_t fake_events(void);
/* Bytes that are allocated on it, and calls of dxp_mem_alloc so far. */
uint64_t fake_allocated(uint32_t node);
uint32_t fake_alloc_calls(void);
/* Of the command that was posted last: how many events it waits for. */
uint32_t fake_last_waits(void);
/* The most that one waited for since this was asked last. */
uint32_t fake_most_waits(void);

#endif
