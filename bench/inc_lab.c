/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes labs by tools/lab. Several may be up at once, because idle processes sleep. */
#include "bench/inc.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "bench/fabric.h"
#include "bench/lab.h"

#define COMMAND_TEXT 2048

static const char *const tools[] = {"../../tools/lab", "../share/dxp/tools/lab",
				    "../share/dxp/lab"};

const char *inc_lab_tool(void)
{
	static char path[COMMAND_TEXT / 2];

	for (size_t i = 0; i < ARRAY_COUNT(tools); i++) {
		snprintf(path, sizeof(path), "%s/%s", fabric_programs_folder(), tools[i]);
		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

static bool program_there(const char *name)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", name);
	FILE *shell = popen(command, "r");
	return shell && pclose(shell) == 0;
}

const char *inc_lab_obstacle(void)
{
	static const struct {
		const char *name, *sentence;
	} programs[] = {
		{"mpirun", "mpirun is missing; \"tools/setup inc\" installs Open MPI"},
		{"ip", "the program ip is missing; \"tools/setup bench\" installs it"},
		{"chrt", "the program chrt is missing; install util-linux"},
	};

	if (geteuid() != 0)
		return "labs are network namespaces, which need root; try sudo";
	for (size_t i = 0; i < ARRAY_COUNT(programs); i++)
		if (!program_there(programs[i].name))
			return programs[i].sentence;
	if (!inc_lab_tool())
		return "tools/lab, which makes the hosts and switches, is not beside this program";
	return NULL;
}

static bool command_run(const char *command, char why[INC_WHY_BYTES])
{
	char line[INC_WHY_BYTES];
	FILE *f = popen(command, "r");

	why[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0])
			memcpy(why, line, sizeof(line));
	}
	int status = f ? pclose(f) : -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool inc_lab_up(struct inc_lab *lab, const char *suffix, unsigned hosts, const char *options)
{
	char command[COMMAND_TEXT], program[COMMAND_TEXT / 2];

	snprintf(program, sizeof(program), "%s/dxp-switch", fabric_programs_folder());
	if (!strstr(options, "--no-switches") && access(program, X_OK) != 0) {
		snprintf(lab->why, sizeof(lab->why), "dxp-switch is not built");
		return false;
	}
	snprintf(lab->name, sizeof(lab->name), "%s-%s", lab_prefix(), suffix);
	lab->hosts = hosts;
	snprintf(command, sizeof(command), "DXP_BIN='%s' '%s' up %s --hosts %u %s 2>&1 </dev/null",
		 fabric_programs_folder(), inc_lab_tool(), lab->name, hosts, options);
	lab->up = command_run(command, lab->why);
	return lab->up;
}
