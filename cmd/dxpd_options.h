/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the options of dxpd. */
#ifndef CMD_DXPD_OPTIONS_H
#define CMD_DXPD_OPTIONS_H

#include "cmd/options/options.h"
#include "xpu/daemon.h"

struct dxpd_arguments {
	struct daemon_options daemon; /* all options of the daemon except key and stop */
	/* folder of a fabric that `dxp join` joined; used if `key` is NULL */
	const char *directory;
	const char *key;
	bool manager_given;
	uint64_t timeout_s; /* s to wait for a manager at the start; 0: no limit */
	int ready_fd;       /* descriptor that gets a newline when all xPUs have joined; -1: none */
	bool measure;       /* only measures buffer sizes, then exits */
	bool verbose;
};

extern const struct usage dxpd_usage;

/* Sets *out. Returns -1 to continue, otherwise the exit code, after it has printed everything. */
int dxpd_options_parse(int argc, char **argv, struct dxpd_arguments *out);

#endif
