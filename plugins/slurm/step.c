/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/slurm/step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/util.h"
#include "plugins/slurm/gres.h"
#include "plugins/slurm/helper.h"

#define NAME_PREFIX   "slurm-"
#define PAUSE_NS      (100 * MS_NS) /* between two looks at the folders of steps */
#define KEYS_FOLDER   "keys"
#define ARGUMENTS_MAX 24

static int fail(struct step *s, const char *why)
{
	snprintf(s->text, sizeof(s->text), "%s", why);
	return -1;
}

static uint64_t deadline(const struct settings *settings)
{
	return clock_now_ns() + settings->timeout_s * S_NS;
}

static void pause_short(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* Runs `dxp job end`, which also removes the folder of the keys. */
static enum helper_result job_end(const struct settings *settings, const struct record *r,
				  uint64_t deadline_ns, char *out, size_t bytes)
{
	char folder[RECORD_PATH_BYTES + sizeof("/" KEYS_FOLDER)];

	snprintf(folder, sizeof(folder), "%s/" KEYS_FOLDER, r->path);
	const char *const argv[] = {
		settings->program,   "job", "end", r->name, "--folder", folder, "--dir",
		settings->directory, NULL};
	return helper_run(argv, deadline_ns, out, bytes);
}

/* Ends the steps without process whose names begin so. */
static void sweep(const struct settings *settings, const char *prefix, uint64_t deadline_ns)
{
	unsigned position = 0;
	struct record r;
	char text[256];

	while (clock_now_ns() < deadline_ns && record_stale(&r, settings->run, prefix, &position)) {
		const bool ended =
			job_end(settings, &r, deadline_ns, text, sizeof(text)) == HELPER_DONE;
		position -= ended; /* the folder is no longer counted */
		record_close(&r, ended);
	}
}

void step_sweep(const struct settings *settings, uint64_t deadline_ns)
{
	sweep(settings, NAME_PREFIX, deadline_ns);
}

void step_sweep_job(const struct settings *settings, uint32_t job, uint64_t deadline_ns)
{
	char prefix[RECORD_NAME_BYTES];

	snprintf(prefix, sizeof(prefix), NAME_PREFIX "%u-", job);
	while (record_exists(settings->run, prefix) && clock_now_ns() < deadline_ns) {
		sweep(settings, prefix, deadline_ns);
		pause_short();
	}
}

/* Writes the file through which both common ICD loaders find the OpenCL driver. */
static int vendors_make(struct step *s)
{
	char part[RECORD_PATH_BYTES + 64], file[RECORD_PATH_BYTES + 64];
	int length = snprintf(s->vendors, sizeof(s->vendors), "%s/vendors/", s->settings->run);

	if (length >= (int)sizeof(s->vendors) || (mkdir(s->vendors, 0755) != 0 && errno != EEXIST))
		return -1;
	snprintf(file, sizeof(file), "%sdxp.icd", s->vendors);
	snprintf(part, sizeof(part), "%sdxp.icd.%d", s->vendors, (int)getpid());
	int fd = descriptor_raise(open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
	if (fd < 0)
		return -1;
	const char *driver = s->settings->driver;
	bool good = descriptor_write(fd, driver, strlen(driver)) && descriptor_write(fd, "\n", 1) &&
		    fchmod(fd, 0644) == 0;
	close(fd);
	good = good && rename(part, file) == 0;
	if (!good)
		unlink(part);
	return good ? 0 : -1;
}

static int write_failed(struct step *s)
{
	char why[RECORD_WHY_BYTES];

	snprintf(why, sizeof(why), "cannot write to %s: %s", s->record.path, strerror(errno));
	return fail(s, why);
}

/* Waits until the xPUs of all steps of the job on this node are no more than Slurm has given to the
 * job, and stores those of this step. */
static int gres_acquire(struct step *s, const struct xpus *wish, uint64_t deadline_ns)
{
	char prefix[RECORD_NAME_BYTES];
	const char *name = s->settings->gres;

	if (!name)
		return record_count(&s->record, wish->count) ? 0 : write_failed(s);
	int given = gres_job(s->job, name);
	if (given < 0)
		return fail(s, "slurmctld does not give the job's record; retry when it runs");
	snprintf(prefix, sizeof(prefix), NAME_PREFIX "%u-", s->job);
	while (!record_acquire(&s->record, s->settings->run, prefix, wish->count,
			       (unsigned)given)) {
		if (errno)
			return write_failed(s);
		if (wish->count <= (unsigned)given && clock_now_ns() < deadline_ns) {
			pause_short();
			continue;
		}
		snprintf(s->text, sizeof(s->text),
			 "the step requests %u xPUs, and Slurm has given %d on each node to the "
			 "job; give the job --gres=%s:%u",
			 wish->count, given, name, wish->count);
		return -1;
	}
	return 0;
}

/* Runs `dxp job begin`. On success s->text has the names of the xPUs. */
static int job_begin(struct step *s, const struct xpus *wish, uint64_t deadline_ns)
{
	char count[16], user[16], wait[16], undo[64];
	const char *argv[ARGUMENTS_MAX] = {s->settings->program,
					   "job",
					   "begin",
					   s->record.name,
					   "--xpus",
					   count,
					   "--folder",
					   s->folder,
					   "--user",
					   user,
					   "--wait",
					   wait,
					   "--dir",
					   s->settings->directory,
					   "--replace"};
	size_t used = 15;

	snprintf(count, sizeof(count), "%u", wish->count);
	snprintf(user, sizeof(user), "%u", (unsigned)s->user);
	/* The rest of the time is for the requests to the manager. */
	snprintf(wait, sizeof(wait), "%u", s->settings->timeout_s / 2);
	if (*wish->engine) {
		argv[used++] = "--engine";
		argv[used++] = wish->engine;
	}
	if (*wish->memory) {
		argv[used++] = "--mem";
		argv[used++] = wish->memory;
	}
	enum helper_result result = helper_run(argv, deadline_ns, s->text, sizeof(s->text));
	if (result == HELPER_DONE)
		return 0;
	if (result == HELPER_TIMED_OUT) {
		fail(s, "no answer from the dxp manager in time; check that it runs and that this "
			"node reaches it, or raise timeout= in plugstack.conf");
		job_end(s->settings, &s->record, deadline(s->settings), undo, sizeof(undo));
	}
	return -1;
}

int step_begin(struct step *s, const struct xpus *wish)
{
	const uint64_t deadline_ns = deadline(s->settings);
	const uint64_t sweep_ns = deadline_ns - s->settings->timeout_s * S_NS / 2;
	char name[64], why[RECORD_WHY_BYTES];

	s->record.fd = -1;
	if (!record_base(s->settings->run, why))
		return fail(s, why);
	step_sweep(s->settings, sweep_ns);
	snprintf(name, sizeof(name), NAME_PREFIX "%u-%u-%u", s->job, s->step, s->node);
	if (!record_create(&s->record, s->settings->run, name, deadline_ns, why))
		return fail(s, why);
	int length = snprintf(s->folder, sizeof(s->folder), "%s/" KEYS_FOLDER, s->record.path);
	int status = 0;
	if (length >= (int)sizeof(s->folder) || vendors_make(s) != 0)
		status = write_failed(s);
	if (status == 0)
		status = gres_acquire(s, wish, deadline_ns);
	if (status == 0)
		status = job_begin(s, wish, deadline_ns);
	/* A folder of keys is left if they could not be removed, so the record stays too. */
	if (status != 0)
		record_close(&s->record, true);
	return status;
}

int step_end(struct step *s)
{
	if (s->record.fd < 0)
		return 0;
	const uint64_t deadline_ns = deadline(s->settings);
	enum helper_result result = HELPER_KILLED;
	/* At the end of a step, Slurm kills the descendants of slurmstepd; with proctrack/linuxproc
	 * also this one. */
	while (result == HELPER_KILLED && clock_now_ns() < deadline_ns)
		result = job_end(s->settings, &s->record, deadline_ns, s->text, sizeof(s->text));
	if (result == HELPER_TIMED_OUT)
		fail(s, "no answer from the dxp manager in time");
	record_close(&s->record, result == HELPER_DONE);
	return result == HELPER_DONE ? 0 : -1;
}
