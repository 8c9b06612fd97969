/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs kernel_put's sender on a CUDA device, with a function of this program's own NIC in the
 * fabric. The receiver is an xPU.
 *
 *   dxp up --xpus 1 && build/bin/kernel_put_cuda; dxp down
 *
 *   kernel_put_cuda [--host] [RECEIVER]   --host: run the sender on the CPU, for machines without
 *                                         such a device
 *
 * Exit status 77: no device; the last output line has the reason. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <dxp/function.h>

#include "gpu.h"
#include "side.h"

#define SKIPPED 77

/* A function of this program's NIC, and the kernel's memory. */
struct sender {
	struct dxp_nic *nic;
	struct dxp_function *function;
	struct dxp_window *window;
	struct dxp_memory memory; /* picture, then report */
	struct report *report;
};

static void function_check(int status, const char *what)
{
	if (status == DXP_OK)
		return;
	fprintf(stderr, "kernel_put: %s: %s\n", what, dxp_function_error());
	exit(1);
}

static void gpu_check(const char *why, const char *what)
{
	if (!why)
		return;
	fprintf(stderr, "kernel_put: %s: %s\n", what, why);
	exit(1);
}

/* Arms the function: the NIC does not sleep while one is armed, and the device could not wake
 * it. */
static void sender_open(struct sender *s)
{
	char name[DXP_NAME_BYTES]; /* differs from this host's own node */
	const struct dxp_nic_options options = {.join = true, .thread = true, .name = name};

	snprintf(name, sizeof(name), "gpu-%d", (int)getpid());
	function_check(dxp_nic_open(&options, &s->nic), "NIC");
	function_check(dxp_nic_function(s->nic, NULL, &s->function), "function");
	function_check(dxp_memory_create(s->function, PICTURE_BYTES + sizeof(*s->report), DXP_LOCAL,
					 &s->memory),
		       "memory");
	function_check(dxp_function_arm(s->function), "arm");
	s->window = dxp_function_window(s->function);
	s->report = (struct report *)((uint8_t *)s->memory.base + PICTURE_BYTES);
}

static void sender_close(struct sender *s)
{
	dxp_function_disarm(s->function);
	dxp_function_close(s->function);
	dxp_nic_close(s->nic);
}

static void device_run(struct sender *s, const struct route *route)
{
	void *window, *memory;

	gpu_check(gpu_map(s->window, sizeof(*s->window), &window), "map the window");
	gpu_check(gpu_map(s->memory.base, PICTURE_BYTES + sizeof(*s->report), &memory),
		  "map the memory");
	gpu_check(gpu_send(window, memory, &shape, route,
			   (struct report *)((uint8_t *)memory + PICTURE_BYTES)),
		  "run");
	gpu_unmap(s->window);
	gpu_unmap(s->memory.base);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int picture_send(struct sender *from, struct side *to, bool host)
{
	const struct route route = {
		.peer = side_target(to),
		.from = {.bytes = PICTURE_BYTES, .key = from->memory.key},
		.to = side_image(to),
	};
	struct dxp_target self;

	function_check(dxp_function_target(from->function, 0, &self), "own address");
	receiver_start(to, self);
	double begin_ms = now_ms();
	if (host)
		sender_run(from->window, from->memory.base, &shape, &route, 0, from->report);
	else
		device_run(from, &route);
	double elapsed_ms = now_ms() - begin_ms;
	report_check(from->report, host ? "this program" : "the device");
	side_finish(to);
	return picture_check(host ? "this program" : "the CUDA device", from->report, elapsed_ms,
			     to, false);
}

static bool options_read(int argc, char **argv, struct side *to)
{
	static const struct option options[] = {{"host", no_argument, NULL, 'h'}, {0}};
	bool host = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) == 'h')
		host = true;
	if (option != -1 || argc - optind > 1) {
		fprintf(stderr, "usage: kernel_put_cuda [--host] [RECEIVER]\n");
		exit(2);
	}
	to->name = argv[optind];
	return host;
}

int main(int argc, char **argv)
{
	struct sender from = {0};
	struct side to = {0};
	struct dxp_fabric *fabric;
	bool host = options_read(argc, argv, &to);
	const char *why = host ? NULL : gpu_open();

	if (why) {
		printf("skipped: %s\n", why);
		return SKIPPED;
	}
	check(dxp_fabric_open(NULL, &fabric), "join");
	side_open(fabric, &to, NULL);
	sender_open(&from);
	int wrong = picture_send(&from, &to, host);
	sender_close(&from);
	side_close(&to);
	dxp_fabric_close(fabric);
	return output_lost() || wrong;
}
