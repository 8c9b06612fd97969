/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ocl_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "engine/limits.h"

#define SUFFIX ".program"
/* ns: an older unfinished file is of a dead process */
#define OLD_NS  (3600ll * 1000 * 1000 * 1000)
#define PENDING ".part"
/* bytes counted for a file at least, which limits empty files */
#define PAGE 4096u

static bool path_make(const char *folder, const uint8_t key[OCL_KEY_BYTES], char out[PATH_MAX])
{
	char name[2 * OCL_KEY_BYTES + 1];

	for (int i = 0; i < OCL_KEY_BYTES; i++)
		snprintf(name + 2 * i, 3, "%02x", key[i]);
	return snprintf(out, PATH_MAX, "%s/%s" SUFFIX, folder, name) < PATH_MAX;
}

static uint8_t *file_read(int file, size_t *bytes)
{
	struct stat s;
	size_t got = 0;

	if (fstat(file, &s) != 0 || s.st_size <= 0 || (uint64_t)s.st_size > ENGINE_CACHE_BYTES)
		return NULL;
	uint8_t *data = malloc((size_t)s.st_size);
	while (data && got < (size_t)s.st_size) {
		ssize_t n = read(file, data + got, (size_t)s.st_size - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	*bytes = got;
	return data;
}

uint8_t *ocl_cache_get(const char *folder, const uint8_t key[OCL_KEY_BYTES], size_t *bytes)
{
	char path[PATH_MAX];
	int file;

	if (!path_make(folder, key, path) ||
	    (file = descriptor_raise(open(path, O_RDONLY | O_CLOEXEC))) < 0)
		return NULL;
	uint8_t *data = file_read(file, bytes);
	futimens(file, NULL);
	close(file);
	return data;
}

static bool put(const char *folder, const char *path, const void *data, size_t bytes)
{
	char part[PATH_MAX];

	if (snprintf(part, sizeof(part), "%s/XXXXXX" PENDING, folder) >= (int)sizeof(part))
		return false;
	int file = mkostemps(part, sizeof(PENDING) - 1, O_CLOEXEC);
	if (file < 0)
		return false;
	bool written = descriptor_write(file, data, bytes);
	written = close(file) == 0 && written;
	if (written && rename(part, path) == 0)
		return true;
	unlink(part);
	return false;
}

bool ocl_cache_seen(const char *folder, const uint8_t key[OCL_KEY_BYTES])
{
	char path[PATH_MAX];

	if (!path_make(folder, key, path))
		return false;
	mkdir(folder, 0700);
	int file = descriptor_raise(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (file < 0) /* it exists, or ocl_cache_put() will report the error */
		return true;
	close(file);
	return false;
}

void ocl_cache_put(const char *folder, const uint8_t key[OCL_KEY_BYTES], const void *data,
		   size_t bytes)
{
	char path[PATH_MAX];

	if (bytes > ENGINE_CACHE_BYTES / 4 || !path_make(folder, key, path))
		return;
	mkdir(folder, 0700);
	if (!put(folder, path, data, bytes)) {
		log_warn("cannot store a compiled program in %s: %s; each start builds it again",
			 folder, strerror(errno));
		return;
	}
	ocl_cache_trim(folder, ENGINE_CACHE_BYTES);
}

void ocl_cache_drop(const char *folder, const uint8_t key[OCL_KEY_BYTES])
{
	char path[PATH_MAX];

	if (path_make(folder, key, path))
		unlink(path);
}

struct entry {
	int64_t used_ns;
	uint64_t bytes;
	char name[2 * OCL_KEY_BYTES + sizeof(SUFFIX)];
};

struct entries {
	struct entry *at;
	size_t count, space;
	uint64_t bytes;
};

static bool ends_with(const char *name, const char *end)
{
	size_t bytes = strlen(name), end_bytes = strlen(end);

	return bytes >= end_bytes && strcmp(name + bytes - end_bytes, end) == 0;
}

static void entry_add(struct entries *all, const char *name, const struct stat *s)
{
	if (all->count == all->space) {
		size_t space = all->space ? 2 * all->space : 64;
		struct entry *more = realloc(all->at, space * sizeof(*more));
		if (!more)
			return;
		all->at = more;
		all->space = space;
	}
	struct entry *e = &all->at[all->count++];
	e->used_ns = (int64_t)s->st_mtim.tv_sec * 1000000000 + s->st_mtim.tv_nsec;
	e->bytes = s->st_size > PAGE ? (uint64_t)s->st_size : PAGE;
	snprintf(e->name, sizeof(e->name), "%s", name);
	all->bytes += e->bytes;
}

/* Removes unfinished files of dead processes. */
static void entries_read(DIR *folder, struct entries *all)
{
	struct timespec now;
	struct dirent *d;
	struct stat s;

	clock_gettime(CLOCK_REALTIME, &now);
	while ((d = readdir(folder))) {
		if (fstatat(dirfd(folder), d->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(s.st_mode))
			continue;
		if (strlen(d->d_name) < sizeof(all->at->name) && ends_with(d->d_name, SUFFIX))
			entry_add(all, d->d_name, &s);
		else if (ends_with(d->d_name, PENDING) &&
			 (int64_t)(now.tv_sec - s.st_mtim.tv_sec) * 1000000000 > OLD_NS)
			unlinkat(dirfd(folder), d->d_name, 0);
	}
}

static int by_age(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->used_ns < y->used_ns ? -1 : x->used_ns > y->used_ns;
}

void ocl_cache_trim(const char *path, uint64_t bytes_max)
{
	struct entries all = {0};
	DIR *folder = descriptor_opendir(path);

	if (!folder)
		return;
	entries_read(folder, &all);
	if (all.bytes > bytes_max)
		qsort(all.at, all.count, sizeof(*all.at), by_age);
	for (size_t i = 0; i < all.count && all.bytes > bytes_max; i++) {
		unlinkat(dirfd(folder), all.at[i].name, 0);
		all.bytes -= all.at[i].bytes;
	}
	free(all.at);
	closedir(folder);
}
