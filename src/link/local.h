/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet sockets between processes of one machine, which pass file descriptors, and shared memory.
 * Input of the other process is checked before use. Memory must be a memfd that cannot shrink;
 * otherwise an access could kill this process. */
#ifndef LINK_LOCAL_H
#define LINK_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- sockets ---- */

/* Listens at `path`, mode 0600. `path` may have any length that the file system allows; its last
 * part has at most 80 bytes. Replaces the stale socket of a dead process. DXP_EBUSY: another
 * process listens there, or the path is not a socket; DXP_EACCESS, DXP_ENOENT, DXP_EINVAL, DXP_EIO.
 * Logged. */
int local_listen(const char *path, int *fd);

/* Removes the path, then stops listening. In this order no client finds a stale path. */
void local_unlisten(const char *path, int fd);
/* Removes a socket without a listener. False: the socket has a listener, or the path is not a
 * socket. */
bool local_clear(const char *path);

struct local_peer {
	pid_t pid;
	uid_t uid;
};

/* Accepts the next connection without blocking. DXP_EAGAIN: none; DXP_ENOMEM: no descriptor or
 * memory, and the connection stays queued. */
int local_accept(int fd, int *out, struct local_peer *peer);

/* Connects within `timeout_ns`. DXP_ENOENT: no listener; DXP_EACCESS, DXP_ETIMEDOUT, DXP_EINVAL,
 * DXP_EIO. */
int local_connect(const char *path, uint64_t timeout_ns, int *fd);

/* Send or receive one packet of at least 1 byte, with up to LOCAL_FDS_MAX descriptors, without
 * blocking. Return bytes, DXP_EAGAIN or DXP_ECLOSED (also for an empty packet). local_receive:
 * *fd_count is the capacity of `fds`, then the number received. The caller owns these for any
 * result; they are close-on-exec. DXP_EMALFORMED: the packet is longer than `space`, or has too
 * many descriptors, which are then all closed. */
#define LOCAL_FDS_MAX 4
#define LOCAL_FDS_ALL 253 /* most descriptors that a packet can carry: SCM_MAX_FD */
int local_send(int fd, const void *data, size_t bytes, const int *fds, unsigned fd_count);
int local_receive(int fd, void *data, size_t space, int *fds, unsigned *fd_count);

/* Waits for a packet. DXP_OK or DXP_ETIMEDOUT. */
int local_wait(int fd, uint64_t timeout_ns);

/* ---- descriptors from untrusted processes ---- */

/* Closes descriptors in a thread, because their sender controls how long close() takes. Slow cases:
 * a file of the sender's own file system, a lingering TCP socket, a descriptor whose close frees
 * gigabytes, and a socket whose queue holds such descriptors. The connection itself can be such a
 * socket. `drops` counts the descriptors of one party that are not closed yet. While it is full,
 * accept no more from that party. */
struct local_drops;
#define LOCAL_DROPS_MAX 64
int local_drops_create(struct local_drops **out); /* DXP_ENOMEM */
void local_drops_free(struct local_drops *d);     /* waiting descriptors are closed anyway */
bool local_drops_full(const struct local_drops *d);
void local_drop(struct local_drops *d, const int *fds, unsigned count);

/* ---- memory ---- */
struct local_memory {
	void *base;
	uint64_t bytes;
	int fd; /* -1 if another process made the memfd, which is then closed */
};

/* Creates and maps a zeroed memfd of `bytes`, sealed against changes of size. DXP_ENOMEM,
 * DXP_EIO. */
int local_memory_create(const char *name, uint64_t bytes, struct local_memory *out);

/* Maps [offset, offset + bytes) of another process's memfd for reading and writing. `offset` is a
 * multiple of the page size. The caller owns `fd` and may close it. DXP_EINVAL: the file is not a
 * memfd, has huge pages, can shrink, is too short, or is sealed against writing. DXP_ENOMEM. */
int local_memory_map(int fd, uint64_t offset, uint64_t bytes, struct local_memory *out);
void local_memory_free(struct local_memory *m);

/* Frees several memories, large ones in a thread: the last unmap of a file frees its pages, half a
 * second per GiB. */
void local_memory_drop(struct local_memory *memories, unsigned count);
/* true: too many threads are busy; retry local_memory_drop later */
bool local_memory_drops_full(void);

#endif
