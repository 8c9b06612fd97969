/* SPDX-License-Identifier: BSD-3-Clause */
/* Manages the folder of a local fabric, with the files of `dxp up`:
 *
 *   manager      address of the manager, one line; programs look here
 *   fabric.key   the fabric's key
 *   run/         logs, the manager's registry, and `fabric`: the processes, and whether
 *                `dxp up` created key and folder
 *
 * `run` exists exactly while a fabric does, so mkdir acquires it. */
#ifndef CMD_DXP_PLACE_H
#define CMD_DXP_PLACE_H

#include "cmd/dxp/file.h"
#include "cmd/dxp/process.h"

#define PLACE_PROCESSES_MAX 1024 /* a manager and daemons; larger fabrics need more machines */

struct place {
	char folder[PATH_BYTES];
	int lock; /* held while this process changes the folder */
	bool folder_created, key_created;
	struct process processes[PLACE_PROCESSES_MAX]; /* in order of their start */
	unsigned count;
};

/* Finds the folder and locks it; with `create` makes it if necessary. False: failed, reason
 * printed. */
bool place_open(struct place *p, const char *given, bool create);
void place_close(struct place *p);

/* Writes folder/name to out. False: too long (printed). */
bool place_path(const struct place *p, const char *name, char out[PATH_BYTES]);

/* Reads the record of a fabric. False: there is none. */
bool place_load(struct place *p);
bool place_save(const struct place *p);
bool place_alive(const struct place *p);

/* Checks, without a record, that nothing else uses the folder; prints what does. */
bool place_vacant(const struct place *p);

/* Acquires the empty folder for a fabric. */
bool place_take(struct place *p);

/* Stops the processes, the manager last, then removes the files of `up`. False: some processes did
 * not stop (printed); the record keeps exactly those. */
bool place_clear(struct place *p);

#endif
