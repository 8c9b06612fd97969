/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads how many xPUs Slurm has given to a job on each node. The record of slurmctld decides; the
 * environment of the job, which its user can change, does not. */
#ifndef SLURM_GRES_H
#define SLURM_GRES_H

#include <stdint.h>

/* Returns the number of the GRES `name` in a list such as "gres:gpu:1,gres:xpu:2". Pure. */
unsigned gres_count(const char *list, const char *name);

/* Requests the record from slurmctld. Returns the number on each node; -1: slurmctld does not
 * answer. */
int gres_job(uint32_t job, const char *name);

#endif
