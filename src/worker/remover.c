/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that removes folders. Its queue is a non-blocking pipe, so a full queue does not block
 * the caller. */
#include "worker/remover.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "worker/folders.h"

struct remover {
	char *scratch;
	int read_fd, write_fd;
	pthread_t thread;
};

static void *remover_main(void *argument)
{
	const struct remover *r = argument;
	uint32_t work;

	while (read(r->read_fd, &work, sizeof(work)) == (ssize_t)sizeof(work))
		folders_remove(r->scratch, work);
	return NULL;
}

static int fail(struct remover *r, int error)
{
	log_error("cannot start the thread that removes files of workers: %s; raise the limits of "
		  "processes and open files (ulimit -u, -n)",
		  strerror(error));
	if (r->read_fd >= 0) {
		close(r->read_fd);
		close(r->write_fd);
	}
	free(r->scratch);
	free(r);
	return DXP_EIO;
}

int remover_open(const char *scratch, struct remover **out)
{
	struct remover *r = calloc(1, sizeof(*r));
	int fds[2];

	if (!r)
		return DXP_ENOMEM;
	r->read_fd = r->write_fd = -1;
	r->scratch = strdup(scratch);
	if (!r->scratch)
		return fail(r, ENOMEM);
	if (descriptor_raise_pair(pipe2(fds, O_CLOEXEC), fds) != 0)
		return fail(r, errno);
	r->read_fd = fds[0];
	r->write_fd = fds[1];
	fcntl(r->write_fd, F_SETFL, O_NONBLOCK);
	int error = pthread_create(&r->thread, NULL, remover_main, r);
	if (error)
		return fail(r, error);
	*out = r;
	return DXP_OK;
}

void remover_close(struct remover *r)
{
	if (!r)
		return;
	close(r->write_fd);
	pthread_join(r->thread, NULL);
	close(r->read_fd);
	free(r->scratch);
	free(r);
}

void remover_put(struct remover *r, uint32_t work)
{
	if (write(r->write_fd, &work, sizeof(work)) < 0)
		log_debug("files of a worker stay until dxpd ends: %s", strerror(errno));
}
