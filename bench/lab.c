/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the labs. Namespace names contain this process's id, so that two benchmarks do not collide:
 *
 *   dxpb-PID-near [v0 10.77.0.1] ==== veth, MTU of the lab ==== [v1 10.77.0.2] dxpb-PID-far
 *
 * The kernel saves no route metrics, so no TCP connection inherits them from an earlier one. */
#include "bench/lab.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dxp/status.h>

#include "bench/child.h"
#include "bench/report.h"

#define SCRIPT_BYTES 2048
/* added to the signal's number */
#define SIGNALLED 128

const struct lab lab_list[] = {
	{"loopback", 0, 8960, false},
	{"veth-1500", 1500, 1472, false},
	{"veth-9000", 9000, 8972, false},
	{"wire-1500", 1500, 1472, true},
};
const size_t lab_count = sizeof(lab_list) / sizeof(lab_list[0]);

static const char veth_make[] =
	"ip netns add $LAB-near && ip netns add $LAB-far || exit 1\n"
	"near=\"ip netns exec $LAB-near\" far=\"ip netns exec $LAB-far\"\n"
	"$near ip link set lo up && $far ip link set lo up || exit 1\n"
	"$near ip link add v0 mtu $MTU type veth peer name v1 mtu $MTU netns $LAB-far &&\n"
	"$near ip addr add 10.77.0.1/24 dev v0 && $far ip addr add 10.77.0.2/24 dev v1 &&\n"
	"$near ip link set v0 up && $far ip link set v1 up || exit 1\n"
	"$near sysctl -qw net.ipv4.tcp_no_metrics_save=1\n"
	"$far sysctl -qw net.ipv4.tcp_no_metrics_save=1\n"
	"[ $CUT = 0 ] || {\n"
	"	$near ethtool -K v0 tx-udp-segmentation off tso off gso off &&\n"
	"	$far ethtool -K v1 tx-udp-segmentation off tso off gso off || exit 1\n"
	"}\n"
	"for i in 1 2 3 4 5 6 7 8 9 10; do # some libraries refuse a link that is not up yet\n"
	"	[ $($near cat /sys/class/net/v0/operstate) = up ] &&\n"
	"		[ $($far cat /sys/class/net/v1/operstate) = up ] && break\n"
	"	sleep 0.2\n"
	"done\n";
static const char veth_remove[] = "ip netns del $LAB-near; ip netns del $LAB-far";

const struct lab *lab_find(const char *name)
{
	for (size_t i = 0; i < lab_count; i++)
		if (strcmp(lab_list[i].name, name) == 0)
			return &lab_list[i];
	return NULL;
}

const char *lab_prefix(void)
{
	const char *name = getenv("LAB");

	return name ? name : "";
}

/* Uses a session of its own, so Ctrl-C does not stop the script halfway. */
static int script_run(const char *script)
{
	int status = 0;

	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
			_exit(1);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return -1;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static volatile sig_atomic_t ended; /* the signal received, or 0 */
static volatile pid_t running;      /* the process inside the lab */

/* Forwards a signal; the lab is removed after the measurement exits. */
static void pass_on(int signal)
{
	ended = signal;
	if (running > 0)
		kill(running, signal);
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static int child_await(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) != child)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int process_run(int (*body)(void *context), void *context)
{
	pid_t parent = getpid();

	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < SIGNALS; i++)
			signal(signals[i], SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		int status = body(context);
		fflush(NULL);
		_exit(status);
	}
	running = pid;
	/* pass_on could not kill the child if the signal came before `running` was set */
	if (ended && pid > 0)
		kill(pid, SIGKILL);
	int status = pid < 0 ? 1 : child_await(pid);
	running = 0;
	return status;
}

int lab_scripts_run(const struct lab_scripts *scripts, int (*body)(void *context), void *context)
{
	const struct sigaction dxp = {.sa_handler = pass_on};
	struct sigaction before[SIGNALS];
	char name[32];
	int status = 0;

	snprintf(name, sizeof(name), "dxpb-%d", (int)getpid());
	setenv("LAB", name, 1);
	ended = 0;
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &dxp, &before[i]);
	bool made = scripts->make == NULL ||
		    ((scripts->anyone || geteuid() == 0) && script_run(scripts->make) == 0);
	if (made && !ended)
		status = process_run(body, context);
	else if (!ended)
		report_note("%s: skipped; it needs root and the programs ip, ethtool, tc and nft",
			    scripts->name);
	if (scripts->remove)
		script_run(scripts->remove);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	if (ended)
		raise(ended);
	return ended ? SIGNALLED + ended : status;
}

struct inside {
	const struct lab *lab;
	lab_body body;
	void *context;
};

static int inside_run(void *context)
{
	const struct inside *i = context;
	struct raw_ends ends = {0};
	char near[48], far[48];

	if (i->lab->mtu == 0) {
		address_parse("127.0.0.1", 0, &ends.near);
		ends.far = ends.near;
		return i->body(i->lab, &ends, i->context);
	}
	snprintf(near, sizeof(near), "%s-near", lab_prefix());
	snprintf(far, sizeof(far), "%s-far", lab_prefix());
	address_parse("10.77.0.1", 0, &ends.near);
	address_parse("10.77.0.2", 0, &ends.far);
	ends.far_netns = far;
	return child_netns_enter(near) == DXP_OK ? i->body(i->lab, &ends, i->context) : 1;
}

int lab_run(const struct lab *lab, lab_body body, void *context)
{
	struct lab_scripts scripts = {.name = lab->name};
	struct inside inside = {lab, body, context};
	char make[SCRIPT_BYTES];

	if (lab->mtu != 0) {
		snprintf(make, sizeof(make), "MTU=%u CUT=%d\n%s", lab->mtu, lab->cut, veth_make);
		scripts.make = make;
		scripts.remove = veth_remove;
	}
	return lab_scripts_run(&scripts, inside_run, &inside);
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

int lab_each(const char *only, lab_body body, void *context)
{
	int status = 0;

	for (size_t i = 0; i < lab_count && status < SIGNALLED; i++)
		if (!only || strcmp(only, lab_list[i].name) == 0)
			status = max_int(status, lab_run(&lab_list[i], body, context));
	return status;
}

bool lab_loss(const struct raw_ends *ends, unsigned per_10000)
{
	static const char rules[] =
		"for side in '' 'ip netns exec %s'; do\n"
		"$side nft add table inet dxpb && $side nft flush table inet dxpb &&\n"
		"$side nft add chain inet dxpb in '{ type filter hook input priority 0; }' ||"
		" exit 1\n"
		"[ %u = 0 ] || $side nft add rule inet dxpb in meta l4proto '{ tcp, udp }'"
		" numgen random mod 10000 '<' %u drop || exit 1\n"
		"done";
	char script[SCRIPT_BYTES];

	snprintf(script, sizeof(script), rules, ends->far_netns, per_10000, per_10000);
	if (script_run(script) == 0)
		return true;
	report_note("loss of %g %%: skipped, nft rejected its rule", per_10000 / 100.0);
	return false;
}
