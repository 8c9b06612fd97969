/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares programs and kernels of the OpenCL plugin.
 *
 * A program object has one entry (program_entry) for each of its devices; an entry points to a
 * build. A build's recipe never changes, so the build can be repeated on a node that was lost and
 * came back. Programs linked from a build share it. The plugin's lock guards everything here. A
 * running build is owned by its thread until `making` is false. */
#ifndef OPENCL_PROGRAM_H
#define OPENCL_PROGRAM_H

#include <pthread.h>

#include "plugins/opencl/object/object.h"
#include "plugins/opencl/program/metadata.h"

/* ---- recipes and builds (recipe.c, build.c) ---- */

struct build;

/* Inputs of a build; shared by builds on several devices, immutable. */
struct recipe {
	uint32_t references;
	enum dxp_program_kind kind;
	char *options;
	struct dxp_file *files; /* names and data are owned */
	uint32_t file_count;
	struct build **inputs; /* LINK: builds on the same device; referenced */
	uint32_t input_count;
};

struct recipe *program_recipe_new(enum dxp_program_kind kind, const char *options);
/* Adds a file. Takes ownership of `data` (malloc), also on failure. */
cl_int program_recipe_add(struct recipe *r, const char *name, void *data, size_t bytes);
cl_int program_recipe_input(struct recipe *r, struct build *input);
void program_recipe_put(struct recipe *r);
/* Returns whether programs may query arguments of its kernels: the program, or a build that it is
 * linked from, was compiled from source with -cl-kernel-arg-info. */
bool program_recipe_has_argument_info(const struct recipe *r);

/* A program on one device. */
struct build {
	struct build *next, **link; /* list of all builds */
	uint32_t references;
	cl_device_id device;
	struct recipe *recipe;
	bool making;
	bool counted;             /* `node` counts the instructions of its launches */
	uint32_t busy;            /* threads that use `node` without the lock */
	cl_int error;             /* CL_SUCCESS: the program exists */
	uint32_t generation;      /* generation of the device to which `node` belongs */
	struct dxp_program *node; /* NULL: none in this generation */
	char *log;                /* compiler's log; NULL after a build only if memory was short */
	struct program_about about;
	void *binary; /* binary of the node, once fetched */
	size_t binary_bytes;
};

struct build *build_new(cl_device_id d, struct recipe *r);
void build_hold(struct build *b);
void build_put(struct build *b);
/* Builds b and its inputs unless built in this generation of the device. Returns b->error, or the
 * error of an unavailable device. Releases the lock meanwhile. */
cl_int build_ready(struct build *b);
/* Returns whether b's program exists on the current connection of its device. */
bool build_alive(const struct build *b);
/* At exit: writes the profiles of all programs that are counted. Releases the lock meanwhile. */
void builds_profile(void);
/* Fetches b->binary; empty if the engine has none. Releases the lock meanwhile. */
cl_int build_binary(struct build *b);

/* ---- program objects (program.c, program_info.c, program_build.c, program_link.c) ---- */

struct program_entry {
	cl_device_id device;
	struct build *build; /* the build requested last; NULL: none */
	cl_build_status status;
	cl_program_binary_type type;
	char *options;  /* as given */
	uint8_t *given; /* input of clCreateProgramWithBinary, unchanged */
	size_t given_bytes;
};

struct _cl_program {
	struct object object;
	cl_context context;
	struct program_entry *entries;
	cl_uint device_count;
	char *source; /* all strings joined; NULL: not created from source */
	size_t source_bytes;
	bool linked;
	uint32_t kernels; /* attached kernels */
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
/* Returns the first entry with an executable; NULL: none. */
struct program_entry *program_executable(cl_program p);
void program_entry_clear(struct program_entry *s);

/* Does the checks that clBuildProgram and clCompileProgram have in common. */
cl_int program_check(cl_program p, const struct program_devices *devices,
		     const struct program_notify *notify);
/* Selects the entries of the listed devices, or all; `out` holds p->device_count pointers. Returns
 * their number. */
cl_uint program_choose(cl_program p, const struct program_devices *devices,
		       struct program_entry **out);

/* Waits until no build of `p` is running, so that its results can be queried. Caller holds the
 * plugin's lock, which is released meanwhile, and a reference to `p`. Returns at once in a thread
 * that builds: a callback must not wait for its own thread. */
void program_wait(cl_program p);

/* Builds of one call, running in parallel. */
struct build_part {
	struct program_entry *entry; /* entry with its build, in progress */
	pthread_t thread;
	bool started;
	cl_int error;
};

struct build_job {
	cl_program program; /* held */
	struct program_notify notify;
	cl_int failure; /* error code of a failed build */
	/* type of a successful build, if the node does not report it */
	cl_program_binary_type type;
	cl_uint count;
	struct build_part parts[];
};
struct build_job *program_job_new(cl_program p, cl_uint count,
				  struct program_entry *const *entries);
/* Runs all builds. With a notification function set, returns at once (if a thread can be created)
 * and notifies later. Takes ownership of the job. Caller holds the lock, which is released
 * meanwhile. */
cl_int program_job_run(struct build_job *job);
/* Marks the entry as being built from the recipe. */
cl_int program_entry_begin(struct program_entry *s, struct recipe *r, const char *options);
/* Returns a recipe of clCreateProgramWithBinary's input; NULL: no input, or no memory. */
struct recipe *program_entry_recipe(const struct program_entry *s, const char *options);

/* A build or compilation that passed the checks. */
struct program_begin {
	cl_program program;
	const struct program_devices *devices;
	const struct program_notify *notify;
	const char *options;
	struct recipe *recipe; /* NULL: each entry's own binary */
	cl_int failure;
	cl_program_binary_type type;
};
cl_int program_build_begin(const struct program_begin *b);

/* Creates a recipe of sources, headers and host files of `p`. `headers`: those of clCompileProgram;
 * NULL: none. */
struct program_headers {
	cl_uint count;
	const cl_program *programs;
	const char *const *names;
};
cl_int package_make(cl_program p, enum dxp_program_kind kind, const char *options,
		    const struct program_headers *headers, struct recipe **out);

/* ---- kernels (kernel.c, kernel_info.c, argument.c, launch.c) ---- */

#define ARGUMENT_INLINE    16
#define ARGUMENT_BYTES_MAX 1024

enum argument_set { ARGUMENT_UNSET, ARGUMENT_SET, ARGUMENT_NETWORK };

struct argument {
	enum argument_set set;
	uint32_t bytes; /* bytes of a value, or of local memory */
	union {
		cl_mem memory; /* may be NULL */
		cl_sampler sampler;
		uint8_t value[ARGUMENT_INLINE];
		uint8_t *large; /* a value larger than ARGUMENT_INLINE */
	};
};

/* A kernel on one device. */
struct kernel_limits {
	bool known;
	uint64_t group, items[3]; /* work-items of a group, in total and by dimension */
	uint64_t local_bytes;     /* for its arguments */
	uint32_t align;           /* alignment of sub-buffers, in bytes */
};

struct kernel_device {
	struct build *build; /* referenced; NULL: no kernel on this device */
	const struct kernel_about *about;
	struct kernel_limits limits;
};

struct _cl_kernel {
	struct object object;
	cl_program program; /* held */
	const struct kernel_about *about;
	struct kernel_device *devices; /* in the order of the program's entries */
	struct argument *arguments;    /* about->argument_count */
	uint64_t local_bytes;          /* total of the local arguments */
};

struct kernel_device *kernel_device(cl_kernel k, cl_device_id d);
/* Does what kernel_device does, for a device handle that the program passed and that need not be
 * valid. NULL stands for the only device. */
struct kernel_device *kernel_device_of(cl_kernel k, cl_device_id d);
void argument_clear(cl_kernel k, cl_uint index);
cl_int argument_copy(struct argument *to, const struct argument *from, enum argument_kind kind);
static inline const uint8_t *argument_value(const struct argument *a)
{
	return a->bytes > ARGUMENT_INLINE ? a->large : a->value;
}

#endif
