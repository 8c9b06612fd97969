/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits the files (by Landlock), capabilities and memory of a worker. */
#include "worker/sandbox.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/landlock.h"
#include "base/log.h"
#include "base/privileges.h"
#include "base/util.h"
#include "worker/limits.h"

/* the first that permits moving files between folders, as compilers do */
#define LANDLOCK_VERSION_LEAST 2

static const char *const modes[SANDBOX_MODES] = {"auto", "off", "strict"};

bool sandbox_mode_parse(const char *text, enum sandbox_mode *out)
{
	for (int i = 0; i < SANDBOX_MODES; i++)
		if (strcmp(text, modes[i]) == 0) {
			*out = (enum sandbox_mode)i;
			return true;
		}
	return false;
}

uint32_t sandbox_available(void)
{
	const uint32_t action = SECCOMP_RET_ERRNO;
	uint32_t parts = landlock_version() >= LANDLOCK_VERSION_LEAST ? SANDBOX_FILES : 0;

#if defined(__x86_64__) || defined(__aarch64__)
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		parts |= SANDBOX_CALLS;
#endif
	return parts;
}

void sandbox_parts_text(uint32_t parts, char *out, size_t space)
{
	snprintf(out, space, "%s%s%s", parts & SANDBOX_FILES ? "files (Landlock)" : "",
		 parts == SANDBOX_ALL ? ", " : "",
		 parts & SANDBOX_CALLS ? "system calls (seccomp)" : "");
}

/* A driver loads further libraries from the folder of a loaded one. */
static int library_permit(struct dl_phdr_info *info, size_t bytes, void *context)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(info->dlpi_name, '/');

	if (!slash || slash == info->dlpi_name || strncmp(info->dlpi_name, "/usr/", 5) == 0)
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - info->dlpi_name), info->dlpi_name);
	landlock_permit(*(int *)context, folder, LANDLOCK_READ);
	return 0;
}

/* Other files that an OpenCL driver reads. */
static void driver_permit(int rules)
{
	static const char *const paths[] = {"/etc/OpenCL", "/dev/urandom", "/proc/cpuinfo",
					    "/proc/meminfo", "/sys/devices/system"};

	for (size_t i = 0; i < ARRAY_COUNT(paths); i++)
		landlock_permit(rules, paths[i], LANDLOCK_READ);
	dl_iterate_phdr(library_permit, &rules);
}

static void list_permit(int rules, const char *list)
{
	char path[PATH_MAX];

	for (const char *at = list; *at;) {
		size_t letters = strcspn(at, ":");
		if (letters > 0 &&
		    snprintf(path, sizeof(path), "%.*s", (int)letters, at) < PATH_MAX)
			landlock_permit(rules, path, LANDLOCK_READ);
		at += letters + (at[letters] == ':');
	}
}

int sandbox_rules(const char *const *writes, const char *const *reads, const char *more)
{
	int rules = landlock_rules();

	if (rules < 0) {
		log_error("cannot limit the files of workers: %s; raise the limit of open files "
			  "(ulimit -n), or start dxpd with --sandbox off",
			  strerror(errno));
		return -1;
	}
	landlock_permit_system(rules);
	driver_permit(rules);
	for (; *writes; writes++)
		landlock_permit(rules, *writes, LANDLOCK_ALL);
	for (; *reads; reads++)
		landlock_permit(rules, *reads, LANDLOCK_READ);
	if (more)
		list_permit(rules, more);
	return rules;
}

static void resource_limit(int what, uint64_t most)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) != 0 || limit.rlim_max <= most)
		return;
	limit.rlim_cur = limit.rlim_max = most;
	setrlimit(what, &limit);
}

/* Address space in bytes. */
static uint64_t memory_used(void)
{
	unsigned long long pages = 0;
	FILE *f = descriptor_fopen("/proc/self/statm", "re");

	if (f) {
		if (fscanf(f, "%llu", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Enters a new user namespace and a new namespace of System V objects. In the user namespace, the
 * worker has no rights over processes outside, and its processes are counted separately. If Linux
 * does not permit new namespaces, the other parts of the sandbox remain. */
static void namespaces_enter(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWIPC) == 0)
		resource_limit(RLIMIT_NPROC, WORKER_PROCESSES_MAX);
	else
		log_debug("a worker has no user namespace: %s", strerror(errno));
}

bool sandbox_enter(uint32_t parts, int rules, uint64_t memory_bytes)
{
	resource_limit(RLIMIT_NOFILE, WORKER_FILES_MAX);
	resource_limit(RLIMIT_FSIZE, WORKER_FILE_BYTES_MAX);
	if (memory_bytes)
		resource_limit(RLIMIT_AS, memory_used() + memory_bytes);
	namespaces_enter();
	bool entered = privileges_capabilities_set(0) &&
		       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		       (!(parts & SANDBOX_FILES) || landlock_enter(rules)) &&
		       (!(parts & SANDBOX_CALLS) || sandbox_calls_limit());
	if (!entered)
		log_error("a worker cannot enter its sandbox: %s; start dxpd with --sandbox off if "
			  "all hosts are trusted",
			  strerror(errno));
	return entered;
}
