/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/fabric.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "bench/lab.h"

#define PATH_TEXT   64
#define SCRIPT_TEXT 2560

struct stage {
	char folder[PATH_TEXT];
	fabric_body body;
	void *context;
};

const char *fabric_programs_folder(void)
{
	static char path[1024];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[bytes > 0 ? bytes : 0] = '\0';
	return dirname(path);
}

/* The output has the reason of the failure. */
static void complain(const struct stage *s)
{
	char path[PATH_TEXT + 8], text[1024] = "";

	snprintf(path, sizeof(path), "%s/said", s->folder);
	FILE *f = fopen(path, "r");
	size_t bytes = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[bytes > 0 && text[bytes - 1] == '\n' ? bytes - 1 : bytes] = '\0';
	log_error("cannot start a fabric for this benchmark: %s",
		  bytes ? text : "no process started");
}

static int inside_run(void *context)
{
	const struct stage *s = context;
	char path[PATH_TEXT + 16];

	snprintf(path, sizeof(path), "%s/run", s->folder);
	setenv("DXP_RUN", path, 1);
	snprintf(path, sizeof(path), "%s/fabric", s->folder);
	setenv("DXP_DIR", path, 1);
	snprintf(path, sizeof(path), "%s/up", s->folder);
	if (access(path, F_OK) == 0)
		return s->body(s->context);
	complain(s);
	return 1;
}

/* Starts a switch at an unused loopback address, and gives it to `dxp up`. */
#define SWITCH_START                                                                              \
	"address=127.77.$(($$ / 250 %% 250)).$(($$ %% 250 + 1))\n"                                \
	"'%s/dxp-switch' --address $address --plane user >switch 2>&1 &\n"                        \
	"echo $! >switch.pid\n"                                                                   \
	"until grep -q \"at $address\" switch || ! kill -0 $!; do sleep 0.05; done 2>/dev/null\n" \
	"export DXPD_SWITCH=$address\n"
#define SWITCH_END "[ ! -f %s/switch.pid ] || kill $(cat %s/switch.pid); "

static int run(unsigned xpus, const char *memory, const char *engine, bool switched,
	       fabric_body body, void *context)
{
	struct stage s = {.folder = "/tmp/dxp-bench-XXXXXX", .body = body, .context = context};
	char make[SCRIPT_TEXT], end[SCRIPT_TEXT], start[SCRIPT_TEXT / 2] = "";

	if (!mkdtemp(s.folder)) {
		log_error("cannot create a folder in /tmp: %m");
		return 1;
	}
	if (switched)
		snprintf(start, sizeof(start), SWITCH_START, fabric_programs_folder());
	snprintf(make, sizeof(make),
		 "cd %s && mkdir -m 700 run && export DXP_DIR=$PWD/fabric DXP_RUN=$PWD/run\n%s"
		 "'%s/dxp' up --xpus %u --memory %s --engine '%s' --port 0 >said 2>&1 && touch up\n"
		 "true", /* cannot fail; inside_run logs failures */
		 s.folder, start, fabric_programs_folder(), xpus, memory, engine);
	snprintf(end, sizeof(end), "DXP_DIR=%s/fabric '%s/dxp' down; " SWITCH_END "rm -rf %s",
		 s.folder, fabric_programs_folder(), s.folder, s.folder, s.folder);
	const struct lab_scripts scripts = {
		.name = "fabric", .make = make, .remove = end, .anyone = true};
	return lab_scripts_run(&scripts, inside_run, &s);
}

int fabric_engine_run(unsigned xpus, const char *memory, const char *engine, fabric_body body,
		      void *context)
{
	return run(xpus, memory, engine, false, body, context);
}

int fabric_switched_run(unsigned xpus, const char *memory, const char *engine, fabric_body body,
			void *context)
{
	return run(xpus, memory, engine, true, body, context);
}

int fabric_run(unsigned xpus, const char *memory, fabric_body body, void *context)
{
	return fabric_engine_run(xpus, memory, "ocl", body, context);
}
