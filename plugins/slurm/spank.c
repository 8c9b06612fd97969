/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry points of the SPANK plugin. slurmstepd takes xPUs before it starts the tasks of a step, and
 * returns them when the step ends. The epilog of the job does so for steps whose slurmstepd was
 * killed. Functions return 0, or -1 for an error of this plugin. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include "base/clock.h"
#include "base/util.h"
#include "plugins/slurm/step.h"

SPANK_PLUGIN(dxp, 1)

static struct settings settings;
static char settings_why[SETTINGS_WHY_BYTES]; /* "": the settings are valid */
static struct xpus wish;
static bool requested;                /* the step has --xpus */
static char refusal[STEP_TEXT_BYTES]; /* why the step gets no xPUs; "": no reason */
static struct step step;

/* Handles --xpus. srun, sbatch and salloc check it first; slurmstepd does not rely on that, because
 * a user can bypass these programs. */
static int option_receive(int value, const char *text, int remote)
{
	char why[XPUS_WHY_BYTES];

	requested = true;
	if (xpus_parse(text, &wish, why) == 0)
		return 0;
	snprintf(refusal, sizeof(refusal), "--xpus=%.40s: %s", text ? text : "", why);
	if (remote)
		return 0; /* the tasks fail, and their user sees the reason */
	slurm_error("%s", refusal);
	return -1;
}

static struct spank_option option = {
	.name = (char[]){"xpus"},
	.arginfo = (char[]){"N[:engine=NAME][:mem=BYTES]"},
	.usage = (char[]){"N xPUs of the dxp fabric for each step on each of its nodes"},
	.has_arg = 1,
	.cb = option_receive};

int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
	const spank_context_t context = spank_context();

	if (settings_parse(argc, argv, &settings, settings_why) == 0)
		settings_why[0] = '\0';
	else if (context == S_CTX_SLURMD)
		slurm_error("dxp: %s", settings_why);
	if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE)
		return 0;
	return spank_option_register(spank, &option) == ESPANK_SUCCESS ? 0 : -1;
}

/* Returns whether tasks of this step may have xPUs. The script of sbatch has none, because each
 * srun in it has its own. */
static bool step_counts(uint32_t number)
{
	return number < SLURM_MAX_NORMAL_STEP_ID;
}

static int environment_set(spank_t spank)
{
	const struct {
		const char *name, *value;
		int overwrite;
	} rows[] = {{"DXP_DIR", step.folder, 1},    {"OCL_ICD_VENDORS", step.vendors, 1},
		    {"DXP_CL_NODES", step.text, 1}, {"DXP_CL_VERBOSE", "1", 0},
		    {"DXP_CL_JOIN_MS", "10000", 0}, {"DXP_INC_SWITCH", settings.switches, 0}};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (!rows[i].value)
			continue;
		spank_err_t error =
			spank_setenv(spank, rows[i].name, rows[i].value, rows[i].overwrite);
		if (error != ESPANK_SUCCESS && error != ESPANK_ENV_EXISTS)
			return -1;
	}
	spank_unsetenv(spank, "OPENCL_VENDOR_PATH");
	spank_unsetenv(spank, "OCL_ICD_FILENAMES");
	return 0;
}

static int step_identify(spank_t spank)
{
	step = (struct step){.settings = &settings, .record = {.fd = -1}};
	return spank_get_item(spank, S_JOB_ID, &step.job) == ESPANK_SUCCESS &&
			       spank_get_item(spank, S_JOB_STEPID, &step.step) == ESPANK_SUCCESS &&
			       spank_get_item(spank, S_JOB_NODEID, &step.node) == ESPANK_SUCCESS &&
			       spank_get_item(spank, S_JOB_UID, &step.user) == ESPANK_SUCCESS
		       ? 0
		       : -1;
}

/* Runs as root in slurmstepd, before it has a connection to srun. A refusal is kept for
 * slurm_spank_user_init(), which has one. */
int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[])
{
	if (spank_context() != S_CTX_REMOTE || !requested)
		return 0;
	if (step_identify(spank) != 0)
		snprintf(refusal, sizeof(refusal), "Slurm does not name the step");
	else if (!step_counts(step.step))
		requested = false;
	else if (*settings_why)
		snprintf(refusal, sizeof(refusal), "%s", settings_why);
	else if (!*refusal && step_begin(&step, &wish) != 0)
		snprintf(refusal, sizeof(refusal), "%s",
			 *step.text ? step.text : "dxp ended without a word; see the kernel's log");
	else if (!*refusal && environment_set(spank) != 0)
		snprintf(refusal, sizeof(refusal), "cannot set the environment: no memory");
	return 0;
}

int slurm_spank_user_init(spank_t spank, int argc, char *argv[])
{
	static const char mark[] = "dxp: error: ";
	const char *text = refusal;

	if (!requested || !*refusal)
		return 0;
	if (strncmp(text, mark, sizeof(mark) - 1) == 0)
		text += sizeof(mark) - 1;
	slurm_error("no xPUs for this step: %s", text);
	return 0;
}

/* Makes the tasks fail, with exit status 1. If slurm_spank_user_init() failed instead, srun of
 * Slurm 22.05 would exit with 0. */
int slurm_spank_task_init_privileged(spank_t spank, int argc, char *argv[])
{
	return requested && *refusal ? -1 : 0;
}

int slurm_spank_exit(spank_t spank, int argc, char *argv[])
{
	if (spank_context() != S_CTX_REMOTE || !requested || step_end(&step) == 0)
		return 0;
	slurm_error("dxp: xPUs of %s are not returned yet: %s; the epilog retries, see "
		    "docs/guide/slurm.md",
		    step.record.name, step.text);
	return 0;
}

/* Runs as root on each node when a job has ended there. */
int slurm_spank_job_epilog(spank_t spank, int argc, char *argv[])
{
	uint32_t job;

	/* In this context, Slurm does not call slurm_spank_init(). */
	if (settings_parse(argc, argv, &settings, settings_why) != 0 ||
	    spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return 0;
	step_sweep_job(&settings, job, clock_now_ns() + settings.timeout_s * S_NS);
	return 0;
}
