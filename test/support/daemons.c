/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/daemons.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "engine/engine.h"

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

bool daemons_opencl(void)
{
	static uint64_t memory[512];
	struct engine_options options = {
		.name = "ocl", .memory = memory, .memory_bytes = sizeof(memory)};
	struct engine *e;

	if (engine_open(&options, &e) != DXP_OK)
		return false;
	engine_close(e);
	return true;
}

static void *manager_main(void *argument)
{
	server_run(argument);
	return NULL;
}

static void *daemon_main(void *argument)
{
	struct test_daemon *d = argument;

	if (daemon_join(d->daemon, clock_now_ns() + DAEMONS_WAIT_NS) == DXP_OK)
		daemon_run(d->daemon);
	return NULL;
}

void daemons_file(const struct daemons *w, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", w->folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fchmod(fileno(f), 0600);
	fputs(text, f);
	fclose(f);
}

void daemons_begin(struct daemons *w)
{
	struct server_options options = {.state_folder = w->folder};
	char text[UDP_ADDRESS_TEXT_BYTES], hex[2 * FABRIC_KEY_BYTES + 1];

	snprintf(w->folder, sizeof(w->folder), "/tmp/dxp-test-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	rng_entropy_kernel(NULL, w->key, sizeof(w->key));
	memcpy(options.key, w->key, sizeof(w->key));
	address_parse("127.0.0.1", 0, &options.bind);
	assert_int_equal(server_open(&options, &w->manager), DXP_OK);
	server_address(w->manager, &w->address);
	pthread_create(&w->manager_thread, NULL, manager_main, w->manager);
	for (int i = 0; i < FABRIC_KEY_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", w->key[i]);
	daemons_file(w, "fabric.key", hex);
	daemons_file(w, "manager", address_format(&w->address, text));
}

int test_daemon_open(const struct daemons *w, struct test_daemon *d,
		     const struct daemon_options *given)
{
	struct daemon_options options = *given;

	options.manager = w->address;
	options.fabric_key = w->key;
	options.state_folder = w->folder;
	options.memory_bytes = DAEMONS_MEMORY;
	options.stop = &d->stop;
	if (!options.worker_program)
		options.worker_program = getenv("DXP_TEST_WORKERS");
	int status = daemon_open(&options, &d->daemon);
	if (status == DXP_OK)
		d->ready = pthread_create(&d->thread, NULL, daemon_main, d) == 0;
	return status;
}

static int daemon_start(const struct daemons *w, struct test_daemon *d, const char *engine,
			uint32_t slots, uint32_t first)
{
	return test_daemon_open(
		w, d, &(struct daemon_options){.slots = slots, .first = first, .engine = engine});
}

void test_daemon_stop(struct test_daemon *d)
{
	if (!d->ready)
		return;
	d->stop = 1;
	pthread_join(d->thread, NULL);
	d->ready = false;
}

static bool slot_rests(const struct slot *s)
{
	struct bridged_state now;

	slot_bridged_state(s, &now);
	return now.transfers == 0 && now.in_used + now.out_used == 0;
}

void test_daemon_rest(struct test_daemon *d)
{
	uint64_t end_ns = clock_now_ns() + DAEMONS_WAIT_NS;

	test_daemon_stop(d);
	for (uint32_t i = 0; i < daemon_slots(d->daemon); i++) {
		struct slot *s = daemon_slot(d->daemon, i);
		while (!slot_rests(s)) {
			assert_true(clock_now_ns() < end_ns);
			if (node_poll(slot_node(s)) + slot_service(s) == 0)
				node_wait(slot_node(s), clock_now_ns() + MS_NS);
		}
	}
}

void test_daemon_close(struct test_daemon *d)
{
	test_daemon_stop(d);
	daemon_close(d->daemon);
	*d = (struct test_daemon){0};
}

struct dxp_xpu *daemons_xpu(struct dxp_fabric *f, const char *name)
{
	struct dxp_xpu *x = NULL;
	int status = DXP_ENOENT;

	for (uint64_t end = clock_now_ns() + DAEMONS_WAIT_NS; clock_now_ns() < end; usleep(1000)) {
		status = dxp_xpu_open(f, name, &x);
		if (status != DXP_ENOENT && status != DXP_EPEERLOST)
			break;
	}
	ok(status);
	return x;
}

static void hosts_open(struct daemons *w)
{
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w->folder, .name = "tester"},
			   &w->fabric));
	w->one = daemons_xpu(w->fabric, "xpu1");
	w->two = daemons_xpu(w->fabric, "xpu2");
	w->plain = daemons_xpu(w->fabric, "xpu3");
}

int daemons_open(struct daemons *w)
{
	daemons_begin(w);
	int status = daemon_start(w, &w->ocl, "ocl", 2, 1);
	if (status != DXP_OK)
		return status;
	ok(daemon_start(w, &w->none, "none", 1, 3));
	hosts_open(w);
	return DXP_OK;
}

int daemons_end(struct daemons *w)
{
	char command[128];

	server_stop(w->manager);
	pthread_join(w->manager_thread, NULL);
	server_close(w->manager);
	snprintf(command, sizeof(command), "rm -rf %s", w->folder);
	return system(command);
}

int daemons_close(struct daemons *w)
{
	dxp_xpu_close(w->one);
	dxp_xpu_close(w->two);
	dxp_xpu_close(w->plain);
	dxp_fabric_close(w->fabric);
	test_daemon_close(&w->ocl);
	test_daemon_close(&w->none);
	return daemons_end(w);
}
