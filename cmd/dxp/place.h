/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a local fabric, and what `dxp up` leaves in it:
 *   manager      address of the manager, one line; where programs look
 *   fabric.key   the fabric's key
 *   run/         logs, the manager's registry, and `fabric`: which processes, and whether the key
 * is theirs `run` is there exactly while a fabric is, so it is taken by mkdir. */
#ifndef CMD_DXP_PLACE_H
#define CMD_DXP_PLACE_H

#include "cmd/dxp/file.h"
#include "cmd/dxp/process.h"
#include "base/limits.h"

#define PLACE_PROCESSES_MAX 1024 /* a manager and boxes: more belong on more machines */

struct place {
	char folder[PATH_BYTES];
	int lock; /* held while this process changes the place */
	bool folder_created, key_created;
	struct process processes[PLACE_PROCESSES_MAX]; /* in order of their start */
	unsigned count;
};

/* Finds the folder and locks it; `create` makes it when need be. False: said why. */
bool place_open(struct place *p, const char *given, bool create);
void place_close(struct place *p);

/* folder/name or folder/run/name, into out. False: said that it is too long. */
bool place_path(const struct place *p, const char *name, char out[PATH_BYTES]);

/* A fabric is recorded here. Reads it. */
bool place_load(struct place *p);
bool place_save(const struct place *p);
bool place_alive(const struct place *p);

/* Nothing is recorded here: does nothing else use the folder? Says so if it does. */
bool place_vacant(const struct place *p);

/* Takes the empty place for a fabric. */
bool place_take(struct place *p);

/* Ends the processes, the manager last, then removes what `up` left. False: something could not be
 * ended (said): the record names that, and nothing else. */
bool place_clear(struct place *p);

#endif
