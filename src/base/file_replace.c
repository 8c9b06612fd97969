/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confinement.h"
#include "base/descriptor.h"

/* Makes the new name durable. Some file systems cannot, and need not. */
static void folder_sync(const char *path)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	int fd = descriptor_raise(open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

bool file_replace(const char *path, const char *text, mode_t mode)
{
	char part[PATH_MAX];

	if (snprintf(part, sizeof(part), "%s.XXXXXX", path) >= (int)sizeof(part)) {
		errno = ENAMETOOLONG;
		return false;
	}
	int fd = descriptor_raise(mkostemp(part, O_CLOEXEC)); /* mode 0600 */
	if (fd < 0)
		return false;
	bool good =
		fchmod(fd, mode) == 0 && descriptor_write(fd, text, strlen(text)) && fsync(fd) == 0;
	good = close(fd) == 0 && good && rename(part, path) == 0;
	if (!good) {
		const int error = errno;
		unlink(part);
		errno = error;
		return false;
	}
	folder_sync(path);
	return true;
}

const char *file_write_hint(int error)
{
	static _Thread_local char text[64 + CONFINEMENT_BYTES];

	switch (error) {
	case ENOSPC:
	case EDQUOT: return "; free space on this file system, or choose another folder";
	case EROFS:
	case EACCES:
	case EPERM:
		snprintf(text, sizeof(text), "; choose a folder that this user may write%s",
			 confinement_hint(error));
		return text;
	default: return "";
	}
}
