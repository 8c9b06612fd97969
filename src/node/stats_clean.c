/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/stats_clean.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "node/stats_folder.h"
#include "node/stats.h"
#include "node/tap.h"

/* seconds; a younger draft stays, because its owner may not have locked it yet */
#define YOUNG_S 60

static bool ends_in(const char *name, const char *end)
{
	size_t bytes = strlen(name), end_bytes = strlen(end);

	return bytes > end_bytes && strcmp(name + bytes - end_bytes, end) == 0;
}

/* Returns true for the names ".PID-N.stats.new" and ".PID-N.tap.TRACER". */
static bool is_draft(const char *name)
{
	int end = 0;

	return sscanf(name, ".%*u-%*u%n", &end) == 0 && end > 0 &&
	       (strcmp(name + end, ".stats.new") == 0 || strncmp(name + end, ".tap.", 5) == 0);
}

static bool is_published(const char *name)
{
	return name[0] != '.' && (ends_in(name, ".stats") || ends_in(name, ".tap"));
}

bool stats_leftover(int fd)
{
	uint64_t magic;

	return stats_orphaned(fd) &&
	       pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       (magic == STATS_MAGIC || magic == TAP_MAGIC);
}

static bool draft_leftover(int fd)
{
	struct stat st;

	return stats_orphaned(fd) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       time(NULL) - st.st_mtime > YOUNG_S;
}

static void entry_clean(int folder, const char *name)
{
	bool draft = is_draft(name);
	struct stat now, had;

	if (!draft && !is_published(name))
		return;
	int fd = descriptor_raise(
		openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	if (fd < 0)
		return;
	/* Removes the file only if the name still belongs to the same inode. Another process may
	 * have removed the file meanwhile, and a new process may use its name. */
	if ((draft ? draft_leftover(fd) : stats_leftover(fd)) && fstat(fd, &had) == 0 &&
	    fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == had.st_ino)
		unlinkat(folder, name, 0);
	close(fd);
}

void stats_clean(int folder)
{
	/* Opens the folder again, because a new open file has its own read position. */
	int copy = descriptor_raise(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		entry_clean(folder, entry->d_name);
	if (entries)
		closedir(entries);
	else if (copy >= 0)
		close(copy);
}
