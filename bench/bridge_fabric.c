/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a manager at the lab's near end, and daemons of one xPU each at the far end. Separate
 * processes allow CPU time and memory to be measured for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/address.h"
#include "base/log.h"
#include "base/util.h"
#include "bench/bridge.h"
#include "bench/fabric.h"

#define PATH_TEXT    64
#define SCRIPT_TEXT  4096
#define NODE_TEXT    768
#define DEVICE_SPARE (64ull << 20) /* bytes beyond the largest transfer */

struct stage {
	struct bridge_setup *setup;
	int (*body)(struct bridge_setup *p);
	char folder[PATH_TEXT];
};

static void line_read(const struct stage *s, const char *name, char *out, size_t bytes)
{
	char path[PATH_TEXT + 64];

	snprintf(path, sizeof(path), "%s/%s", s->folder, name);
	FILE *f = fopen(path, "r");
	if (!f || !fgets(out, (int)bytes, f))
		out[0] = '\0';
	if (f)
		fclose(f);
	out[strcspn(out, "\n")] = '\0';
}

static void complain(const struct stage *s)
{
	char name[80], reported[512], missing[64];

	line_read(s, "missing", missing, sizeof(missing));
	snprintf(name, sizeof(name), "%s.log", missing);
	line_read(s, name, reported, sizeof(reported));
	log_error("cannot start a fabric for this benchmark: %s did not start%s%s",
		  missing[0] ? missing : "its first process",
		  reported[0] ? "; its log ends with: " : "", reported);
}

static bool daemon_open(struct bridge_setup *p, struct bridge_daemon *daemon)
{
	int status = dxp_xpu_open(p->fabric, daemon->name, &daemon->xpu);

	if (status == DXP_OK)
		status = dxp_xpu_caps(daemon->xpu, &daemon->caps);
	if (status == DXP_OK)
		status = dxp_mem_alloc(daemon->xpu, p->largest, &daemon->address);
	if (status != DXP_OK)
		log_error("%s cannot be used: %s", daemon->name, dxp_fabric_error(NULL));
	return status == DXP_OK;
}

static int inside_run(void *context)
{
	struct stage *s = context;
	struct bridge_setup *p = s->setup;
	const struct dxp_fabric_options options = {.directory = s->folder};
	char path[PATH_TEXT + 8], pid[32];
	bool open;

	snprintf(path, sizeof(path), "%s/up", s->folder);
	if (access(path, F_OK) != 0) {
		complain(s);
		return 1;
	}
	/* Opens the device before joining: the opening measures its speed. */
	if (p->dma_bytes && !bridge_dma_open(p, p->dma_bytes, 0))
		return 1;
	open = dxp_fabric_open(&options, &p->fabric) == DXP_OK;
	if (!open)
		log_error("cannot use the fabric of this benchmark: %s", dxp_fabric_error(NULL));
	for (size_t i = 0; open && i < p->daemon_count; i++) {
		snprintf(path, sizeof(path), "%s.pid", p->daemons[i].name);
		line_read(s, path, pid, sizeof(pid));
		p->daemons[i].pid = (pid_t)atoi(pid);
		open = daemon_open(p, &p->daemons[i]);
	}
	int status = open ? s->body(p) : 1;
	for (size_t i = 0; i < p->daemon_count; i++)
		dxp_xpu_close(p->daemons[i].xpu);
	dxp_fabric_close(p->fabric);
	dxp_dma_close(p->dma);
	p->dma = NULL;
	return status;
}

/* Calls the shell function `part` of make_head. */
static void daemon_text(const struct bridge_setup *p, const struct bridge_daemon *daemon, char *out,
			size_t bytes)
{
	char rings[64] = "", reads[32] = "";

	if (daemon->buffer_bytes)
		snprintf(rings, sizeof(rings), "--buffer-bytes %u", daemon->buffer_bytes);
	if (daemon->reads)
		snprintf(reads, sizeof(reads), "--reads %u", daemon->reads);
	snprintf(out, bytes,
		 "part %s %s \"$far\" dxpd --manager $(cat manager) --key fabric.key --name %s "
		 "--engine '%s' --memory %lluM --functions 0 %s %s || exit 0\n",
		 daemon->name, daemon->name, daemon->name, daemon->engine,
		 (unsigned long long)((p->largest + DEVICE_SPARE) >> 20), rings, reads);
}

static const char make_head[] =
	"cd %s && mkdir -m 700 run && export DXP_RUN=$PWD/run PATH='%s':$PATH far='%s%s'\n"
	/* NAME WORDS WHERE PROGRAM...; waits up to 15 s until the log has WORDS */
	"part() {\n"
	"	name=$1 words=$2 where=$3; shift 3\n"
	"	$where \"$@\" >$name.log 2>&1 & pid=$!; echo $pid >$name.pid\n"
	"	for i in $(seq 300); do\n"
	"		grep -q \"$words\" $name.log && return 0\n"
	"		kill -0 $pid 2>/dev/null || break\n"
	"		sleep 0.05\n"
	"	done\n"
	"	echo $name >missing; return 1\n"
	"}\n"
	"part manager 'listening on' '' dxp-manager --key fabric.key --new-key --state state"
	" --bind '%s:0' --admit key --grants any || exit 0\n"
	"sed -n 's/.*listening on //p' manager.log >manager\n";

static const char end_text[] = "cd %s && kill $(cat *.pid)\n"
			       "for i in $(seq 100); do\n"
			       "	kill -0 $(cat *.pid) 2>/dev/null || break\n"
			       "	sleep 0.05\n"
			       "done\n"
			       "kill -9 $(cat *.pid) 2>/dev/null; rm -rf %s";

static bool script_write(const struct stage *s, const struct raw_ends *ends, char *out,
			 size_t bytes)
{
	char address[UDP_ADDRESS_TEXT_BYTES], daemon[NODE_TEXT];

	address_format(&ends->near, address);
	address[strcspn(address, ":")] = '\0'; /* labs use IPv4 */
	int n = snprintf(out, bytes, make_head, s->folder, fabric_programs_folder(),
			 ends->far_netns ? "ip netns exec " : "",
			 ends->far_netns ? ends->far_netns : "", address);
	for (size_t i = 0; i < s->setup->daemon_count && n < (int)bytes; i++) {
		daemon_text(s->setup, &s->setup->daemons[i], daemon, sizeof(daemon));
		n += snprintf(out + n, bytes - (size_t)n, "%s", daemon);
	}
	if (n < (int)bytes)
		n += snprintf(out + n, bytes - (size_t)n, "touch up");
	return n < (int)bytes;
}

int bridge_fabric_run(struct bridge_setup *p, const struct raw_ends *ends,
		      int (*body)(struct bridge_setup *p))
{
	struct stage s = {.setup = p, .body = body, .folder = "/tmp/dxp-bench-XXXXXX"};
	char make[SCRIPT_TEXT], end[SCRIPT_TEXT];

	if (!mkdtemp(s.folder)) {
		log_error("cannot create a folder in /tmp: %m");
		return 1;
	}
	if (!script_write(&s, ends, make, sizeof(make))) {
		log_error("the engine's name is too long: %s", p->options->engine);
		rmdir(s.folder);
		return 2;
	}
	snprintf(end, sizeof(end), end_text, s.folder, s.folder);
	const struct lab_scripts scripts = {
		.name = "fabric", .make = make, .remove = end, .anyone = true};
	return lab_scripts_run(&scripts, inside_run, &s);
}
