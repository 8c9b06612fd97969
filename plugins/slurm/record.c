/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/slurm/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/util.h"

#define PAUSE_NS   (10 * MS_NS) /* between two tries to lock */
#define COUNT_FILE "xpus"
#define LOCK_FILE  ".lock" /* no name of a step begins with a dot */

static bool fail(char why[RECORD_WHY_BYTES], const char *what, const char *path, const char *reason)
{
	snprintf(why, RECORD_WHY_BYTES,
		 "%s %s: %s; run=FOLDER in plugstack.conf chooses the folder of steps", what, path,
		 reason);
	return false;
}

bool record_base(const char *run, char why[RECORD_WHY_BYTES])
{
	struct stat s;

	if (mkdir(run, 0711) != 0 && errno != EEXIST)
		return fail(why, "cannot create", run, strerror(errno));
	if (lstat(run, &s) != 0)
		return fail(why, "cannot read", run, strerror(errno));
	if (!S_ISDIR(s.st_mode) || s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)))
		return fail(why, "other users can change", run,
			    "it must be a folder of slurmd's "
			    "user, mode 711");
	return true;
}

static bool path_set(struct record *r, const char *run, const char *name)
{
	r->fd = -1;
	return snprintf(r->name, sizeof(r->name), "%s", name) < (int)sizeof(r->name) &&
	       snprintf(r->path, sizeof(r->path), "%s/%s", run, name) < (int)sizeof(r->path);
}

/* Opens and locks the folder. Returns false with errno set; EWOULDBLOCK: another process has it. */
static bool lock(struct record *r)
{
	struct stat opened, named;

	r->fd = descriptor_raise(open(r->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (r->fd < 0)
		return false;
	/* The last owner may have removed the folder between open() and flock(). */
	if (flock(r->fd, LOCK_EX | LOCK_NB) == 0 && fstat(r->fd, &opened) == 0 &&
	    lstat(r->path, &named) == 0 && opened.st_ino == named.st_ino)
		return true;
	int error = errno;
	close(r->fd);
	r->fd = -1;
	errno = error;
	return false;
}

bool record_create(struct record *r, const char *run, const char *name, uint64_t deadline_ns,
		   char why[RECORD_WHY_BYTES])
{
	if (!path_set(r, run, name))
		return fail(why, "the name is too long:", name, "run= needs a shorter path");
	for (;;) {
		if (mkdir(r->path, 0711) != 0 && errno != EEXIST)
			return fail(why, "cannot create", r->path, strerror(errno));
		if (lock(r))
			return true;
		if (errno != EWOULDBLOCK && errno != ENOENT)
			return fail(why, "cannot lock", r->path, strerror(errno));
		if (clock_now_ns() >= deadline_ns)
			return fail(why, "cannot lock", r->path, "another process has it");
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
}

bool record_stale(struct record *r, const char *run, const char *prefix, unsigned *position)
{
	DIR *folder = descriptor_opendir(run);
	struct dirent *entry;
	unsigned index = 0;
	bool found = false;

	while (folder && !found && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || index++ < *position)
			continue;
		*position = index;
		found = path_set(r, run, entry->d_name) && lock(r);
	}
	if (folder)
		closedir(folder);
	return found;
}

bool record_exists(const char *run, const char *prefix)
{
	DIR *folder = descriptor_opendir(run);
	struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder)))
		found = strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	if (folder)
		closedir(folder);
	return found;
}

void record_close(struct record *r, bool remove)
{
	if (r->fd < 0)
		return;
	if (remove) {
		unlinkat(r->fd, COUNT_FILE, 0);
		rmdir(r->path);
	}
	close(r->fd);
	r->fd = -1;
}

bool record_count(const struct record *r, unsigned xpus)
{
	char text[16];
	int fd = descriptor_raise(
		openat(r->fd, COUNT_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));

	if (fd < 0)
		return false;
	int length = snprintf(text, sizeof(text), "%u\n", xpus);
	bool written = descriptor_write(fd, text, (size_t)length);
	close(fd);
	return written;
}

/* Reads the number that the step has stored; 0: none. */
static unsigned count_read(int base, const char *name)
{
	char path[RECORD_NAME_BYTES + sizeof("/" COUNT_FILE)], text[16] = "";
	int length = snprintf(path, sizeof(path), "%s/" COUNT_FILE, name);

	if (length >= (int)sizeof(path))
		return 0;
	int fd = descriptor_raise(openat(base, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
	if (fd < 0)
		return 0;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	return got > 0 ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* Locks the counts of all steps, by a file that no other user can open: a folder with mode 755
 * could be locked by anyone. Returns its descriptor, or -1 with errno. */
static int run_lock(const char *run)
{
	char path[RECORD_PATH_BYTES + sizeof("/" LOCK_FILE)];

	snprintf(path, sizeof(path), "%s/" LOCK_FILE, run);
	int fd = descriptor_raise(open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	const int error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool record_acquire(const struct record *r, const char *run, const char *prefix, unsigned xpus,
		    unsigned given)
{
	int lock = run_lock(run);

	if (lock < 0) {
		errno = errno == EWOULDBLOCK ? 0 : errno;
		return false;
	}
	unlinkat(r->fd, COUNT_FILE, 0); /* of an earlier process of this step */
	const unsigned used = record_xpus(run, prefix);
	errno = 0;
	const bool fits = xpus <= given && used <= given - xpus;
	const bool acquired = fits && record_count(r, xpus);
	const int error = errno;
	close(lock);
	errno = error;
	return acquired;
}

unsigned record_xpus(const char *run, const char *prefix)
{
	DIR *folder = descriptor_opendir(run);
	struct dirent *entry;
	unsigned sum = 0;

	while (folder && (entry = readdir(folder)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			sum += count_read(dirfd(folder), entry->d_name);
	if (folder)
		closedir(folder);
	return sum;
}
