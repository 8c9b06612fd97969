/* SPDX-License-Identifier: BSD-3-Clause */
/* A step of a job on this node, with the key and the xPUs that it has from `dxp job`. */
#ifndef SLURM_STEP_H
#define SLURM_STEP_H

#include <sys/types.h>

#include "plugins/slurm/record.h"
#include "plugins/slurm/settings.h"
#include "plugins/slurm/xpus.h"

/* bytes of the names of XPUS_MAX xPUs with commas, and of a sentence of `dxp job` */
#define STEP_TEXT_BYTES (XPUS_MAX * RECORD_NAME_BYTES)

struct step {
	const struct settings *settings;
	uint32_t job, step, node; /* as Slurm numbers them; `node` counts within the step */
	uid_t user;
	struct record record;
	char folder[RECORD_PATH_BYTES];  /* DXP_DIR of the step */
	char vendors[RECORD_PATH_BYTES]; /* OCL_ICD_VENDORS of the step */
	char text[STEP_TEXT_BYTES];      /* names of the xPUs, or the reason of a failure */
};

/* Takes xPUs for a step. Returns 0; or returns -1 with the reason in s->text, and the step has no
 * rights then. Takes settings->timeout_s at most, and as long again to undo. */
int step_begin(struct step *s, const struct xpus *wish);

/* Removes key and grants, if step_begin() succeeded. Returns -1 with the reason in s->text if they
 * stay; step_sweep() removes them later. */
int step_end(struct step *s);

/* Ends the steps of this machine whose process is gone. Stops at the deadline. */
void step_sweep(const struct settings *settings, uint64_t deadline_ns);
/* Ends all steps of a job on this machine: waits until their processes are gone, at most until the
 * deadline. */
void step_sweep_job(const struct settings *settings, uint32_t job, uint64_t deadline_ns);

#endif
