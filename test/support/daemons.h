/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs whole xPUs inside a test over loopback: a manager, a daemon with two OpenCL xPUs (xpu1,
 * xpu2), and one with an xPU without OpenCL (xpu3). Also opens a host and these xPUs. */
#ifndef TEST_DAEMONS_H
#define TEST_DAEMONS_H

#include <pthread.h>
#include <stdbool.h>

#include <dxp/mmd.h>

#include "base/util.h"
#include "manager/server.h"
#include "xpu/daemon.h"

#define DAEMONS_WAIT_NS (120 * S_NS)
#define DAEMONS_MEMORY  (16u << 20) /* of each xPU */

/* A daemon, and the thread that polls it. */
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

/* An OpenCL device is present that works in host memory. */
bool daemons_opencl(void);

/* Starts only a manager, with its files in `folder`. */
void daemons_begin(struct daemons *w);
int daemons_end(struct daemons *w);
void daemons_file(const struct daemons *w, const char *name, const char *text);
/* Opens a daemon and starts a thread that polls it. Adds the options that all test daemons share to
 * `options`. Returns the status of daemon_open. */
int test_daemon_open(const struct daemons *w, struct test_daemon *d,
		     const struct daemon_options *options);
/* Afterwards the caller may inspect the daemon. */
void test_daemon_stop(struct test_daemon *d);
/* Stops the thread, then polls until the bridges have no work and all buffers are EMPTY, at most
 * for DAEMONS_WAIT_NS: a DMA of a failed transfer or a lost host can run until then. */
void test_daemon_rest(struct test_daemon *d);
void test_daemon_close(struct test_daemon *d);

/* Manager, both daemons, the host and its xPUs. Failures are assertions, except those that the
 * status reports. */
int daemons_open(struct daemons *w);
int daemons_close(struct daemons *w);
/* Opens the xPU; tries again while it joins the fabric, or its node is too busy to answer. */
struct dxp_xpu *daemons_xpu(struct dxp_fabric *f, const char *name);

#endif
