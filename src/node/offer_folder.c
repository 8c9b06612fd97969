/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/offer_folder.h"

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

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "link/local.h"
#include "nic/limits.h"
#include "node/stats_folder.h"
#include "wire/manage.h"

/* attempts to get the lock, 1 ms apart, while another process makes folders */
#define LOCK_TRIES 200
/* seconds; a younger folder stays, because its process may not have made its sockets yet */
#define YOUNG_S     60
#define FOLDERS_MAX 1024 /* folders checked per start; the next start checks the others */

struct listing {
	struct offer_folder *out;
	uint32_t count, space;
};

/* Extracts NAME from "NAME.nic". Returns false if `entry` has another form. */
static bool name_of(const char *entry, char name[FABRIC_NAME_BYTES])
{
	size_t bytes = strlen(entry), suffix = strlen(OFFER_SUFFIX);

	if (bytes <= suffix || bytes - suffix >= FABRIC_NAME_BYTES ||
	    strcmp(entry + bytes - suffix, OFFER_SUFFIX) != 0)
		return false;
	memcpy(name, entry, bytes - suffix);
	name[bytes - suffix] = '\0';
	return manage_name_valid(name);
}

static void folder_list(void *context, const struct stats_folder *listed)
{
	struct listing *l = context;
	int copy =
		descriptor_raise(openat(listed->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (dir && l->count < l->space && (entry = readdir(dir))) {
		struct offer_folder *to = &l->out[l->count];
		struct stat st;
		if (!name_of(entry->d_name, to->name) ||
		    fstatat(listed->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		snprintf(to->folder, sizeof(to->folder), "%s/%s", listed->path, entry->d_name);
		l->count++;
	}
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
}

static void folder_complain(void *context, const char *text)
{
	log_info("%s", text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct offer_folder *)a)->name,
		      ((const struct offer_folder *)b)->name);
}

uint32_t offer_folders(struct offer_folder *out, uint32_t space)
{
	struct listing l = {.out = out, .space = space};

	stats_run_folders(folder_list, folder_complain, &l);
	qsort(out, l.count, sizeof(*out), by_name);
	return l.count;
}

bool offer_socket_path(const char *folder, struct offer_scope scope, char out[OFFER_PATH_BYTES])
{
	char name[16] = OFFER_SOCKET;

	if (scope.only && scope.qp == ATTACH_QP_ALL)
		snprintf(name, sizeof(name), "vf%u", scope.function);
	else if (scope.only)
		snprintf(name, sizeof(name), "vf%u.%d", scope.function, scope.qp - ATTACH_QP(0));
	int bytes = snprintf(out, OFFER_PATH_BYTES, "%s/%s", folder, name);

	return bytes > 0 && bytes < OFFER_PATH_BYTES;
}

bool offer_socket_scope(uint32_t i, struct offer_scope *out)
{
	*out = (struct offer_scope){.only = i > 0, .function = (uint8_t)(i % NIC_FUNCTIONS)};
	if (i >= NIC_FUNCTIONS)
		out->qp = (uint8_t)ATTACH_QP(i / NIC_FUNCTIONS - 1);
	return i < NIC_FUNCTIONS + NIC_USERS;
}

/* Returns NULL, or the reason why the folder is unusable. The folder must belong to this user,
 * because another user could otherwise replace the sockets in it. */
static const char *folder_wrong(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return strerror(errno);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return "it is not a folder of this user; remove it";
	return NULL;
}

/* Removes the folder of a program that has exited: no process listens at the folder's first
 * socket. */
static void folder_clean(const char *folder)
{
	char path[OFFER_PATH_BYTES];
	struct offer_scope scope = {.only = false};
	struct stat st;

	if (lstat(folder, &st) != 0 || st.st_uid != geteuid() ||
	    time(NULL) - st.st_mtime <= YOUNG_S || !offer_socket_path(folder, scope, path) ||
	    !local_clear(path))
		return;
	for (uint32_t i = 1; offer_socket_scope(i, &scope); i++)
		if (offer_socket_path(folder, scope, path))
			local_clear(path);
	rmdir(folder); /* fails if a process still listens at a socket there */
}

/* Removes folders of programs that have exited. Caller holds the lock of the run folder. */
static void folders_clean(void)
{
	struct offer_folder *folders = calloc(FOLDERS_MAX, sizeof(*folders));
	uint32_t count = folders ? offer_folders(folders, FOLDERS_MAX) : 0;

	for (uint32_t i = 0; i < count; i++)
		folder_clean(folders[i].folder);
	free(folders);
}

static bool run_lock(int fd)
{
	const struct timespec pause = {.tv_nsec = MS_NS};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static int folder_make(const char *listed, const char *name, char folder[OFFER_PATH_BYTES])
{
	snprintf(folder, OFFER_PATH_BYTES, "%s/%s" OFFER_SUFFIX, listed, name);
	const char *wrong = mkdir(folder, 0700) == 0 || errno == EEXIST ? folder_wrong(folder)
									: strerror(errno);
	if (!wrong)
		return DXP_OK;
	log_error("cannot offer functions in %s: %s", folder, wrong);
	return DXP_EACCESS;
}

int offer_folder_make(const char *name, char folder[OFFER_PATH_BYTES], int *lock)
{
	char listed[STATS_PATH_BYTES];
	int status = stats_run_folder_open(lock, listed);

	if (status != DXP_OK)
		*lock = -1;
	if (status != DXP_OK) {
		if (status != DXP_EUNSUPPORTED)
			log_error("%s: no folder for the sockets of functions; set DXP_RUN to a "
				  "folder that you own, mode 700",
				  name);
		return status == DXP_EIO ? DXP_EACCESS : status;
	}
	/* If the lock is not available after a bounded wait, removes no folders. */
	if (run_lock(*lock))
		folders_clean();
	return folder_make(listed, name, folder);
}
