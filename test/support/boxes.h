/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole xPUs inside a test, over loopback: a manager, a daemon of two slots with the OpenCL engine
 * (xpu1, xpu2), a daemon without OpenCL (xpu3), and a host that has them open. */
#ifndef TEST_BOXES_H
#define TEST_BOXES_H

#include <pthread.h>
#include <stdbool.h>

#include <dxp/mmd.h>

#include "base/util.h"
#include "manager/server.h"
#include "xpu/box.h"

#define BOXES_WAIT_NS (10 * S_NS)
#define BOXES_MEMORY  (16u << 20) /* bytes per xPU */

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
	struct udp_address address; /* of the manager */
	struct boxed ocl, none;
	struct dxp_fabric *fabric;
	struct dxp_xpu *one, *two, *plain;
};

/* Returns true if an OpenCL device works in host memory. */
bool boxes_opencl(void);

/* Starts only a manager, in `folder`, for a test with daemons of its own. */
void boxes_begin(struct boxes *w);
int boxes_end(struct boxes *w);
/* Writes `text` unchanged to a file in the folder. */
void boxes_file(const struct boxes *w, const char *name, const char *text);
/* Opens a daemon in this fabric; a thread polls it. Fills in the options common to all daemons.
 * Returns the status of box_open. */
int boxed_open(const struct boxes *w, struct boxed *b, const struct box_options *options);
/* Stops its thread; afterwards the caller may inspect the daemon. */
void boxed_stop(struct boxed *b);
/* Stops it, then polls until its bridges have no work and all their buffers are EMPTY, within
 * BOXES_WAIT_NS. A DMA of a failed transfer, or of a lost host, may still run before that. */
void boxed_rest(struct boxed *b);
void boxed_close(struct boxed *b);

/* Open and close everything. Assert on most failures. */
int boxes_open(struct boxes *w);
int boxes_close(struct boxes *w);
/* Retries while the xPU is still joining. */
struct dxp_xpu *boxes_xpu(struct dxp_fabric *f, const char *name);

#endif
