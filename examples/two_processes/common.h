/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by server and client. */
#ifndef TWO_PROCESSES_COMMON_H
#define TWO_PROCESSES_COMMON_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include <dxp/function.h>

#define LABEL       "two-processes" /* for finding the server */
#define BYTES       65536           /* size of the server's memory */
#define COUNTER_AT  (BYTES - 8)     /* the last 8 bytes count the clients */
#define TAG         42u             /* tag of the announced PUT */
#define CLIENTS_MAX 32              /* waiting at one time */
#define WAIT_NS     10000000000ull

/* First NAP of each side: its address and memory key. */
struct hello {
	struct dxp_target target;
	uint32_t key;
};

static inline void check(int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "%s: %s: %s\n", what, dxp_status_name(status), dxp_function_error());
	exit(1);
}

/* Pauses and returns true to retry: the other side may still be starting. */
static inline int again(int status, int *tries)
{
	const struct timespec pause = {.tv_nsec = 100000000};

	return status == DXP_ENOENT && ++*tries <= 20 && thrd_sleep(&pause, NULL) == 0;
}

/* Returns 1, after a message, if standard output lost text, else 0. */
static inline int output_lost(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("standard output");
	return 1;
}

static inline void usage_if_requested(int argc, char **argv, const char *text)
{
	if (argc < 2 || strcmp(argv[1], "--help") != 0)
		return;
	fputs(text, stdout);
	exit(output_lost());
}

static inline void posted(struct dxp_function *f, int status, const char *what)
{
	check(status, what);
	dxp_function_kick(f);
}

/* Exits if the post failed. */
static inline struct dxp_nic_event completion(struct dxp_function *f, const char *what)
{
	struct dxp_nic_event event;

	while (!dxp_sent_dequeue(dxp_function_window(f), &event))
		check(dxp_function_wait(f, WAIT_NS), what);
	check(event.status, what);
	return event;
}

#endif
