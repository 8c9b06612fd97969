/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares jobs: a job is a name with a key of its own, and with grants of xPUs that no other grant
 * names. A scheduler begins and ends jobs; programs of the job use its folder as DXP_DIR. */
#ifndef CMD_DXP_JOB_H
#define CMD_DXP_JOB_H

#include "cmd/dxp/control.h"
#include "cmd/dxp/job_choice.h"

struct job {
	struct dxp_fabric_options fabric; /* fabric and keys of the operator */
	struct control operator_keys;
	const char *name;   /* name of the job; for job_end() also the beginning of names and '*' */
	const char *folder; /* folder of the job's keys; NULL, only for job_end(): there is none */
	struct job_wish wish;
	uint64_t wait_s;  /* s to wait for xPUs that other grants name */
	uint64_t user;    /* user id that gets the keys; UINT64_MAX: this user */
	bool replaces;    /* job_begin() first ends a job of this name */
	unsigned removed; /* result of job_end(): keys and grants that it removed */
};

/* Makes the job's key, folder and grants, and sets *out to its xPUs. Ends the job again if a part
 * fails. Returns false after it has printed the reason. */
bool job_begin(struct job *j, struct job_choice *out);

/* Removes the keys and the grants of the job or jobs, and the files of the folder. An absent job is
 * no error. Returns false after it has printed the reason; it has then removed as much as it could,
 * but not the folder. */
bool job_end(struct job *j);

/* Removes the files of job_begin() and the folder; an absent folder is no error. Returns false
 * after it has printed the reason. */
bool job_folder_remove(const char *path);

#endif
