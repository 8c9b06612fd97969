/* SPDX-License-Identifier: BSD-3-Clause */
/* All NIC functions of an xPU are mapped in workers of silent hosts; a new host gets one of them.
 * Also tests a host that reads no replies. Skipped without OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/device.h>

#include "base/clock.h"
#include "nic/limits.h"
#include "test/unit/rude_host.h"
#include "xpu/cfg.h"
#include "xpu/limits.h"

#define SILENT (NIC_FUNCTIONS - 1)

static struct daemons w;
static struct test_daemon extra_daemon;

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

/* Opens the xPU as a host whose worker has mapped a NIC function. */
static void silent_open(struct rude *r, uint16_t xpu)
{
	static struct command_reply reply;

	rude_open(r, &w, xpu);
	/* the xPU does not have memory for all hosts at once */
	rude_post(r, &(struct command){.op = COMMAND_FREE, .sequence = 2, .address = r->address});
	rude_reply(r, &reply);
	assert_int_equal(reply.status, DXP_OK);
	rude_post(r, &(struct command){.op = COMMAND_FETCH,
				       .sequence = 3,
				       .what = FETCH_DEVICE,
				       .address = COMMAND_NO_ADDRESS});
	rude_reply(r, &reply);
	assert_int_equal(reply.status, DXP_OK);
	rude_post(r, &(struct command){.op = COMMAND_NIC, .sequence = 4});
	rude_reply(r, &reply);
	assert_int_equal(reply.status, DXP_OK);
	assert_int_not_equal(reply.function, 0);
}

static uint32_t reg(struct dxp_xpu *x, uint32_t index)
{
	uint32_t value = 0;

	ok(dxp_reg_read(x, index, &value, 1));
	return value;
}

static void silent__one_gives_its_function(void **state)
{
	struct rude hosts[SILENT];
	struct dxp_xpu_nic nic;
	struct dxp_fabric *f;
	uint64_t end_ns;
	int status;

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "asker"},
			   &f));
	struct dxp_xpu *x = daemons_xpu(f, "xpu1");
	for (int i = 0; i < SILENT; i++)
		silent_open(&hosts[i], (uint16_t)reg(x, CFG_NODE));
	end_ns = clock_now_ns() + DAEMONS_WAIT_NS;
	while ((status = dxp_xpu_nic(x, &nic)) == DXP_EBUSY) {
		/* none counts as silent yet */
		assert_int_equal(reg(x, CFG_HOSTS), SILENT + 1);
		assert_true(clock_now_ns() < end_ns);
		usleep(10000);
	}
	ok(status);
	assert_int_equal(reg(x, CFG_HOSTS), SILENT);
	for (int i = 0; i < SILENT; i++)
		rude_close(&hosts[i]);
	dxp_xpu_close(x);
	dxp_fabric_close(f);
}

/* Bytes that wait for a host are bounded, so it is dropped long before XPU_OUTBOX_MAX requests. */
static void deaf__is_put_out(void **state)
{
	static struct command_reply reply;
	struct dxp_fabric *f;
	uint32_t requested = 0;
	struct dxp_nic_event event;
	struct rude r;

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "looker"},
			   &f));
	struct dxp_xpu *x = daemons_xpu(f, "xpu1");
	rude_open(&r, &w, (uint16_t)reg(x, CFG_NODE));
	struct command c = {.op = COMMAND_FETCH,
			    .what = FETCH_DEVICE,
			    .bytes = COMMAND_LOG_PART,
			    .address = COMMAND_NO_ADDRESS};
	rude_post(&r, &c);
	rude_reply(&r, &reply);
	assert_int_equal(reply.status, DXP_OK);
	c.skip = 1; /* later parts of the reply are sent at once */
	const uint64_t long_enough = sizeof(reply.part) / 2;
	if (reply.total < long_enough) {
		print_message("skipped: the device describes itself in few bytes\n");
		skip();
	}
	while (reg(x, CFG_HOSTS) == 2) {
		assert_true(requested < XPU_OUTBOX_MAX / 2);
		for (int i = 0; i < 1000; i++, requested++) {
			rude_post(&r, &c);
			while (dxp_sent_dequeue(node_window(r.node), &event)) {
			}
		}
	}
	rude_close(&r);
	dxp_xpu_close(x);
	dxp_fabric_close(f);
}

static int world_open(void **state)
{
	daemons_begin(&w);
	return test_daemon_open(&w, &extra_daemon,
				&(struct daemon_options){.slots = 1,
							 .first = 1,
							 .engine = "ocl",
							 .worker_program = "bin/dxpd",
							 .keep_hosts_ns = FABRIC_HOST_KEEP_NS});
}

static int world_close(void **state)
{
	test_daemon_close(&extra_daemon);
	return daemons_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silent__one_gives_its_function),
		cmocka_unit_test(deaf__is_put_out),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, world_open, world_close);
}
