/* SPDX-License-Identifier: BSD-3-Clause */
/* A permit is a locked byte of a file in the user's cache. Linux releases the lock when its holder
 * exits. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/util.h"
#include "base/descriptor.h"
#include "worker/zygote_internal.h"

/* ms; warming an engine takes a second */
#define LOOK_MS 100

static bool permit_acquire(int file, long count)
{
	for (long i = 0; i < count; i++) {
		struct flock lock = {
			.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1};
		if (fcntl(file, F_OFD_SETLK, &lock) == 0)
			return true;
	}
	return false;
}

static bool readable(int socket)
{
	struct pollfd poller = {.fd = socket, .events = POLLIN};

	return poll(&poller, 1, LOOK_MS) > 0;
}

int zygote_warm_wait(const char *cache, int socket)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	char path[PATH_MAX];

	if (!cache || snprintf(path, sizeof(path), "%s/warming", cache) >= (int)sizeof(path))
		return -1;
	int file = descriptor_raise(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	while (file >= 0 && !permit_acquire(file, cpus > 2 ? cpus / 2 : 1) && !readable(socket))
		;
	return file;
}
