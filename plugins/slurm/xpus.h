/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the value of `--xpus`: N[:engine=NAME][:mem=BYTES]. Pure. */
#ifndef SLURM_XPUS_H
#define SLURM_XPUS_H

#include <stddef.h>

#define XPUS_MAX        256 /* xPUs of a step on one node; as JOB_XPUS_MAX of `dxp job` */
#define XPUS_TEXT_BYTES 32  /* bytes of an engine's name or of a size, with the final zero */
#define XPUS_WHY_BYTES  160

struct xpus {
	unsigned count;
	char engine[XPUS_TEXT_BYTES]; /* "": any */
	char memory[XPUS_TEXT_BYTES]; /* digits, and K, M or G; "": any */
};

/* Returns 0 and sets *out; or returns -1 and sets `why` to a sentence for the user. */
int xpus_parse(const char *text, struct xpus *out, char why[XPUS_WHY_BYTES]);

#endif
