/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs and kernels of the OpenCL door.
 *
 * A program object has one slot for each of its devices; a slot points to a build. A build never
 * changes what it is made from (its recipe), so it can be made again by itself on a node that was
 * lost and came back; programs linked from it share it. All of this is guarded by the door's lock;
 * a build that is being made is owned by the thread that makes it until `making` is false. */
#ifndef DOOR_PROGRAM_H
#define DOOR_PROGRAM_H

#include <pthread.h>

#include "doors/opencl/door.h"
#include "doors/opencl/metadata.h"

/* ---- recipes and builds (recipe.c, build.c) ---- */

struct build;

/* What a build is made from; shared by builds on several devices, never changed. */
struct recipe {
	uint32_t references;
	enum dxp_program_kind kind;
	char *options;
	struct dxp_file *files; /* names and data are ours */
	uint32_t file_count;
	struct build **inputs; /* LINK: on the same device; referenced */
	uint32_t input_count;
};

struct recipe *recipe_new(enum dxp_program_kind kind, const char *options);
/* Takes over `data` (malloc), also when it fails. */
cl_int recipe_add(struct recipe *r, const char *name, void *data, size_t bytes);
cl_int recipe_input(struct recipe *r, struct build *input);
void recipe_put(struct recipe *r);
/* May programs ask about the arguments of its kernels? Where it was compiled from source with
 * -cl-kernel-arg-info, and where something that it is linked from was. */
bool recipe_has_argument_info(const struct recipe *r);

/* A program on one device. */
struct build {
	struct build *next, **link; /* of all */
	uint32_t references;
	cl_device_id device;
	struct recipe *recipe;
	bool making;
	uint32_t busy;            /* threads that use `node` without the lock */
	cl_int error;             /* CL_SUCCESS: there is a program */
	uint32_t life;            /* of the device, where `node` is */
	struct dxp_program *node; /* NULL: none in this life */
	char *log;                /* never NULL once made, but for want of memory */
	struct program_about about;
	void *binary; /* the node's, once fetched */
	size_t binary_bytes;
};

struct build *build_new(cl_device_id d, struct recipe *r);
void build_hold(struct build *b);
void build_put(struct build *b);
/* Makes it where that has not been done in this life of its device, and what it is linked from.
 * Gives b->error, or why the device cannot be asked. The lock is released meanwhile. */
cl_int build_ready(struct build *b);
/* Is its program where its device is now? */
bool build_alive(const struct build *b);
/* Has b->binary, empty where the engine has none. The lock is released meanwhile. */
cl_int build_binary(struct build *b);
/* A thread of ours that nobody waits for. */
cl_int aside(void (*call)(void *context), void *context);

/* ---- program objects (program.c, program_info.c, program_build.c, program_link.c) ---- */

struct program_slot {
	cl_device_id device;
	struct build *build; /* the last one asked for; NULL: none */
	cl_build_status status;
	cl_program_binary_type type;
	char *options;  /* as given */
	uint8_t *given; /* clCreateProgramWithBinary's, whole */
	size_t given_bytes;
};

struct _cl_program {
	struct object object;
	cl_context context;
	struct program_slot *slots;
	cl_uint device_count;
	char *source; /* all strings; NULL: not created from source */
	size_t source_bytes;
	bool linked;
	uint32_t kernels; /* attached */
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
struct program_slot *program_slot(cl_program p, cl_device_id d);
/* The first slot with an executable; NULL: none. */
struct program_slot *program_executable(cl_program p);
void slot_clear(struct program_slot *s);

/* The checks that clBuildProgram and its kin share. */
cl_int program_check(cl_program p, const struct program_devices *devices,
		     const struct program_notify *notify);
/* Slots of the list, or all; `out` has room for p->device_count. Gives how many. */
cl_uint program_choose(cl_program p, const struct program_devices *devices,
		       struct program_slot **out);

/* Waits until no build of `p` is under way, so that what it has become can be asked for. Caller
 * holds the door's lock, which is released meanwhile, and a reference to `p`. Does not wait in a
 * thread that makes a build itself: a callback that it runs may not wait for its own thread. */
void program_wait(cl_program p);

/* Builds that are under way together. */
struct build_part {
	struct program_slot *slot; /* with its build, in progress */
	pthread_t thread;
	bool started;
	cl_int error;
};

struct build_job {
	cl_program program; /* held */
	struct program_notify notify;
	cl_int failure;              /* what a failed one is called */
	cl_program_binary_type type; /* what a good one is, where the node does not tell */
	cl_uint count;
	struct build_part parts[];
};
struct build_job *job_new(cl_program p, cl_uint count, struct program_slot *const *slots);
/* With the lock, which is released meanwhile: makes all; does not wait for them where there is
 * somebody to notify. Takes over the job. */
cl_int job_run(struct build_job *job);
/* Marks the slot as being built from the recipe. */
cl_int slot_begin(struct program_slot *s, struct recipe *r, const char *options);
/* What clCreateProgramWithBinary was given, as a recipe; NULL: nothing, or no memory. */
struct recipe *slot_recipe(const struct program_slot *s, const char *options);

/* A build or compilation that was checked. */
struct program_begin {
	cl_program program;
	const struct program_devices *devices;
	const struct program_notify *notify;
	const char *options;
	struct recipe *recipe; /* NULL: each slot's own binary */
	cl_int failure;
	cl_program_binary_type type;
};
cl_int program_begin(const struct program_begin *b);

/* Sources, headers and host files of `p` as a recipe. `headers` and `names`: clCompileProgram's. */
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
	uint32_t bytes; /* of a value or of local memory */
	union {
		cl_mem memory; /* NULL is one */
		cl_sampler sampler;
		uint8_t value[ARGUMENT_INLINE];
		uint8_t *large; /* a value of more bytes */
	};
};

/* A kernel on one device. */
struct kernel_limits {
	bool known;
	uint64_t group, items[3]; /* work-items of a group, in all and by dimension */
	uint64_t local_bytes;     /* for its arguments */
	uint32_t align;           /* of sub-buffers, in bytes */
};

struct kernel_device {
	struct build *build; /* referenced; NULL: not there */
	const struct kernel_about *about;
	struct kernel_limits limits;
};

struct _cl_kernel {
	struct object object;
	cl_program program; /* held */
	const struct kernel_about *about;
	struct kernel_device *devices; /* in the order of the program's slots */
	struct argument *arguments;    /* about->argument_count */
	uint64_t local_bytes;          /* of local arguments */
};

struct kernel_device *kernel_device(cl_kernel k, cl_device_id d);
/* The same for a handle of the program's, which may be none; NULL: the only device there is. */
struct kernel_device *kernel_device_of(cl_kernel k, cl_device_id d);
void argument_clear(cl_kernel k, cl_uint index);
cl_int argument_copy(struct argument *to, const struct argument *from, enum argument_kind kind);
static inline const uint8_t *argument_value(const struct argument *a)
{
	return a->bytes > ARGUMENT_INLINE ? a->large : a->value;
}

/* ---- extensions (extension.c) ---- */

/* Has the NIC function of the device's xPU that kernels of this program drive, in this life. The
 * lock is released where it takes a message. */
cl_int network_ready(cl_device_id d);

#endif
