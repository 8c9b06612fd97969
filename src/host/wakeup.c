/* SPDX-License-Identifier: BSD-3-Clause */
/* Wakeups between threads or processes, by eventfd. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/wakeup.h"
#include "base/descriptor.h"
#include "host/internal.h"

int wakeup_create(int *out)
{
	int fd = descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));

	if (fd < 0)
		return error_set(DXP_EIO, "cannot make an eventfd: %s; raise \"ulimit -n\"",
				 strerror(errno));
	*out = fd;
	return DXP_OK;
}

void wakeup_ring(int fd)
{
	const uint64_t one = 1;

	/* EAGAIN means that the counter is full. Then the descriptor is readable already. */
	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void wakeup_clear(int fd)
{
	/* an eventfd returns one value; the wakeup file of a NIC may return more */
	uint64_t counts[8];

	while (read(fd, counts, sizeof(counts)) < 0 && errno == EINTR)
		;
}
