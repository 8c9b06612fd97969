/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the options of dxp-web. */
#ifndef CMD_WEB_OPTIONS_H
#define CMD_WEB_OPTIONS_H

#include <dxp/mmd.h>

#include "base/address.h"
#include "cmd/options/options.h"

struct web_arguments {
	struct dxp_fabric_options fabric;
	struct udp_address listen;
	struct option_list switches;
	const char *certificate, *certificate_key, *scrape_token;
	uint64_t interval_ms;
	bool login; /* login is required even on a loopback address */
	bool verbose;
	/* descriptor for the message that the program is ready; -1: standard output */
	int ready_fd;
};

extern const struct usage web_usage;

/* Sets *out. Returns -1 to continue, otherwise the exit code, after it has printed everything. */
int web_options_parse(int argc, char **argv, struct web_arguments *out);

#endif
