/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements dxp, the command-line tool of Direct xPU: selects the command. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/program.h"
#include "cmd/dxp/command.h"

static const struct entry {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
} entries[] = {
	{"up", "start a fabric on this machine: a manager and xPUs", command_up},
	{"down", "stop the fabric that `dxp up` started", command_down},
	{"manager", "start a manager that admits machines by token", command_manager},
	{"join", "join the fabric of another machine with a token", command_join},
	{"token", "make, list and revoke join tokens", command_token},
	{"node", "remove a machine or user from the fabric", command_node},
	{"nodes", "list the nodes of the fabric", command_nodes},
	{"put", "write a file into the memory of an xPU", command_put},
	{"get", "read the memory of an xPU", command_get},
	{"reg", "read and write the registers of an xPU", command_reg},
	{"ping", "measure round trips to an xPU", command_ping},
	{"run", "run a program with xPUs as its OpenCL devices", command_run},
	{"grant", "permit a host to use an xPU", command_grant},
	{"revoke", "revoke a grant", command_revoke},
	{"grants", "list the grants", command_grants},
	{"events", "show the event log of the fabric: joins, deaths, grants, refusals, paths",
	 command_events},
	{"top", "show the traffic of the nodes on this machine", command_top},
	{"metrics", "print the counters of nodes once, for Prometheus", command_metrics},
	{"trace", "capture the packets of nodes on this machine, for Wireshark", command_trace},
	{"paths", "show what nodes measured of the paths between them, and what is blocked or slow",
	 command_paths},
	{"bridge", "show the bridges of xPUs that only DMA reaches: bytes, buffers, bottleneck",
	 command_bridge},
	{"vf", "show and manage the NIC functions on this machine: users, shares, limits",
	 command_vf},
	{"inc",
	 "show the switches that compute for this host: state, groups, rejections, self-test",
	 command_inc},
	{"web", "make a login link for the web page of the fabric", command_web},
	{"model", "predict the sources' hardware: latency, bandwidth, contention", command_model},
	{"rv32", "disassemble a program of engine rv32", command_rv32},
	{"bench", "run benchmarks, beside the limits of this machine", command_bench},
	{"doctor", "check this machine and the fabric, with the next step for each problem",
	 command_doctor},
	{"config", "show the options and where each value came from", command_config},
	{"version", "print the versions of program and protocol", command_version},
};

/* Returns whether the command has parts with options of their own. Configuration files have no
 * options of `dxp bench`. */
static bool has_parts(const char *name)
{
	return strcmp(name, "bench") == 0 || strcmp(name, "model") == 0;
}

bool command_has_options(const char *name)
{
	static const char model[] = "model ";

	for (size_t i = 0; i < ARRAY_COUNT(entries); i++)
		if (strcmp(entries[i].name, name) == 0)
			return !has_parts(name);
	return strncmp(name, model, sizeof(model) - 1) == 0 &&
	       command_model_has(name + sizeof(model) - 1);
}

int command_each(void)
{
	int status = EXIT_DONE;

	for (size_t i = 0; status == EXIT_DONE && i < ARRAY_COUNT(entries); i++) {
		char name[16], *argv[] = {name, NULL};
		snprintf(name, sizeof(name), "%s", entries[i].name);
		if (command_has_options(name))
			status = entries[i].run(1, argv);
	}
	return status == EXIT_DONE ? command_model_each() : status;
}

static int help(void)
{
	puts("Direct xPU: accelerators as peers on the network.\n\nusage: dxp COMMAND "
	     "[OPTION]...\n");
	for (size_t i = 0; i < ARRAY_COUNT(entries); i++)
		printf("  %-8s %s\n", entries[i].name, entries[i].summary);
	puts("\n"
	     "`dxp COMMAND --help` describes a command. To begin: `dxp up`, then `dxp nodes`.");
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "help";

	program_begin("dxp");
	setlocale(LC_CTYPE, "");
	for (size_t i = 0; i < ARRAY_COUNT(entries); i++) {
		if (strcmp(entries[i].name, name) == 0)
			return entries[i].run(argc - 1, argv + 1);
	}
	if (strcmp(name, "help") == 0 && argc > 2) {
		char flag[] = "--help", *question[] = {argv[2], flag, NULL};
		for (size_t i = 0; i < ARRAY_COUNT(entries); i++) {
			if (strcmp(entries[i].name, argv[2]) == 0)
				return entries[i].run(2, question);
		}
		name = argv[2];
	} else if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 ||
		   strcmp(name, "-h") == 0) {
		return help();
	}
	if (strcmp(name, "--version") == 0)
		return command_version(1, argv);
	print_fail("unknown command '%s'; see `dxp help`", name);
	return EXIT_USAGE;
}
