/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares helpers for the OpenCL programs in this folder. The programs are ordinary programs
 * without headers of this project. They run on any platform of the ICD loader: on PoCL (the
 * reference), and on dxp over a fabric (test/net/opencl_suite.sh).
 *
 * A program is a table of cases that run in sequence in one child process. If a case crashes or
 * exceeds its time, it fails, and a new child continues with the next case. A failed check stops
 * its case. Arguments of the program are names of cases, or parts of names; without arguments all
 * cases run. Environment variables:
 *
 *   RIG_PLATFORM    part of the platform's name (default: the first platform with devices)
 *   RIG_SEED        decimal or 0x... (default: from the clock; printed)
 *   RIG_SECONDS     time limit of a case (default: 60)
 *   RIG_NO_FORK     set: runs the cases without a child, for debuggers */
#ifndef RIG_H
#define RIG_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include <CL/cl.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_DEVICES_MAX 8

struct rig {
	cl_platform_id platform;
	cl_uint device_count;
	cl_device_id devices[RIG_DEVICES_MAX];
	cl_context context;                       /* context of all devices */
	cl_command_queue queues[RIG_DEVICES_MAX]; /* in order, with profiling */
	bool pocl;   /* the platform is PoCL, whose known defects are tolerated */
	bool images; /* every device supports images */
	uint64_t seed;
};
extern struct rig rig; /* reset for each case */

struct rig_case {
	const char *name;
	void (*run)(void);
};
#define CASE(function)              \
	{                           \
#function, function \
	}

#define RIG_MAIN(...)                                                 \
	int main(int argc, char **argv)                               \
	{                                                             \
		static const struct rig_case cases[] = {__VA_ARGS__}; \
		return rig_main(argc, argv, cases, COUNT_OF(cases));  \
	}
int rig_main(int argc, char **argv, const struct rig_case *cases, size_t count);

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- checks: the first check that fails stops the case ---- */

_Noreturn void rig_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
_Noreturn void rig_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *rig_error_name(cl_int error);

void rig_check_error(const char *file, int line, const char *what, cl_int got, cl_int wanted);
void rig_check_number(const char *file, int line, const char *what, int64_t got, int64_t wanted);
void rig_check_made(const char *file, int line, const char *what, const void *handle);
void rig_check_rejected(const char *file, int line, const char *what, const void *handle,
			cl_int wanted);
void rig_check_bytes(const char *file, int line, const void *got, const void *wanted, size_t bytes);

/* Error of the last call that creates an object. */
extern _Thread_local cl_int rig_error;
#define ERR (&rig_error)

#define CHECK(condition)                                                \
	do {                                                            \
		if (!(condition))                                       \
			rig_fail(__FILE__, __LINE__, "%s", #condition); \
	} while (0)
#define OK(call)            rig_check_error(__FILE__, __LINE__, #call, (call), CL_SUCCESS)
#define FAILS(call, wanted) rig_check_error(__FILE__, __LINE__, #call, (call), (wanted))
#define EQUAL(got, wanted) \
	rig_check_number(__FILE__, __LINE__, #got, (int64_t)(got), (int64_t)(wanted))
#define SAME_BYTES(got, wanted, bytes) rig_check_bytes(__FILE__, __LINE__, (got), (wanted), (bytes))
/* clCreate...(..., ERR) must return a handle (MADE), or none and this error (REJECTED). */
#define MADE(handle)           rig_check_made(__FILE__, __LINE__, #handle, (handle))
#define REJECTED(call, wanted) rig_check_rejected(__FILE__, __LINE__, #call, (call), (wanted))

/* Does what FAILS does, but not on PoCL 3.1, which violates the standard here or crashes. */
#define FAILS_BUT_POCL(call, wanted)         \
	do {                                 \
		if (!rig.pocl)               \
			FAILS(call, wanted); \
	} while (0)
#define REJECTED_BUT_POCL(call, wanted)         \
	do {                                    \
		if (!rig.pocl)                  \
			REJECTED(call, wanted); \
	} while (0)

/* Prints a checksum of bytes, which the script compares: they must be the same on PoCL and on
 * dxp. */
void rig_same(const void *bytes, size_t count);

/* ---- random numbers, from the seed and the name of the case ---- */

uint64_t rig_random(void);
/* Random; 0 .. limit - 1. */
size_t rig_below(size_t limit);
void rig_scramble(void *bytes, size_t count);

void *rig_memory(size_t bytes); /* zeroed; freed after the case */
void *rig_noise(size_t bytes);  /* random bytes */

cl_mem rig_buffer(cl_mem_flags flags, size_t bytes, void *host);
/* Builds it for all devices. Prints the build log on failure. */
cl_program rig_program(const char *source, const char *options);
/* Returns a kernel of a new program. */
cl_kernel rig_kernel(const char *source, const char *name);
void rig_set(cl_kernel kernel, cl_uint index, size_t bytes, const void *value);
#define SET(kernel, index, value) rig_set((kernel), (index), sizeof(value), &(value))
/* Waits until the kernel is complete. */
void rig_run(cl_command_queue queue, cl_kernel kernel, size_t global);
void rig_read(cl_command_queue queue, cl_mem m, void *to, size_t bytes);
void rig_write(cl_command_queue queue, cl_mem m, const void *from, size_t bytes);
cl_command_queue rig_queue(cl_uint device, cl_command_queue_properties properties);
cl_int rig_status(cl_event event);
/* Waits at most `seconds`, without clWaitForEvents. True: the event has this status. */
bool rig_until(cl_event event, cl_int status, unsigned seconds);
bool rig_has_extension(cl_device_id device, const char *name);
uint64_t rig_now_ns(void);
/* KiB of resident memory of the process. */
size_t rig_resident(void);

#endif
