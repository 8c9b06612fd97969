/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/descriptor.h"
#include "worker/zygote_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/scratch.h"
#include "base/util.h"
#include "worker/remover.h"

extern char **environ;

#define LOOK_NS (50 * MS_NS) /* between two checks that the zygote is alive */
/* ns to the next START while the socket is full */
#define START_AGAIN_NS (1 * MS_NS)

struct zygote {
	struct zygote_options options;
	char *program, *engine, *cache, *reads;
	struct scratch *scratch; /* compiler files of workers */
	struct remover *remover;
	char name[32]; /* of the engine */
	pid_t pid;     /* 0: no zygote runs */
	int socket;
	bool hello_done; /* its first message was received */
	int news_fd;
	/* shared: the zygote counts its messages here */
	_Atomic uint32_t *news;
	uint32_t news_received;
	uint64_t look_ns, started_ns;
};

static void gone(struct zygote *z)
{
	if (z->pid == 0)
		return;
	close(z->socket);
	z->socket = -1;
	kill(z->pid, SIGKILL);
	while (waitpid(z->pid, NULL, 0) < 0 && errno == EINTR)
		;
	z->pid = 0;
}

/* Descriptors that the zygote inherits, in the order of enum zygote_fd, with temporary numbers. */
struct given {
	int fds[ZYGOTE_FDS - ZYGOTE_SOCKET];
};

static void given_close(struct given *g)
{
	for (size_t i = 0; i < ARRAY_COUNT(g->fds); i++)
		if (g->fds[i] >= 0)
			close(g->fds[i]);
}

/* Duplicates the descriptors to numbers above all final ones, so that a later dup2() overwrites
 * none. */
static bool given_make(const struct zygote *z, int socket, struct given *out)
{
	const int from[] = {socket, z->news_fd, z->options.wakeup_fd};
	bool good = true;

	for (size_t i = 0; i < ARRAY_COUNT(out->fds); i++) {
		out->fds[i] = fcntl(from[i], F_DUPFD_CLOEXEC, ZYGOTE_FDS);
		good &= out->fds[i] >= 0;
	}
	if (!good)
		given_close(out);
	return good;
}

/* Redirects standard input and output, moves the descriptors to their final numbers and closes all
 * others. */
static int actions_make(const struct given *g, posix_spawn_file_actions_t *out)
{
	int error = posix_spawn_file_actions_init(out);

	if (error)
		return error;
	error = posix_spawn_file_actions_addopen(out, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_addopen(out, STDOUT_FILENO, "/dev/null", O_WRONLY,
							 0);
	for (int i = 0; i < ZYGOTE_FDS - ZYGOTE_SOCKET && !error; i++)
		error = posix_spawn_file_actions_adddup2(out, g->fds[i], ZYGOTE_SOCKET + i);
	if (!error)
		error = posix_spawn_file_actions_addclosefrom_np(out, ZYGOTE_FDS);
	if (error)
		posix_spawn_file_actions_destroy(out);
	return error;
}

static int process_spawn(struct zygote *z, const struct given *g)
{
	char bytes[24], spin[16], parent[16], mode[16], limit[24], shared[16];
	char argument[] = ZYGOTE_ARGUMENT, none[] = "";
	char *work = scratch_path(z->scratch);
	char *const argv[] = {z->program, argument, z->engine, bytes,
			      spin,       work,     parent,    z->cache ? z->cache : none,
			      shared,     mode,     limit,     z->reads ? z->reads : none,
			      NULL};
	posix_spawn_file_actions_t actions;

	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)z->options.memory_bytes);
	snprintf(spin, sizeof(spin), "%u", z->options.spin_ns);
	snprintf(parent, sizeof(parent), "%d", (int)getpid());
	snprintf(shared, sizeof(shared), "%d", (int)z->options.cache_shared);
	snprintf(mode, sizeof(mode), "%d", (int)z->options.sandbox.mode);
	snprintf(limit, sizeof(limit), "%llu", (unsigned long long)z->options.sandbox.memory_bytes);
	int error = actions_make(g, &actions);
	if (error)
		return error;
	error = posix_spawn(&z->pid, z->program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static int spawn_with(struct zygote *z, int socket)
{
	struct given given;

	if (!given_make(z, socket, &given))
		return EMFILE;
	int error = process_spawn(z, &given);
	given_close(&given);
	return error;
}

static int spawn(struct zygote *z)
{
	int pair[2];

	z->started_ns = clock_now_ns();
	z->hello_done = false;
	if (descriptor_raise_pair(
		    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
		    pair) != 0) {
		log_error("cannot create a socket for workers: %s; raise the limit of open files "
			  "(ulimit -n)",
			  strerror(errno));
		return DXP_EIO;
	}
	int error = spawn_with(z, pair[1]);
	close(pair[1]);
	if (error) {
		z->pid = 0;
		close(pair[0]);
		log_error("cannot start '%s', which runs the kernels of hosts: %s; --isolation "
			  "thread runs them in dxpd",
			  z->program, strerror(error));
		return DXP_EIO;
	}
	z->socket = pair[0];
	return DXP_OK;
}

static int hello_receive(struct zygote *z, struct engine_description *about)
{
	struct pollfd poller = {.fd = z->socket, .events = POLLIN};
	struct zygote_hello hello;

	while (poll(&poller, 1, -1) < 0 && errno == EINTR)
		;
	if (recv(z->socket, &hello, sizeof(hello), 0) != sizeof(hello)) {
		log_error("the process that runs the kernels of hosts exited before its engine was "
			  "open; check with `dxp doctor` that engine '%s' works",
			  z->engine);
		return DXP_EIO;
	}
	z->hello_done = true;
	if (hello.status != DXP_OK)
		return hello.status; /* the zygote has logged the reason */
	snprintf(z->name, sizeof(z->name), "%s", hello.name);
	*about = (struct engine_description){
		.kind = hello.kind,
		.name = z->name,
		.compute_units = hello.compute_units,
		.memory_kind = hello.memory_kind,
		.streams = hello.streams,
		.reaches_host = hello.reaches_host,
	};
	memcpy(about->device, hello.device, sizeof(about->device));
	return DXP_OK;
}

static int texts_copy(struct zygote *z)
{
	z->program = strdup(z->options.program);
	z->engine = strdup(z->options.engine);
	if (z->options.cache_folder)
		z->cache = strdup(z->options.cache_folder);
	if (z->options.sandbox.reads)
		z->reads = strdup(z->options.sandbox.reads);
	return z->program && z->engine && (z->cache || !z->options.cache_folder) &&
			       (z->reads || !z->options.sandbox.reads)
		       ? DXP_OK
		       : DXP_ENOMEM;
}

static int news_open(struct zygote *z)
{
	void *at = MAP_FAILED;

	z->news_fd = descriptor_memory("dxp-news", ZYGOTE_NEWS_BYTES);
	if (z->news_fd >= 0)
		at = mmap(NULL, ZYGOTE_NEWS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, z->news_fd,
			  0);
	if (at == MAP_FAILED) {
		log_error("no memory to start workers: %s; raise the limit of open files (ulimit "
			  "-n), or free memory",
			  strerror(errno));
		return DXP_EIO;
	}
	z->news = at;
	return DXP_OK;
}

int zygote_open(const struct zygote_options *options, struct zygote **out,
		struct engine_description *about)
{
	struct zygote *z = calloc(1, sizeof(*z));

	if (!z)
		return DXP_ENOMEM;
	z->options = *options;
	z->socket = z->news_fd = -1;
	int status = texts_copy(z);
	if (status == DXP_OK)
		status = news_open(z);
	if (status == DXP_OK)
		status = scratch_open(NULL, &z->scratch);
	if (status == DXP_OK)
		status = remover_open(scratch_path(z->scratch), &z->remover);
	if (status == DXP_OK)
		status = spawn(z);
	if (status == DXP_OK)
		status = hello_receive(z, about);
	if (status != DXP_OK) {
		zygote_close(z);
		return status;
	}
	*out = z;
	return DXP_OK;
}

void zygote_close(struct zygote *z)
{
	if (!z)
		return;
	gone(z);
	if (z->news)
		munmap(z->news, ZYGOTE_NEWS_BYTES);
	if (z->news_fd >= 0)
		close(z->news_fd);
	remover_close(z->remover);
	scratch_close(z->scratch);
	free(z->program);
	free(z->engine);
	free(z->cache);
	free(z->reads);
	free(z);
}

/* Starts a new zygote if there is none. Does so at most once per WORKER_AGAIN_NS. */
static int respawn(struct zygote *z)
{
	if (z->pid)
		return DXP_OK;
	if (clock_now_ns() < z->started_ns + WORKER_AGAIN_NS)
		return DXP_EAGAIN;
	return spawn(z);
}

uint64_t zygote_deadline(const struct zygote *z)
{
	return z->pid ? clock_now_ns() + START_AGAIN_NS : z->started_ns + WORKER_AGAIN_NS;
}

/* `fds`: ZYGOTE_START_FDS descriptors, or NULL. */
static int request_send(struct zygote *z, const struct zygote_request *r, const int *fds)
{
	char control[CMSG_SPACE(ZYGOTE_START_FDS * sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)r, .iov_len = sizeof(*r)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fds) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		struct cmsghdr *c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(ZYGOTE_START_FDS * sizeof(int));
		memcpy(CMSG_DATA(c), fds, ZYGOTE_START_FDS * sizeof(int));
	}
	if (sendmsg(z->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*r))
		return DXP_OK;
	return errno == EAGAIN || errno == EWOULDBLOCK ? DXP_EAGAIN : DXP_EIO;
}

int zygote_start(struct zygote *z, const struct zygote_worker *w)
{
	const int fds[ZYGOTE_START_FDS] = {w->rings_fd, w->wakeup_fd, w->memory_fd};
	struct zygote_request request = {.action = ZYGOTE_START, .id = w->id};
	int status = respawn(z);

	if (status != DXP_OK)
		return status;
	snprintf(request.host, sizeof(request.host), "%s", w->host);
	if (request_send(z, &request, fds) == DXP_OK)
		return DXP_OK;
	/* The socket is full, or the zygote is lost, which the next zygote_next() must check at
	 * once. */
	z->look_ns = 0;
	return DXP_EAGAIN;
}

int zygote_kill(struct zygote *z, uint32_t id)
{
	const struct zygote_request request = {.action = ZYGOTE_KILL, .id = id};

	return z->pid ? request_send(z, &request, NULL) : DXP_OK;
}

/* DXP_EAGAIN: no message; DXP_ECLOSED: the zygote is lost. */
static int message_receive(struct zygote *z, struct zygote_news *out)
{
	union {
		struct zygote_hello hello;
		struct zygote_news news;
	} m;

	for (;;) {
		ssize_t got = recv(z->socket, &m, sizeof(m), MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return DXP_EAGAIN;
		if (got == (ssize_t)sizeof(m.hello) && !z->hello_done) {
			z->hello_done = true;
			continue;
		}
		if (got != (ssize_t)sizeof(m.news))
			return DXP_ECLOSED;
		*out = m.news;
		return DXP_OK;
	}
}

/* Reading the socket costs a system call: only if `news` has changed, and every LOOK_NS to check
 * that the zygote is alive. */
static bool look_due(struct zygote *z)
{
	uint32_t news = atomic_load_explicit(z->news, memory_order_acquire);
	uint64_t now_ns = clock_now_ns();

	if (news == z->news_received && now_ns < z->look_ns)
		return false;
	z->news_received = news;
	z->look_ns = now_ns + LOOK_NS;
	return true;
}

bool zygote_next(struct zygote *z, struct zygote_news *out, bool *lost)
{
	*lost = false;
	if (z->pid == 0 || !look_due(z))
		return false;
	int status = message_receive(z, out);
	if (status == DXP_OK) {
		/* there may be more messages */
		z->look_ns = 0;
		if (out->unused)
			remover_put(z->remover, out->unused);
	}
	if (status == DXP_ECLOSED) {
		log_warn("the process that starts workers is lost, and running kernels with it; "
			 "the next command starts another one");
		gone(z);
		*lost = true;
	}
	return status == DXP_OK;
}
