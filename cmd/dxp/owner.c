/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/owner.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/dxp/command.h"

/* Finds the first part of an absolute path that does not belong to root. Does not follow symlinks.
 * Returns false if there is none. */
static bool part_foreign(const char *path, struct stat *out)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	for (char *at = part + 1;; at++) {
		if (*at != '/' && *at != '\0')
			continue;
		char end = *at;
		*at = '\0';
		if (lstat(part, out) != 0)
			return false;
		if (out->st_uid != 0)
			return true;
		if (end == '\0')
			return false;
		*at = end;
	}
}

/* Resolves the symlinks of the part of an absolute path that exists. */
static bool existing_resolve(const char *path, char out[PATH_MAX])
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	while (!realpath(part, out)) {
		char *end = strrchr(part, '/');
		if (!end || errno != ENOENT)
			return false;
		end[end == part] = '\0'; /* keeps the first '/' */
	}
	return true;
}

static bool absolute_make(const char *path, char out[PATH_MAX])
{
	char here[PATH_MAX] = "";
	const bool absolute = path[0] == '/';

	if (!absolute && !getcwd(here, sizeof(here)))
		return false;
	int length = snprintf(out, PATH_MAX, "%s%s%s", here, absolute ? "" : "/", path);
	errno = ENAMETOOLONG;
	return length < PATH_MAX;
}

/* Becomes this user, with the groups that a login gives it, so that the user's processes may open
 * for example /dev/dri/renderD128. A user without an account has the group of its folder only, and
 * never root's. */
static bool user_become(const struct stat *s)
{
	const struct passwd *account = getpwuid(s->st_uid);
	gid_t group = s->st_gid != 0 ? s->st_gid : s->st_uid;

	if (account)
		group = account->pw_gid;
	return (account ? initgroups(account->pw_name, group) : setgroups(0, NULL)) == 0 &&
	       setresgid(group, group, group) == 0 &&
	       setresuid(s->st_uid, s->st_uid, s->st_uid) == 0;
}

bool owner_become(const char *path)
{
	char whole[PATH_MAX], resolved[PATH_MAX];
	struct stat s;

	if (geteuid() != 0)
		return true;
	if (!absolute_make(path, whole) || !existing_resolve(whole, resolved)) {
		print_fail("cannot find the owner of %s: %s", path, strerror(errno));
		return false;
	}
	if (!part_foreign(whole, &s) && !part_foreign(resolved, &s))
		return true;
	if (user_become(&s))
		return true;
	print_fail("cannot become the owner of %s: %s; run this command as that user", path,
		   strerror(errno));
	return false;
}
