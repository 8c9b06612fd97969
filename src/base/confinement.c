/* SPDX-License-Identifier: BSD-3-Clause */
/* A label is "PROFILE (MODE)" or "unconfined" with AppArmor, and "USER:ROLE:TYPE:LEVEL" with
 * SELinux. */
#include "base/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"

#define LABEL_BYTES 128

static bool file_read(const char *path, char text[LABEL_BYTES])
{
	int fd = descriptor_raise(open(path, O_RDONLY | O_CLOEXEC));
	const ssize_t bytes = fd < 0 ? -1 : read(fd, text, LABEL_BYTES - 1);

	if (fd >= 0)
		close(fd);
	if (bytes <= 0)
		return false;
	text[bytes] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

const char *confinement_describe(const char *label, bool enforcing, char out[CONFINEMENT_BYTES])
{
	const char *mode = strstr(label, " (");

	out[0] = '\0';
	if (mode && (strcmp(mode, " (enforce)") == 0 || strcmp(mode, " (kill)") == 0))
		snprintf(out, CONFINEMENT_BYTES,
			 "; the AppArmor profile %.*s may have denied it: `journalctl -k -g "
			 "DENIED` shows what a profile must permit",
			 (int)(mode - label), label);
	else if (enforcing && strchr(label, ':') && !strstr(label, ":unconfined_t"))
		snprintf(out, CONFINEMENT_BYTES,
			 "; SELinux may have denied it to %s: `ausearch -m avc -ts recent` shows "
			 "what the policy must permit",
			 label);
	return out;
}

const char *confinement_hint(int error)
{
	static _Thread_local char text[CONFINEMENT_BYTES];
	char label[LABEL_BYTES], state[LABEL_BYTES];

	if (error != EACCES && error != EPERM)
		return "";
	const int before = errno;
	const bool known = file_read("/proc/self/attr/current", label);
	const bool enforcing = file_read("/sys/fs/selinux/enforce", state) && state[0] == '1';
	errno = before;
	return known ? confinement_describe(label, enforcing, text) : "";
}
