/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/rv32_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "engine/limits.h"
#include "base/landlock.h"
#include "base/log.h"
#include "base/util.h"

#define LOG_NAME    "log"
#define EXIT_NOEXEC 127

/* ---- in the child; only async-signal-safe calls, because the parent may have threads ---- */

/* Limits the files that the child can open. If Linux lacks Landlock, only the permissions of this
 * user limit them. */
static void files_limit(const struct rv32_child *c)
{
	int rules = landlock_rules();

	if (rules < 0)
		return;
	landlock_permit_system(rules);
	for (size_t i = 0; i < RV32_CHILD_READS; i++)
		if (c->reads[i])
			landlock_permit(rules, c->reads[i], LANDLOCK_READ);
	/* The compiler's work folder, where the child may write. */
	landlock_permit(rules, ".", LANDLOCK_ALL);
	landlock_enter(rules);
	close(rules);
}

static void resource_limit(int what, uint64_t most)
{
	const struct rlimit limit = {most, most};

	setrlimit(what, &limit);
}

static void streams_open(void)
{
	int none = descriptor_raise(open("/dev/null", O_RDONLY));
	int log = descriptor_raise(open(LOG_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600));

	dup2(none, 0);
	dup2(log, 1);
	dup2(log, 2);
	close_range(3, ~0u, 0);
}

static void child_main(const struct rv32_child *c, pid_t parent)
{
	static char path[] = "PATH=/usr/bin:/bin", language[] = "LC_ALL=C", scratch[] = "TMPDIR=.";
	char *const environment[] = {path, language, scratch, NULL};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || chdir(c->folder) != 0)
		_exit(EXIT_NOEXEC);
	streams_open();
	resource_limit(RLIMIT_CPU, RV32_CHILD_CPU_S);
	resource_limit(RLIMIT_AS, RV32_CHILD_MEMORY_BYTES);
	resource_limit(RLIMIT_FSIZE, RV32_CHILD_FILE_BYTES);
	resource_limit(RLIMIT_CORE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	files_limit(c);
	execve(c->words[0], (char *const *)(uintptr_t)c->words, environment);
	_exit(EXIT_NOEXEC);
}

/* ---- in the parent ---- */

/* Cut to ENGINE_LOG_BYTES_MAX; NULL: no output, or no memory. */
static char *log_read(const char *folder)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" LOG_NAME, folder) >= (int)sizeof(path))
		return NULL;
	FILE *file = descriptor_fopen(path, "re");
	if (!file)
		return NULL;
	char *log = malloc(ENGINE_LOG_BYTES_MAX + 1);
	size_t bytes = log ? fread(log, 1, ENGINE_LOG_BYTES_MAX, file) : 0;
	fclose(file);
	if (bytes == 0) {
		free(log);
		return NULL;
	}
	log[bytes] = '\0';
	char *less = realloc(log, bytes + 1);
	return less ? less : log;
}

/* Writes which limit a signal means. */
static void limit_describe(int number, char *out, size_t bytes)
{
	if (number == SIGXCPU)
		snprintf(out, bytes, "it used %u s of CPU time; shorten the program",
			 RV32_CHILD_CPU_S);
	else if (number == SIGXFSZ)
		snprintf(out, bytes, "its output exceeds %u MiB; use fewer constants",
			 RV32_CHILD_FILE_BYTES >> 20);
	else
		snprintf(out, bytes, "it may use %u s, %llu GiB; simplify the program",
			 RV32_CHILD_CPU_S, RV32_CHILD_MEMORY_BYTES >> 30);
}

static int status_judge(const struct rv32_child *c, int how, char **log)
{
	char *longer = NULL, limit[96];

	if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
		return DXP_OK;
	if (WIFEXITED(how) && WEXITSTATUS(how) != EXIT_NOEXEC)
		return DXP_EBUILD;
	if (WIFEXITED(how)) {
		log_error("cannot start %s in %s; is it still installed?", c->words[0], c->folder);
		return DXP_EIO;
	}
	limit_describe(WTERMSIG(how), limit, sizeof(limit));
	/* The limit comes first, because clang may report a defect of its own when it reaches a
	 * limit. */
	if (asprintf(&longer, "the compiler was stopped by signal %d: %s\n%s", WTERMSIG(how), limit,
		     *log ? *log : "") < 0)
		return DXP_ENOMEM;
	free(*log);
	*log = longer;
	return DXP_EBUILD;
}

int rv32_child_run(const struct rv32_child *c, char **log)
{
	const pid_t parent = getpid();
	int how = 0;

	*log = NULL;
	pid_t pid = fork();
	if (pid == 0)
		child_main(c, parent);
	if (pid < 0) {
		log_error("cannot start the compiler: %s; raise the limit on processes",
			  strerror(errno));
		return DXP_EIO;
	}
	while (waitpid(pid, &how, 0) < 0)
		if (errno != EINTR)
			return DXP_EIO;
	*log = log_read(c->folder);
	return status_judge(c, how, log);
}
