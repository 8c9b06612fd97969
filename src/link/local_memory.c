/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of two processes: a memfd of fixed size. Access beyond a file's end raises SIGBUS, so one
 * that can shrink is never mapped. */
#include "base/descriptor.h"
#include "link/local.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <dxp/status.h>

/* linux/magic.h; huge pages have another type */
#define TMPFS_MAGIC 0x01021994

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

static int memfd_make(const char *name)
{
	int fd = descriptor_raise(
		memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));

	/* before Linux 6.3, MFD_NOEXEC_SEAL is rejected */
	return fd >= 0 || errno != EINVAL
		       ? fd
		       : descriptor_raise(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

static int memory_map(int fd, uint64_t offset, uint64_t bytes, void **base)
{
	*base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	if (*base != MAP_FAILED)
		return DXP_OK;
	return errno == ENOMEM || errno == EAGAIN ? DXP_ENOMEM : DXP_EINVAL;
}

int local_memory_create(const char *name, uint64_t bytes, struct local_memory *out)
{
	struct local_memory m = {.bytes = bytes, .fd = memfd_make(name)};

	if (m.fd < 0)
		return errno == ENOMEM ? DXP_ENOMEM : DXP_EIO;
	int status = bytes <= INT64_MAX && ftruncate(m.fd, (off_t)bytes) == 0 ? DXP_OK : DXP_ENOMEM;
	if (status == DXP_OK &&
	    fcntl(m.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		status = DXP_EIO;
	if (status == DXP_OK)
		status = memory_map(m.fd, 0, bytes, &m.base);
	if (status != DXP_OK) {
		close(m.fd);
		return status;
	}
	*out = m;
	return DXP_OK;
}

/* Seals first: they guarantee that the size, read after them, cannot fall. */
static bool trustworthy(int fd, uint64_t offset, uint64_t bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs system;
	struct stat st;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return false;
	if (fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC || fstat(fd, &st) != 0)
		return false;
	return bytes > 0 && offset <= (uint64_t)st.st_size &&
	       bytes <= (uint64_t)st.st_size - offset && offset % (uint64_t)getpagesize() == 0;
}

int local_memory_map(int fd, uint64_t offset, uint64_t bytes, struct local_memory *out)
{
	struct local_memory m = {.bytes = bytes, .fd = -1};

	if (!trustworthy(fd, offset, bytes))
		return DXP_EINVAL;
	int status = memory_map(fd, offset, bytes, &m.base);
	if (status == DXP_OK)
		*out = m;
	return status;
}

void local_memory_free(struct local_memory *m)
{
	if (m->base)
		munmap(m->base, m->bytes);
	if (m->fd >= 0)
		close(m->fd);
	*m = (struct local_memory){.fd = -1};
}
