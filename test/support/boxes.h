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

/* Asserts on most failures. */
int boxes_open(struct boxes *w);
int boxes_close(struct boxes *w);
/* The xPU may still be joining. */
struct dxp_xpu *boxes_xpu(struct dxp_fabric *f, const char *name);

#endif
