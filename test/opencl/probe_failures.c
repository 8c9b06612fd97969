/* SPDX-License-Identifier: BSD-3-Clause */
/* A program learns why its command failed: by the context's notification, and by the query of
 * cl_dxp_failure. test/net/rv32.sh and test/net/opencl_errors.sh run one case each, on devices
 * where these kernels fail. */
#include "rig.h"

#include <pthread.h>

#define CL_EVENT_FAILURE_DXP 0x44D1 /* see dxp/cl_ext.h */
#define TEXT_BYTES           256    /* bytes of the longest sentence, including the zero byte */

static const char source[] =
	"kernel void store(global uint *out) {\n"
	"	if (get_global_id(0) == 5) out[1000] = 1; }\n"
	"kernel void refuse_5(global uint *out) { out[0] = 1; }\n"
	"kernel void wild(global uint *out) { *(volatile global uint *)(ulong)out[0] = 1; }\n"
	"kernel void good(global uint *out) { out[get_global_id(0)] = 3; }\n";

/* Kernels without an end for engine rv32; `good` ends. */
static const char endless[] =
	"kernel void waits(global uint *out) {\n"
	"	while (*(volatile global uint *)out != 9) barrier(CLK_GLOBAL_MEM_FENCE); }\n"
	"kernel void jumps(global uint *out) {\n"
	"	__asm__ volatile(\"csrr t0, 0xcd7\\n andi t0, t0, 1\\n slli t0, t0, 2\\n\"\n"
	"		\"la t1, 1f\\n add t0, t0, t1\\n 1: nop\\n jr t0\"); }\n"
	"kernel void locks(global uint *out) {\n"
	"	__asm__ volatile(\"1: lr.w t0, (%0)\\n sc.w t1, t0, (%0)\\n j 1b\" : : "
	"\"r\"(out)); }\n"
	"kernel void takes(global uint *out) {\n"
	"	__asm__ volatile(\"1: .insn r 0x2B, 3, 0, t0, x0, x0\\n j 1b\"); }\n"
	"kernel void prints(global uint *out) { for (;;) printf(\"%d\\n\", out[0]); }\n"
	"kernel void good(global uint *out) { out[get_global_id(0)] = 3; }\n";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char notified[512];
static uint32_t notifications;

static void CL_CALLBACK notify(const char *text, const void *private_info, size_t bytes, void *data)
{
	(void)private_info;
	(void)bytes;
	pthread_mutex_lock(&lock);
	snprintf(notified, sizeof(notified), "%s", text);
	*(uint32_t *)data += 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void notification_wait(uint32_t count)
{
	pthread_mutex_lock(&lock);
	while (notifications < count)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

struct setting {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_mem memory;
};

static struct setting setting_open(const char *text)
{
	const uint32_t words[16] = {0};
	struct setting s;

	notifications = 0;
	MADE(s.context = clCreateContext(NULL, 1, rig.devices, notify, &notifications, ERR));
	MADE(s.queue = clCreateCommandQueue(s.context, rig.devices[0], 0, ERR));
	MADE(s.program = clCreateProgramWithSource(s.context, 1, &text, NULL, ERR));
	OK(clBuildProgram(s.program, 0, NULL, NULL, NULL, NULL));
	MADE(s.memory = clCreateBuffer(s.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
				       sizeof(words), (void *)(uintptr_t)words, ERR));
	return s;
}

static void setting_close(struct setting *s)
{
	OK(clReleaseMemObject(s->memory));
	OK(clReleaseProgram(s->program));
	OK(clReleaseCommandQueue(s->queue));
	OK(clReleaseContext(s->context));
}

/* Writes the sentence about the kernel's event to `text`. Returns the event's status. */
static cl_int run(const struct setting *s, const char *name, char text[TEXT_BYTES])
{
	const size_t items = 16;
	cl_event e = NULL;
	size_t bytes = 0;
	cl_kernel k;

	MADE(k = clCreateKernel(s->program, name, ERR));
	SET(k, 0, s->memory);
	OK(clEnqueueNDRangeKernel(s->queue, k, 1, NULL, &items, NULL, 0, NULL, &e));
	clFinish(s->queue);
	const cl_int status = rig_status(e);
	OK(clGetEventInfo(e, CL_EVENT_FAILURE_DXP, 0, NULL, &bytes));
	CHECK(bytes >= 1 && bytes <= TEXT_BYTES);
	FAILS(clGetEventInfo(e, CL_EVENT_FAILURE_DXP, bytes - 1, text, NULL), CL_INVALID_VALUE);
	OK(clGetEventInfo(e, CL_EVENT_FAILURE_DXP, bytes, text, NULL));
	CHECK(strlen(text) == bytes - 1);
	OK(clReleaseEvent(e));
	OK(clReleaseKernel(k));
	return status;
}

/* The sentence of a failed kernel has these parts. A kernel that succeeds has none. */
static void check(const char *program, const char *kernel, const char *const *parts)
{
	struct setting s = setting_open(program);
	char text[TEXT_BYTES];

	for (uint32_t round = 1; round <= 2; round++) {
		EQUAL(run(&s, "good", text), CL_COMPLETE);
		CHECK(text[0] == '\0');
		CHECK(run(&s, kernel, text) < 0);
		for (size_t i = 0; parts[i]; i++)
			if (!strstr(text, parts[i]))
				rig_fail(__FILE__, __LINE__, "'%s' is not in '%s'", parts[i], text);
		notification_wait(round);
		CHECK(strstr(notified, text));
		CHECK(strncmp(notified, "device '", 8) == 0);
	}
	setting_close(&s);
}

static void failures__of_a_work_item(void)
{
	check(source, "store",
	      (const char *const[]){"kernel 'store', work-item (5,0,0): stores 4 bytes at 0x",
				    "offset 4000 of argument 0 'out' (64 bytes)", "; store+0x",
				    ", line 2", NULL});
}

static void failures__of_a_driver(void)
{
	check(source, "refuse_5", (const char *const[]){"kernel 'refuse_5': ", "(-5)", NULL});
}

static void failures__of_a_crash(void)
{
	check(source, "wild", (const char *const[]){"kernel 'wild' was killed by signal 11", NULL});
}

/* Each ends at the limit of time, also if the kernel prints without end. */
static void failures__of_endless_kernels(void)
{
	static const char *const kernels[] = {"waits", "jumps", "locks", "takes", "prints"};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		check(endless, kernels[i],
		      (const char *const[]){kernels[i], "still running after 1 s", "work-item (",
					    NULL});
}

RIG_MAIN(CASE(failures__of_endless_kernels), CASE(failures__of_a_work_item),
	 CASE(failures__of_a_driver), CASE(failures__of_a_crash))
