/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits the files that a process can open, by Landlock. The limit is permanent and needs no root
 * rights. Rules name folders and files; all others are denied. The calls are safe between fork and
 * exec of a program with threads. */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum landlock_access {
	LANDLOCK_READ,       /* permits to read and execute files, and to list folders */
	LANDLOCK_READ_WRITE, /* also permits to write files that exist */
	/* also permits to make, remove and move files and folders */
	LANDLOCK_ALL,
};

/* Returns Landlock's version in the kernel; negative: the kernel has no Landlock. */
long landlock_version(void);

/* Creates rules that permit nothing. Returns a descriptor, closed on exec; -1 with errno set. */
int landlock_rules(void);

/* Permits access to a file, or to all files and folders below a folder. Does nothing if the path
 * does not exist. */
void landlock_permit(int rules, const char *path, enum landlock_access access);

/* Permits programs and libraries of the system, and /dev/null. */
void landlock_permit_system(int rules);

/* Applies the rules to this thread, and to all threads and processes that it starts. The process
 * must have PR_SET_NO_NEW_PRIVS. Returns false with errno set. */
bool landlock_enter(int rules);

#endif
