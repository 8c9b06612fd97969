/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/scratch.h"
#include "worker/limits.h"

#define HOST       "host-"
#define NAME_BYTES (WORKER_LABEL_BYTES + 16)

/* False: the folder cannot be made. */
static bool make(char out[PATH_MAX], const char *where, const char *name)
{
	char path[PATH_MAX]; /* `where` may be `out` */

	if (snprintf(path, sizeof(path), "%s/%s", where, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(out, path, sizeof(path));
	return mkdir(out, 0700) == 0 || errno == EEXIST;
}

int folders_open(struct folders *f, const char *scratch, const char *cache, bool shared)
{
	*f = (struct folders){.shared = shared};
	bool good = realpath(scratch, f->scratch) && make(f->zygote, f->scratch, "zygote");

	if (good && cache)
		good = realpath(cache, f->cache) && make(f->node, f->cache, "node");
	if (good && chdir(f->zygote) == 0)
		return DXP_OK;
	log_error("cannot make the folders of workers in %s%s%s: %s; free space there, or choose "
		  "others with TMPDIR and --state",
		  scratch, cache ? " and " : "", cache ? cache : "", strerror(errno));
	return DXP_EIO;
}

/* Removes the least recently used of more than FOLDERS_HOSTS_MAX folders. */
static void hosts_trim(const char *hosts)
{
	char oldest[NAME_BYTES] = "", path[PATH_MAX];
	struct timespec oldest_at = {0};
	unsigned count = 0;
	DIR *d = descriptor_opendir(hosts);
	struct dirent *e;
	struct stat s;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, HOST, strlen(HOST)) != 0 ||
		    strlen(e->d_name) >= sizeof(oldest) ||
		    fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (count++ == 0 || s.st_mtim.tv_sec < oldest_at.tv_sec ||
		    (s.st_mtim.tv_sec == oldest_at.tv_sec &&
		     s.st_mtim.tv_nsec < oldest_at.tv_nsec)) {
			oldest_at = s.st_mtim;
			strcpy(oldest, e->d_name);
		}
	}
	if (d)
		closedir(d);
	if (count > FOLDERS_HOSTS_MAX &&
	    snprintf(path, sizeof(path), "%s/%s", hosts, oldest) < (int)sizeof(path))
		scratch_folder_remove(path);
}

/* Marks the folder as used now. False: none; the worker then builds programs again. */
static bool kept_make(const struct folders *f, const char *host, char out[PATH_MAX])
{
	char hosts[PATH_MAX], name[NAME_BYTES];
	struct timespec now[2];

	if (f->shared)
		return make(out, f->cache, "shared");
	if (!host[0] || !make(hosts, f->cache, "hosts") ||
	    snprintf(name, sizeof(name), HOST "%s", host) >= (int)sizeof(name) ||
	    !make(out, hosts, name))
		return false;
	/* the kernel's own time of a file advances only at each tick, so that several folders would
	 * have the same */
	clock_gettime(CLOCK_REALTIME, &now[0]);
	now[1] = now[0];
	utimensat(AT_FDCWD, out, now, AT_SYMLINK_NOFOLLOW);
	hosts_trim(hosts);
	return true;
}

static void work_name(uint32_t work, char out[NAME_BYTES])
{
	snprintf(out, NAME_BYTES, "work-%u", work);
}

bool folders_make(const struct folders *f, uint32_t work, const char *host,
		  struct worker_folders *out)
{
	char name[NAME_BYTES];

	*out = (struct worker_folders){.cache = ""};
	work_name(work, name);
	if (!make(out->work, f->scratch, name)) {
		log_warn("cannot make a folder for a worker's compiler: %s; free space in %s",
			 strerror(errno), f->scratch);
		return false;
	}
	if (f->cache[0] && !kept_make(f, host, out->cache))
		out->cache[0] = '\0';
	return true;
}

void folders_remove(const char *scratch, uint32_t work)
{
	char name[NAME_BYTES], path[PATH_MAX];

	work_name(work, name);
	if (snprintf(path, sizeof(path), "%s/%s", scratch, name) < PATH_MAX)
		scratch_folder_remove(path);
}
