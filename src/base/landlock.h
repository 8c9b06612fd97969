/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits the files that a process can open, by Landlock: permanently, without root rights, denying
 * what rules do not name. Safe between fork and exec of a program with threads. */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum landlock_access {
	LANDLOCK_READ,       /* read and execute files, list folders */
	LANDLOCK_READ_WRITE, /* also write existing files */
	/* also make, remove and move files and folders */
	LANDLOCK_ALL,
};

/* Negative: no Landlock. */
long landlock_version(void);

/* Creates rules that permit nothing. Returns a descriptor, closed on exec; -1 with errno. */
int landlock_rules(void);

/* Permits a file, or all below a folder; does nothing if the path does not exist. */
void landlock_permit(int rules, const char *path, enum landlock_access access);

/* Programs and libraries of the system, and /dev/null. */
void landlock_permit_system(int rules);

/* Applies the rules to this thread, and to all that it starts. Needs PR_SET_NO_NEW_PRIVS. False:
 * errno. */
bool landlock_enter(int rules);

#endif
