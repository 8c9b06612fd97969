/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/offer_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "node/stats_place.h"
#include "wire/manage.h"

struct listing {
	struct offer_place *out;
	uint32_t count, room;
};

/* "NAME.nic" gives NAME. */
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

static void place_list(void *context, const struct stats_place *place)
{
	struct listing *l = context;
	int copy = descriptor_raise(openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (dir && l->count < l->room && (entry = readdir(dir))) {
		struct offer_place *to = &l->out[l->count];
		struct stat st;
		if (!name_of(entry->d_name, to->name) ||
		    fstatat(place->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		snprintf(to->folder, sizeof(to->folder), "%s/%s", place->path, entry->d_name);
		l->count++;
	}
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
}

static void place_complain(void *context, const char *text)
{
	log_info("%s", text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct offer_place *)a)->name, ((const struct offer_place *)b)->name);
}

uint32_t offer_places(struct offer_place *out, uint32_t room)
{
	struct listing l = {.out = out, .room = room};

	run_places(place_list, place_complain, &l);
	qsort(out, l.count, sizeof(*out), by_name);
	return l.count;
}

bool offer_socket_path(const char *folder, uint32_t function, char out[OFFER_PATH_BYTES])
{
	int bytes = function == 0 ? snprintf(out, OFFER_PATH_BYTES, "%s/" OFFER_SOCKET, folder)
				  : snprintf(out, OFFER_PATH_BYTES, "%s/vf%u", folder, function);

	return bytes > 0 && bytes < OFFER_PATH_BYTES;
}

/* What was made by somebody else is not used: he could replace the sockets. */
static const char *folder_wrong(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return strerror(errno);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return "it is no folder of this user; remove it";
	return NULL;
}

int offer_place_make(const char *name, char folder[OFFER_PATH_BYTES])
{
	char place[STATS_PATH_BYTES];
	int fd;
	int status = run_place_open(&fd, place);

	if (status != DXP_OK) {
		if (status != DXP_EUNSUPPORTED)
			log_error("%s: there is no folder to offer functions in; name one of your "
				  "own, mode 700, with DXP_RUN",
				  name);
		return status == DXP_EIO ? DXP_EACCESS : status;
	}
	close(fd);
	snprintf(folder, OFFER_PATH_BYTES, "%s/%s" OFFER_SUFFIX, place, name);
	const char *wrong = mkdir(folder, 0700) == 0 || errno == EEXIST ? folder_wrong(folder)
									: strerror(errno);
	if (!wrong)
		return DXP_OK;
	log_error("cannot offer functions in %s: %s", folder, wrong);
	return DXP_EACCESS;
}
