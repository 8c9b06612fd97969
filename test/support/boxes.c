/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/boxes.h"

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

bool boxes_opencl(void)
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

static void *box_main(void *argument)
{
	struct boxed *b = argument;

	if (box_join(b->box, clock_now_ns() + BOXES_WAIT_NS) == DXP_OK)
		box_run(b->box);
	return NULL;
}

void boxes_file(const struct boxes *w, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", w->folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fchmod(fileno(f), 0600);
	fputs(text, f);
	fclose(f);
}

void boxes_begin(struct boxes *w)
{
	struct server_options options = {.state_folder = w->folder};
	char text[UDP_ADDRESS_TEXT_BYTES], hex[2 * FABRIC_KEY_BYTES + 1];

	snprintf(w->folder, sizeof(w->folder), "/tmp/dxp-test-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	entropy_kernel(NULL, w->key, sizeof(w->key));
	memcpy(options.key, w->key, sizeof(w->key));
	udp_address_parse("127.0.0.1", 0, &options.bind);
	assert_int_equal(server_open(&options, &w->manager), DXP_OK);
	server_address(w->manager, &w->address);
	pthread_create(&w->manager_thread, NULL, manager_main, w->manager);
	for (int i = 0; i < FABRIC_KEY_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", w->key[i]);
	boxes_file(w, "fabric.key", hex);
	boxes_file(w, "manager", udp_address_format(&w->address, text));
}

int boxed_open(const struct boxes *w, struct boxed *b, const struct box_options *given)
{
	struct box_options options = *given;

	options.manager = w->address;
	options.fabric_key = w->key;
	options.state_folder = w->folder;
	options.memory_bytes = BOXES_MEMORY;
	options.stop = &b->stop;
	if (!options.worker_program)
		options.worker_program = getenv("DXP_TEST_WORKERS");
	int status = box_open(&options, &b->box);
	if (status == DXP_OK)
		b->ready = pthread_create(&b->thread, NULL, box_main, b) == 0;
	return status;
}

static int box_start(const struct boxes *w, struct boxed *b, const char *engine, uint32_t slots,
		     uint32_t first)
{
	return boxed_open(w, b,
			  &(struct box_options){.slots = slots, .first = first, .engine = engine});
}

void boxed_stop(struct boxed *b)
{
	if (!b->ready)
		return;
	b->stop = 1;
	pthread_join(b->thread, NULL);
	b->ready = false;
}

static bool slot_rests(const struct slot *s)
{
	struct bridged_state now;

	slot_bridged_state(s, &now);
	return now.transfers == 0 && now.in_taken + now.out_taken == 0;
}

void boxed_rest(struct boxed *b)
{
	uint64_t end_ns = clock_now_ns() + BOXES_WAIT_NS;

	boxed_stop(b);
	for (uint32_t i = 0; i < box_slots(b->box); i++) {
		struct slot *s = box_slot(b->box, i);
		while (!slot_rests(s)) {
			assert_true(clock_now_ns() < end_ns);
			if (node_turn(slot_node(s)) + slot_service(s) == 0)
				node_wait(slot_node(s), clock_now_ns() + MS_NS);
		}
	}
}

void boxed_close(struct boxed *b)
{
	boxed_stop(b);
	box_close(b->box);
	*b = (struct boxed){0};
}

struct dxp_xpu *boxes_xpu(struct dxp_fabric *f, const char *name)
{
	struct dxp_xpu *x = NULL;
	int status;

	for (uint64_t end = clock_now_ns() + BOXES_WAIT_NS;
	     (status = dxp_xpu_open(f, name, &x)) == DXP_ENOENT && clock_now_ns() < end;)
		usleep(1000);
	ok(status);
	return x;
}

static void hosts_open(struct boxes *w)
{
	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w->folder, .name = "tester"},
			   &w->fabric));
	w->one = boxes_xpu(w->fabric, "xpu1");
	w->two = boxes_xpu(w->fabric, "xpu2");
	w->plain = boxes_xpu(w->fabric, "xpu3");
}

int boxes_open(struct boxes *w)
{
	boxes_begin(w);
	int status = box_start(w, &w->ocl, "ocl", 2, 1);
	if (status != DXP_OK)
		return status;
	ok(box_start(w, &w->none, "none", 1, 3));
	hosts_open(w);
	return DXP_OK;
}

int boxes_end(struct boxes *w)
{
	char command[128];

	server_stop(w->manager);
	pthread_join(w->manager_thread, NULL);
	server_close(w->manager);
	snprintf(command, sizeof(command), "rm -rf %s", w->folder);
	return system(command);
}

int boxes_close(struct boxes *w)
{
	dxp_xpu_close(w->one);
	dxp_xpu_close(w->two);
	dxp_xpu_close(w->plain);
	dxp_fabric_close(w->fabric);
	boxed_close(&w->ocl);
	boxed_close(&w->none);
	return boxes_end(w);
}
