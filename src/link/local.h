/* SPDX-License-Identifier: BSD-3-Clause */
/* Between processes of one machine: sockets of packets with file descriptors beside them, and
 * memory that both map. Whatever comes from the other process is checked before it is used: memory
 * must be a memfd that can never shrink, else a look at it could kill us. */
#ifndef LINK_LOCAL_H
#define LINK_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- sockets ---- */

/* A socket at `path` (any length that the file system allows; the last part at most 80 bytes), mode
 * 0600; a stale one of a process that is gone is replaced. DXP_EBUSY: somebody listens there, or
 * something else than a socket is in the way; DXP_EACCESS, DXP_ENOENT, DXP_EINVAL, DXP_EIO. Logged.
 */
int local_listen(const char *path, int *fd);

/* Takes the path away and ends listening, in this order: nobody finds it stale in between. */
void local_unlisten(const char *path, int fd);
/* Removes a socket that nobody listens to any more; false: somebody does, or it is something
 * else. */
bool local_clear(const char *path);

struct local_peer {
	pid_t pid;
	uid_t uid;
};

/* Next connection, not blocking. DXP_EAGAIN: none; DXP_ENOMEM: no descriptors or memory left, it
 * stays in the queue. */
int local_accept(int fd, int *out, struct local_peer *peer);

/* DXP_ENOENT: nobody listens there; DXP_EACCESS, DXP_ETIMEDOUT, DXP_EINVAL, DXP_EIO. */
int local_connect(const char *path, uint64_t timeout_ns, int *fd);

/* One packet, 1 .. any bytes, up to LOCAL_FDS_MAX descriptors; not blocking. Bytes, DXP_EAGAIN or
 * DXP_ECLOSED (an empty packet counts as the end). *fd_count is how many descriptors there is room
 * for, then how many came: whatever is returned, they are the caller's, close-on-exec. A packet
 * longer than `room` is DXP_EMALFORMED, and one with more descriptors too: then all are closed. */
#define LOCAL_FDS_MAX 4
#define LOCAL_FDS_ALL 253 /* that a packet can carry: SCM_MAX_FD */
int local_send(int fd, const void *data, size_t bytes, const int *fds, unsigned fd_count);
int local_receive(int fd, void *data, size_t room, int *fds, unsigned *fd_count);

/* Waits until there is a packet to receive. DXP_ETIMEDOUT; else DXP_OK. */
int local_wait(int fd, uint64_t timeout_ns);

/* ---- descriptors of strangers ---- */

/* Whoever passed a descriptor chooses how long closing it takes: a file of his own file system, a
 * TCP socket that lingers, gigabytes that must be freed, or a socket in whose queue such things
 * are, which goes for the very socket they came by. So a thread closes. `drops` counts for one
 * party what is not closed yet: whoever is full should get no more until that is less. */
struct local_drops;
#define LOCAL_DROPS_MAX 64
int local_drops_create(struct local_drops **out); /* DXP_ENOMEM */
void local_drops_free(struct local_drops *d);     /* what waits is closed all the same */
bool local_drops_full(const struct local_drops *d);
void local_drop(struct local_drops *d, const int *fds, unsigned count);

/* ---- memory ---- */
struct local_memory {
	void *base;
	uint64_t bytes;
	int fd; /* -1: was mapped from somebody else's, and closed */
};

/* A memfd of this many bytes, zero, sealed against every change of size, mapped. DXP_ENOMEM,
 * DXP_EIO. */
int local_memory_create(const char *name, uint64_t bytes, struct local_memory *out);

/* Maps [offset, offset + bytes) of somebody's memfd for reading and writing; `offset` a multiple of
 * the page size. `fd` stays the caller's and need not stay open. DXP_EINVAL: not a memfd, of huge
 * pages, may shrink, is too short, or is sealed against writing; DXP_ENOMEM. */
int local_memory_map(int fd, uint64_t offset, uint64_t bytes, struct local_memory *out);
void local_memory_free(struct local_memory *m);

/* The same for several, in a thread when they are large: whoever is the last to have a file's pages
 * frees them, which takes half a second per GiB. */
void local_memory_drop(struct local_memory *memories, unsigned count);
bool local_memory_drops_full(void); /* too many are under way: call it later */

#endif
