/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet sockets (SOCK_SEQPACKET). A path too long for a socket address becomes
 * /proc/self/fd/N/name, with N its open folder; so no chdir is needed. */
#include "link/local.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "link/limits.h"

/* that fit behind "/proc/self/fd/N/" in a socket address */
#define NAME_MAX_BYTES 80
/* to lock a folder, 1 ms apart */
#define LOCK_TRIES 200

static int status_of_errno(void)
{
	switch (errno) {
	case EACCES:
	case EPERM:
	case EROFS: return DXP_EACCESS;
	case ENOENT:
	case ENOTDIR: return DXP_ENOENT;
	case ENAMETOOLONG: return DXP_EINVAL;
	case EADDRINUSE: return DXP_EBUSY;
	default: return DXP_EIO;
	}
}

/* A path as a socket address: its open folder, and the name in that folder. */
struct socket_path {
	int folder;
	const char *name; /* in the caller's path */
	struct sockaddr_un address;
};

static int socket_path_open(const char *path, struct socket_path *p)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];
	size_t bytes = slash ? (size_t)(slash - path) : 0;

	p->name = slash ? slash + 1 : path;
	if (bytes >= sizeof(folder) || strlen(p->name) > NAME_MAX_BYTES || *p->name == '\0')
		return DXP_EINVAL;
	memcpy(folder, path, bytes);
	folder[bytes] = '\0';
	if (!slash)
		strcpy(folder, ".");
	else if (bytes == 0)
		strcpy(folder, "/");
	p->folder = descriptor_raise(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (p->folder < 0 && errno == EACCES)
		p->folder = descriptor_raise(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (p->folder < 0)
		return status_of_errno();
	p->address.sun_family = AF_UNIX;
	snprintf(p->address.sun_path, sizeof(p->address.sun_path), "/proc/self/fd/%d/%s", p->folder,
		 p->name);
	return DXP_OK;
}

static int socket_make(int *out)
{
	*out = descriptor_raise(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	return *out < 0 ? DXP_EIO : DXP_OK;
}

static int address_connect(int fd, const struct socket_path *p)
{
	return connect(fd, (const struct sockaddr *)&p->address, sizeof(p->address));
}

/* True: a socket without a listener. */
static bool stale(const struct socket_path *p)
{
	struct stat st;
	int fd;

	if (fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(st.st_mode) ||
	    socket_make(&fd) != DXP_OK)
		return false;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	bool refused = address_connect(fd, p) != 0 && errno == ECONNREFUSED;
	close(fd);
	return refused;
}

/* Two programs may find the same stale socket; the lock keeps the second from removing the first
 * one's new socket. */
static bool folder_lock(int folder)
{
	const struct timespec pause = {.tv_nsec = MS_NS};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(folder, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

static int bind_once(int fd, const struct socket_path *p)
{
	return bind(fd, (const struct sockaddr *)&p->address, sizeof(p->address));
}

static int socket_bind(int fd, const struct socket_path *p)
{
	bool locked = folder_lock(p->folder);

	/* The mode before the path, so other users never have access. */
	int status = fchmod(fd, 0600) == 0 ? bind_once(fd, p) : -1;
	if (status != 0 && errno == EADDRINUSE && locked && stale(p) &&
	    unlinkat(p->folder, p->name, 0) == 0)
		status = bind_once(fd, p);
	if (status == 0)
		status = listen(fd, LOCAL_BACKLOG);
	status = status == 0 ? DXP_OK : status_of_errno();
	if (locked)
		flock(p->folder, LOCK_UN);
	return status;
}

static const char *listen_advice(int status)
{
	switch (status) {
	case DXP_EBUSY:
		return "another program serves there, or the path is another file; remove it or "
		       "choose another path";
	case DXP_EACCESS: return "this user may not write there; choose another path";
	case DXP_ENOENT: return "its folder does not exist; create it first";
	case DXP_EINVAL: return "its file name is empty or longer than 80 bytes";
	default: return strerror(errno);
	}
}

int local_listen(const char *path, int *fd)
{
	struct socket_path p = {.folder = -1};
	int made = -1;
	int status = socket_path_open(path, &p);

	if (status == DXP_OK)
		status = socket_make(&made);
	if (status == DXP_OK)
		status = socket_bind(made, &p);
	if (status == DXP_OK)
		fcntl(made, F_SETFL, O_NONBLOCK);
	else
		log_error("cannot listen at %s: %s", path, listen_advice(status));
	if (status != DXP_OK && made >= 0)
		close(made);
	if (p.folder >= 0)
		close(p.folder);
	if (status == DXP_OK)
		*fd = made;
	return status;
}

void local_unlisten(const char *path, int fd)
{
	unlink(path);
	close(fd);
}

bool local_clear(const char *path)
{
	struct socket_path p = {.folder = -1};
	bool cleared = false;

	if (socket_path_open(path, &p) != DXP_OK)
		return false;
	/* Another program may have bound it and not called listen yet; the lock protects it. */
	if (folder_lock(p.folder)) {
		cleared = stale(&p) && unlinkat(p.folder, p.name, 0) == 0;
		flock(p.folder, LOCK_UN);
	}
	close(p.folder);
	return cleared;
}

int local_accept(int fd, int *out, struct local_peer *peer)
{
	struct ucred sender;
	socklen_t bytes = sizeof(sender);
	int got = descriptor_raise(accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));

	if (got < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS
			       ? DXP_ENOMEM
			       : DXP_EAGAIN;
	if (getsockopt(got, SOL_SOCKET, SO_PEERCRED, &sender, &bytes) != 0) {
		close(got);
		return DXP_EAGAIN;
	}
	*out = got;
	*peer = (struct local_peer){.pid = sender.pid, .uid = sender.uid};
	return DXP_OK;
}

int local_connect(const char *path, uint64_t timeout_ns, int *fd)
{
	const struct timeval limit = {.tv_sec = (time_t)(timeout_ns / S_NS),
				      .tv_usec = (suseconds_t)(timeout_ns % S_NS / US_NS + 1)};
	struct socket_path p = {.folder = -1};
	int made = -1;
	int status = socket_path_open(path, &p);

	if (status == DXP_OK)
		status = socket_make(&made);
	if (status == DXP_OK) {
		/* connect waits while the listener's queue is full */
		setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		if (address_connect(made, &p) == 0)
			fcntl(made, F_SETFL, O_NONBLOCK);
		else
			status = errno == ECONNREFUSED ? DXP_ENOENT
				 : errno == EAGAIN     ? DXP_ETIMEDOUT
						       : status_of_errno();
	}
	if (status != DXP_OK && made >= 0)
		close(made);
	if (p.folder >= 0)
		close(p.folder);
	if (status == DXP_OK)
		*fd = made;
	return status;
}

union control {
	struct cmsghdr align;
	/* the most descriptors of a packet */
	char bytes[CMSG_SPACE(sizeof(int) * LOCAL_FDS_ALL)];
};

int local_send(int fd, const void *data, size_t bytes, const int *fds, unsigned fd_count)
{
	union control control = {0};
	struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

	assert(bytes > 0 && fd_count <= LOCAL_FDS_MAX);
	if (fd_count > 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * fd_count);
	}
	ssize_t sent = sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent >= 0)
		return (int)sent;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? DXP_EAGAIN : DXP_ECLOSED;
}

/* Stores the received descriptors, each above 2. False: too many, or one cannot be moved; then all
 * are closed. */
static bool fds_receive(struct msghdr *m, int *fds, unsigned space, unsigned *fd_count)
{
	/* `control` is padded, so one more may be there. */
	int got[LOCAL_FDS_ALL + 1];
	unsigned count = 0;
	bool raised = true;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		unsigned here = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		assert(count + here <= ARRAY_COUNT(got));
		memcpy(got + count, CMSG_DATA(c), here * sizeof(int));
		count += here;
	}
	for (unsigned i = 0; i < count; i++) {
		got[i] = descriptor_raise(got[i]);
		raised &= got[i] >= 0;
	}
	if (raised && count <= space) {
		if (count > 0)
			memcpy(fds, got, count * sizeof(int));
		*fd_count = count;
		return true;
	}
	for (unsigned i = 0; i < count; i++)
		if (got[i] >= 0)
			close(got[i]);
	return false;
}

int local_receive(int fd, void *data, size_t space, int *fds, unsigned *fd_count)
{
	union control control;
	struct iovec part = {.iov_base = data, .iov_len = space};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	unsigned fd_space = *fd_count;

	*fd_count = 0;
	ssize_t got = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? DXP_EAGAIN : DXP_ECLOSED;
	if (!fds_receive(&m, fds, fd_space, fd_count) || m.msg_flags & (MSG_CTRUNC | MSG_TRUNC))
		return DXP_EMALFORMED;
	return got == 0 ? DXP_ECLOSED : (int)got;
}

int local_wait(int fd, uint64_t timeout_ns)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};
	struct timespec limit = {.tv_sec = (time_t)(timeout_ns / S_NS),
				 .tv_nsec = (long)(timeout_ns % S_NS)};

	return ppoll(&one, 1, &limit, NULL) > 0 ? DXP_OK : DXP_ETIMEDOUT;
}
