/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernels: creation, queries, and launches over ranges of every shape. */
#include "rig.h"

static const char two[] = "kernel void first(global uint *a) { a[get_global_id(0)] = 1; }\n"
			  "kernel __attribute__((reqd_work_group_size(4, 2, 1)))\n"
			  "void second(global uint *a, local uint *l, uint n) { a[0] = n; }\n";

static void kernels__of_a_program(void)
{
	cl_program p = rig_program(two, NULL);
	cl_kernel kernels[4] = {NULL};
	cl_uint count = 0;
	size_t number = 0;
	char names[64];

	OK(clCreateKernelsInProgram(p, 0, NULL, &count));
	EQUAL(count, 2);
	FAILS(clCreateKernelsInProgram(p, 1, kernels, NULL), CL_INVALID_VALUE);
	OK(clCreateKernelsInProgram(p, 4, kernels, &count));
	EQUAL(count, 2);
	CHECK(kernels[0] && kernels[1] && !kernels[2]);
	OK(clReleaseKernel(kernels[0]));
	OK(clReleaseKernel(kernels[1]));
	OK(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof(number), &number, NULL));
	EQUAL(number, 2);
	OK(clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, NULL));
	CHECK(strcmp(names, "first;second") == 0 || strcmp(names, "second;first") == 0);
	REJECTED(clCreateKernel(p, "third", ERR), CL_INVALID_KERNEL_NAME);
	REJECTED(clCreateKernel(p, NULL, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateKernel(NULL, "first", ERR), CL_INVALID_PROGRAM);
	FAILS(clRetainKernel(NULL), CL_INVALID_KERNEL);
	FAILS(clReleaseKernel(NULL), CL_INVALID_KERNEL);
	OK(clReleaseProgram(p));
}

static void kernels__queries(void)
{
	cl_program p = rig_program(two, NULL), back = NULL;
	cl_kernel k = clCreateKernel(p, "second", ERR);
	cl_context c = NULL;
	cl_uint count = 0;
	char name[64];

	MADE(k);
	OK(clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL));
	CHECK(strcmp(name, "second") == 0);
	OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL));
	EQUAL(count, 3);
	OK(clGetKernelInfo(k, CL_KERNEL_REFERENCE_COUNT, sizeof(count), &count, NULL));
	EQUAL(count, 1);
	OK(clGetKernelInfo(k, CL_KERNEL_CONTEXT, sizeof(c), &c, NULL));
	CHECK(c == rig.context);
	OK(clGetKernelInfo(k, CL_KERNEL_PROGRAM, sizeof(back), &back, NULL));
	CHECK(back == p);
	OK(clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof(name), name, NULL));
	FAILS(clGetKernelInfo(k, 0x1, sizeof(name), name, NULL), CL_INVALID_VALUE);
	FAILS(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, 1, &count, NULL), CL_INVALID_VALUE);
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
}

/* A query returns each attribute of the kernel. Compilers may add blanks, so these are ignored. */
static void kernels__attribute_queries(void)
{
	static const char *const all[] = {"vec_type_hint(uchar3)", "reqd_work_group_size(2,1,1)",
					  "work_group_size_hint(2,1,1)"};
	char source[512] = "", text[512], *to = text;

	for (size_t i = 0; i < COUNT_OF(all); i++)
		sprintf(source + strlen(source), "__attribute__((%s))\n", all[i]);
	strcat(source, "kernel void f(void) { }\n");
	cl_kernel k = rig_kernel(source, "f");
	OK(clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof(text), text, NULL));
	for (const char *from = text; *from; from++)
		if (*from != ' ')
			*to++ = *from;
	*to = '\0';
	for (size_t i = 0; i < COUNT_OF(all); i++)
		CHECK(strstr(text, all[i]));
	OK(clReleaseKernel(k));
}

static void kernels__work_group_queries(void)
{
	cl_program p = rig_program(two, NULL);
	cl_kernel k = clCreateKernel(p, "second", ERR);

	MADE(k);
	for (cl_uint d = 0; d < rig.device_count; d++) {
		size_t size = 0, needed[3] = {0}, most = 0;
		cl_ulong bytes = 0;
		cl_device_id device = rig.devices[d];
		OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(size),
					    &size, NULL));
		OK(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(most), &most,
				   NULL));
		CHECK(size >= 1 && size <= most);
		OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
					    sizeof(needed), needed, NULL));
		CHECK(needed[0] == 4 && needed[1] == 2 && needed[2] == 1);
		OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(bytes),
					    &bytes, NULL));
		OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof(bytes),
					    &bytes, NULL));
		OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
					    sizeof(size), &size, NULL));
		CHECK(size >= 1);
		FAILS(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_GLOBAL_WORK_SIZE,
					       sizeof(needed), needed, NULL),
		      CL_INVALID_VALUE);
		FAILS(clGetKernelWorkGroupInfo(k, device, 0x1, sizeof(size), &size, NULL),
		      CL_INVALID_VALUE);
		FAILS(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_WORK_GROUP_SIZE, 1, &size,
					       NULL),
		      CL_INVALID_VALUE);
	}
	size_t size;
	FAILS(clGetKernelWorkGroupInfo(NULL, rig.devices[0], CL_KERNEL_WORK_GROUP_SIZE,
				       sizeof(size), &size, NULL),
	      CL_INVALID_KERNEL);
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
}

static const char ids_source[] =
	"kernel void ids(global uint *out) {\n"
	" size_t x = get_global_id(0) - get_global_offset(0);\n"
	" size_t y = get_global_id(1) - get_global_offset(1);\n"
	" size_t z = get_global_id(2) - get_global_offset(2);\n"
	" size_t i = (z * get_global_size(1) + y) * get_global_size(0) + x;\n"
	" out[i * 4] = get_global_id(0) + get_global_id(1) * 1000 + get_global_id(2) * 1000000;\n"
	" out[i * 4 + 1] = get_local_id(0) + get_local_id(1) * 100 + get_local_id(2) * 10000;\n"
	" out[i * 4 + 2] = get_group_id(0) + get_group_id(1) * 1000 + get_group_id(2) * 1000000;\n"
	" out[i * 4 + 3] = get_work_dim() + get_num_groups(0) * 10; }\n";

struct range {
	cl_uint dimensions;
	size_t offset[3], global[3], local[3];
};

static void range_by_chance(struct range *r)
{
	*r = (struct range){
		.dimensions = 1 + (cl_uint)rig_below(3), .global = {1, 1, 1}, .local = {1, 1, 1}};
	for (cl_uint d = 0; d < r->dimensions; d++) {
		r->local[d] = 1 + rig_below(d == 0 ? 8 : 3);
		r->global[d] = r->local[d] * (1 + rig_below(d == 0 ? 20 : 5));
		r->offset[d] = rig_below(3) ? rig_below(50) : 0;
	}
}

static void check_ids(const struct range *r, const uint32_t *out)
{
	for (uint32_t z = 0; z < r->global[2]; z++)
		for (uint32_t y = 0; y < r->global[1]; y++)
			for (uint32_t x = 0; x < r->global[0]; x++, out += 4) {
				const uint32_t lx = (uint32_t)r->local[0],
					       ly = (uint32_t)r->local[1],
					       lz = (uint32_t)r->local[2];
				EQUAL(out[0], x + r->offset[0] + (y + r->offset[1]) * 1000 +
						      (z + r->offset[2]) * 1000000);
				EQUAL(out[1], x % lx + y % ly * 100 + z % lz * 10000);
				EQUAL(out[2], x / lx + y / ly * 1000 + z / lz * 1000000);
				EQUAL(out[3], r->dimensions + r->global[0] / lx * 10);
			}
}

static void ranges__by_chance(void)
{
	cl_kernel k = rig_kernel(ids_source, "ids");
	enum { SPACE = 160 * 15 * 15 * 4 * 4 };
	uint32_t *out = rig_memory(SPACE);
	cl_mem m = rig_buffer(0, SPACE, NULL);

	SET(k, 0, m);
	for (int round = 0; round < 25; round++) {
		struct range r;
		range_by_chance(&r);
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		OK(clEnqueueNDRangeKernel(q, k, r.dimensions, r.offset, r.global, r.local, 0, NULL,
					  NULL));
		rig_read(q, m, out, r.global[0] * r.global[1] * r.global[2] * 16);
		check_ids(&r, out);
	}
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

/* If the device chooses the local size, every work-item runs exactly once. */
static void ranges__without_local_sizes(void)
{
	static const char source[] = "kernel void f(global uint *a) {\n"
				     " a[get_global_id(1) * get_global_size(0) +\n"
				     "   get_global_id(0)] += get_global_id(0) + 1; }\n";
	static const size_t sizes[][2] = {{1, 1},  {7, 1},    {13, 11},  {97, 1},
					  {1, 31}, {1000, 3}, {4096, 1}, {101, 103}};
	cl_kernel k = rig_kernel(source, "f");

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		size_t count = sizes[i][0] * sizes[i][1];
		uint32_t *model = rig_noise(count * 4), *out = rig_memory(count * 4);
		cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, count * 4, model);
		cl_command_queue q = rig.queues[i % rig.device_count];
		SET(k, 0, m);
		OK(clEnqueueNDRangeKernel(q, k, 2, NULL, sizes[i], NULL, 0, NULL, NULL));
		rig_read(q, m, out, count * 4);
		for (size_t n = 0; n < count; n++)
			EQUAL(out[n], (uint32_t)(model[n] + n % sizes[i][0] + 1));
		OK(clReleaseMemObject(m));
	}
	OK(clReleaseKernel(k));
}

static void ranges__tasks(void)
{
	static const char source[] = "kernel void f(global uint *a) {\n"
				     " a[0] = get_global_size(0) * 100 + get_work_dim(); }\n";
	cl_kernel k = rig_kernel(source, "f");
	cl_mem m = rig_buffer(0, 4, NULL);
	uint32_t out = 0;
	cl_event event = NULL;
	cl_command_type type = 0;

	SET(k, 0, m);
	OK(clEnqueueTask(rig.queues[0], k, 0, NULL, &event));
	OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	CHECK(type == CL_COMMAND_TASK || type == CL_COMMAND_NDRANGE_KERNEL);
	rig_read(rig.queues[0], m, &out, 4);
	EQUAL(out, 101);
	OK(clReleaseEvent(event));
	OK(clReleaseMemObject(m));
	OK(clReleaseKernel(k));
	FAILS(clEnqueueNativeKernel(rig.queues[0], NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL),
	      rig.pocl ? CL_INVALID_VALUE : CL_INVALID_OPERATION);
}

static void ranges__rejected(void)
{
	cl_program p = rig_program(two, NULL);
	cl_kernel k = clCreateKernel(p, "first", ERR), fixed = clCreateKernel(p, "second", ERR);
	cl_mem m = rig_buffer(0, 65536, NULL);
	cl_command_queue q = rig.queues[0];
	size_t global[3] = {8, 8, 8}, crooked[3] = {3, 1, 1}, most[3] = {0}, fit[3] = {4, 2, 1},
	       unfit[3] = {2, 2, 1}, huge[3] = {0, 1, 1}, zero[3] = {0, 1, 1};
	uint32_t n = 0;

	MADE(k);
	MADE(fixed);
	SET(k, 0, m);
	SET(fixed, 0, m);
	rig_set(fixed, 1, 64, NULL);
	SET(fixed, 2, n);
	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(most), most,
			   NULL));
	huge[0] = most[0] * 2;
#define RUN(queue, kernel, dimensions, sizes, local) \
	clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, sizes, local, 0, NULL, NULL)
	FAILS(RUN(NULL, k, 1, global, NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS_BUT_POCL(RUN(q, NULL, 1, global, NULL), CL_INVALID_KERNEL);
	FAILS(RUN(q, k, 0, global, NULL), CL_INVALID_WORK_DIMENSION);
	FAILS(RUN(q, k, 4, global, NULL), CL_INVALID_WORK_DIMENSION);
	cl_int error = RUN(q, k, 1, huge, huge);
	CHECK(error == CL_INVALID_WORK_GROUP_SIZE || error == CL_INVALID_WORK_ITEM_SIZE);
	FAILS_BUT_POCL(RUN(q, k, 1, global, zero), CL_INVALID_WORK_GROUP_SIZE);
	FAILS(RUN(q, fixed, 3, global, unfit), CL_INVALID_WORK_GROUP_SIZE);
	OK(RUN(q, fixed, 3, global, fit));
	char version[256];
	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_VERSION, sizeof(version), version, NULL));
	cl_bool uneven = CL_FALSE;
	if (version[7] >= '3')
		OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT,
				   sizeof(uneven), &uneven, NULL));
	if (!uneven)
		FAILS(RUN(q, k, 1, global, crooked), CL_INVALID_WORK_GROUP_SIZE);
#undef RUN
	OK(clFinish(q));
	OK(clReleaseKernel(k));
	OK(clReleaseKernel(fixed));
	OK(clReleaseMemObject(m));
	OK(clReleaseProgram(p));
}

static void ranges__many_work_items(void)
{
	static const char source[] = "kernel void f(global uint *sums) {\n"
				     " size_t i = get_global_id(0);\n"
				     " atomic_add(&sums[i % 64], (uint)i); }\n";
	cl_kernel k = rig_kernel(source, "f");
	uint32_t sums[64] = {0}, wanted[64] = {0};
	size_t global = 1 << 20;

	for (uint32_t i = 0; i < global; i++)
		wanted[i % 64] += i;
	for (cl_uint d = 0; d < rig.device_count; d++) {
		memset(sums, 0, sizeof(sums));
		cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, sizeof(sums), sums);
		SET(k, 0, m);
		rig_run(rig.queues[d], k, global);
		rig_read(rig.queues[d], m, sums, sizeof(sums));
		SAME_BYTES(sums, wanted, sizeof(sums));
		OK(clReleaseMemObject(m));
	}
	OK(clReleaseKernel(k));
}

/* Kernels may write to read-only buffers. The standard leaves the effect undefined, but programs
 * such as hashcat depend on it. */
static void writes__to_what_is_read_only(void)
{
	cl_kernel k = rig_kernel("kernel void f(global uint *a)\n"
				 "{ a[get_global_id(0)] = (uint)get_global_id(0) + 5; }\n",
				 "f");
	cl_mem from = rig_buffer(CL_MEM_READ_ONLY, 256, NULL), to = rig_buffer(0, 256, NULL);
	uint32_t words[64];

	SET(k, 0, from);
	rig_run(rig.queues[0], k, 64);
	OK(clEnqueueCopyBuffer(rig.queues[0], from, to, 0, 0, 256, 0, NULL, NULL));
	rig_read(rig.queues[0], to, words, sizeof(words));
	for (uint32_t i = 0; i < 64; i++)
		EQUAL(words[i], i + 5);
	OK(clReleaseMemObject(from));
	OK(clReleaseMemObject(to));
	OK(clReleaseKernel(k));
}

RIG_MAIN(CASE(kernels__of_a_program), CASE(kernels__queries), CASE(kernels__attribute_queries),
	 CASE(kernels__work_group_queries), CASE(ranges__by_chance),
	 CASE(ranges__without_local_sizes), CASE(ranges__tasks), CASE(ranges__rejected),
	 CASE(ranges__many_work_items), CASE(writes__to_what_is_read_only))
