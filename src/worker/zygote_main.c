/* SPDX-License-Identifier: BSD-3-Clause */
/* The zygote process, which forks each worker. One thread, because a fork copies only the calling
 * one. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "worker/errors.h"
#include "worker/folders.h"
#include "worker/process.h"
#include "worker/sandbox.h"
#include "worker/zygote_internal.h"

#define PAGE_BYTES 4096u
/* socket and signals, before pipes of children */
#define POLL_CHILDREN 2
#define CHILDREN_MAX        \
	(WORKER_HOSTS_MAX + \
	 WORKER_HOSTS_MAX / 2) /* a worker per host, and old ones of hosts that leave */

struct child {
	pid_t pid; /* 0: free */
	uint32_t id;
	uint32_t work; /* see folders_make() */
	char host[WORKER_LABEL_BYTES];
	struct worker_errors errors;
};

/* An unused compiler's folder, for the next worker with its label. */
struct idle_work {
	uint32_t work; /* 0: free */
	char host[WORKER_LABEL_BYTES];
};

struct here {
	const char *engine_name;
	struct folders folders;
	int start_folder; /* the daemon's current folder */
	struct sandbox_options sandbox;
	bool sandboxed;
	uint32_t parts; /* enum sandbox_part that this machine supports */
	uint64_t memory_bytes;
	uint32_t spin_ns;
	uint8_t *memory; /* reserved for device memory; only workers map it */
	_Atomic uint32_t *news;
	struct engine *engine;
	bool plain; /* see engine_description */
	int signals;
	struct child children[CHILDREN_MAX];
	struct pollfd pollers[POLL_CHILDREN + CHILDREN_MAX];
	struct idle_work idle[FOLDERS_IDLE_MAX];
	uint32_t idle_next; /* the entry filled first */
};

static void interrupt_none(void *context)
{
}

/* Opens the engine. Gives the engine one page of private memory, because the engine tests its
 * memory when it is opened. */
static int engine_start(struct here *h)
{
	const struct engine_options options = {
		.name = h->engine_name,
		.cache_folder = h->folders.node[0] ? h->folders.node : NULL,
		.work_folder = FOLDERS_CURRENT,
		.memory = h->memory,
		.memory_bytes = h->memory_bytes,
		.interrupt = interrupt_none,
	};

	if (mprotect(h->memory, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0)
		return DXP_ENOMEM;
	int status = engine_open(&options, &h->engine);
	mprotect(h->memory, PAGE_BYTES, PROT_NONE);
	return status;
}

/* DXP_EUNSUPPORTED: all parts are required. */
static int parts_judge(const struct here *h)
{
	char missing[128];
	const uint32_t lacks = SANDBOX_ALL & ~h->parts;

	if (h->plain && lacks == 0)
		return DXP_OK;
	sandbox_parts_text(lacks, missing, sizeof(missing));
	if (h->sandbox.mode == SANDBOX_STRICT) {
		log_error("kernels cannot run in a strict sandbox: %s%s; use --sandbox auto if all "
			  "hosts are trusted",
			  h->plain ? "Linux here lacks " : "this OpenCL driver needs devices",
			  h->plain ? missing : "");
		return DXP_EUNSUPPORTED;
	}
	if (h->plain)
		log_warn("the sandbox of kernels lacks a part that Linux here does not have: %s; "
			 "use a newer kernel, or trust all hosts",
			 missing);
	else
		log_info("kernels run without sandbox: this OpenCL driver needs devices");
	return DXP_OK;
}

/* The zygote itself needs none: it runs no code of hosts. */
static int sandbox_prepare(struct here *h)
{
	struct engine_description about;

	engine_describe(h->engine, &about);
	h->plain = about.plain;
	if (h->sandbox.mode == SANDBOX_OFF || about.memory_kind != DXP_MEMORY_DIRECT)
		/* then there are no workers: the daemon runs kernels itself */
		return DXP_OK;
	h->parts = sandbox_available();
	int status = parts_judge(h);
	if (status != DXP_OK || !h->plain)
		return status;
	h->sandboxed = true;
	return DXP_OK;
}

static int memory_reserve(struct here *h)
{
	uint64_t bytes = h->memory_bytes + WORKER_TAIL_BYTES;
	void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *news =
		mmap(NULL, ZYGOTE_NEWS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ZYGOTE_MEMORY, 0);

	if (at == MAP_FAILED || news == MAP_FAILED) {
		log_error("cannot reserve addresses for %llu MiB of device memory: %s; use a "
			  "smaller --memory",
			  (unsigned long long)(h->memory_bytes >> 20), strerror(errno));
		return DXP_ENOMEM;
	}
	h->memory = at;
	h->news = news;
	/* workers must not write to this page */
	return madvise(news, ZYGOTE_NEWS_BYTES, MADV_DONTFORK) == 0 ? DXP_OK : DXP_EIO;
}

static void hello_send(const struct here *h, int status)
{
	struct zygote_hello hello = {.status = status};
	struct engine_description about;

	if (status == DXP_OK) {
		engine_describe(h->engine, &about);
		hello.kind = about.kind;
		hello.compute_units = about.compute_units;
		hello.memory_kind = about.memory_kind;
		hello.streams = about.streams;
		hello.reaches_host = about.reaches_host;
		snprintf(hello.name, sizeof(hello.name), "%s", about.name);
		memcpy(hello.device, about.device, sizeof(hello.device));
	}
	send(ZYGOTE_SOCKET, &hello, sizeof(hello), MSG_NOSIGNAL);
}

static void wakeup_ring(void)
{
	const uint64_t one = 1;

	if (write(ZYGOTE_WAKEUP, &one, sizeof(one)) < 0)
		return; /* the counter is full, so the daemon wakes anyway */
}

static void news_send(struct here *h, const struct zygote_news *news)
{
	struct pollfd poller = {.fd = ZYGOTE_SOCKET, .events = POLLOUT};

	while (send(ZYGOTE_SOCKET, news, sizeof(*news), MSG_NOSIGNAL) < 0 &&
	       (errno == EAGAIN || errno == EINTR))
		poll(&poller, 1, -1);
	atomic_fetch_add_explicit(h->news, 1, memory_order_release);
	wakeup_ring();
}

static struct child *child_find(struct here *h, pid_t pid)
{
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (h->children[i].pid == pid)
			return &h->children[i];
	return NULL;
}

/* Removes the folder from the list. 0: none. */
static uint32_t idle_reuse(struct here *h, const char *host)
{
	for (int i = 0; i < FOLDERS_IDLE_MAX; i++) {
		const uint32_t work = h->idle[i].work;
		if (work == 0 || strcmp(h->idle[i].host, host) != 0)
			continue;
		h->idle[i].work = 0;
		return work;
	}
	return 0;
}

/* Returns a folder to remove from the disk instead; 0: none. */
static uint32_t idle_keep(struct here *h, uint32_t work, const char *host)
{
	if (!host[0])
		return work;
	struct idle_work *entry = &h->idle[h->idle_next++ % FOLDERS_IDLE_MAX];
	const uint32_t old = entry->work;
	entry->work = work;
	memcpy(entry->host, host, sizeof(entry->host));
	return old;
}

/* The folder of another worker with the same label, an idle one of this label, or a new one. */
static uint32_t work_choose(struct here *h, const struct zygote_request *r)
{
	if (h->folders.shared)
		return 0;
	for (int i = 0; i < CHILDREN_MAX && r->host[0]; i++) {
		const struct child *c = &h->children[i];
		if (c->pid && strcmp(c->host, r->host) == 0)
			return c->work;
	}
	const uint32_t idle = r->host[0] ? idle_reuse(h, r->host) : 0;
	return idle ? idle : r->id;
}

/* The ended worker was the last in its compiler's folder. */
static bool work_unused(const struct here *h, const struct child *ended)
{
	for (int i = 0; i < CHILDREN_MAX; i++) {
		const struct child *c = &h->children[i];
		if (c != ended && c->pid && c->work == ended->work)
			return false;
	}
	return !h->folders.shared;
}

/* Closes the pipes of other workers. A new worker calls this function after the fork. */
static void errors_forget(const struct here *h)
{
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (h->children[i].pid && h->children[i].errors.read_fd >= 0)
			close(h->children[i].errors.read_fd);
}

static void worker_start(struct here *h, const struct zygote_request *r,
			 const int fds[ZYGOTE_START_FDS])
{
	struct child *c = child_find(h, 0);
	struct worker_errors errors;
	int errors_fd = -1;

	if (c && worker_errors_open(&errors, &errors_fd) != DXP_OK)
		c = NULL;
	const struct worker_process process = {
		.parent = getpid(),
		.rings_fd = fds[0],
		.wakeup_fd = fds[1],
		.memory_fd = fds[2],
		.errors_fd = errors_fd,
		.plain = h->plain,
		.sandboxed = h->sandboxed,
		.parts = h->parts,
		.limit_bytes = h->sandbox.memory_bytes,
		.reads = h->sandbox.reads,
		.work = work_choose(h, r),
		.host = r->host,
		.folders = &h->folders,
		.engine = h->engine,
		.memory = h->memory,
		.memory_bytes = h->memory_bytes,
		.spin_ns = h->spin_ns,
	};
	pid_t pid = c ? fork() : -1;

	if (pid == 0) {
		errors_forget(h);
		/* relative folder names start there */
		if (fchdir(h->start_folder) != 0)
			_exit(1);
		worker_process_run(&process);
	}
	if (errors_fd >= 0)
		close(errors_fd);
	if (pid > 0) {
		*c = (struct child){
			.pid = pid, .id = r->id, .work = process.work, .errors = errors};
		memcpy(c->host, r->host, sizeof(c->host));
	} else {
		if (c)
			worker_errors_close(&errors);
		news_send(h, &(struct zygote_news){.id = r->id,
						   .end = ZYGOTE_FAILED,
						   .number = c ? errno : EAGAIN});
	}
}

static void worker_kill(struct here *h, uint32_t id)
{
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (h->children[i].pid && h->children[i].id == id)
			kill(h->children[i].pid, SIGKILL);
}

/* Processes left behind by exited workers become children of this process. Any child that is no
 * worker is one of them: this process starts no program after opening its engine. */
static void strays_kill(struct here *h)
{
	char path[64];
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	FILE *list = h->sandboxed ? descriptor_fopen(path, "re") : NULL;
	while (list && fscanf(list, "%d", &pid) == 1)
		if (!child_find(h, pid))
			kill(pid, SIGKILL);
	if (list)
		fclose(list);
}

static void child_ended(struct here *h, struct child *c, int status)
{
	const bool killed = WIFSIGNALED(status);
	const struct zygote_news news = {
		.id = c->id,
		.end = killed ? ZYGOTE_KILLED : ZYGOTE_EXITED,
		.number = killed ? WTERMSIG(status) : WEXITSTATUS(status),
		.unused = work_unused(h, c) ? idle_keep(h, c->work, c->host) : 0};

	c->pid = 0;
	worker_errors_close(&c->errors);
	news_send(h, &news);
}

static void children_reap(struct here *h)
{
	struct signalfd_siginfo info;
	bool reaped = false;
	int status;
	pid_t pid;

	while (read(h->signals, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct child *c = child_find(h, pid);
		reaped = true;
		if (c)
			child_ended(h, c, status);
	}
	if (reaped)
		strays_kill(h);
}

/* All -1 if the message carries none. */
static void descriptors_read(struct msghdr *message, int fds[ZYGOTE_START_FDS])
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(message);

	for (int i = 0; i < ZYGOTE_START_FDS; i++)
		fds[i] = -1;
	if (!c || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(ZYGOTE_START_FDS * sizeof(int)))
		return;
	memcpy(fds, CMSG_DATA(c), ZYGOTE_START_FDS * sizeof(int));
	for (int i = 0; i < ZYGOTE_START_FDS; i++)
		fds[i] = descriptor_raise(fds[i]);
}

/* False: the daemon has closed the socket. */
static bool request_receive(struct here *h)
{
	char control[CMSG_SPACE(ZYGOTE_START_FDS * sizeof(int))];
	struct zygote_request r;
	struct iovec part = {.iov_base = &r, .iov_len = sizeof(r)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(ZYGOTE_SOCKET, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fds[ZYGOTE_START_FDS];

	if (got != (ssize_t)sizeof(r))
		return got < 0 && (errno == EAGAIN || errno == EINTR);
	descriptors_read(&message, fds);
	if (r.action == ZYGOTE_START)
		worker_start(h, &r, fds);
	else
		worker_kill(h, r.id);
	for (int i = 0; i < ZYGOTE_START_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return true;
}

static pid_t slot_process;

/* The signal of PR_SET_PDEATHSIG also comes if only the parent's thread that started this process
 * exits. */
static void on_orphan(int number)
{
	if (getppid() != slot_process)
		_exit(1);
}

/* The socket is not enough: this process does not read it while it opens an engine or compiles,
 * which takes seconds. */
static void orphan_watch(pid_t parent)
{
	struct sigaction action = {.sa_handler = on_orphan, .sa_flags = SA_RESTART};

	slot_process = parent;
	sigaction(ZYGOTE_ORPHAN_SIGNAL, &action, NULL);
	prctl(PR_SET_PDEATHSIG, ZYGOTE_ORPHAN_SIGNAL);
	/* The parent may have exited before prctl(). */
	on_orphan(ZYGOTE_ORPHAN_SIGNAL);
}

/* Permits bound how many processes of a machine load the compiler at once, so that starting xPUs
 * have CPUs. A request at the socket does not wait for a permit. */
static void warm(struct here *h)
{
	const char *node = h->folders.node;
	int permit = zygote_warm_wait(node[0] ? node : NULL, ZYGOTE_SOCKET);

	engine_warm(h->engine);
	if (permit >= 0)
		close(permit);
}

static int signals_open(struct here *h)
{
	sigset_t set;

	signal(SIGINT, SIG_IGN);
	/* The daemon's exit ends this process. */
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	h->signals = descriptor_raise(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	return h->signals >= 0 ? DXP_OK : DXP_EIO;
}

static nfds_t pollers_fill(struct here *h)
{
	nfds_t count = POLL_CHILDREN;

	h->pollers[0] = (struct pollfd){.fd = ZYGOTE_SOCKET, .events = POLLIN};
	h->pollers[1] = (struct pollfd){.fd = h->signals, .events = POLLIN};
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (h->children[i].pid && h->children[i].errors.read_fd >= 0)
			h->pollers[count++] = (struct pollfd){.fd = h->children[i].errors.read_fd,
							      .events = POLLIN};
	return count;
}

/* After pollers_fill(). */
static void errors_copy(struct here *h)
{
	const struct pollfd *p = &h->pollers[POLL_CHILDREN];

	for (int i = 0; i < CHILDREN_MAX; i++) {
		struct child *c = &h->children[i];
		if (c->pid && c->errors.read_fd >= 0 && (p++)->revents)
			worker_errors_copy(&c->errors);
	}
}

static void serve(struct here *h)
{
	for (;;) {
		if (poll(h->pollers, pollers_fill(h), -1) > 0)
			errors_copy(h);
		children_reap(h);
		if (h->pollers[0].revents && !request_receive(h))
			return;
	}
}

int zygote_main(int argc, char **argv)
{
	static struct here h;

	if (argc != 10)
		return 2; /* a user has called this, not the daemon */
	h.engine_name = argv[0];
	h.memory_bytes = strtoull(argv[1], NULL, 10);
	h.spin_ns = (uint32_t)strtoul(argv[2], NULL, 10);
	orphan_watch((pid_t)strtol(argv[4], NULL, 10));
	h.sandbox.mode = (enum sandbox_mode)strtol(argv[7], NULL, 10);
	h.sandbox.memory_bytes = strtoull(argv[8], NULL, 10);
	h.sandbox.reads = argv[9][0] ? argv[9] : NULL;
	for (int fd = ZYGOTE_SOCKET; fd < ZYGOTE_FDS; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC); /* not for programs that compilers start */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	h.start_folder = descriptor_raise(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	int status = folders_open(&h.folders, argv[3], argv[5][0] ? argv[5] : NULL,
				  strtol(argv[6], NULL, 10) != 0);
	/* The zygote's compiler makes its temporary files in this folder. */
	if (status == DXP_OK)
		setenv("TMPDIR", h.folders.zygote, 1);
	if (status == DXP_OK)
		status = signals_open(&h);
	if (status == DXP_OK)
		status = memory_reserve(&h);
	if (status == DXP_OK)
		status = engine_start(&h);
	if (status == DXP_OK)
		status = sandbox_prepare(&h);
	hello_send(&h, status);
	if (status == DXP_OK) {
		warm(&h);
		serve(&h);
	}
	/* Linux then kills the workers. */
	_exit(status == DXP_OK ? 0 : 1);
}
