/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of an endpoint, shared by the files of this folder and their tests. */
#ifndef LINK_ENDPOINT_H
#define LINK_ENDPOINT_H

#include <stdatomic.h>

#include "base/spin.h"
#include "link/fault.h"
#include "link/receive.h"
#include "link/train.h"
#include "link/udp.h"

struct link {
	int fd;       /* the socket, non-blocking */
	int wake_fd;  /* an eventfd: readable after link_wake */
	int epoll_fd; /* watches the two above */
	struct spin spin;
	struct wire_address address;
	size_t receive_buffer_bytes;
	struct fault *fault; /* NULL without DXP_FAULT */
	const struct link_tap *tap; /* NULL: nobody watches */
	struct link_counters counters;
	_Atomic int woken; /* set by link_wake on any thread, cleared by link_wait */
	struct train_limits limits;
	struct train_batch trains;
	struct inbox inbox;
};

/* socket.c: makes and binds the socket of an endpoint whose address and limits.family it fills in.
 * DXP_EBUSY or DXP_EIO, logged, and nothing is left open then. */
int socket_open(struct link *l, const struct link_options *options);

/* segments.c: the longest GSO train that this kernel takes; 1 when it has no GSO. Sends a few
 * datagrams to itself over loopback. */
unsigned segments_probe(void);

/* wait.c: the eventfd and the epoll set of an endpoint whose fd is open. */
int wait_open(struct link *l);
void wait_close(struct link *l);

/* send.c: lets out what the fault injector held back for long enough. */
void send_held(struct link *l);

#endif
