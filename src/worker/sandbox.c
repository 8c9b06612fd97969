/* SPDX-License-Identifier: BSD-3-Clause */
/* Files (Landlock), capabilities and memory of a worker. */
#include "worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "worker/limits.h"

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ull << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14)
#endif

/* A compiler moves files between folders, which version 1 cannot permit. */
#define VERSION_LEAST    2
#define VERSION_TRUNCATE 3
#define READS \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define OF_FILES                                                     \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | \
	 LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)

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

/* Returns the version of Landlock in the kernel; negative: none. */
static long landlock_version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

uint32_t sandbox_available(void)
{
	const uint32_t action = SECCOMP_RET_ERRNO;
	uint32_t parts = landlock_version() >= VERSION_LEAST ? SANDBOX_FILES : 0;

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

/* ---- files ---- */

/* Returns all access rights of this version that rules can permit. */
static uint64_t rights_all(void)
{
	uint64_t all = (LANDLOCK_ACCESS_FS_REFER << 1) - 1;

	return landlock_version() >= VERSION_TRUNCATE ? all | LANDLOCK_ACCESS_FS_TRUNCATE : all;
}

/* Permits access below a path. A path that does not exist needs no permit. */
static void path_permit(int rules, const char *path, uint64_t access)
{
	struct stat s;
	struct landlock_path_beneath_attr rule = {
		.allowed_access = access & rights_all(),
		.parent_fd = descriptor_raise(open(path, O_PATH | O_CLOEXEC))};

	if (rule.parent_fd < 0)
		return;
	if (fstat(rule.parent_fd, &s) == 0 && !S_ISDIR(s.st_mode))
		rule.allowed_access &= OF_FILES;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
		log_debug("no rule for %s: %s", path, strerror(errno));
	close(rule.parent_fd);
}

/* Permits the folder of a loaded library: drivers load more from there. */
static int library_permit(struct dl_phdr_info *info, size_t bytes, void *context)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(info->dlpi_name, '/');

	if (!slash || slash == info->dlpi_name || strncmp(info->dlpi_name, "/usr/", 5) == 0)
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - info->dlpi_name), info->dlpi_name);
	path_permit(*(int *)context, folder, READS);
	return 0;
}

static void system_permit(int rules)
{
	static const char *const folders[] = {"/usr",
					      "/lib",
					      "/lib64",
					      "/bin",
					      "/etc/ld.so.cache",
					      "/etc/alternatives",
					      "/etc/OpenCL",
					      "/dev/urandom",
					      "/proc/cpuinfo",
					      "/proc/meminfo",
					      "/sys/devices/system"};

	for (size_t i = 0; i < ARRAY_COUNT(folders); i++)
		path_permit(rules, folders[i], READS);
	path_permit(rules, "/dev/null", READS | LANDLOCK_ACCESS_FS_WRITE_FILE);
	dl_iterate_phdr(library_permit, &rules);
}

static void list_permit(int rules, const char *list)
{
	char path[PATH_MAX];

	for (const char *at = list; *at;) {
		size_t letters = strcspn(at, ":");
		if (letters > 0 &&
		    snprintf(path, sizeof(path), "%.*s", (int)letters, at) < PATH_MAX)
			path_permit(rules, path, READS);
		at += letters + (at[letters] == ':');
	}
}

int sandbox_rules(const char *const *writes, const char *reads)
{
	const struct landlock_ruleset_attr all = {.handled_access_fs = rights_all()};
	int rules =
		descriptor_raise((int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0));

	if (rules < 0) {
		log_error("cannot limit the files of workers: %s; raise the limit of open files "
			  "(ulimit -n), or start dxpd with --sandbox off",
			  strerror(errno));
		return -1;
	}
	system_permit(rules);
	for (; *writes; writes++)
		path_permit(rules, *writes, rights_all());
	if (reads)
		list_permit(rules, reads);
	return rules;
}

/* ---- a worker ---- */

/* Drops the capabilities of root. */
static bool capabilities_drop(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capset, &head, none) == 0;
}

static void resource_limit(int what, uint64_t most)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) != 0 || limit.rlim_max <= most)
		return;
	limit.rlim_cur = limit.rlim_max = most;
	setrlimit(what, &limit);
}

/* Returns the bytes of address space in use. */
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

/* Enters an own user namespace, in which this user has no rights over others and processes are
 * counted apart, and an own namespace of System V objects. Where Linux permits neither, the other
 * parts hold. */
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
	bool entered =
		capabilities_drop() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		(!(parts & SANDBOX_FILES) || syscall(SYS_landlock_restrict_self, rules, 0) == 0) &&
		(!(parts & SANDBOX_CALLS) || sandbox_calls_limit());
	if (!entered)
		log_error("a worker cannot enter its sandbox: %s; start dxpd with --sandbox off if "
			  "all hosts are trusted",
			  strerror(errno));
	return entered;
}
