/* SPDX-License-Identifier: BSD-3-Clause */
/* A file in the cache directory holds the hash of the last device tested. It is locked during a
 * first test. */
#include "engine/ocl_first.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/util.h"

#define WAIT_NS (20 * S_NS) /* a compilation takes about 1 s on a busy machine */
#define LOOK_NS (5 * MS_NS)

static bool known(int file, const uint8_t device[OCL_KEY_BYTES])
{
	uint8_t last[OCL_KEY_BYTES];

	return pread(file, last, sizeof(last), 0) == (ssize_t)sizeof(last) &&
	       memcmp(last, device, sizeof(last)) == 0;
}

void ocl_first_begin(const char *cache, const uint8_t device[OCL_KEY_BYTES], struct ocl_first *out)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	const uint64_t until_ns = clock_now_ns() + WAIT_NS;
	char path[PATH_MAX];

	out->file = -1;
	if (!cache || snprintf(path, sizeof(path), "%s/tried", cache) >= (int)sizeof(path))
		return;
	int file = descriptor_raise(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	while (file >= 0 && !known(file, device) && clock_now_ns() < until_ns) {
		if (flock(file, LOCK_EX | LOCK_NB) == 0)
			break;
		nanosleep(&look, NULL);
	}
	/* Checks again: another process may just have finished. */
	if (file >= 0 && !known(file, device) && flock(file, LOCK_EX | LOCK_NB) == 0) {
		out->file = file;
		return;
	}
	if (file >= 0)
		close(file);
}

void ocl_first_end(struct ocl_first *f, const uint8_t device[OCL_KEY_BYTES], bool good)
{
	if (f->file < 0)
		return;
	if (good && pwrite(f->file, device, OCL_KEY_BYTES, 0) < 0)
		good = false; /* the next process tests again */
	close(f->file);
	f->file = -1;
}
