/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests programs not made by one build from source: from binaries, by compile and link, with
 * headers. */
#include "program.h"

struct binaries {
	size_t sizes[RIG_DEVICES_MAX];
	unsigned char *bytes[RIG_DEVICES_MAX];
};

static void binaries_read(cl_program p, struct binaries *b)
{
	OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof(b->sizes), b->sizes, NULL));
	for (cl_uint d = 0; d < rig.device_count; d++) {
		CHECK(b->sizes[d] > 0);
		b->bytes[d] = rig_memory(b->sizes[d]);
	}
	OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof(b->bytes), b->bytes, NULL));
}

static void binaries__come_back(void)
{
	cl_program p = rig_program(simple, "-DVALUE=77");
	struct binaries b;
	cl_int status[RIG_DEVICES_MAX];

	binaries_read(p, &b);
	has_text(p, 77);
	OK(clReleaseProgram(p));
	p = clCreateProgramWithBinary(rig.context, rig.device_count, rig.devices, b.sizes,
				      (const unsigned char **)b.bytes, status, ERR);
	MADE(p);
	for (cl_uint d = 0; d < rig.device_count; d++)
		OK(status[d]);
	OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
	has_text(p, 77);
	OK(clReleaseProgram(p));
}

static void binaries__for_one_device(void)
{
	cl_program p = rig_program(simple, "-DVALUE=78");
	struct binaries b;
	cl_uint last = rig.device_count - 1, count = 0;
	cl_int status = 1;

	binaries_read(p, &b);
	OK(clReleaseProgram(p));
	p = clCreateProgramWithBinary(rig.context, 1, &rig.devices[last], &b.sizes[last],
				      (const unsigned char **)&b.bytes[last], &status, ERR);
	MADE(p);
	OK(status);
	OK(clGetProgramInfo(p, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, NULL));
	EQUAL(count, 1);
	OK(clBuildProgram(p, 1, &rig.devices[last], NULL, NULL, NULL));
	cl_kernel k = clCreateKernel(p, "f", ERR);
	MADE(k);
	cl_mem m = rig_buffer(0, 4, NULL);
	uint32_t out = 0;
	SET(k, 0, m);
	rig_run(rig.queues[last], k, 1);
	rig_read(rig.queues[last], m, &out, 4);
	EQUAL(out, 78);
	size_t one = 1;
	if (last > 0)
		FAILS_BUT_POCL(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &one, NULL, 0,
						      NULL, NULL),
			       CL_INVALID_PROGRAM_EXECUTABLE);
	OK(clReleaseMemObject(m));
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
}

static void binaries__rejected(void)
{
	unsigned char junk[1000];
	const unsigned char *list[] = {junk}, *none[] = {NULL};
	size_t sizes[] = {sizeof(junk)}, zero[] = {0};
	cl_int status = 0;

	rig_scramble(junk, sizeof(junk));
	cl_program p =
		clCreateProgramWithBinary(rig.context, 1, rig.devices, sizes, list, &status, ERR);
	if (p) { /* if the creation accepts the binary, the build must reject it */
		cl_int error = clBuildProgram(p, 0, NULL, NULL, NULL, NULL);
		CHECK(error == CL_INVALID_BINARY || error == CL_BUILD_PROGRAM_FAILURE);
		OK(clReleaseProgram(p));
	} else {
		EQUAL(rig_error, CL_INVALID_BINARY);
		EQUAL(status, CL_INVALID_BINARY);
	}
	REJECTED(clCreateProgramWithBinary(rig.context, 1, rig.devices, zero, list, &status, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clCreateProgramWithBinary(rig.context, 1, rig.devices, sizes, none, &status, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clCreateProgramWithBinary(rig.context, 0, rig.devices, sizes, list, &status, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clCreateProgramWithBinary(NULL, 1, rig.devices, sizes, list, &status, ERR),
		 CL_INVALID_CONTEXT);
	REJECTED(clCreateProgramWithBuiltInKernels(rig.context, 1, rig.devices, "no_such_kernel",
						   ERR),
		 CL_INVALID_VALUE);
}

static const char header_text[] = "uint twice(uint x);\n#define ADD 3\n";
static const char library_text[] =
	"#include \"inc/twice.h\"\nuint twice(uint x) { return 2 * x; }\n";
static const char main_text[] = "#include \"inc/twice.h\"\n"
				"kernel void f(global uint *a) { a[get_global_id(0)] =\n"
				" twice(10) + ADD; }\n";

static void compile__and_link_with_headers(void)
{
	cl_program header = from_text(header_text), library = from_text(library_text),
		   program = from_text(main_text);
	const char *name = "inc/twice.h";
	cl_program_binary_type type = 0;

	OK(clCompileProgram(library, 0, NULL, NULL, 1, &header, &name, NULL, NULL));
	OK(clCompileProgram(program, 0, NULL, NULL, 1, &header, &name, NULL, NULL));
	OK(clGetProgramBuildInfo(program, rig.devices[0], CL_PROGRAM_BINARY_TYPE, sizeof(type),
				 &type, NULL));
	EQUAL(type, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
	REJECTED_BUT_POCL(clCreateKernel(program, "f", ERR), CL_INVALID_PROGRAM_EXECUTABLE);
	cl_program both[] = {program, library};
	cl_program linked = clLinkProgram(rig.context, 0, NULL, NULL, 2, both, NULL, NULL, ERR);
	MADE(linked);
	has_text(linked, 23);
	OK(clReleaseProgram(linked));
	/* makes a library, then links a program with it */
	cl_program archive = clLinkProgram(rig.context, 0, NULL, "-create-library", 1, &library,
					   NULL, NULL, ERR);
	MADE(archive);
	OK(clGetProgramBuildInfo(archive, rig.devices[0], CL_PROGRAM_BINARY_TYPE, sizeof(type),
				 &type, NULL));
	EQUAL(type, CL_PROGRAM_BINARY_TYPE_LIBRARY);
	cl_program with[] = {program, archive};
	linked = clLinkProgram(rig.context, 0, NULL, NULL, 2, with, NULL, NULL, ERR);
	MADE(linked);
	OK(clReleaseProgram(archive));
	OK(clReleaseProgram(header));
	OK(clReleaseProgram(library));
	OK(clReleaseProgram(program));
	has_text(linked, 23);
	OK(clReleaseProgram(linked));
}

static void compile__rejected(void)
{
	cl_program bad = from_text(broken), good = from_text(main_text), lone = from_text(simple);

	FAILS(clCompileProgram(bad, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL),
	      CL_COMPILE_PROGRAM_FAILURE);
	CHECK(strstr(build_log(bad, 0), "not_there_at_all"));
	/* without its header */
	FAILS(clCompileProgram(good, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL),
	      CL_COMPILE_PROGRAM_FAILURE);
	FAILS(clCompileProgram(NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
	FAILS_BUT_POCL(clCompileProgram(good, 0, NULL, NULL, 1, NULL, NULL, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS_BUT_POCL(clCompileProgram(good, 0, NULL, NULL, 0, &bad, NULL, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS_BUT_POCL(clCompileProgram(good, 0, rig.devices, NULL, 0, NULL, NULL, NULL, NULL),
		       CL_INVALID_VALUE);
	REJECTED(clLinkProgram(rig.context, 0, NULL, NULL, 0, NULL, NULL, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clLinkProgram(rig.context, 0, NULL, NULL, 1, NULL, NULL, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED_BUT_POCL(clLinkProgram(rig.context, 0, NULL, NULL, 1, &lone, NULL, NULL, ERR),
			  CL_INVALID_OPERATION); /* an input program was never compiled */
	OK(clReleaseProgram(bad));
	OK(clReleaseProgram(good));
	OK(clReleaseProgram(lone));
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void compile__headers_of_folders(void)
{
	char folder[] = "/tmp/rig-XXXXXX", options[512], path[512];

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/sub", folder);
	OK(mkdir(path, 0700));
	write_file(folder, "one.h", "#include \"sub/two.h\"\n#define ONE (TWO + 1)\n");
	write_file(folder, "sub/two.h", "#include \"three.h\"\n#define TWO (THREE * 10)\n");
	write_file(folder, "sub/three.h", "#define THREE 3\n");
	snprintf(options, sizeof(options), "-I %s", folder);
	cl_program p = rig_program("#include <one.h>\nkernel void f(global uint *a)\n"
				   "{ a[get_global_id(0)] = ONE; }\n",
				   options);
	has_text(p, 31);
	OK(clReleaseProgram(p));
	/* The header changed, so a cached program must not be used. */
	write_file(folder, "sub/three.h", "#define THREE 4\n");
	snprintf(options, sizeof(options), "-I%s -DX", folder);
	p = rig_program("#include <one.h>\nkernel void f(global uint *a)\n"
			"{ a[get_global_id(0)] = ONE; }\n",
			options);
	has_text(p, 41);
	OK(clReleaseProgram(p));
	static const char *const files[] = {"one.h", "sub/two.h", "sub/three.h"};
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/sub", folder);
	rmdir(path);
	OK(rmdir(folder));
}

RIG_MAIN(CASE(binaries__come_back), CASE(binaries__for_one_device), CASE(binaries__rejected),
	 CASE(compile__and_link_with_headers), CASE(compile__rejected),
	 CASE(compile__headers_of_folders))
