/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs and kernels of the OpenCL plugin.
 *
 *  A program object has one entry (program_entry) for each of its devices. It points to a build,
 *  which is the program on this device. The recipe of a build never changes, so the build can be
 *  repeated after a lost node came back. A program linked from builds shares them. The plugin's
 *  lock guards everything here. While `making` is true, the build belongs to the thread that makes
 *  it. */
#ifndef OPENCL_PROGRAM_H
#define OPENCL_PROGRAM_H

#include <pthread.h>

#include "plugins/opencl/object/object.h"
#include "plugins/opencl/program/metadata.h"

/* ---- recipes and builds (build.c) ---- */

struct build;

/* Inputs of a build, shared by builds on several devices. It never changes. */
struct recipe {
	uint32_t references;
	enum dxp_program_kind kind;
	char *options;
	struct dxp_file *files; /* the recipe owns their names and data */
	uint32_t file_count;
	struct build **inputs; /* LINK: builds on the same device, with a reference to each */
	uint32_t input_count;
};

struct recipe *program_recipe_new(enum dxp_program_kind kind, const char *options);
/* Owns `data` (malloc), even if it fails. */
cl_int program_recipe_add(struct recipe *r, const char *name, void *data, size_t bytes);
cl_int program_recipe_input(struct recipe *r, struct build *input);
void program_recipe_put(struct recipe *r);
/* Programs may query the arguments of the recipe's kernels. This requires that the program, or a
 * build that it is linked from, was compiled from source with -cl-kernel-arg-info. */
bool program_recipe_has_argument_info(const struct recipe *r);

/* A program on one device. */
struct build {
	struct build *next, **link; /* list of all builds with references */
	uint32_t references;
	cl_device_id device;
	struct recipe *recipe;
	bool making;
	bool counted;             /* true: `node` counts the instructions of its launches */
	uint32_t busy;            /* threads that use `node` without the lock */
	cl_int error;             /* result of the build; CL_SUCCESS: the program exists */
	uint32_t generation;      /* number of the device's connection that `node` belongs to */
	struct dxp_program *node; /* program on the node; NULL: none on this connection */
	/* log of the compiler; after a build, NULL only if memory was short */
	char *log;
	struct program_about about;
	void *binary; /* binary from the node; NULL: not fetched yet */
	size_t binary_bytes;
};

struct build *build_new(cl_device_id d, struct recipe *r);
void build_hold(struct build *b);
void build_put(struct build *b);
/* Builds `b` and its inputs, unless they are built on the device's current connection. Returns
 * b->error, or the error of an unavailable device. Releases the lock while it builds. */
cl_int build_ready(struct build *b);
/* The program of `b` exists on the current connection of its device. */
bool build_alive(const struct build *b);
/* At exit: writes the profiles of all programs that are counted. Releases the lock while it fetches
 * them. */
void builds_profile(void);
/* Fetches b->binary, which is empty if the engine has no binaries. Releases the lock meanwhile. */
cl_int build_binary(struct build *b);

/* ---- program objects (program.c, program_info.c, program_build.c, program_link.c) ---- */

struct program_entry {
	cl_device_id device;
	struct build *build; /* build that was requested last; NULL: none */
	cl_build_status status;
	cl_program_binary_type type;
	char *options;  /* as the program gave them */
	uint8_t *given; /* binary that was given to clCreateProgramWithBinary, unchanged */
	size_t given_bytes;
};

struct _cl_program {
	struct object object;
	cl_context context;
	struct program_entry *entries;
	cl_uint device_count;
	char *source; /* all strings of the source as one text; NULL: not created from source */
	size_t source_bytes;
	bool linked;
	uint32_t kernels;
};

struct program_notify {
	void(CL_CALLBACK *call)(cl_program, void *);
	void *data;
};

struct program_devices {
	cl_uint count;
	const cl_device_id *list;
};

cl_int program_new(cl_context c, cl_uint count, const cl_device_id *devices, cl_program *out);
struct program_entry *program_entry(cl_program p, cl_device_id d);
/* Returns the first entry that has an executable, or NULL. */
struct program_entry *program_executable(cl_program p);
void program_entry_clear(struct program_entry *s);

/* The checks that clBuildProgram and clCompileProgram share. */
cl_int program_check(cl_program p, const struct program_devices *devices,
		     const struct program_notify *notify);
/* Selects the entries of the devices in the list; if it is empty, all. `out` has space for
 * p->device_count pointers. Returns the number of selected entries. */
cl_uint program_choose(cl_program p, const struct program_devices *devices,
		       struct program_entry **out);

/* Waits until no build of `p` is running. Caller holds a reference to `p` and the plugin's lock,
 * which is released during the wait. In a thread that runs a build job, returns at once: a callback
 * must not wait for its own thread. */
void program_wait(cl_program p);

/* One build of a job. The builds of a job run in parallel. */
struct build_part {
	struct program_entry *entry; /* entry that is built; its status is CL_BUILD_IN_PROGRESS */
	pthread_t thread;
	bool started;
	cl_int error;
};

struct build_job {
	cl_program program; /* held */
	struct program_notify notify;
	cl_int failure; /* error code to return if a build fails */
	/* binary type of the entries after success, if the node does not report it */
	cl_program_binary_type type;
	cl_uint count;
	struct build_part parts[];
};
struct build_job *program_job_new(cl_program p, cl_uint count,
				  struct program_entry *const *entries);
/* Runs all builds of a job. With a notification function, returns at once (if a thread can be
 * created) and calls it later. Owns the job. Caller holds the lock, which is released during the
 * builds. */
cl_int program_job_run(struct build_job *job);
/* Creates a build from the recipe, and sets the status to CL_BUILD_IN_PROGRESS. */
cl_int program_entry_begin(struct program_entry *s, struct recipe *r, const char *options);
/* Returns a recipe of the binary that was given to clCreateProgramWithBinary. NULL: there is none,
 * or memory is short. */
struct recipe *program_entry_recipe(const struct program_entry *s, const char *options);

/* A call of clBuildProgram or clCompileProgram that has passed the checks. */
struct program_begin {
	cl_program program;
	const struct program_devices *devices;
	const struct program_notify *notify;
	const char *options;
	struct recipe *recipe; /* recipe for all entries; NULL: each entry has its own binary */
	cl_int failure;
	cl_program_binary_type type;
};
cl_int program_build_begin(const struct program_begin *b);

/* Headers of clCompileProgram. */
struct program_headers {
	cl_uint count;
	const cl_program *programs;
	const char *const *names;
};

/* Creates a recipe from the source of `p`, files of the host, and `headers` (NULL: none). */
cl_int package_make(cl_program p, enum dxp_program_kind kind, const char *options,
		    const struct program_headers *headers, struct recipe **out);

/* ---- kernels (kernel.c, kernel_info.c, argument.c, launch.c) ---- */

#define ARGUMENT_INLINE    16
#define ARGUMENT_BYTES_MAX 1024

enum argument_set { ARGUMENT_UNSET, ARGUMENT_SET, ARGUMENT_NETWORK };

struct argument {
	enum argument_set set;
	uint32_t bytes; /* bytes of the value, or of the local memory */
	union {
		cl_mem memory; /* may be NULL */
		cl_sampler sampler;
		uint8_t value[ARGUMENT_INLINE];
		uint8_t *large; /* the value, if it is longer than ARGUMENT_INLINE */
	};
};

struct kernel_limits {
	bool known;
	/* work-items of a work-group, in total and by dimension */
	uint64_t group, items[3];
	uint64_t local_bytes; /* bytes of local memory that are left for local arguments */
	uint32_t align;       /* bytes; for sub-buffers */
};

struct kernel_device {
	/* build with the kernel, with a reference; NULL: the device does not have the kernel */
	struct build *build;
	const struct kernel_about *about;
	struct kernel_limits limits;
};

struct _cl_kernel {
	struct object object;
	cl_program program; /* held */
	const struct kernel_about *about;
	struct kernel_device *devices; /* one for each entry of the program, in the same order */
	struct argument *arguments;
	uint64_t local_bytes; /* bytes of all local arguments */
};

struct kernel_device *kernel_device(cl_kernel k, cl_device_id d);
/* See kernel_device. The program passed the device handle, which may be invalid. NULL stands for
 * the only device. */
struct kernel_device *kernel_device_of(cl_kernel k, cl_device_id d);
void argument_clear(cl_kernel k, cl_uint index);
cl_int argument_copy(struct argument *to, const struct argument *from, enum argument_kind kind);
static inline const uint8_t *argument_value(const struct argument *a)
{
	return a->bytes > ARGUMENT_INLINE ? a->large : a->value;
}

#endif
