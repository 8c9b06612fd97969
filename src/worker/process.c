/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker process runs code of its host, which may be hostile. Its only descriptors are standard
 * streams, its tenant's device memory, and its own wakeup. Shared ones would be a risk: a worker
 * could make them blocking, or fill them, and so block others. */
#include "worker/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "worker/print.h"
#include "worker/sandbox.h"
#include "worker/zygote_internal.h"

static void wake(void *context)
{
	struct worker_side answers = {.ring = context};
	const uint64_t one = 1;

	if (worker_sleeps(&answers) && write(ZYGOTE_WAKEUP, &one, sizeof(one)) < 0)
		/* the counter is full, by this worker only, so the daemon wakes anyway */
		return;
}

/* Makes Linux kill the worker, not the daemon, when memory is short. Disables core files. */
static void worker_limit(void)
{
	const struct rlimit none = {0, 0};
	int fd = descriptor_raise(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		log_debug("cannot write oom_score_adj: %s", strerror(errno));
	close(fd);
}

static void signals_default(void)
{
	sigset_t none;

	signal(ZYGOTE_ORPHAN_SIGNAL, SIG_DFL);
	/* a terminal sends SIGINT to the whole group; the daemon handles it */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Closes all but the worker's own descriptors. If the engine is not plain, kernels need those of
 * its driver, which stay. */
static void descriptors_set(const struct worker_process *p)
{
	if (dup2(p->errors_fd, STDERR_FILENO) < 0 || dup2(p->wakeup_fd, ZYGOTE_WAKEUP) < 0 ||
	    dup2(p->memory_fd, ZYGOTE_MEMORY) < 0)
		_exit(1);
	fcntl(ZYGOTE_WAKEUP, F_SETFD, FD_CLOEXEC);
	fcntl(ZYGOTE_MEMORY, F_SETFD, FD_CLOEXEC);
	close(ZYGOTE_SOCKET);
	if (p->plain) {
		close_range(ZYGOTE_FDS, ~0u, 0);
		return;
	}
	close(p->errors_fd);
	close(p->wakeup_fd);
	close(p->memory_fd);
	close(p->rings_fd);
}

/* Returns a descriptor; -1: the rules could not be made. */
static int rules_make(const struct worker_process *p, const struct worker_folders *own)
{
	const char *const writes[] = {own->work, own->cache[0] ? own->cache : NULL, NULL};
	/* with the runtime of rv32 */
	const char *const reads[] = {p->folders->zygote,
				     p->folders->node[0] ? p->folders->node : NULL, NULL};

	return sandbox_rules(writes, reads, p->reads);
}

/* Own folders, then the sandbox. Relative folder names start at the daemon's current folder, which
 * is current here. The process must have one thread. */
static bool confine(const struct worker_process *p)
{
	static struct worker_folders own;
	int rules = -1;

	if (!folders_make(p->folders, p->work, p->host, &own))
		return false;
	if (p->sandboxed && p->parts & SANDBOX_FILES && (rules = rules_make(p, &own)) < 0)
		return false;
	if (chdir(own.work) != 0 || setenv("TMPDIR", own.work, 1) != 0)
		return false;
	engine_folders(p->engine, own.work, own.cache[0] ? own.cache : NULL);
	return !p->sandboxed || sandbox_enter(p->parts, rules, p->limit_bytes);
}

void worker_process_run(const struct worker_process *p)
{
	struct worker_print *print = NULL;

	signals_default();
	worker_limit();
	struct worker_rings *rings =
		mmap(NULL, sizeof(*rings), PROT_READ | PROT_WRITE, MAP_SHARED, p->rings_fd, 0);
	/* Enters the sandbox now, because the next steps close descriptors that this needs, and
	 * start a thread. */
	if (!confine(p))
		_exit(1);
	/* A change of namespaces may clear the signal. The worker must not outlive the zygote. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != p->parent)
		_exit(0);
	descriptors_set(p);
	if (rings == MAP_FAILED || worker_print_open(&print) != DXP_OK)
		_exit(1);
	const struct worker_server_options options = {
		.rings = rings,
		.engine = p->engine,
		.memory = p->memory,
		.memory_bytes = p->memory_bytes,
		.memory_fd = ZYGOTE_MEMORY,
		.spin_ns = p->spin_ns,
		.print = print,
		.wake = wake,
		.wake_context = &rings->answers,
	};
	worker_serve(&options);
	_exit(0);
}
