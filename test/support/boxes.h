/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole xPUs inside a test: a manager, a box of two slots with the OpenCL engine (xpu1, xpu2) and
 * one without (xpu3), over loopback, and a host that has them open. */
#ifndef TEST_BOXES_H
#define TEST_BOXES_H

#include <pthread.h>
#include <stdbool.h>

#include <dxp/mmd.h>

#include "base/util.h"
#include "manager/server.h"
#include "xpu/box.h"

#define BOXES_WAIT_NS (10 * S_NS)
#define BOXES_MEMORY  (16u << 20) /* of each xPU */

struct boxed {
	struct box *box;
	_Atomic int stop;
	pthread_t thread;
	bool ready;
};

struct boxes {
	char folder[64];
	struct server *manager;
	pthread_t manager_thread;
	uint8_t key[FABRIC_KEY_BYTES];
	struct wire_address address; /* the manager's */
	struct boxed ocl, none;
	struct dxp_fabric *fabric;
	struct dxp_xpu *one, *two, *plain;
};

/* Is there an OpenCL device that works in host memory? */
bool boxes_opencl(void);

/* A manager alone, in `folder`, for a test with boxes of its own. */
void boxes_begin(struct boxes *w);
int boxes_end(struct boxes *w);
/* Makes a file in the folder; `text` as it is. */
void boxes_file(const struct boxes *w, const char *name, const char *text);
/* A box in this fabric, turned by a thread; what all boxes have alike is filled in. Statuses of
 * box_open. */
int boxed_open(const struct boxes *w, struct boxed *b, const struct box_options *options);
/* Its thread has ended: what it holds may be looked at. */
void boxed_stop(struct boxed *b);
/* The same, and then turns it until nothing of its bridges is under way and all their buffers are
 * EMPTY: that comes by itself, and within BOXES_WAIT_NS. Transfers that failed, or whose host has
 * gone, may have a DMA under way still. */
void boxed_rest(struct boxed *b);
void boxed_close(struct boxed *b);

/* Asserts on most failures. */
int boxes_open(struct boxes *w);
int boxes_close(struct boxes *w);
/* The xPU may still be joining. */
struct dxp_xpu *boxes_xpu(struct dxp_fabric *f, const char *name);

#endif
