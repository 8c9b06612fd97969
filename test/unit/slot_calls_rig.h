/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of hostile kernels, which make system calls with inline assembly on
 * x86-64. */
#ifndef TEST_UNIT_SLOT_CALLS_RIG_H
#define TEST_UNIT_SLOT_CALLS_RIG_H

#include "test/unit/slot_workers_rig.h"

#include <fcntl.h>
#include <sys/syscall.h>

/* p[0]: number of the system call; p[1] .. p[6]: arguments, offsets in p if their bit in p[7] is
 * set; p[8]: result; data from p[9] on. */
static const char calls[] =
	"kernel void raw(global long *p, uint n) {\n"
	"	long a[7];\n"
	"	for (int i = 0; i < 7; i++)\n"
	"		a[i] = p[i] + (p[7] >> i & 1 ? (long)p : 0);\n"
	"	__asm__ volatile(\"movq %5, %%r10\\n movq %6, %%r8\\n movq %7, %%r9\\n syscall\"\n"
	"		: \"=a\"(p[8]) : \"0\"(a[0]), \"D\"(a[1]), \"S\"(a[2]), \"d\"(a[3]),\n"
	"		\"g\"(a[4]), \"g\"(a[5]), \"g\"(a[6])\n"
	"		: \"rcx\", \"r11\", \"r10\", \"r8\", \"r9\", \"memory\");\n"
	"}\n"
	/* the child pauses for ever */
	"kernel void leave(global long *p, uint n) {\n"
	"	long r;\n"
	"	__asm__ volatile(\"movl $57, %%eax\\n syscall\\n testq %%rax, %%rax\\n jnz "
	"2f\\n\"\n"
	"		\"1: movl $34, %%eax\\n syscall\\n jmp 1b\\n 2:\"\n"
	"		: \"=a\"(r) : : \"rcx\", \"r11\", \"memory\");\n"
	"	p[8] = r;\n"
	"}\n"
	/* searches p[2] bytes from address p[3] for words equal to ~p[1]; counts them and makes
	 * them 0 */
	"kernel void seek(global long *p, uint n) {\n"
	"	long found = 0;\n"
	"	for (global long *at = (global long *)p[3]; (long)at < p[3] + p[2]; at++)\n"
	"		if (*at == ~p[1]) {\n"
	"			found++;\n"
	"			*at = 0;\n"
	"		}\n"
	"	p[8] = found;\n"
	"}\n"
	"kernel void address(global long *p, uint n) { p[8] = (long)p; }\n";

enum { DATA = 9 * 8 }; /* bytes before the data */

/* Bit i of `offsets`: argument i is an offset in the buffer. */
struct call {
	int64_t number, a[6], offsets, result;
	char data[512];
};

UNUSED static struct guest hostile_open(const char *name)
{
	struct guest g = guest_open(name);

	dxp_program_release(g.program);
	ok(dxp_program_build(g.xpu, calls, NULL, &g.program));
	opened_find(g.fabric)->program = g.program;
	return g;
}

UNUSED static dxp_event call_start(const struct guest *g, const struct call *c)
{
	const uint32_t n = 0;

	ok(dxp_mem_write(g->xpu, g->address, c, sizeof(*c)));
	return start(g, "raw", &n, sizeof(n), NULL);
}

/* Makes the system call in the host's worker. Returns its result: a negative errno on failure. */
UNUSED static int64_t call(const struct guest *g, struct call c)
{
	int64_t result;

	ok(end(g, call_start(g, &c)));
	ok(dxp_mem_read(g->xpu, &result, g->address + offsetof(struct call, result),
			sizeof(result)));
	return result;
}

/* Tries to open a file in the worker. The buffer of the call contains the path. */
UNUSED static int64_t file_open(const struct guest *g, const char *path, int flags)
{
	struct call c = {
		.number = SYS_openat, .a = {AT_FDCWD, DATA, flags, 0600}, .offsets = 1 << 2};

	snprintf(c.data, sizeof(c.data), "%s", path);
	return call(g, c);
}

/* Returns 0, or prints why hostile kernels cannot run here and returns 77. */
UNUSED static int calls_skip(void)
{
#ifndef __x86_64__
	printf("skipped: its system calls are for x86-64\n");
	return 77;
#endif
	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	if (sandbox_available() != SANDBOX_ALL) {
		printf("skipped: Linux here has no Landlock (version 2) or no seccomp\n");
		return 77;
	}
	return 0;
}

#endif
