/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/slurm/gres.h"

#include <slurm/slurm.h>

int gres_job(uint32_t job, const char *name)
{
	job_info_msg_t *answer;
	unsigned count = 0;

	if (slurm_load_job(&answer, job, 0) != SLURM_SUCCESS)
		return -1;
	for (uint32_t i = 0; i < answer->record_count; i++)
		if (answer->job_array[i].job_id == job)
			count = gres_count(answer->job_array[i].tres_per_node, name);
	slurm_free_job_info_msg(answer);
	return (int)count;
}
