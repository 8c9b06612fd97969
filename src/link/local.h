/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet sockets between processes of one machine, with file descriptors, and shared memory. Data
 * of the other process is checked. Memory must be a memfd that cannot shrink: access beyond its end
 * would kill this process. */
#ifndef LINK_LOCAL_H
#define LINK_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- sockets ---- */

/* Listens with mode 0600, in place of a dead process' socket. The last component has at most 80
 * bytes. Errors, logged: DXP_EBUSY: a process listens, or it is no socket; DXP_EACCESS, DXP_ENOENT,
 * DXP_EINVAL, DXP_EIO. */
int local_listen(const char *path, int *fd);

/* Removes the path first, so that no client finds a path without a listener. */
void local_unlisten(const char *path, int fd);
/* Removes a socket without a listener. False: not removed. */
bool local_clear(const char *path);

struct local_peer {
	pid_t pid;
	uid_t uid;
};

/* Does not block. DXP_EAGAIN: none waits; DXP_ENOMEM: descriptors or memory are short, and it stays
 * queued. */
int local_accept(int fd, int *out, struct local_peer *peer);

/* DXP_ENOENT: no process listens; DXP_EACCESS, DXP_ETIMEDOUT, DXP_EINVAL, DXP_EIO. */
int local_connect(const char *path, uint64_t timeout_ns, int *fd);

/* One packet of at least 1 byte and up to LOCAL_FDS_MAX descriptors, without blocking. Return the
 * bytes, DXP_EAGAIN or DXP_ECLOSED (also for an empty packet).
 *
 * *fd_count is the capacity of `fds`, then the number received. The caller owns them, also after an
 * error; they are close-on-exec. DXP_EMALFORMED: longer than `space`, or too many descriptors,
 * which are all closed. */
#define LOCAL_FDS_MAX 4
#define LOCAL_FDS_ALL 253 /* that a packet can carry: SCM_MAX_FD */
int local_send(int fd, const void *data, size_t bytes, const int *fds, unsigned fd_count);
int local_receive(int fd, void *data, size_t space, int *fds, unsigned *fd_count);

/* Waits until a packet can be received. DXP_OK or DXP_ETIMEDOUT. */
int local_wait(int fd, uint64_t timeout_ns);

/* ---- descriptors from untrusted processes ---- */

/* Closes descriptors in a thread, because their sender controls how long close() takes: by its own
 * file system, a lingering TCP socket, gigabytes to free, or a socket with such descriptors queued.
 *
 * `drops` counts one sender's descriptors not closed yet. While local_drops_full is true, accept no
 * more from it. */
struct local_drops;
#define LOCAL_DROPS_MAX 64
int local_drops_create(struct local_drops **out); /* DXP_ENOMEM */
void local_drops_free(struct local_drops *d);     /* waiting descriptors are closed later */
bool local_drops_full(const struct local_drops *d);
void local_drop(struct local_drops *d, const int *fds, unsigned count);

/* ---- memory ---- */
struct local_memory {
	void *base;
	uint64_t bytes;
	int fd; /* -1 if another process made it: the mapping suffices */
};

/* Zeroed and mapped memfd, sealed against changes of size. DXP_ENOMEM, DXP_EIO. */
int local_memory_create(const char *name, uint64_t bytes, struct local_memory *out);

/* Maps another process' memfd to read and write, from a multiple of the page size. The caller owns
 * `fd` and may close it. DXP_EINVAL: no memfd, huge pages, can shrink, too short, or sealed against
 * writing. DXP_ENOMEM. */
int local_memory_map(int fd, uint64_t offset, uint64_t bytes, struct local_memory *out);
void local_memory_free(struct local_memory *m);

/* Frees memories; more than 1 MiB in total in a thread, because the last unmap of a file takes half
 * a second per GiB. */
void local_memory_drop(struct local_memory *memories, unsigned count);
/* True: call local_memory_drop later, because too many threads still free memory. */
bool local_memory_drops_full(void);

#endif
