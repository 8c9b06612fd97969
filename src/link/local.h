/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet sockets between processes of one machine, which can pass file descriptors, and shared
 * memory. Data of the other process is checked before use. Shared memory must be a memfd that
 * cannot shrink; otherwise an access beyond its end would kill this process. */
#ifndef LINK_LOCAL_H
#define LINK_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- sockets ---- */

/* Listens at `path`, mode 0600. `path` may be as long as the file system allows; its last component
 * has at most 80 bytes. Replaces the stale socket of a dead process. DXP_EBUSY: another process
 * listens there, or the path is not a socket; DXP_EACCESS, DXP_ENOENT, DXP_EINVAL, DXP_EIO. Errors
 * are logged. */
int local_listen(const char *path, int *fd);

/* Removes the path, then stops listening. In this order, no client finds a path without a
 * listener. */
void local_unlisten(const char *path, int fd);
/* Removes the socket at `path` if no process listens on it. Returns false if it was not removed. */
bool local_clear(const char *path);

struct local_peer {
	pid_t pid;
	uid_t uid;
};

/* Accepts the next connection without blocking. DXP_EAGAIN: no connection waits; DXP_ENOMEM:
 * descriptors or memory are short, and the connection stays queued. */
int local_accept(int fd, int *out, struct local_peer *peer);

/* Connects within `timeout_ns`. DXP_ENOENT: no process listens; DXP_EACCESS, DXP_ETIMEDOUT,
 * DXP_EINVAL, DXP_EIO. */
int local_connect(const char *path, uint64_t timeout_ns, int *fd);

/* Send or receive one packet of at least 1 byte, with up to LOCAL_FDS_MAX descriptors, without
 * blocking. They return the number of bytes, DXP_EAGAIN or DXP_ECLOSED (also for an empty packet).
 *
 * Before local_receive, *fd_count is the capacity of `fds`; after it, the number received. The
 * caller owns the received descriptors, also after an error. They are close-on-exec.
 * DXP_EMALFORMED: the packet is longer than `space`, or has too many descriptors, which are then
 * all closed. */
#define LOCAL_FDS_MAX 4
#define LOCAL_FDS_ALL 253 /* most descriptors that a packet can carry: SCM_MAX_FD */
int local_send(int fd, const void *data, size_t bytes, const int *fds, unsigned fd_count);
int local_receive(int fd, void *data, size_t space, int *fds, unsigned *fd_count);

/* Waits until a packet can be received. DXP_OK or DXP_ETIMEDOUT. */
int local_wait(int fd, uint64_t timeout_ns);

/* ---- descriptors from untrusted processes ---- */

/* Closes descriptors in a thread, because their sender controls how long close() takes. Examples of
 * slow descriptors are a file of the sender's own file system, and a lingering TCP socket. Others
 * are a descriptor with gigabytes to free, and a socket with slow descriptors in its queue. The
 * connection to the sender can itself be such a socket.
 *
 * `drops` counts the descriptors of one sender that are not closed yet. While local_drops_full is
 * true, accept no more descriptors from this sender. */
struct local_drops;
#define LOCAL_DROPS_MAX 64
int local_drops_create(struct local_drops **out); /* DXP_ENOMEM */
void local_drops_free(struct local_drops *d);     /* descriptors that wait are closed later */
bool local_drops_full(const struct local_drops *d);
void local_drop(struct local_drops *d, const int *fds, unsigned count);

/* ---- memory ---- */
struct local_memory {
	void *base;
	uint64_t bytes;
	int fd; /* the memfd; -1 if another process made it, because the mapping then suffices */
};

/* Creates and maps a zeroed memfd of `bytes`, sealed against changes of size. DXP_ENOMEM,
 * DXP_EIO. */
int local_memory_create(const char *name, uint64_t bytes, struct local_memory *out);

/* Maps [offset, offset + bytes) of another process's memfd for reading and writing. `offset` is a
 * multiple of the page size. The caller owns `fd` and may close it. DXP_EINVAL: the file is not a
 * memfd, has huge pages, can shrink, is too short, or is sealed against writing. DXP_ENOMEM. */
int local_memory_map(int fd, uint64_t offset, uint64_t bytes, struct local_memory *out);
void local_memory_free(struct local_memory *m);

/* Frees several memories. More than 1 MiB in total is freed in a thread: the last unmap of a file
 * frees its pages, which takes half a second per GiB. */
void local_memory_drop(struct local_memory *memories, unsigned count);
/* Returns true if too many threads still free memory. Then call local_memory_drop later. */
bool local_memory_drops_full(void);

#endif
