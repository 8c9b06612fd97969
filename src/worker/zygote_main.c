/* SPDX-License-Identifier: BSD-3-Clause */
/* The zygote process, and the start of each worker. It has one thread, so that fork copies a
 * complete process. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "worker/print.h"
#include "worker/server.h"
#include "worker/zygote_internal.h"

#define PAGE_BYTES    4096u
#define ORPHAN_SIGNAL SIGUSR2 /* the kernel sends it when the parent process exits */
#define CHILDREN_MAX        \
	(WORKER_HOSTS_MAX + \
	 WORKER_HOSTS_MAX / 2) /* a worker per host, and those of hosts that leave */

struct child {
	pid_t pid; /* 0: free entry */
	uint32_t id;
};

struct here {
	const char *engine_name, *work, *cache;
	uint64_t memory_bytes;
	uint32_t spin_ns;
	uint8_t *memory; /* reserved addresses; only workers map ranges there */
	_Atomic uint32_t *news;
	struct engine *engine;
	int signals;
	struct child children[CHILDREN_MAX];
};

static void interrupt_none(void *context)
{
}

/* The engine tests its memory at the start: gives it one private page. */
static int engine_start(struct here *h)
{
	const struct engine_options options = {
		.name = h->engine_name,
		.cache_folder = h->cache,
		.work_folder = h->work,
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

static int memory_reserve(struct here *h)
{
	uint64_t bytes = h->memory_bytes + WORKER_TAIL_BYTES;
	void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *news = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ZYGOTE_MEMORY,
			  (off_t)(h->memory_bytes + ZYGOTE_NEWS_OFFSET));

	if (at == MAP_FAILED || news == MAP_FAILED) {
		log_error("cannot reserve addresses for %llu MiB of device memory: %s; use a "
			  "smaller --memory",
			  (unsigned long long)(h->memory_bytes >> 20), strerror(errno));
		return DXP_ENOMEM;
	}
	h->memory = at;
	h->news = news;
	return DXP_OK;
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

/* ---- a worker ---- */

static void wakeup_ring(void)
{
	const uint64_t one = 1;

	if (write(ZYGOTE_WAKEUP, &one, sizeof(one)) < 0)
		return; /* the counter is full: the daemon wakes anyway */
}

static void slot_wake(void *context)
{
	struct worker_side answers = {.ring = context};

	if (worker_sleeps(&answers))
		wakeup_ring();
}

/* Makes the kernel kill the worker, not the daemon, when memory is short. */
static void worker_limit(void)
{
	const struct rlimit none = {0, 0};
	int fd = descriptor_raise(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));

	setrlimit(RLIMIT_CORE, &none);
	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		log_debug("cannot write oom_score_adj: %s", strerror(errno));
	close(fd);
}

static void signals_default(void)
{
	sigset_t none;

	signal(ORPHAN_SIGNAL, SIG_DFL);
	signal(SIGINT, SIG_IGN); /* a terminal sends it to all processes of the group */
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs a worker in the forked process; never returns. */
static void worker_run(const struct here *h, pid_t parent, int rings_fd)
{
	struct worker_print *print = NULL;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	close(ZYGOTE_SOCKET);
	close(h->signals);
	signals_default();
	worker_limit();
	struct worker_rings *rings =
		mmap(NULL, sizeof(*rings), PROT_READ | PROT_WRITE, MAP_SHARED, rings_fd, 0);
	close(rings_fd);
	if (rings == MAP_FAILED || worker_print_open(&print) != DXP_OK)
		_exit(1);
	const struct worker_server_options options = {
		.rings = rings,
		.engine = h->engine,
		.memory = h->memory,
		.memory_bytes = h->memory_bytes,
		.memory_fd = ZYGOTE_MEMORY,
		.spin_ns = h->spin_ns,
		.print = print,
		.wake = slot_wake,
		.wake_context = &rings->answers,
	};
	worker_serve(&options);
	_exit(0);
}

/* ---- the zygote ---- */

static void news_send(struct here *h, uint32_t id, enum zygote_end end, int number)
{
	const struct zygote_news news = {.id = id, .end = end, .number = number};
	struct pollfd poller = {.fd = ZYGOTE_SOCKET, .events = POLLOUT};

	while (send(ZYGOTE_SOCKET, &news, sizeof(news), MSG_NOSIGNAL) < 0 &&
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

static void worker_start(struct here *h, uint32_t id, int rings_fd)
{
	struct child *c = child_find(h, 0);
	pid_t self = getpid();
	pid_t pid = c ? fork() : -1;

	if (pid == 0)
		worker_run(h, self, rings_fd);
	if (pid > 0)
		*c = (struct child){pid, id};
	else
		news_send(h, id, ZYGOTE_FAILED, c ? errno : EAGAIN);
}

static void worker_kill(struct here *h, uint32_t id)
{
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (h->children[i].pid && h->children[i].id == id)
			kill(h->children[i].pid, SIGKILL);
}

static void children_reap(struct here *h)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(h->signals, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct child *c = child_find(h, pid);
		if (!c)
			continue;
		c->pid = 0;
		if (WIFSIGNALED(status))
			news_send(h, c->id, ZYGOTE_KILLED, WTERMSIG(status));
		else
			news_send(h, c->id, ZYGOTE_EXITED, WEXITSTATUS(status));
	}
}

/* Returns false if the daemon has closed the socket. */
static bool request_receive(struct here *h)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct zygote_request r;
	struct iovec part = {.iov_base = &r, .iov_len = sizeof(r)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(ZYGOTE_SOCKET, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd = -1;

	if (got != (ssize_t)sizeof(r))
		return got < 0 && (errno == EAGAIN || errno == EINTR);
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	fd = descriptor_raise(fd);
	if (r.action == ZYGOTE_START)
		worker_start(h, r.id, fd);
	else
		worker_kill(h, r.id);
	if (fd >= 0)
		close(fd);
	return true;
}

static pid_t slot_process;

/* Handles PR_SET_PDEATHSIG. The kernel also sends it when only the thread that started this process
 * exits. Exits if the whole parent process has exited. */
static void on_orphan(int number)
{
	if (getppid() != slot_process)
		_exit(1);
}

/* Makes this process exit with the daemon at any time: while it opens an engine or compiles, which
 * takes seconds, it does not read the socket. */
static void orphan_watch(pid_t parent)
{
	struct sigaction action = {.sa_handler = on_orphan, .sa_flags = SA_RESTART};

	slot_process = parent;
	sigaction(ORPHAN_SIGNAL, &action, NULL);
	prctl(PR_SET_PDEATHSIG, ORPHAN_SIGNAL);
	/* The parent may have exited before. */
	on_orphan(ORPHAN_SIGNAL);
}

/* Loads the compiler. Permits limit how many processes of a machine do so at once, to leave CPUs to
 * xPUs that are starting. A host with something to compile does not wait for a permit. */
static void warm(struct here *h)
{
	int permit = zygote_warm_wait(h->cache, ZYGOTE_SOCKET);

	engine_warm(h->engine);
	if (permit >= 0)
		close(permit);
}

static int signals_open(struct here *h)
{
	sigset_t set;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN); /* the daemon stops this process by exiting */
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	h->signals = descriptor_raise(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	return h->signals >= 0 ? DXP_OK : DXP_EIO;
}

static void serve(struct here *h)
{
	struct pollfd pollers[] = {{.fd = ZYGOTE_SOCKET, .events = POLLIN},
				   {.fd = h->signals, .events = POLLIN}};

	for (;;) {
		poll(pollers, 2, -1);
		children_reap(h);
		if (pollers[0].revents && !request_receive(h))
			return;
	}
}

int zygote_main(int argc, char **argv)
{
	static struct here h;

	if (argc != 6)
		return 2; /* only the daemon calls this */
	h.engine_name = argv[0];
	h.memory_bytes = strtoull(argv[1], NULL, 10);
	h.spin_ns = (uint32_t)strtoul(argv[2], NULL, 10);
	h.work = argv[3];
	orphan_watch((pid_t)strtol(argv[4], NULL, 10));
	h.cache = argv[5][0] ? argv[5] : NULL;
	for (int fd = ZYGOTE_SOCKET; fd < ZYGOTE_FDS; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC); /* compilers start programs of their own */
	int status = signals_open(&h);
	if (status == DXP_OK)
		status = memory_reserve(&h);
	if (status == DXP_OK)
		status = engine_start(&h);
	hello_send(&h, status);
	if (status == DXP_OK) {
		warm(&h);
		serve(&h);
	}
	/* The workers are killed with this process. */
	_exit(status == DXP_OK ? 0 : 1);
}
