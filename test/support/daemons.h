/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs whole xPUs inside a test, over loopback: a manager, a daemon of two slots with the OpenCL
 * engine (xpu1, xpu2), a daemon without OpenCL (xpu3), and a host that has them open. */
#ifndef TEST_DAEMONS_H
#define TEST_DAEMONS_H

#include <pthread.h>
#include <stdbool.h>

#include <dxp/mmd.h>

#include "base/util.h"
#include "manager/server.h"
#include "xpu/daemon.h"

#define DAEMONS_WAIT_NS (10 * S_NS)
#define DAEMONS_MEMORY  (16u << 20) /* bytes per xPU */

/* A daemon that a thread of the test polls. */
struct test_daemon {
	struct daemon *daemon;
	_Atomic int stop;
	pthread_t thread;
	bool ready;
};

struct daemons {
	char folder[64];
	struct server *manager;
	pthread_t manager_thread;
	uint8_t key[FABRIC_KEY_BYTES];
	struct udp_address address; /* address of the manager */
	struct test_daemon ocl, none;
	struct dxp_fabric *fabric;
	struct dxp_xpu *one, *two, *plain;
};

/* Returns whether an OpenCL device works in host memory. */
bool daemons_opencl(void);

/* Starts only a manager, in `folder`, for a test that opens its own daemons. */
void daemons_begin(struct daemons *w);
int daemons_end(struct daemons *w);
void daemons_file(const struct daemons *w, const char *name, const char *text);
/* Opens a daemon in this fabric; a thread of the test polls it. Fills in the options common to all
 * daemons. Returns the status of daemon_open. */
int test_daemon_open(const struct daemons *w, struct test_daemon *d,
		     const struct daemon_options *options);
/* Stops the daemon's thread; the caller may then inspect the daemon. */
void test_daemon_stop(struct test_daemon *d);
/* Stops the thread, then polls until the bridges have no work and all buffers are EMPTY, within
 * DAEMONS_WAIT_NS. A DMA of a failed transfer or a lost host may run until then. */
void test_daemon_rest(struct test_daemon *d);
void test_daemon_close(struct test_daemon *d);

/* Open and close everything. Assert on most failures. */
int daemons_open(struct daemons *w);
int daemons_close(struct daemons *w);
/* Opens the xPU; retries while it is still joining. */
struct dxp_xpu *daemons_xpu(struct dxp_fabric *f, const char *name);

#endif
