/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the arguments of the plugin's line in plugstack.conf. Pure. */
#ifndef SLURM_SETTINGS_H
#define SLURM_SETTINGS_H

#define SETTINGS_WHY_BYTES 256

struct settings {
	const char *directory; /* dir=: folder of the fabric, with an operator's key */
	const char *run;       /* run=: folder for the folders of steps */
	const char *program;   /* dxp=: path of dxp */
	const char *driver;    /* driver=: path of the OpenCL driver */
	const char *switches;  /* switch=: DXP_INC_SWITCH of the steps; NULL: not set */
	const char *gres;      /* gres=: GRES that limits the xPUs of a job; NULL: no limit */
	unsigned timeout_s;    /* timeout=: s that the begin or the end of a step takes at most */
};

/* Returns 0; or returns -1 and sets `why` to a sentence for the administrator. *out then has the
 * defaults for what was not parsed. It points into `argv`, which Slurm keeps. */
int settings_parse(int argc, char *const argv[], struct settings *out,
		   char why[SETTINGS_WHY_BYTES]);

#endif
