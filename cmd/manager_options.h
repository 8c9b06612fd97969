/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the options of dxp-manager. */
#ifndef CMD_MANAGER_OPTIONS_H
#define CMD_MANAGER_OPTIONS_H

#include "cmd/options/options.h"
#include "manager/server.h"

struct manager_arguments {
	const char *key, *state, *announce;
	const char *export_file, *import_file; /* NULL: it runs as a manager */
	const struct etcd_place *etcd;         /* NULL: SQLite */
	struct etcd_tls tls;
	struct udp_address bind;
	/* address at which nodes reach the manager; all zero: not given; port 0: the port that the
	 * manager listens on */
	struct udp_address advertise;
	enum grants_policy policy;
	enum admission admission;
	bool new_key, operator_token, verbose;
	/* the manager is reachable from other machines, and --admit or --grants was not given */
	bool chosen;
	int ready_fd;    /* descriptor for the ready message; -1: standard output */
	uint32_t events; /* bound of the event log */
};

extern const struct usage manager_usage;

/* Sets *out. Returns -1 to continue, otherwise the exit code, after it has printed everything. */
int manager_options_parse(int argc, char **argv, struct manager_arguments *out);

#endif
