/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/stats_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"

#define CANDIDATES 4

struct candidates {
	char paths[CANDIDATES][STATS_PATH_BYTES];
	unsigned count;
};

static void PRINTF_LIKE(2, 3) candidate_add(struct candidates *c, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int bytes = vsnprintf(c->paths[c->count], STATS_PATH_BYTES, format, arguments);
	va_end(arguments);
	c->count += bytes > 0 && bytes < STATS_PATH_BYTES;
}

/* Returns true if the folder belongs to this user. After `sudo`, a variable of the environment may
 * name the folder of another user. */
static bool owned(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Returns the folder that the user chose by a variable; NULL: no choice; "": do not publish. */
static const char *given_stats(void)
{
	return getenv("DXP_STATS");
}

static const char *given_run(void)
{
	const char *given = getenv("DXP_RUN");

	return given ? given : given_stats();
}

static void candidates_find(struct candidates *c, const char *given)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	unsigned uid = geteuid();
	char user[64];

	c->count = 0;
	if (given) {
		candidate_add(c, "%s", given);
		return;
	}
	if (runtime && *runtime == '/' && owned(runtime))
		candidate_add(c, "%s/dxp", runtime);
	if (uid == 0)
		candidate_add(c, "/run/dxp");
	snprintf(user, sizeof(user), "/run/user/%u", uid);
	if (uid != 0 && owned(user))
		candidate_add(c, "%s/dxp", user);
	candidate_add(c, "/tmp/dxp-%u", uid);
}

/* Returns NULL, or the reason why this cannot be a folder of `owner`. */
static const char *folder_wrong(int fd, uid_t owner)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return strerror(errno);
	if (st.st_uid != owner)
		return "it belongs to another user";
	if (st.st_mode & 077)
		return "other users may enter it; run chmod 700 on it";
	return NULL;
}

static int folder_open(const char *path)
{
	return descriptor_raise(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* Opens the first usable folder. `what` names the purpose in messages. */
static int directory_open(const char *given, const char *what, int *folder, char *path)
{
	const char *wrong;
	struct candidates c;

	if (given && *given == '\0')
		return DXP_EUNSUPPORTED;
	candidates_find(&c, given);
	for (unsigned i = 0; i < c.count; i++) {
		int made = mkdir(c.paths[i], 0700);
		int fd = made == 0 || errno == EEXIST ? folder_open(c.paths[i]) : -1;
		wrong = fd < 0 ? strerror(errno) : folder_wrong(fd, geteuid());
		if (!wrong) {
			*folder = fd;
			strcpy(path, c.paths[i]);
			return DXP_OK;
		}
		if (fd >= 0)
			close(fd);
		log_write(given ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "cannot %s in %s: %s", what,
			  c.paths[i], wrong);
	}
	if (c.count == 0)
		log_warn("cannot %s in %s: its path has more than %d bytes", what, given,
			 STATS_PATH_BYTES - 1);
	return DXP_EIO;
}

int stats_folder_open(int *folder)
{
	char path[STATS_PATH_BYTES];

	return directory_open(given_stats(), "publish counters", folder, path);
}

int stats_run_folder_open(int *folder, char path[STATS_PATH_BYTES])
{
	const char *given = given_run();

	/* The path must be absolute, because the current folder of other processes may be
	 * different. */
	if (given && *given != '\0' && *given != '/') {
		log_warn("cannot offer functions in %s: the path must begin with '/'", given);
		return DXP_EIO;
	}
	return directory_open(given, "offer functions", folder, path);
}

struct walk {
	void (*visit)(void *context, const struct stats_folder *listed);
	void (*complain)(void *context, const char *text);
	void *context;
	struct {
		dev_t device;
		ino_t inode;
	} seen[STATS_FOLDERS_MAX];
	uint32_t count;
};

static bool seen_before(struct walk *w, const struct stat *st)
{
	for (uint32_t i = 0; i < w->count; i++) {
		if (w->seen[i].device == st->st_dev && w->seen[i].inode == st->st_ino)
			return true;
	}
	w->seen[w->count].device = st->st_dev;
	w->seen[w->count].inode = st->st_ino;
	return false;
}

static void complain(struct walk *w, const char *path, const char *wrong)
{
	char text[STATS_PATH_BYTES + 128];

	snprintf(text, sizeof(text), "%s is ignored: %s", path, wrong);
	w->complain(w->context, text);
}

/* Visits one folder. `any`: accepts every owner (for root). */
static void folder_visit(struct walk *w, const char *path, bool any)
{
	struct stat st;
	int fd = w->count < STATS_FOLDERS_MAX ? folder_open(path) : -1;

	if (fd < 0) {
		if (errno != ENOENT)
			complain(w, path, strerror(errno));
		return;
	}
	if (fstat(fd, &st) == 0 && !seen_before(w, &st)) {
		const struct stats_folder listed = {fd, st.st_uid, path};
		const char *wrong = folder_wrong(fd, any ? st.st_uid : geteuid());
		w->count++;
		if (wrong)
			complain(w, path, wrong);
		else
			w->visit(w->context, &listed);
	}
	close(fd);
}

static void others_visit(struct walk *w, const char *pattern)
{
	glob_t found;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		folder_visit(w, found.gl_pathv[i], true);
	globfree(&found);
}

static uint32_t folders_visit(struct walk *w, const char *given)
{
	struct candidates c;

	candidates_find(&c, given);
	for (unsigned i = 0; i < c.count; i++)
		folder_visit(w, c.paths[i], false);
	if (geteuid() == 0 && !given) {
		others_visit(w, "/run/user/*/dxp");
		others_visit(w, "/tmp/dxp-[0-9]*");
	}
	return w->count;
}

uint32_t stats_folders(void (*visit)(void *context, const struct stats_folder *listed),
		       void (*complaint)(void *context, const char *text), void *context)
{
	struct walk w = {.visit = visit, .complain = complaint, .context = context};

	return folders_visit(&w, given_stats());
}

uint32_t stats_run_folders(void (*visit)(void *context, const struct stats_folder *listed),
			   void (*complaint)(void *context, const char *text), void *context)
{
	struct walk w = {.visit = visit, .complain = complaint, .context = context};

	return folders_visit(&w, given_run());
}

static struct flock whole_file(void)
{
	return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

int stats_orphaned(int fd)
{
	struct flock lock = whole_file();

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

int stats_lock(int fd)
{
	struct flock lock = whole_file();

	return fcntl(fd, F_OFD_SETLK, &lock);
}
