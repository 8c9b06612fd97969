/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int descriptor_raise(int fd)
{
	if (fd < 0 || fd >= DESCRIPTOR_FIRST)
		return fd;
	int before = errno, higher = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR_FIRST);
	int after = higher < 0 ? errno : before;

	close(fd);
	errno = after;
	return higher;
}

int descriptor_raise_pair(int made, int fds[2])
{
	if (made < 0)
		return made;
	fds[0] = descriptor_raise(fds[0]);
	fds[1] = descriptor_raise(fds[1]);
	if (fds[0] >= 0 && fds[1] >= 0)
		return 0;
	int error = errno;
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	errno = error;
	return -1;
}

FILE *descriptor_fopen(const char *path, const char *mode)
{
	FILE *low = fopen(path, mode);

	if (!low || fileno(low) >= DESCRIPTOR_FIRST)
		return low;
	int fd = fcntl(fileno(low), F_DUPFD_CLOEXEC, DESCRIPTOR_FIRST);
	FILE *file = fd < 0 ? NULL : fdopen(fd, mode);
	int error = errno;
	if (!file && fd >= 0)
		close(fd);
	fclose(low);
	errno = error;
	return file;
}

DIR *descriptor_opendir(const char *path)
{
	DIR *low = opendir(path);

	if (!low || dirfd(low) >= DESCRIPTOR_FIRST)
		return low;
	int fd = fcntl(dirfd(low), F_DUPFD_CLOEXEC, DESCRIPTOR_FIRST);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	int error = errno;
	if (!folder && fd >= 0)
		close(fd);
	closedir(low);
	errno = error;
	return folder;
}

int descriptor_memory(const char *name, uint64_t bytes)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int fd = descriptor_raise(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));

	if (fd < 0)
		return -1;
	if (bytes <= INT64_MAX && ftruncate(fd, (off_t)bytes) == 0 &&
	    fcntl(fd, F_ADD_SEALS, seals) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool descriptor_discard(int fd, uint64_t offset, uint64_t bytes)
{
	const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	int status;

	do
		status = fallocate(fd, mode, (off_t)offset, (off_t)bytes);
	while (status != 0 && errno == EINTR);
	return status == 0;
}

bool descriptor_write(int fd, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	while (bytes) {
		ssize_t written = write(fd, at, bytes);
		if (written < 0 && errno == EINTR)
			continue;
		if (written == 0)
			errno = EIO;
		if (written <= 0)
			return false;
		at += written;
		bytes -= (size_t)written;
	}
	return true;
}
