/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of dxpd. */
#ifndef CMD_DXPD_OPTIONS_H
#define CMD_DXPD_OPTIONS_H

#include "cmd/options/options.h"
#include "xpu/daemon.h"

struct dxpd_arguments {
	struct daemon_options daemon; /* without key and stop */
	const char *directory;        /* of a fabric that `dxp join` joined, if `key` is NULL */
	const char *key;
	bool manager_given;
	uint64_t timeout_s; /* 0: never */
	int ready_fd;       /* -1: none */
	bool measure;       /* only measure buffers */
	bool verbose;
};

extern const struct usage dxpd_usage;

/* Sets *out. Returns -1 to continue, otherwise the exit code, after it has printed everything. */
int dxpd_options_parse(int argc, char **argv, struct dxpd_arguments *out);

#endif
