/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements dxp-switch: commands and exit codes around src/switch/serve.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/program.h"
#include "base/util.h"
#include "cmd/switch_options.h"
#include "switch/plane.h"
#include "switch/serve.h"

static _Atomic int stop, drain;
static int wake_fd = -1;

static void on_signal(int number)
{
	const uint64_t one = 1;

	*(number == SIGUSR1 ? &drain : &stop) = 1;
	if (write(wake_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full, so the eventfd is readable */
}

/* ---- list and remove ---- */

static void row_print(void *context, const char *interface, uint32_t program_id, bool native)
{
	unsigned *count = context;

	if ((*count)++ == 0)
		printf("%-16s %8s  %s\n", "INTERFACE", "PROGRAM", "MODE");
	printf("%-16s %8u  %s\n", interface, program_id, native ? "native" : "generic");
}

static int list(int argc)
{
	unsigned count = 0;

	if (argc != 2)
		return switch_options_refuse("list takes no arguments");
	int status = plane_list(row_print, &count);
	if (status < 0) {
		log_error("cannot list the interfaces' programs: %s", dxp_status_text(status));
		return SWITCH_EXIT_FAILED;
	}
	if (count == 0)
		puts("no interface of this machine has an XDP program of dxp-switch");
	return SWITCH_EXIT_GOOD;
}

static int remove_from(int argc, char **argv)
{
	char why[PLANE_WHY_BYTES] = "";

	if (argc != 3)
		return switch_options_refuse("remove needs the name of an interface");
	int status = plane_remove(argv[2], why);
	if (status == DXP_OK)
		return SWITCH_EXIT_GOOD;
	log_error("%s", *why ? why : dxp_status_text(status));
	return status == DXP_ENOENT ? SWITCH_EXIT_ADDRESS : SWITCH_EXIT_FAILED;
}

/* ---- main program ---- */

static int exit_code_of(int status)
{
	switch (status) {
	case DXP_OK: return SWITCH_EXIT_GOOD;
	case DXP_EBUSY: return SWITCH_EXIT_BUSY;
	case DXP_ENOENT: return SWITCH_EXIT_ADDRESS;
	case DXP_EUNSUPPORTED: return SWITCH_EXIT_PLANE;
	default: return SWITCH_EXIT_FAILED;
	}
}

static int signals_set(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0) {
		log_error("cannot create an eventfd: %m; if the limit of open files is reached, "
			  "raise \"ulimit -n\"");
		return SWITCH_EXIT_FAILED;
	}
	program_signals_set(on_signal);
	sigaction(SIGUSR1, &action, NULL);
	return -1;
}

int main(int argc, char **argv)
{
	struct serve_options options;

	program_begin("dxp-switch");
	if (argc > 1 && strcmp(argv[1], "list") == 0)
		return list(argc);
	if (argc > 1 && strcmp(argv[1], "remove") == 0)
		return remove_from(argc, argv);
	int code = switch_options_parse(argc, argv, &options);
	if (code < 0)
		code = signals_set();
	if (code < 0) {
		options.stop = &stop;
		options.drain = &drain;
		options.wake_fd = wake_fd;
		code = exit_code_of(serve_run(&options));
	}
	return code;
}
