/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds programs for all requested devices in parallel, in the background if the program gave a
 * callback. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/binary.h"
#include "plugins/opencl/program/options.h"
#include "plugins/opencl/program/program.h"

static cl_int devices_check(cl_program p, const struct program_devices *devices)
{
	if ((devices->count == 0) != (devices->list == NULL))
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < devices->count; i++)
		if (!object_is(devices->list[i], OBJECT_DEVICE) ||
		    !program_entry(p, devices->list[i]))
			return CL_INVALID_DEVICE;
	return CL_SUCCESS;
}

cl_uint program_choose(cl_program p, const struct program_devices *devices,
		       struct program_entry **out)
{
	cl_uint count = 0;

	for (cl_uint i = 0; i < p->device_count; i++) {
		bool chosen = devices->count == 0;
		for (cl_uint j = 0; j < devices->count; j++)
			chosen = chosen || devices->list[j] == p->entries[i].device;
		if (chosen)
			out[count++] = &p->entries[i];
	}
	return count;
}

static bool chosen_busy(cl_program p, const struct program_devices *devices)
{
	for (cl_uint i = 0; i < p->device_count; i++) {
		if (p->entries[i].status != CL_BUILD_IN_PROGRESS)
			continue;
		if (devices->count == 0)
			return true;
		for (cl_uint j = 0; j < devices->count; j++)
			if (devices->list[j] == p->entries[i].device)
				return true;
	}
	return false;
}

cl_int program_check(cl_program p, const struct program_devices *devices,
		     const struct program_notify *notify)
{
	if (!object_is(p, OBJECT_PROGRAM))
		return CL_INVALID_PROGRAM;
	if (!notify->call && notify->data)
		return CL_INVALID_VALUE;
	cl_int error = devices_check(p, devices);
	if (error != CL_SUCCESS)
		return error;
	if (p->kernels > 0 || p->linked || chosen_busy(p, devices))
		return CL_INVALID_OPERATION;
	return CL_SUCCESS;
}

static _Thread_local uint32_t jobs_here; /* jobs that this thread is working on */

/* Lock and condition variable for threads that wait until a job has set the status of its entries.
 * `jobs_settled` changes only while both this lock and the plugin's lock are held. */
static pthread_mutex_t settled_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t settled_cond = PTHREAD_COND_INITIALIZER;
static uint64_t jobs_settled;

static void settled_signal(void)
{
	pthread_mutex_lock(&settled_lock);
	jobs_settled++;
	pthread_cond_broadcast(&settled_cond);
	pthread_mutex_unlock(&settled_lock);
}

static void settled_wait(void)
{
	const uint64_t seen = jobs_settled;

	opencl_leave();
	pthread_mutex_lock(&settled_lock);
	while (jobs_settled == seen)
		pthread_cond_wait(&settled_cond, &settled_lock);
	pthread_mutex_unlock(&settled_lock);
	opencl_enter();
}

static bool program_busy(cl_program p)
{
	static const struct program_devices all;

	return chosen_busy(p, &all);
}

void program_wait(cl_program p)
{
	while (jobs_here == 0 && !opencl_forked() && program_busy(p))
		settled_wait();
}

/* Sets type and status of an entry. Returns the error to report to the program. */
static cl_int entry_settle(struct build_job *job, struct program_entry *s, cl_int error)
{
	if (error == CL_SUCCESS) {
		s->type = s->build->about.type ? s->build->about.type : job->type;
		s->status = CL_BUILD_SUCCESS;
		return CL_SUCCESS;
	}
	s->type = CL_PROGRAM_BINARY_TYPE_NONE;
	s->status = CL_BUILD_ERROR;
	if (error != CL_BUILD_PROGRAM_FAILURE)
		return error;
	/* The plugin accepts options of any vendor. A compiler of another vendor on the node
	 * rejects such an option, which the log shows. */
	const char *log = s->build->log ? s->build->log : "";
	if (strstr(log, "CL_INVALID_BUILD_OPTIONS") ||
	    strncmp(log, "Invalid build option", 20) == 0)
		return job->failure == CL_COMPILE_PROGRAM_FAILURE ? CL_INVALID_COMPILER_OPTIONS
		       : job->failure == CL_LINK_PROGRAM_FAILURE  ? CL_INVALID_LINKER_OPTIONS
								  : CL_INVALID_BUILD_OPTIONS;
	return s->build->recipe->kind == DXP_PROGRAM_BINARY ? CL_INVALID_BINARY : job->failure;
}

static void *part_main(void *context)
{
	struct build_part *p = context;

	jobs_here++;
	opencl_enter();
	p->error = build_ready(p->entry->build);
	opencl_leave();
	jobs_here--;
	return NULL;
}

/* Runs the first build in this thread, each other one in a thread of its own, if one can be
 * created. */
static void parts_make(struct build_job *job)
{
	for (cl_uint i = 1; i < job->count; i++) {
		struct build_part *p = &job->parts[i];
		p->started = pthread_create(&p->thread, NULL, part_main, p) == 0;
	}
	for (cl_uint i = 0; i < job->count; i++)
		if (!job->parts[i].started)
			job->parts[i].error = build_ready(job->parts[i].entry->build);
	if (job->count < 2)
		return;
	opencl_out();
	for (cl_uint i = 1; i < job->count; i++)
		if (job->parts[i].started)
			pthread_join(job->parts[i].thread, NULL);
	opencl_in();
}

static cl_int job_make(struct build_job *job)
{
	cl_int error = CL_SUCCESS;

	jobs_here++;
	parts_make(job);
	jobs_here--;
	for (cl_uint i = 0; i < job->count; i++) {
		cl_int one = entry_settle(job, job->parts[i].entry, job->parts[i].error);
		if (error == CL_SUCCESS)
			error = one;
	}
	settled_signal();
	return error;
}

static void job_free(struct build_job *job)
{
	object_drop(job->program);
	free(job);
}

static void job_thread(void *context)
{
	struct build_job *job = context;

	opencl_enter();
	job_make(job);
	opencl_out();
	job->notify.call(job->program, job->notify.data);
	opencl_in();
	job_free(job);
	opencl_leave();
}

struct build_job *program_job_new(cl_program p, cl_uint count, struct program_entry *const *entries)
{
	struct build_job *job = calloc(1, sizeof(*job) + count * sizeof(job->parts[0]));

	if (!job)
		return NULL;
	job->program = p;
	job->count = count;
	for (cl_uint i = 0; i < count; i++)
		job->parts[i].entry = entries[i];
	object_hold(p);
	return job;
}

cl_int program_job_run(struct build_job *job)
{
	cl_int error;

	if (job->notify.call && detached_spawn(job_thread, job) == CL_SUCCESS)
		return CL_SUCCESS;
	error = job_make(job);
	if (job->notify.call) {
		opencl_out();
		job->notify.call(job->program, job->notify.data);
		opencl_in();
	}
	job_free(job);
	return error;
}

cl_int program_entry_begin(struct program_entry *s, struct recipe *r, const char *options)
{
	struct build *build = build_new(s->device, r);
	char *copy = strdup(options);

	if (!build || !copy) {
		build_put(build);
		free(copy);
		return CL_OUT_OF_HOST_MEMORY;
	}
	program_entry_clear(s);
	s->build = build;
	s->options = copy;
	s->status = CL_BUILD_IN_PROGRESS;
	s->type = CL_PROGRAM_BINARY_TYPE_NONE;
	return CL_SUCCESS;
}

struct recipe *program_entry_recipe(const struct program_entry *s, const char *options)
{
	struct binary b;

	if (!s->given || !binary_read(&b, s->given, s->given_bytes))
		return NULL;
	struct recipe *r = program_recipe_new(DXP_PROGRAM_BINARY, options);
	void *data = malloc(b.bytes + 1);
	if (data && b.bytes > 0)
		memcpy(data, b.data, b.bytes);
	if (r && program_recipe_add(r, "program.bin", data, b.bytes) == CL_SUCCESS)
		return r;
	if (!r)
		free(data);
	program_recipe_put(r);
	return NULL;
}

static cl_int entries_begin(struct build_job *job, struct recipe *source, const char *options)
{
	cl_int error = CL_SUCCESS;
	cl_uint begun = 0;

	for (; error == CL_SUCCESS && begun < job->count; begun++) {
		struct program_entry *s = job->parts[begun].entry;
		struct recipe *r = source ? source : program_entry_recipe(s, options);
		error = r ? program_entry_begin(s, r, options) : CL_OUT_OF_HOST_MEMORY;
		if (!source)
			program_recipe_put(r);
	}
	for (cl_uint i = 0; error != CL_SUCCESS && i < begun; i++)
		job->parts[i].entry->status = CL_BUILD_ERROR;
	return error;
}

cl_int program_build_begin(const struct program_begin *b)
{
	struct program_entry **entries = calloc(b->program->device_count, sizeof(*entries));

	if (!entries)
		return CL_OUT_OF_HOST_MEMORY;
	cl_uint count = program_choose(b->program, b->devices, entries);
	struct build_job *job = program_job_new(b->program, count, entries);
	free(entries);
	if (!job)
		return CL_OUT_OF_HOST_MEMORY;
	job->notify = *b->notify;
	job->failure = b->failure;
	job->type = b->type;
	cl_int error = entries_begin(job, b->recipe, b->options);
	if (error == CL_SUCCESS)
		return program_job_run(job);
	job_free(job);
	return error;
}

static bool all_given(cl_program p, const struct program_devices *devices)
{
	for (cl_uint i = 0; i < p->device_count; i++) {
		bool chosen = devices->count == 0;
		for (cl_uint j = 0; j < devices->count; j++)
			chosen = chosen || devices->list[j] == p->entries[i].device;
		if (chosen && !p->entries[i].given)
			return false;
	}
	return true;
}

static cl_int build_check(cl_program p, const struct program_devices *devices,
			  const struct program_notify *notify, const char *options)
{
	cl_int error = program_check(p, devices, notify);

	if (error != CL_SUCCESS)
		return error;
	if (!p->source && !all_given(p, devices))
		return CL_INVALID_BINARY;
	return options_valid(options) ? CL_SUCCESS : CL_INVALID_BUILD_OPTIONS;
}

/* Releases the lock while it scans the source and reads files. */
static cl_int build_locked(const struct program_begin *b)
{
	struct program_begin begin = *b;
	cl_program p = begin.program;
	cl_int error = build_check(p, begin.devices, begin.notify, begin.options);

	if (error != CL_SUCCESS)
		return error;
	if (p->source) {
		opencl_out();
		error = package_make(p, DXP_PROGRAM_SOURCE, begin.options, NULL, &begin.recipe);
		opencl_in();
		if (error == CL_SUCCESS)
			error = program_check(p, begin.devices, begin.notify);
	}
	if (error == CL_SUCCESS)
		error = program_build_begin(&begin);
	program_recipe_put(begin.recipe);
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clBuildProgram(
	cl_program program, cl_uint num_devices, const cl_device_id *device_list,
	const char *options, void(CL_CALLBACK *pfn_notify)(cl_program, void *), void *user_data)
{
	const struct program_devices devices = {num_devices, device_list};
	const struct program_notify notify = {pfn_notify, user_data};
	const struct program_begin begin = {
		.program = program,
		.devices = &devices,
		.notify = &notify,
		.options = options ? options : "",
		.failure = CL_BUILD_PROGRAM_FAILURE,
		.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
	};

	opencl_enter();
	cl_int error = build_locked(&begin);
	opencl_leave();
	return error;
}
