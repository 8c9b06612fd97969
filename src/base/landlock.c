/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/util.h"

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ull << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14)
#endif

#define VERSION_REFER    2
#define VERSION_TRUNCATE 3
#define RIGHTS_FIRST     ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) /* of Landlock 1 */
#define RIGHTS_READ \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define RIGHTS_OF_FILES                                              \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | \
	 LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)

long landlock_version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static uint64_t rights_all(void)
{
	const long version = landlock_version();

	return RIGHTS_FIRST | (version >= VERSION_REFER ? LANDLOCK_ACCESS_FS_REFER : 0) |
	       (version >= VERSION_TRUNCATE ? LANDLOCK_ACCESS_FS_TRUNCATE : 0);
}

static uint64_t rights_of(enum landlock_access access)
{
	switch (access) {
	case LANDLOCK_READ: return RIGHTS_READ;
	case LANDLOCK_READ_WRITE: return RIGHTS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE;
	default: return rights_all();
	}
}

int landlock_rules(void)
{
	const struct landlock_ruleset_attr all = {.handled_access_fs = rights_all()};

	return descriptor_raise((int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0));
}

void landlock_permit(int rules, const char *path, enum landlock_access access)
{
	struct stat s;
	struct landlock_path_beneath_attr rule = {
		.allowed_access = rights_of(access),
		.parent_fd = descriptor_raise(open(path, O_PATH | O_CLOEXEC))};

	if (rule.parent_fd < 0)
		return;
	if (fstat(rule.parent_fd, &s) == 0 && !S_ISDIR(s.st_mode))
		rule.allowed_access &= RIGHTS_OF_FILES;
	/* without the rule, access fails later with EACCES */
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
}

void landlock_permit_system(int rules)
{
	static const char *const paths[] = {
		"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives"};

	for (size_t i = 0; i < ARRAY_COUNT(paths); i++)
		landlock_permit(rules, paths[i], LANDLOCK_READ);
	landlock_permit(rules, "/dev/null", LANDLOCK_READ_WRITE);
}

bool landlock_enter(int rules)
{
	return syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}
