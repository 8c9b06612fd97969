/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds programs on devices, builds them again when a lost node is back, and releases them. A
 * detached thread releases the program on the node: the last reference is dropped under the
 * plugin's lock, and the node may be busy or lost. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/program/options.h"
#include "plugins/opencl/program/profile.h"
#include "plugins/opencl/program/program.h"

#define REAP_NS 2000000000ull /* ns that exit waits for the profiles of released programs */
/* the second attempt is for a node that was lost and is back */
#define TRIES 2

static struct build *builds; /* list of all builds with references */
/* list of builds without references that must still be released on their nodes */
static struct build *graves;
static bool reaping;

/* Lock for threads that wait until a build is complete. `making` changes only while both this lock
 * and the plugin's lock are held. */
static pthread_mutex_t making_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t made = PTHREAD_COND_INITIALIZER;

static void list_lost(struct build *list, cl_device_id d)
{
	for (struct build *b = list; b; b = b->next) {
		if (b->device != d || !b->node || b->busy > 0)
			continue;
		dxp_program_release(b->node);
		b->node = NULL;
	}
}

static void lost(cl_device_id d)
{
	list_lost(builds, d);
	list_lost(graves, d);
}

struct build *build_new(cl_device_id d, struct recipe *r)
{
	struct build *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	device_lost_with(LOST_PROGRAMS, lost);
	*b = (struct build){.references = 1, .device = d, .recipe = r, .next = builds};
	r->references++;
	b->link = &builds;
	if (builds)
		builds->link = &b->next;
	builds = b;
	return b;
}

void build_hold(struct build *b)
{
	b->references++;
}

static void build_free(struct build *b)
{
	program_recipe_put(b->recipe);
	metadata_clear(&b->about);
	free(b->log);
	free(b->binary);
	free(b);
}

bool build_alive(const struct build *b)
{
	return b->node && b->device->xpu && b->generation == b->device->generation;
}

/* Returns the text that line numbers refer to. NULL: it is unknown, or there are several texts. */
static const struct dxp_file *source_of(const struct recipe *r)
{
	while (r && r->kind == DXP_PROGRAM_LINK)
		r = r->input_count == 1 ? r->inputs[0]->recipe : NULL;
	return r && r->kind != DXP_PROGRAM_BINARY && r->file_count ? &r->files[0] : NULL;
}

/* Writes the profile of a counted program. The caller makes sure that `b` is not freed and that its
 * device stays open. Releases the lock while it fetches the profile. */
static void node_profile(struct build *b, const struct dxp_program *node)
{
	size_t bytes;
	void *data;

	b->counted = false;
	b->busy++;
	opencl_out();
	profile_fetch(node, &data, &bytes);
	opencl_in();
	b->busy--;
	profile_write(b->device, source_of(b->recipe), data, bytes);
	free(data);
}

static void node_release(struct build *b)
{
	struct dxp_program *node = b->node;
	cl_device_id d = b->device;

	b->node = NULL;
	d->calls++;
	if (b->counted && d->xpu)
		node_profile(b, node);
	opencl_out();
	dxp_program_release(node);
	opencl_in();
	d->calls--;
}

/* The program of `b` can be released on its node if its connection is current, or lost but not
 * closed. */
static bool releasable(const struct build *b)
{
	const struct _cl_device_id *d = b->device;

	return b->node && b->generation == d->generation && (d->xpu || d->lost);
}

static void reap(void *context)
{
	struct build *b;

	(void)context;
	opencl_enter();
	while ((b = graves)) {
		graves = b->next;
		if (releasable(b))
			node_release(b);
		build_free(b);
	}
	reaping = false;
	opencl_leave();
}

/* If no thread can be created, the program stays on the node until the next release. */
static void bury(struct build *b)
{
	b->next = graves;
	graves = b;
	if (!reaping)
		reaping = detached_spawn(reap, NULL) == CL_SUCCESS;
}

void build_put(struct build *b)
{
	if (!b || --b->references > 0)
		return;
	*b->link = b->next;
	if (b->next)
		b->next->link = b->link;
	/* The profile of a counted program needs its text. */
	if (!b->counted) {
		program_recipe_put(b->recipe);
		b->recipe = NULL;
	}
	if (releasable(b))
		bury(b);
	else
		build_free(b);
}

static void log_set(struct build *b, const char *text)
{
	char *copy = strdup(text ? text : "");

	if (!copy)
		return;
	free(b->log);
	b->log = copy;
}

/* Only the first description is stored, because kernels point into it. */
static cl_int about_store(struct build *b, const void *records, size_t bytes)
{
	if (b->about.records)
		return CL_SUCCESS;
	int status = metadata_read(&b->about, records, bytes);
	if (status == DXP_EMALFORMED)
		log_set(b, "the description of the program from the node does not parse; use the "
			   "same release on node and host");
	return result_of(status);
}

struct made {
	int status;
	struct dxp_program *node;
	bool counted;
	char *sentence; /* error text if the call failed for another reason than the program */
};

/* Caller does not hold the lock. */
static struct made node_make(const struct build *b, struct dxp_xpu *xpu,
			     const struct dxp_program *const *inputs, bool count)
{
	const struct recipe *r = b->recipe;
	struct made m = {0};
	struct dxp_program_source source = {
		.kind = r->kind,
		.options = r->options,
		.files = r->files,
		.file_count = r->file_count,
		.inputs = inputs,
		.input_count = r->input_count,
	};

	m.status = dxp_program_create(xpu, &source, &m.node);
	if (m.status != DXP_OK && m.status != DXP_EBUILD)
		m.sentence = strdup(dxp_fabric_error(NULL));
	m.counted = m.status == DXP_OK && count && profile_start(m.node);
	return m;
}

static cl_int made_store(struct build *b, struct made *m, uint32_t generation)
{
	size_t bytes = 0;

	if (m->status != DXP_OK && m->status != DXP_EBUILD) {
		log_set(b, m->sentence);
		cl_int error = device_judge(b->device, m->status);
		return m->status == DXP_EINVAL ? CL_BUILD_PROGRAM_FAILURE : error;
	}
	log_set(b, dxp_program_log(m->node));
	b->node = m->node;
	b->counted = m->counted;
	b->generation = generation;
	if (m->status == DXP_EBUILD)
		return CL_BUILD_PROGRAM_FAILURE;
	const void *records = dxp_program_about(m->node, &bytes);
	return about_store(b, records, bytes);
}

static void inputs_busy(const struct recipe *r, int more)
{
	for (uint32_t i = 0; i < r->input_count; i++)
		r->inputs[i]->busy += (uint32_t)more;
}

static cl_int make_once(struct build *b, const struct dxp_program **inputs)
{
	cl_device_id d = b->device;

	if (releasable(b))
		node_release(b); /* releases the program of a lost connection */
	b->node = NULL;
	cl_int error = device_connect(d);
	for (uint32_t i = 0; error == CL_SUCCESS && i < b->recipe->input_count; i++)
		error = build_ready(b->recipe->inputs[i]);
	/* While the last input was built, the program of an earlier input may have been lost. */
	for (uint32_t i = 0; error == CL_SUCCESS && i < b->recipe->input_count; i++) {
		inputs[i] = b->recipe->inputs[i]->node;
		if (!build_alive(b->recipe->inputs[i]))
			error = CL_DEVICE_NOT_AVAILABLE;
	}
	if (error != CL_SUCCESS || !d->xpu)
		return error != CL_SUCCESS ? error : CL_DEVICE_NOT_AVAILABLE;
	uint32_t generation = d->generation;
	struct dxp_xpu *xpu = d->xpu;
	/* A program that is only compiled cannot be launched. */
	const bool count = b->recipe->kind != DXP_PROGRAM_COMPILE && profile_wanted(d);
	inputs_busy(b->recipe, 1);
	d->calls++;
	opencl_out();
	struct made m = node_make(b, xpu, inputs, count);
	opencl_in();
	inputs_busy(b->recipe, -1);
	error = made_store(b, &m, generation);
	free(m.sentence);
	if (b->node && (error != CL_SUCCESS || generation != d->generation))
		node_release(b);
	d->calls--;
	return error == CL_SUCCESS && !build_alive(b) ? CL_DEVICE_NOT_AVAILABLE : error;
}

static cl_int make(struct build *b)
{
	const struct dxp_program **inputs =
		calloc((size_t)b->recipe->input_count + 1, sizeof(const struct dxp_program *));
	cl_int error = inputs ? CL_DEVICE_NOT_AVAILABLE : CL_OUT_OF_HOST_MEMORY;

	for (int i = 0; i < TRIES && error == CL_DEVICE_NOT_AVAILABLE; i++)
		error = make_once(b, inputs);
	free(inputs);
	return error;
}

static void making_set(struct build *b, bool making)
{
	pthread_mutex_lock(&making_lock);
	b->making = making;
	pthread_cond_broadcast(&made);
	pthread_mutex_unlock(&making_lock);
}

static void making_wait(struct build *b)
{
	opencl_leave();
	pthread_mutex_lock(&making_lock);
	while (b->making)
		pthread_cond_wait(&made, &making_lock);
	pthread_mutex_unlock(&making_lock);
	opencl_enter();
}

/* Another attempt is useless if the program is built or has errors, but an unavailable device may
 * be back. */
static bool settled(const struct build *b)
{
	return build_alive(b) || b->error == CL_BUILD_PROGRAM_FAILURE;
}

cl_int build_ready(struct build *b)
{
	if (!b->making && settled(b))
		return b->error;
	build_hold(b);
	while (b->making && !opencl_forked())
		making_wait(b);
	if (!settled(b)) {
		making_set(b, true);
		b->error = make(b);
		making_set(b, false);
	}
	cl_int error = b->error;
	build_put(b);
	return error;
}

static struct build *counted_find(void)
{
	struct build *b = builds;

	while (b && !(b->counted && build_alive(b)))
		b = b->next;
	return b;
}

/* Waits until released programs have written their profiles, at most REAP_NS. */
static void reaped_wait(void)
{
	const uint64_t deadline = clock_now_ns() + REAP_NS;
	const struct timespec pause = {.tv_nsec = 1000000};

	while (reaping && clock_now_ns() < deadline) {
		opencl_leave();
		nanosleep(&pause, NULL);
		opencl_enter();
	}
}

void builds_profile(void)
{
	struct build *b;

	if (!settings_get()->profile)
		return;
	while ((b = counted_find())) {
		build_hold(b);
		b->device->calls++;
		node_profile(b, b->node);
		b->device->calls--;
		build_put(b);
	}
	reaped_wait();
}

cl_int build_binary(struct build *b)
{
	void *binary = NULL;
	size_t bytes = 0;

	if (b->binary)
		return CL_SUCCESS;
	build_hold(b);
	cl_int error = build_ready(b);
	if (error == CL_SUCCESS) {
		struct dxp_program *node = b->node;
		b->device->calls++;
		b->busy++;
		opencl_out();
		int status = dxp_program_binary(node, &binary, &bytes);
		opencl_in();
		b->busy--;
		if (status != DXP_OK && status != DXP_EUNSUPPORTED)
			error = device_judge(b->device, status);
		b->device->calls--;
	}
	if (b->binary)
		/* while the lock was released, another thread has fetched the binary */
		free(binary);
	else
		b->binary = binary, b->binary_bytes = bytes;
	build_put(b);
	return error;
}

struct recipe *program_recipe_new(enum dxp_program_kind kind, const char *options)
{
	struct recipe *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct recipe){.references = 1, .kind = kind, .options = strdup(options)};
	if (!r->options) {
		free(r);
		return NULL;
	}
	return r;
}

cl_int program_recipe_add(struct recipe *r, const char *name, void *data, size_t bytes)
{
	struct dxp_file *more = realloc(r->files, (r->file_count + 1) * sizeof(*more));
	char *copy = strdup(name);

	if (more)
		r->files = more;
	if (!more || !copy || !data) {
		free(copy);
		free(data);
		return CL_OUT_OF_HOST_MEMORY;
	}
	r->files[r->file_count++] = (struct dxp_file){.name = copy, .data = data, .bytes = bytes};
	return CL_SUCCESS;
}

cl_int program_recipe_input(struct recipe *r, struct build *input)
{
	struct build **more = realloc(r->inputs, (r->input_count + 1) * sizeof(struct build *));

	if (!more)
		return CL_OUT_OF_HOST_MEMORY;
	r->inputs = more;
	r->inputs[r->input_count++] = input;
	build_hold(input);
	return CL_SUCCESS;
}

/* The standard defines -cl-kernel-arg-info for clBuildProgram and clCompileProgram, for programs
 * from source, so binaries and linker options do not count. A node does not list the kernels of
 * compiled objects. So if one input has the option, all linked kernels count as having it. */
bool program_recipe_has_argument_info(const struct recipe *r)
{
	if (r->kind == DXP_PROGRAM_SOURCE || r->kind == DXP_PROGRAM_COMPILE)
		return options_have(r->options, "-cl-kernel-arg-info");
	for (uint32_t i = 0; i < r->input_count; i++)
		if (program_recipe_has_argument_info(r->inputs[i]->recipe))
			return true;
	return false;
}

void program_recipe_put(struct recipe *r)
{
	if (!r || --r->references > 0)
		return;
	for (uint32_t i = 0; i < r->file_count; i++) {
		free((void *)(uintptr_t)r->files[i].name);
		free((void *)(uintptr_t)r->files[i].data);
	}
	for (uint32_t i = 0; i < r->input_count; i++)
		build_put(r->inputs[i]);
	free(r->files);
	free(r->inputs);
	free(r->options);
	free(r);
}
