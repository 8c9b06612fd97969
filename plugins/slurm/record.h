/* SPDX-License-Identifier: BSD-3-Clause */
/* The folders of steps on this machine: RUN/NAME for the step with the job name NAME of `dxp job`.
 * The process of the step locks its folder as long as it lives, and the kernel unlocks it when the
 * process is killed. So a folder without lock belongs to a step that is gone, and whose key and
 * grants must be removed. */
#ifndef SLURM_RECORD_H
#define SLURM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_NAME_BYTES 32 /* as FABRIC_NAME_BYTES */
#define RECORD_PATH_BYTES 512
#define RECORD_WHY_BYTES  768

struct record {
	char name[RECORD_NAME_BYTES];
	char path[RECORD_PATH_BYTES]; /* of the folder */
	int fd;                       /* of the folder, locked; -1: none */
};

/* Creates RUN if it does not exist. Checks that only this user can write there. */
bool record_base(const char *run, char why[RECORD_WHY_BYTES]);

/* Creates and locks the folder of a step, waiting until the deadline if another process has it.
 * Returns false with a sentence in `why`. */
bool record_create(struct record *r, const char *run, const char *name, uint64_t deadline_ns,
		   char why[RECORD_WHY_BYTES]);
/* Locks the next folder without lock whose name begins with `prefix`. *position is 0 for the first
 * call. Returns false if there is none. */
bool record_stale(struct record *r, const char *run, const char *prefix, unsigned *position);

/* Returns whether a folder exists whose name begins with `prefix`, locked or not. */
bool record_exists(const char *run, const char *prefix);

/* Unlocks the folder; removes it if `remove` is set. */
void record_close(struct record *r, bool remove);

/* Stores how many xPUs the step has, for record_xpus(). */
bool record_count(const struct record *r, unsigned xpus);
/* Stores it only if the steps whose names begin with `prefix`, this one included, then have at most
 * `given`. Of steps that try at the same time, one is first, and a step that waits counts for
 * none. Returns false with errno 0: too many now, or another process decides; else an error. */
bool record_acquire(const struct record *r, const char *run, const char *prefix, unsigned xpus,
		    unsigned given);
/* Returns how many xPUs the steps have whose names begin with `prefix`. */
unsigned record_xpus(const char *run, const char *prefix);

#endif
