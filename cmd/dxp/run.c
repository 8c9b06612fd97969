/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp run`: an unmodified program gets the xPUs of the fabric as OpenCL devices. */
#include "cmd/dxp/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/dxp/command.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/options/options.h"
#include "cmd/dxp/process.h"
#include "cmd/dxp/session.h"

#define OPENCL_DRIVER "libdxp-opencl.so"
#define VENDORS       "/etc/OpenCL/vendors"
#define PROGRAM_ARGS  100000
#define EXIT_NOT_RUN  126
#define EXIT_NOT_HERE 127

struct run {
	const char *nodes, *engine, *type, *trace, *directory, *opencl_driver;
	uint64_t memory;
	bool beside, quiet, json, profile;
	char **program;
	char folder[64];
};

static const char text[] =
	"Runs an unmodified program with the xPUs of the fabric as its OpenCL "
	"devices, and no other devices\n"
	"unless --beside is given. The exit status is that of the program; 126 "
	"and 127: it could not be started.\n"
	"\n"
	"  dxp run -- clinfo -l\n"
	"  dxp run --nodes 2 -- python3 demo.py\n"
	"  dxp run --nodes gpu3,gpu4 --trace run.json -- ./simulation\n"
	"\n"
	"When the program exits, a table shows for each node: commands, bytes "
	"from and to the host (IN, OUT) and other\n"
	"nodes and switches (FROM, TO), and how long transfers and the device were busy.";

/* ---- the plugin ---- */

/* Finds the plugin relative to this program, in the build or installed tree. If it is not there,
 * the ICD loader searches its own folders. */
static void opencl_driver_find(char out[PATH_BYTES])
{
	static const char *const folders[] = {"../lib/" OPENCL_DRIVER,
					      DXP_LIBRARY_FOLDER "/dxp/" OPENCL_DRIVER};

	for (size_t i = 0; i < ARRAY_COUNT(folders); i++)
		if (process_beside(folders[i], out, PATH_BYTES))
			return;
	snprintf(out, PATH_BYTES, "%s", OPENCL_DRIVER);
}

/* Writes the .icd file that names the plugin. others_link adds the installed drivers. */
static bool vendors_make(const struct run *r)
{
	char path[PATH_BYTES], opencl_driver[PATH_BYTES];

	if (r->opencl_driver)
		snprintf(opencl_driver, sizeof(opencl_driver), "%s", r->opencl_driver);
	else
		opencl_driver_find(opencl_driver);
	snprintf(path, sizeof(path), "%s/vendors", r->folder);
	if (mkdir(path, 0700))
		return print_fail("cannot create %s: %s", path, strerror(errno)) == EXIT_DONE;
	snprintf(path, sizeof(path), "%s/vendors/dxp.icd", r->folder);
	FILE *file = fopen(path, "we");
	if (!file)
		return print_fail("cannot write %s: %s", path, strerror(errno)) == EXIT_DONE;
	fprintf(file, "%s\n", opencl_driver);
	return fclose(file) == 0;
}

static void others_link(const struct run *r)
{
	DIR *there = opendir(VENDORS);
	struct dirent *entry;

	while (there && (entry = readdir(there))) {
		char from[PATH_BYTES], to[PATH_BYTES];
		if (strlen(entry->d_name) < 5 || strcmp(entry->d_name, "dxp.icd") == 0)
			continue;
		snprintf(from, sizeof(from), VENDORS "/%.255s", entry->d_name);
		snprintf(to, sizeof(to), "%s/vendors/%.255s", r->folder, entry->d_name);
		if (symlink(from, to))
			print_fail("cannot link %s; the program will not see that OpenCL platform",
				   from);
	}
	if (there)
		closedir(there);
}

/* ---- temporary folder ---- */

static bool folder_make(struct run *r)
{
	const char *temporary = getenv("TMPDIR");

	int length = snprintf(r->folder, sizeof(r->folder), "%.40s/dxp-run-XXXXXX",
			      temporary && *temporary ? temporary : "/tmp");
	if (length >= (int)sizeof(r->folder) || !mkdtemp(r->folder))
		return print_fail(
			       "cannot create the folder %s: %s; set TMPDIR to a writable folder",
			       r->folder, strerror(errno)) == EXIT_DONE;
	return true;
}

static void folder_empty(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		char inside[PATH_BYTES];
		snprintf(inside, sizeof(inside), "%.3000s/%.255s", path, entry->d_name);
		if (unlink(inside))
			folder_empty(inside);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

/* ---- the program ---- */

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static bool is_number(const char *value)
{
	return strspn(value, "0123456789") == strlen(value);
}

static void environment_make(const struct run *r)
{
	char path[PATH_BYTES], number[32];

	snprintf(path, sizeof(path), "%s/vendors/", r->folder);
	set("OCL_ICD_VENDORS", path); /* read by both common ICD loaders */
	unsetenv("OPENCL_VENDOR_PATH");
	unsetenv("OCL_ICD_FILENAMES");
	if (r->directory)
		set("DXP_DIR", r->directory);
	if (r->nodes && is_number(r->nodes))
		set("DXP_CL_NODE_COUNT", r->nodes);
	else if (r->nodes)
		set("DXP_CL_NODES", r->nodes);
	if (r->engine)
		set("DXP_CL_ENGINE", r->engine);
	if (r->type)
		set("DXP_CL_TYPE", r->type);
	if (r->memory) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)r->memory);
		set("DXP_CL_MEM", number);
	}
	set("DXP_CL_VERBOSE", "1"); /* makes the plugin print why there are no devices */
	/* Longer than the plugin's own limit: this program shall use the fabric. */
	setenv("DXP_CL_JOIN_MS", "10000", 0);
	snprintf(path, sizeof(path), "%s/%%p.summary", r->folder);
	set("DXP_CL_SUMMARY", path);
	set("DXP_SUMMARY", r->folder); /* read by programs of the C library */
	snprintf(path, sizeof(path), "%s/%%p.trace", r->folder);
	set("DXP_CL_TRACE", r->trace ? path : NULL);
	snprintf(path, sizeof(path), "%s/%%p.profile", r->folder);
	set("DXP_CL_PROFILE", r->profile ? path : NULL);
}

static int program_exec(const struct run *r)
{
	environment_make(r);
	execvp(r->program[0], r->program);
	int why = errno;
	print_fail("cannot start '%s': %s", r->program[0], strerror(why));
	return why == ENOENT ? EXIT_NOT_HERE : EXIT_NOT_RUN;
}

/* Sets how this process handles SIGINT and SIGQUIT: SIG_IGN while the program runs, since the
 * terminal sends both signals to the program too. */
static void signals_leave(void (*how)(int))
{
	signal(SIGINT, how);
	signal(SIGQUIT, how);
}

static pid_t program_id;
static int ended_by; /* signal that killed the program; 0: it exited */

static void pass_on(int number)
{
	if (program_id > 0)
		kill(program_id, number);
}

static int program_wait(pid_t child)
{
	int status;

	program_id = child;
	signals_leave(SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	program_id = 0;
	ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (ended_by)
		return 128 + ended_by;
	return WEXITSTATUS(status);
}

static int program_run(const struct run *r)
{
	fflush(NULL);
	pid_t child = fork();

	if (child < 0)
		return print_fail("cannot start a process: %s", strerror(errno));
	if (child == 0)
		_exit(program_exec(r));
	return program_wait(child);
}

static void report(const struct run *r, double seconds, int status)
{
	static struct run_report report;
	struct run_profile profile;

	run_report_read(r->folder, &report);
	run_profile_read(r->folder, &profile);
	if (r->json) {
		json_t *summary = run_report_json(&report, seconds, status);
		if (r->profile)
			json_object_set_new(summary, "profile", run_profile_json(&profile));
		json_dumpf(summary, stderr, JSON_INDENT(2));
		json_decref(summary);
	} else if (!r->quiet) {
		run_report_show(&report, seconds, ended_by);
	}
	if (r->profile && !r->json)
		run_profile_show(&profile);
	run_profile_free(&profile);
	if (r->trace)
		run_trace_join(r->folder, r->trace);
}

/* ---- nodes by name ---- */

static bool name_check(const char *name, size_t length, const struct node_entry *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(rows[i].name) != length || memcmp(rows[i].name, name, length) != 0)
			continue;
		if (rows[i].kind == MANAGE_XPU)
			return true;
		print_fail("--nodes: '%s' is a host, not an xPU; `dxp nodes` lists the xPUs",
			   rows[i].name);
		return false;
	}
	print_fail("--nodes: no node named '%.*s' in the fabric; `dxp nodes` lists the nodes",
		   (int)min_u64(length, 64), name);
	return false;
}

/* Checks that all names of --nodes are xPUs of the fabric. Returns false after it has printed the
 * reason. */
static bool nodes_check(const struct run *r)
{
	const struct dxp_fabric_options fabric = {.directory = r->directory};
	struct inquiry q = {.fabric = &fabric, .kind = QUERY_NODES};
	const struct node_entry *rows;
	struct query *a;
	bool good = true;

	if (!r->nodes || is_number(r->nodes))
		return true;
	if (inquiry_run(&q, &a) != DXP_OK)
		return print_fail("%s", q.text) == EXIT_DONE;
	size_t count = query_nodes(a, &rows);
	for (const char *at = r->nodes; good && *at;) {
		size_t length = strcspn(at, ",");
		good = name_check(at, length, rows, count);
		at += length + (at[length] == ',');
	}
	query_destroy(a);
	return good;
}

static int run(struct run *r)
{
	if (!nodes_check(r))
		return EXIT_FAILED;
	if (!folder_make(r))
		return EXIT_FAILED;
	int status = EXIT_FAILED;
	if (vendors_make(r)) {
		if (r->beside)
			others_link(r);
		uint64_t begin_ns = clock_now_ns();
		status = program_run(r);
		report(r, (double)(clock_now_ns() - begin_ns) * 1e-9, status);
	}
	folder_empty(r->folder);
	return status;
}

int command_run(int argc, char **argv)
{
	struct run r = {0};
	const struct option_row rows[] = {
		{"nodes", "N|NAME,...",
		 "number of nodes, or their names (default: all granted nodes)", OPTION_TEXT,
		 &r.nodes, 0, 0},
		{"engine", "NAME", "only nodes with this engine, as `dxp nodes` shows it",
		 OPTION_TEXT, &r.engine, 0, 0},
		{"mem", "BYTES", "only nodes with this much free memory (suffix K, M or G)",
		 OPTION_BYTES, &r.memory, 1, UINT64_MAX},
		{"type", "TYPE",
		 "device type to present: cpu, gpu or accelerator (default: the real type)",
		 OPTION_TEXT, &r.type, 0, 0},
		{"beside", NULL, "also present the OpenCL platforms of this machine", OPTION_FLAG,
		 &r.beside, 0, 0},
		{"trace", "FILE",
		 "write a timeline of the commands, for ui.perfetto.dev or chrome://tracing",
		 OPTION_TEXT, &r.trace, 0, 0},
		{"profile", NULL,
		 "print instructions by source line; for xPUs with engine rv32, whose kernels run "
		 "slower then",
		 OPTION_FLAG, &r.profile, 0, 0},
		DIRECTORY_ROWS(r.directory),
		{"driver", "FILE",
		 "the OpenCL driver to load (default: the one installed with this program)",
		 OPTION_TEXT, &r.opencl_driver, 0, 0},
		{"door", "FILE", NULL, OPTION_TEXT, &r.opencl_driver, 0, 0},
		{"quiet", NULL, "no summary", OPTION_FLAG, &r.quiet, 0, 0},
		{"json", NULL, "print the summary as JSON, on standard error", OPTION_FLAG, &r.json,
		 0, 0},
	};
	const struct usage usage = {"run", "-- PROGRAM [ARGUMENT]...", text,
				    ACCEPTS(rows, 1, PROGRAM_ARGS)};
	struct arguments args;

	if (!options_read(argc, argv, &usage, &args))
		return args.status;
	if (r.type && strcmp(r.type, "cpu") != 0 && strcmp(r.type, "gpu") != 0 &&
	    strcmp(r.type, "accelerator") != 0) {
		print_fail("--type is cpu, gpu or accelerator, not '%s'", r.type);
		return EXIT_USAGE;
	}
	r.program = args.at;
	return run(&r);
}
