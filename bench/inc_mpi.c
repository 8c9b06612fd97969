/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs bench/mpi/allreduce.c on a lab's hosts by the mpirun of tools/lab. Real-time scheduling
 * makes ranks alternate if cores are few. */
#include "bench/inc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "bench/fabric.h"

#define COMMAND_TEXT 8192
#define LIMIT_S      90   /* s per program; success takes a few */
#define CALLS        6000 /* with a short message, summed over ranks */
#define CALLS_MIN    6
#define SHORT_BYTES  1024

/* Makes every size take about the same time: some tenths of a second. */
static unsigned calls_of(const struct inc_run *run, size_t bytes)
{
	double ranks = run->lab->hosts * run->ranks_per_host;
	double calls = CALLS / ranks / (run->quick ? 4 : 1);

	if (bytes > SHORT_BYTES)
		calls /= 1 + (double)bytes / (8 * SHORT_BYTES);
	return calls < CALLS_MIN ? CALLS_MIN : (unsigned)calls;
}

/* A command that is too long is truncated, and fails when it runs. */
static void append(char command[COMMAND_TEXT], const char *text)
{
	size_t used = strlen(command);

	snprintf(command + used, COMMAND_TEXT - used, "%s", text);
}

static void namespaces_append(char command[COMMAND_TEXT], const struct inc_lab *lab)
{
	char name[128], entry[256], first = 1;
	FILE *f = popen("ip netns list", "r");
	size_t prefix = strlen(lab->name);

	append(command, "DXP_BENCH_NETNS=");
	while (f && fscanf(f, "%127s%*[^\n]", name) == 1) {
		if (strncmp(name, lab->name, prefix) != 0 || name[prefix] != '-')
			continue;
		snprintf(entry, sizeof(entry), "%s%s:/run/netns/%s", first ? "" : ",",
			 name[prefix + 1] == 'h' ? "host" : "switch", name);
		append(command, entry);
		first = 0;
	}
	if (f)
		pclose(f);
	append(command, " ");
}

static void command_make(const struct inc_run *run, char command[COMMAND_TEXT])
{
	char text[1024];

	command[0] = '\0';
	namespaces_append(command, run->lab);
	snprintf(text, sizeof(text),
		 "%s DXP_BIN='%s' timeout -k 5 %d '%s' mpirun %s --chrt --ppn %u %s -np %u "
		 "'%s/../lib/dxp/dxp-mpi-allreduce'",
		 run->environment, fabric_programs_folder(), LIMIT_S, inc_lab_tool(),
		 run->lab->name, run->ranks_per_host, run->mpirun,
		 run->lab->hosts * run->ranks_per_host, fabric_programs_folder());
	append(command, text);
	for (size_t i = 0; i < run->size_count; i++) {
		snprintf(text, sizeof(text), " %zu:%u", run->sizes[i],
			 calls_of(run, run->sizes[i]));
		append(command, text);
	}
	append(command, " 2>&1 </dev/null");
}

static bool line_parse(const struct inc_run *run, const char *line, struct inc_figures *out)
{
	struct inc_figures f;
	size_t bytes;

	if (sscanf(line, "%zu %lf %lf %lf %lf %lf %lf %u", &bytes, &f.mean_us, &f.p50_us, &f.cpu_us,
		   &f.busy_us, &f.sent, &f.crossed, &f.wrong) != 8)
		return false;
	for (size_t i = 0; i < run->size_count; i++)
		if (run->sizes[i] == bytes)
			out[i] = f;
	return true;
}

bool inc_mpi_run(const struct inc_run *run, struct inc_figures *out, char why[INC_WHY_BYTES])
{
	char command[COMMAND_TEXT], line[1024];
	size_t lines = 0;

	memset(out, 0, run->size_count * sizeof(*out));
	why[0] = '\0';
	command_make(run, command);
	if (getenv("DXP_BENCH_TRACE"))
		fprintf(stderr, "%s\n", command);
	FILE *f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (line_parse(run, line, out))
			lines++;
		else if (line[0] && line[0] != '-')
			snprintf(why, INC_WHY_BYTES, "%.*s", INC_WHY_BYTES - 1, line);
	}
	int status = f ? pclose(f) : -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 && lines == run->size_count;
}
