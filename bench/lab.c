/* SPDX-License-Identifier: BSD-3-Clause */
/* The namespaces are named after this process, so that two benchmarks do not meet:
 *
 *   dxpb-PID-near [10.77.0.1] ==== veth, MTU as asked ==== [10.77.0.2] dxpb-PID-far
 */
#include "bench/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dxp/status.h>

#include "bench/report.h"

const struct lab lab_list[] = {
	{"loopback", 0, 8960},
	{"veth-1500", 1500, 1472},
	{"veth-9000", 9000, 8972},
};
const size_t lab_count = sizeof(lab_list) / sizeof(lab_list[0]);

static int command(const char *format, const char *name, unsigned mtu)
{
	char line[512];

	snprintf(line, sizeof(line), format, name, name, name, name, mtu);
	return system(line);
}

static bool namespaces_make(const char *name, unsigned mtu)
{
	if (geteuid() != 0)
		return false;
	return command("ip netns add %s-near && ip netns add %s-far && ip -n %s-near link add v0 "
		       "mtu 1500 type veth peer name v1 "
		       "netns %s-far 2>/dev/null",
		       name, 0) == 0 &&
	       command("ip -n %1$s-near link set v0 mtu %5$u up && ip -n %1$s-far link set v1 mtu "
		       "%5$u up && "
		       "ip -n %1$s-near addr add 10.77.0.1/24 dev v0 && ip -n %1$s-far addr add "
		       "10.77.0.2/24 dev v1",
		       name, mtu) == 0;
}

static void namespaces_remove(const char *name)
{
	if (command("ip netns del %s-near 2>/dev/null; ip netns del %s-far 2>/dev/null", name, 0) !=
	    0)
		return; /* they were never made */
}

static int netns_enter(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/netns/%s-near", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && setns(fd, CLONE_NEWNET) == 0 ? 0 : -1;
}

static int child_run(const struct lab *lab, const char *name, lab_body body, void *context)
{
	char far[48];
	struct raw_ends ends = {0};
	double near_ns;

	snprintf(far, sizeof(far), "%s-far", name);
	if (raw_c2c(20000, &near_ns) == DXP_OK)
		report_note("%s: cores %s (%.0f ns)", lab->name,
			    near_ns < RAW_NEAR_NS ? "near" : "far", near_ns);
	if (lab->mtu == 0) {
		wire_address_parse("127.0.0.1", 0, &ends.near);
		ends.far = ends.near;
		return body(lab, &ends, context);
	}
	wire_address_parse("10.77.0.1", 0, &ends.near);
	wire_address_parse("10.77.0.2", 0, &ends.far);
	ends.far_netns = far;
	return netns_enter(name) == 0 ? body(lab, &ends, context) : 1;
}

static volatile pid_t running; /* the process inside the lab */

/* Whoever ends us ends the measurement; the lab is taken down as always. */
static void pass_on(int signal)
{
	if (running > 0)
		kill(running, signal);
}

static int child_await(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) != child)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int process_run(const struct lab *lab, const char *name, lab_body body, void *context)
{
	const struct sigaction ours = {.sa_handler = pass_on};
	struct sigaction before[2];

	fflush(stdout);
	running = fork();
	if (running == 0)
		_exit(child_run(lab, name, body, context));
	sigaction(SIGTERM, &ours, &before[0]);
	sigaction(SIGINT, &ours, &before[1]);
	int status = running < 0 ? 1 : child_await(running);
	running = 0;
	sigaction(SIGTERM, &before[0], NULL);
	sigaction(SIGINT, &before[1], NULL);
	return status;
}

static int lab_run(const struct lab *lab, lab_body body, void *context)
{
	char name[32];

	snprintf(name, sizeof(name), "dxpb-%d", (int)getpid());
	if (lab->mtu != 0 && !namespaces_make(name, lab->mtu)) {
		namespaces_remove(name);
		report_note("%s: skipped, network namespaces need root and the `ip` program",
			    lab->name);
		return 0;
	}
	int status = process_run(lab, name, body, context);
	if (lab->mtu != 0)
		namespaces_remove(name);
	return status;
}

int lab_each(const char *only, lab_body body, void *context)
{
	int status = 0;

	for (size_t i = 0; i < lab_count && status == 0; i++)
		if (!only || strcmp(only, lab_list[i].name) == 0)
			status = lab_run(&lab_list[i], body, context);
	return status;
}
