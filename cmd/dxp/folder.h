/* SPDX-License-Identifier: BSD-3-Clause */
/* Manages the folder of a local fabric, with the files of `dxp up`:
 *
 *   manager      address of the manager, one line; programs look here
 *   fabric.key   the fabric's key
 *   run/         logs, the manager's registry, and `fabric`: the processes, and whether
 *                `dxp up` created key and folder
 *
 * `run` exists exactly while a fabric does, so mkdir acquires it. */
#ifndef CMD_DXP_FOLDER_H
#define CMD_DXP_FOLDER_H

#include "base/address.h"
#include "cmd/dxp/file.h"
#include "cmd/dxp/process.h"

/* processes: a manager and daemons; larger fabrics need more machines */
#define FOLDER_PROCESSES_MAX 1024

struct folder {
	char folder[PATH_BYTES];
	int lock; /* lock file, held while this process changes the folder */
	bool folder_created, key_created;
	struct process processes[FOLDER_PROCESSES_MAX]; /* in order of start */
	unsigned count;
};

/* Finds and locks the folder, as its owner (owner.h); creates it if `create` is set. Returns false
 * after it has printed the reason. */
bool folder_open(struct folder *p, const char *given, bool create);
void folder_close(struct folder *p);

/* Creates a path of folders, for the owner only. Sets *created if the last folder is new. */
bool folders_make(const char *path, bool *created);

/* Writes folder/name to out. Returns false after a message if it is too long. */
bool folder_path(const struct folder *p, const char *name, char out[PATH_BYTES]);

/* Reads the record of a fabric. Returns false if there is none. */
bool folder_load(struct folder *p);
bool folder_save(const struct folder *p);
bool folder_alive(const struct folder *p);

/* If the folder has no record, checks that no process uses it. Prints a process that uses it. */
bool folder_vacant(const struct folder *p);

/* Acquires the empty folder for a fabric. */
bool folder_acquire(struct folder *p);

/* Reads the manager's address from its log. Returns false if the manager does not listen yet. */
bool folder_manager_listens(const struct folder *p, char out[UDP_ADDRESS_TEXT_BYTES]);
/* Writes the file `manager`. Returns false after it has printed the reason. */
bool folder_manager_write(const struct folder *p, const char *address);

/* Stops the processes, the manager last, then removes the files of `up`. Returns false after a
 * message if some processes did not stop; the record then lists exactly those. */
bool folder_clear(struct folder *p);

#endif
