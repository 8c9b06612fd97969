/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests programs that include files of the machine on which they run. On any node, the compiler
 * must find the same files as a compiler on this machine. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"

static char folder[64];

static void file(const char *name, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* The folder's name is unique, because compilers cache results by the source alone. */
static void plant(void)
{
	static unsigned count;

	snprintf(folder, sizeof(folder), "/tmp/includes-%d-%u-%llu", (int)getpid(), count++,
		 (unsigned long long)rig_now_ns());
	CHECK(mkdir(folder, 0700) == 0);
}

static void uproot(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	CHECK(system(command) == 0);
}

/* Returns what the kernel `f` writes. In `format`, the text of the options, %s stands for the
 * folder, up to three times. */
static int value(const char *source, const char *format)
{
	char options[1024];
	cl_int got = 0;

	snprintf(options, sizeof(options), format, folder, folder, folder);
	cl_program p = rig_program(source, options);
	cl_kernel k = clCreateKernel(p, "f", ERR);
	MADE(k);
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, sizeof(got), NULL);
	SET(k, 0, m);
	rig_run(rig.queues[0], k, 1);
	rig_read(rig.queues[0], m, &got, sizeof(got));
	OK(clReleaseMemObject(m));
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
	return got;
}

#define KERNEL(expression) "\nkernel void f(global int *out) { *out = " expression "; }\n"

static void includes__of_a_folder(void)
{
	plant();
	file("a.h", "#define A 5\n");
	EQUAL(value("#include \"a.h\"" KERNEL("A"), "-I %s"), 5);
	EQUAL(value("#include <a.h>" KERNEL("A + 1"), "-I%s -DX"), 6);
	/* PoCL 3.1 does not support quotes in this option. */
	if (!rig.pocl)
		EQUAL(value("#include <a.h>" KERNEL("A + X"), "-D X=2 -I \"%s\""), 7);
	uproot();
}

static void includes__of_includes(void)
{
	plant();
	file("one/a.h", "#include \"b.h\"\n#include <c.h>\n#define A (B + C)\n");
	file("one/b.h", "#include \"deep/er/b.h\"\n");
	file("one/deep/er/b.h", "#pragma once\n#include \"../../../two/d.h\"\n#define B (D + 1)\n");
	file("two/c.h", "#ifndef C\n#define C 100\n#include \"c.h\"\n#endif\n");
	file("two/d.h", "#define D 10\n");
	EQUAL(value("#include \"a.h\"" KERNEL("A"), "-I %s/one -I %s/two"), 111);
	uproot();
}

static void includes__beside_a_folder(void)
{
	plant();
	file("inc/unused.h", "");
	file("a.h", "#define A 4\n");
	EQUAL(value("#include \"../a.h\"" KERNEL("A"), "-I %s/inc"), 4);
	uproot();
}

static void includes__in_the_order_of_folders(void)
{
	plant();
	file("one/a.h", "#define A 1\n");
	file("two/a.h", "#define A 2\n");
	EQUAL(value("#include <a.h>" KERNEL("A"), "-I %s/one -I %s/two"), 1);
	EQUAL(value("#include <a.h>" KERNEL("A"), "-I %s/two -I %s/one"), 2);
	EQUAL(value("#include <a.h>" KERNEL("A"), "-I %s/none -I %s/two -I %s/one"), 2);
	uproot();
}

static void includes__by_name(void)
{
	plant();
	file("a.h", "#define A 7\n");
	EQUAL(value("#define NAME \"a.h\"\n#include NAME" KERNEL("A"), "-I %s"), 7);
	EQUAL(value("#include NAME" KERNEL("A"), "-DNAME=<a.h> -I %s"), 7);
	uproot();
}

static void includes__by_an_absolute_path(void)
{
	char source[512];

	plant();
	file("x/a.h", "#include \"b.h\"\n");
	file("x/b.h", "#define B 8\n");
	snprintf(source, sizeof(source), "#include \"%s/x/a.h\"" KERNEL("B"), folder);
	EQUAL(value(source, ""), 8);
	uproot();
}

static void includes__of_the_working_folder(void)
{
	char before[PATH_MAX];

	plant();
	file("here.h", "#define A 9\n");
	CHECK(getcwd(before, sizeof(before)) && chdir(folder) == 0);
	int got = value("#include \"here.h\"" KERNEL("A"), "");
	CHECK(chdir(before) == 0);
	EQUAL(got, 9);
	uproot();
}

/* The build log names a missing file. */
static void includes__missing(void)
{
	const char *source = "#include \"not_there.h\"" KERNEL("1");
	char log[4096] = "";

	cl_program p = clCreateProgramWithSource(rig.context, 1, &source, NULL, ERR);
	MADE(p);
	FAILS(clBuildProgram(p, 1, rig.devices, "-I /nowhere", NULL, NULL),
	      CL_BUILD_PROGRAM_FAILURE);
	OK(clGetProgramBuildInfo(p, rig.devices[0], CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
	/* PoCL 3.1 omits the compiler's messages. */
	if (!rig.pocl)
		CHECK(strstr(log, "not_there.h"));
	/* A missing file in skipped code has no effect. */
	OK(clReleaseProgram(p));
	plant();
	EQUAL(value("#if 0\n#include \"not_there.h\"\n#endif\n" KERNEL("3"), "-I %s"), 3);
	uproot();
}

RIG_MAIN(CASE(includes__of_a_folder), CASE(includes__of_includes), CASE(includes__beside_a_folder),
	 CASE(includes__in_the_order_of_folders), CASE(includes__by_name),
	 CASE(includes__by_an_absolute_path), CASE(includes__of_the_working_folder),
	 CASE(includes__missing))
