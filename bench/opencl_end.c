/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/opencl_end.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/fabric.h"

#define POCL_ICD  "/etc/OpenCL/vendors/pocl.icd"
#define PATH_TEXT 1280

/* Makes only one driver visible. PoCL gets two devices, as many as the fabric. */
static void end_exec(enum opencl_driver driver)
{
	char path[PATH_TEXT];

	/* right in a build tree and most installations */
	snprintf(path, sizeof(path), "%s/../lib/libdxp-opencl.so", fabric_programs_folder());
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof(path), "%s/" DXP_LIBRARY_FOLDER "/dxp/libdxp-opencl.so",
			 fabric_programs_folder());
	setenv("OCL_ICD_VENDORS", driver == OPENCL_DXP ? path : POCL_ICD, 1);
	if (driver == OPENCL_LOCAL)
		setenv("POCL_DEVICES", "basic basic", 1);
	snprintf(path, sizeof(path), "%s/../lib/dxp/dxp-bench-opencl", fabric_programs_folder());
	execl(path, path, driver == OPENCL_DXP ? "Direct xPU" : "Portable Computing Language",
	      (char *)NULL);
	printf("failed cannot start %s: %s\n", path, strerror(errno));
	fflush(stdout);
	_exit(127);
}

static void child_run(enum opencl_driver driver, const int in[2], const int out[2])
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
	end_exec(driver);
}

static bool answer_read(struct opencl_end *e, char *line, size_t bytes)
{
	if (!fgets(line, (int)bytes, e->from)) {
		snprintf(e->why, sizeof(e->why), "the measuring program has exited");
		return false;
	}
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "failed ", 7) == 0) {
		snprintf(e->why, sizeof(e->why), "%.150s", line + 7);
		return false;
	}
	return true;
}

bool opencl_end_start(struct opencl_end *e, enum opencl_driver driver)
{
	int in[2], out[2];
	char line[256];

	signal(SIGPIPE, SIG_IGN); /* a missing answer shows that the process died */
	if (pipe(in)) {
		snprintf(e->why, sizeof(e->why), "no pipe: %s", strerror(errno));
		return false;
	}
	if (pipe(out)) {
		snprintf(e->why, sizeof(e->why), "no pipe: %s", strerror(errno));
		close(in[0]);
		close(in[1]);
		return false;
	}
	fflush(NULL);
	e->pid = fork();
	if (e->pid == 0)
		child_run(driver, in, out);
	close(in[0]);
	close(out[1]);
	e->to = fdopen(in[1], "w");
	e->from = fdopen(out[0], "r");
	if (e->pid < 0 || !e->to || !e->from) {
		snprintf(e->why, sizeof(e->why), "cannot start a process: %s", strerror(errno));
		return false;
	}
	return answer_read(e, line, sizeof(line));
}

bool opencl_end_run(struct opencl_end *e, const char *name, uint64_t bytes, uint32_t count,
		    struct opencl_figures *out)
{
	char line[256];

	if (!e->to || !e->from || e->pid <= 0)
		return false;
	fprintf(e->to, "%s %llu %u\n", name, (unsigned long long)bytes, count);
	if (fflush(e->to) || !answer_read(e, line, sizeof(line)))
		return false;
	if (sscanf(line, "ok %lf %lf %lf", &out->p50_us, &out->p99_us, &out->mean_us) == 3)
		return true;
	snprintf(e->why, sizeof(e->why), "it answered '%.120s'", line);
	return false;
}

void opencl_end_stop(struct opencl_end *e)
{
	if (e->to)
		fclose(e->to);
	if (e->from)
		fclose(e->from);
	e->to = e->from = NULL;
	if (e->pid > 0) {
		kill(e->pid, SIGTERM);
		waitpid(e->pid, NULL, 0);
	}
	e->pid = 0;
}

const struct raw_ends *opencl_loopback(void)
{
	static struct raw_ends ends;

	address_parse("127.0.0.1", 0, &ends.near);
	ends.far = ends.near;
	return &ends;
}
