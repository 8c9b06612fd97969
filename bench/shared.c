/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

struct where {
	int pid, fd;
};

static int file_make(struct peer_end *e, size_t bytes)
{
	struct where here = {getpid(), memfd_create("dxp-bench", MFD_CLOEXEC)};

	if (here.fd < 0 || ftruncate(here.fd, (off_t)bytes) < 0) {
		log_error("cannot create shared memory of %zu bytes: %m", bytes);
		return -1;
	}
	return control_write(e->control, &here, sizeof(here)) ? here.fd : -1;
}

static int file_find(struct peer_end *e)
{
	struct where there;
	char path[64];

	if (!control_read(e->control, &there, sizeof(there)))
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", there.pid, there.fd);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		log_error("cannot open the memory of the other process (%s): %m", path);
	return fd;
}

void *shared_map(struct peer_end *e, size_t bytes)
{
	int fd = e->far ? file_find(e) : file_make(e, bytes);
	char done = 0;

	if (fd < 0)
		return NULL;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	/* The near end keeps its file open until the far end has mapped it. */
	bool met =
		e->far ? control_write(e->control, &done, 1) : control_read(e->control, &done, 1);
	close(fd);
	return memory == MAP_FAILED || !met ? NULL : memory;
}
