/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"

#define PREFIX  "dxp-work-"
#define YOUNG_S 60 /* s; the owner of a younger folder may not have locked it yet */
/* levels removed; compilers make 6, a hostile kernel any number */
#define DEPTH_MAX   256
#define FOLDER_OPEN (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct scratch {
	char *path;
	int lock; /* its lock ends with the owner */
};

/* ---- removing ---- */

/* Removes at most DEPTH_MAX levels, because each needs a descriptor and memory. */
static void folder_empty(int folder, unsigned depth)
{
	DIR *d = depth < DEPTH_MAX ? fdopendir(folder) : NULL;
	struct dirent *entry;

	if (!d) {
		close(folder);
		return;
	}
	while ((entry = readdir(d))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		int inside = descriptor_raise(openat(dirfd(d), entry->d_name, FOLDER_OPEN));
		if (inside >= 0)
			folder_empty(inside, depth + 1);
		unlinkat(dirfd(d), entry->d_name, inside >= 0 ? AT_REMOVEDIR : 0);
	}
	closedir(d);
}

void scratch_folder_remove(const char *path)
{
	int folder = descriptor_raise(open(path, FOLDER_OPEN));

	if (folder >= 0)
		folder_empty(folder, 0);
	rmdir(path);
}

/* ---- folders of dead processes ---- */

static bool is_left(int folder)
{
	struct stat s;

	return fstat(folder, &s) == 0 && s.st_uid == geteuid() &&
	       time(NULL) - s.st_mtime > YOUNG_S && flock(folder, LOCK_EX | LOCK_NB) == 0;
}

static void left_remove(const char *where)
{
	DIR *d = descriptor_opendir(where);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		int folder = descriptor_raise(openat(dirfd(d), entry->d_name, FOLDER_OPEN));
		if (folder < 0)
			continue;
		if (!is_left(folder)) {
			close(folder);
			continue;
		}
		folder_empty(folder, 0);
		unlinkat(dirfd(d), entry->d_name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
}

/* ---- own folder ---- */

static int failed(const char *where)
{
	log_error("cannot create a folder for temporary files in %s: %s; free space there, or set "
		  "TMPDIR to another folder",
		  where, strerror(errno));
	return DXP_EIO;
}

static int make(const char *where, struct scratch *s)
{
	if (asprintf(&s->path, "%s/" PREFIX "XXXXXX", where) < 0) {
		s->path = NULL;
		return DXP_ENOMEM;
	}
	if (!mkdtemp(s->path)) {
		int status = failed(where);
		free(s->path);
		s->path = NULL;
		return status;
	}
	s->lock = descriptor_raise(open(s->path, FOLDER_OPEN));
	return s->lock >= 0 && flock(s->lock, LOCK_EX | LOCK_NB) == 0 ? DXP_OK : failed(where);
}

int scratch_open(const char *where, struct scratch **out)
{
	struct scratch *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->lock = -1;
	if (!where)
		where = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	left_remove(where);
	int status = make(where, s);
	if (status != DXP_OK) {
		scratch_close(s);
		return status;
	}
	*out = s;
	return DXP_OK;
}

void scratch_close(struct scratch *s)
{
	if (!s)
		return;
	if (s->path)
		scratch_folder_remove(s->path);
	if (s->lock >= 0)
		close(s->lock);
	free(s->path);
	free(s);
}

char *scratch_path(const struct scratch *s)
{
	return s->path;
}
