/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests invalid sizes, flags and descriptors, and valid ones just inside the limits. */
#include "rig.h"

static const cl_mem_flags pointers[] = {0,
					CL_MEM_ALLOC_HOST_PTR,
					CL_MEM_USE_HOST_PTR,
					CL_MEM_COPY_HOST_PTR,
					CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR,
					CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
					CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR};
static const cl_mem_flags accesses[] = {0,
					CL_MEM_READ_WRITE,
					CL_MEM_READ_ONLY,
					CL_MEM_WRITE_ONLY,
					CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
					CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY,
					CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY};
static const cl_mem_flags hosts[] = {0,
				     CL_MEM_HOST_READ_ONLY,
				     CL_MEM_HOST_WRITE_ONLY,
				     CL_MEM_HOST_NO_ACCESS,
				     CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
				     CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS};

static cl_int expected(size_t pointer, size_t access, size_t host, bool given)
{
	bool wanted = (pointers[pointer] & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;

	if (pointer > 4 || access > 3 || host > 3)
		return CL_INVALID_VALUE;
	return wanted == given ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

static void check_flags(size_t i, size_t j, size_t k, void *memory)
{
	cl_mem_flags flags = pointers[i] | accesses[j] | hosts[k], back = 0;
	cl_int error = 0, wanted = expected(i, j, k, memory != NULL);
	cl_mem m = clCreateBuffer(rig.context, flags, 256, memory, &error);

	if (error != wanted || (m != NULL) != (wanted == CL_SUCCESS))
		rig_fail(__FILE__, __LINE__, "flags %#llx, host memory %d: %s, not %s",
			 (unsigned long long)flags, memory != NULL, rig_error_name(error),
			 rig_error_name(wanted));
	if (!m)
		return;
	OK(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof(back), &back, NULL));
	EQUAL(back, flags ? flags : CL_MEM_READ_WRITE);
	OK(clReleaseMemObject(m));
}

static void shapes__flags_of_buffers(void)
{
	void *memory = rig_memory(256);

	for (size_t i = 0; i < COUNT_OF(pointers); i++)
		for (size_t j = 0; j < COUNT_OF(accesses); j++)
			for (size_t k = 0; k < COUNT_OF(hosts); k++) {
				check_flags(i, j, k, NULL);
				check_flags(i, j, k, memory);
			}
	REJECTED(clCreateBuffer(rig.context, (cl_mem_flags)1 << 40, 256, NULL, ERR),
		 CL_INVALID_VALUE);
}

static void shapes__sizes_of_buffers(void)
{
	cl_ulong most = 0;

	for (cl_uint i = 0; i < rig.device_count; i++) {
		cl_ulong one = 0;
		OK(clGetDeviceInfo(rig.devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(one), &one,
				   NULL));
		most = one > most ? one : most;
	}
	REJECTED(clCreateBuffer(rig.context, 0, 0, NULL, ERR), CL_INVALID_BUFFER_SIZE);
	REJECTED(clCreateBuffer(rig.context, 0, SIZE_MAX, NULL, ERR), CL_INVALID_BUFFER_SIZE);
	REJECTED(clCreateBuffer(rig.context, 0, most + 1, NULL, ERR), CL_INVALID_BUFFER_SIZE);
	CHECK(clCreateBuffer(rig.context, 0, 0, NULL, NULL) == NULL);
}

static void shapes__regions_of_sub_buffers(void)
{
	cl_mem m = rig_buffer(CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY, 4096, NULL);
	cl_buffer_region r = {0, 4096};

#define SUB(flags) clCreateSubBuffer(m, (flags), CL_BUFFER_CREATE_TYPE_REGION, &r, ERR)
	REJECTED(SUB(CL_MEM_READ_WRITE), CL_INVALID_VALUE);
	REJECTED(SUB(CL_MEM_WRITE_ONLY), CL_INVALID_VALUE);
	REJECTED(SUB(CL_MEM_HOST_WRITE_ONLY), CL_INVALID_VALUE);
	REJECTED(SUB(CL_MEM_COPY_HOST_PTR), CL_INVALID_VALUE);
	REJECTED(SUB(CL_MEM_USE_HOST_PTR), CL_INVALID_VALUE);
	REJECTED(SUB(CL_MEM_ALLOC_HOST_PTR), CL_INVALID_VALUE);
	REJECTED(clCreateSubBuffer(m, 0, 0x1111, &r, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, ERR),
		 CL_INVALID_VALUE);
	r.size = 0;
	REJECTED(SUB(0), CL_INVALID_BUFFER_SIZE);
	r.size = 4097;
	REJECTED(SUB(0), CL_INVALID_VALUE);
	r = (cl_buffer_region){SIZE_MAX & ~(size_t)4095, 8192};
	REJECTED_BUT_POCL(SUB(0), CL_INVALID_VALUE);
	r = (cl_buffer_region){1, 16};
	REJECTED(SUB(0), CL_MISALIGNED_SUB_BUFFER_OFFSET);
	r = (cl_buffer_region){1024, 1024};
	cl_mem part = SUB(CL_MEM_HOST_NO_ACCESS);
	MADE(part);
	cl_mem whole = m;
	m = part;
	r = (cl_buffer_region){0, 512};
	REJECTED(SUB(0), CL_INVALID_MEM_OBJECT);
	OK(clReleaseMemObject(part));
	OK(clReleaseMemObject(whole));
}

static cl_int rect(cl_mem m, size_t ox, size_t oy, size_t oz, size_t w, size_t h, size_t d,
		   size_t row, size_t slice)
{
	size_t origin[3] = {ox, oy, oz}, zero[3] = {0}, region[3] = {w, h, d};
	void *to = rig_memory(4096);

	return clEnqueueReadBufferRect(rig.queues[0], m, CL_TRUE, origin, zero, region, row, slice,
				       0, 0, to, 0, NULL, NULL);
}

static void shapes__rectangles(void)
{
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, 4096, NULL);

	OK(rect(m, 0, 0, 0, 16, 16, 16, 0, 0));
	OK(rect(m, 0, 15, 15, 16, 1, 1, 16, 256));
	FAILS(rect(m, 1, 15, 15, 16, 1, 1, 16, 256), CL_INVALID_VALUE);
	FAILS(rect(m, 0, 0, 0, 0, 1, 1, 0, 0), CL_INVALID_VALUE);
	FAILS(rect(m, 0, 0, 0, 1, 0, 1, 0, 0), CL_INVALID_VALUE);
	FAILS(rect(m, 0, 0, 0, 1, 1, 0, 0, 0), CL_INVALID_VALUE);
	FAILS(rect(m, 0, 0, 0, 16, 2, 1, 15, 0), CL_INVALID_VALUE);
	FAILS(rect(m, 0, 0, 0, 16, 2, 2, 16, 31), CL_INVALID_VALUE);
	FAILS(rect(m, 0, 0, 0, 16, 2, 2, 16, 33), CL_INVALID_VALUE);
	FAILS_BUT_POCL(rect(m, SIZE_MAX, 1, 1, 16, 1, 1, 16, 16), CL_INVALID_VALUE);
	FAILS_BUT_POCL(rect(m, 0, SIZE_MAX / 16 + 1, 0, 16, 1, 1, 16, 16), CL_INVALID_VALUE);
	FAILS_BUT_POCL(rect(m, 0, 0, 0, 1, 2, 1, SIZE_MAX / 2 + 1, 0), CL_INVALID_VALUE);
	OK(clReleaseMemObject(m));
}

static cl_int image(cl_mem_flags flags, const cl_image_format *format, cl_image_desc desc,
		    void *host)
{
	cl_int error = 1;
	cl_mem m = clCreateImage(rig.context, flags, format, &desc, host, &error);

	CHECK((m != NULL) == (error == CL_SUCCESS));
	if (m)
		OK(clReleaseMemObject(m));
	return error;
}

static const cl_image_format rgba = {CL_RGBA, CL_UNORM_INT8};

#define D2(...)                                                  \
	(cl_image_desc)                                          \
	{                                                        \
		.image_type = CL_MEM_OBJECT_IMAGE2D, __VA_ARGS__ \
	}
#define W .image_width
#define H .image_height

static void shapes__descriptors_of_images(void)
{
	static const cl_image_format odd = {CL_RGBA, CL_UNORM_SHORT_565}, none = {0, 0},
				     wrong = {CL_RGBA, 0x7777};
	size_t widest = 0;
	void *host = rig_memory(4096);

	if (!rig.images)
		rig_skip("no images");
	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof(widest), &widest,
			   NULL));
	OK(image(0, &rgba, D2(W = 16, H = 16), NULL));
	FAILS_BUT_POCL(image(0, &rgba, D2(W = 0, H = 16), NULL), CL_INVALID_IMAGE_DESCRIPTOR);
	FAILS_BUT_POCL(image(0, &rgba, D2(W = 16, H = 0), NULL), CL_INVALID_IMAGE_DESCRIPTOR);
	FAILS_BUT_POCL(image(0, &rgba, D2(W = widest + 1, H = 1), NULL), CL_INVALID_IMAGE_SIZE);
	FAILS_BUT_POCL(image(0, NULL, D2(W = 4, H = 4), NULL), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
	FAILS_BUT_POCL(image(0, &odd, D2(W = 4, H = 4), NULL), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
	FAILS_BUT_POCL(image(0, &none, D2(W = 4, H = 4), NULL), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
	FAILS_BUT_POCL(image(0, &wrong, D2(W = 4, H = 4), NULL),
		       CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
	FAILS_BUT_POCL(image(0, &rgba, D2(W = 4, H = 4, .image_row_pitch = 16), NULL),
		       CL_INVALID_IMAGE_DESCRIPTOR);
	FAILS_BUT_POCL(
		image(CL_MEM_USE_HOST_PTR, &rgba, D2(W = 4, H = 4, .image_row_pitch = 15), host),
		CL_INVALID_IMAGE_DESCRIPTOR);
	FAILS_BUT_POCL(
		image(CL_MEM_USE_HOST_PTR, &rgba, D2(W = 4, H = 4, .image_row_pitch = 18), host),
		CL_INVALID_IMAGE_DESCRIPTOR);
	OK(image(CL_MEM_USE_HOST_PTR, &rgba, D2(W = 4, H = 4, .image_row_pitch = 20), host));
	FAILS_BUT_POCL(image(CL_MEM_USE_HOST_PTR, &rgba, D2(W = 4, H = 4), NULL),
		       CL_INVALID_HOST_PTR);
	FAILS_BUT_POCL(image(0, &rgba, D2(W = 4, H = 4), host), CL_INVALID_HOST_PTR);
	FAILS_BUT_POCL(image(0, &rgba, D2(W = 4, H = 4, .num_mip_levels = 1), NULL),
		       CL_INVALID_IMAGE_DESCRIPTOR);
	FAILS_BUT_POCL(image(0, &rgba, D2(W = 4, H = 4, .num_samples = 1), NULL),
		       CL_INVALID_IMAGE_DESCRIPTOR);
	FAILS_BUT_POCL(
		image(0, &rgba, (cl_image_desc){.image_type = CL_MEM_OBJECT_BUFFER, W = 4}, NULL),
		CL_INVALID_IMAGE_DESCRIPTOR);
	FAILS_BUT_POCL(image(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, &rgba, D2(W = 4, H = 4), NULL),
		       CL_INVALID_VALUE);
	REJECTED_BUT_POCL(clCreateImage(rig.context, 0, &rgba, NULL, NULL, ERR),
			  CL_INVALID_IMAGE_DESCRIPTOR);
}

static void shapes__images_of_buffers(void)
{
	cl_mem m = rig_buffer(CL_MEM_READ_ONLY, 4096, NULL);
	cl_image_desc line = {
		.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, W = 1024, .mem_object = m};

	if (!rig.images)
		rig_skip("no images");
	OK(image(0, &rgba, line, NULL));
	line.image_width = 1025;
	FAILS_BUT_POCL(image(0, &rgba, line, NULL), CL_INVALID_IMAGE_DESCRIPTOR);
	line.image_width = 16;
	FAILS_BUT_POCL(image(CL_MEM_READ_WRITE, &rgba, line, NULL), CL_INVALID_VALUE);
	line.image_row_pitch = 80;
	OK(image(CL_MEM_READ_ONLY, &rgba, line, NULL));
	line.image_row_pitch = 60;
	FAILS_BUT_POCL(image(0, &rgba, line, NULL), CL_INVALID_IMAGE_DESCRIPTOR);
	line.image_row_pitch = 8192;
	FAILS_BUT_POCL(image(0, &rgba, line, NULL), CL_INVALID_IMAGE_DESCRIPTOR);
	line.image_row_pitch = 0;
	line.mem_object = NULL;
	FAILS_BUT_POCL(image(0, &rgba, line, NULL), CL_INVALID_IMAGE_DESCRIPTOR);
	OK(clReleaseMemObject(m));
}

/* Regions of images are rejected if origin or size is outside the image, or a pitch is shorter than
 * a row. */
static void shapes__regions_of_images(void)
{
	const size_t zero[3] = {0}, all[3] = {8, 8, 1}, none[3] = {8, 0, 1}, deep[3] = {8, 8, 2},
		     one[3] = {1, 0, 0}, far[3] = {SIZE_MAX, 0, 0};
	const cl_image_desc desc = D2(W = 8, H = 8);
	cl_image_format other = {CL_RGBA, CL_UNSIGNED_INT8};
	uint8_t *host = rig_memory(4096);
	size_t row = 0;

	if (!rig.images)
		rig_skip("no images");
	cl_mem m = clCreateImage(rig.context, 0, &rgba, &desc, NULL, ERR);
	MADE(m);
	cl_mem n = clCreateImage(rig.context, 0, &other, &desc, NULL, ERR);
	MADE(n);
	cl_command_queue q = rig.queues[0];
#define READ(origin, region, row) \
	clEnqueueReadImage(q, m, CL_TRUE, (origin), (region), (row), 0, host, 0, NULL, NULL)
	OK(READ(zero, all, 0));
	FAILS_BUT_POCL(READ(zero, none, 0), CL_INVALID_VALUE);
	FAILS(READ(zero, deep, 0), CL_INVALID_VALUE);
	FAILS(READ(one, all, 0), CL_INVALID_VALUE);
	FAILS_BUT_POCL(READ(far, all, 0), CL_INVALID_VALUE);
	FAILS_BUT_POCL(READ(zero, all, 31), CL_INVALID_VALUE);
	FAILS(READ(NULL, all, 0), CL_INVALID_VALUE);
	FAILS(READ(zero, NULL, 0), CL_INVALID_VALUE);
	FAILS(clEnqueueCopyImage(q, m, n, zero, zero, all, 0, NULL, NULL),
	      CL_IMAGE_FORMAT_MISMATCH);
	FAILS(clEnqueueCopyImage(q, m, m, zero, zero, all, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
	FAILS(clEnqueueFillImage(q, m, NULL, zero, all, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clEnqueueFillImage(q, m, host, one, all, 0, NULL, NULL), CL_INVALID_VALUE);
	REJECTED(clEnqueueMapImage(q, m, CL_TRUE, CL_MAP_READ, zero, all, NULL, NULL, 0, NULL, NULL,
				   ERR),
		 CL_INVALID_VALUE);
	REJECTED(clEnqueueMapImage(q, m, CL_TRUE, CL_MAP_READ, one, all, &row, NULL, 0, NULL, NULL,
				   ERR),
		 CL_INVALID_VALUE);
	FAILS(clEnqueueUnmapMemObject(q, m, host, 0, NULL, NULL), CL_INVALID_VALUE);
	OK(clReleaseMemObject(m));
	OK(clReleaseMemObject(n));
}

static const char sized[] = "kernel __attribute__((reqd_work_group_size(4, 2, 1)))\n"
			    "void k(global uint *a) { a[0] = get_local_size(0);\n"
			    "a[1] = get_local_size(1); a[2] = get_local_size(2); }\n";

/* The local size may be omitted if the kernel requires one. PoCL 3.1 does not accept that. */
static void shapes__the_kernels_own_work_groups(void)
{
	cl_kernel k = rig_kernel(sized, "k");
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, 12, NULL);
	const size_t fits[3] = {16, 16, 16}, misfits[2] = {16, 3}, other[2] = {2, 4};
	const cl_uint wanted[3] = {4, 2, 1};
	cl_uint got[3];

	SET(k, 0, m);
	for (cl_uint dimensions = rig.pocl ? 4 : 2; dimensions <= 3; dimensions++) {
		OK(clEnqueueNDRangeKernel(rig.queues[0], k, dimensions, NULL, fits, NULL, 0, NULL,
					  NULL));
		rig_read(rig.queues[0], m, got, sizeof(got));
		SAME_BYTES(got, wanted, sizeof(got));
	}
	FAILS_BUT_POCL(
		clEnqueueNDRangeKernel(rig.queues[0], k, 2, NULL, misfits, NULL, 0, NULL, NULL),
		CL_INVALID_WORK_GROUP_SIZE);
	FAILS(clEnqueueNDRangeKernel(rig.queues[0], k, 2, NULL, fits, other, 0, NULL, NULL),
	      CL_INVALID_WORK_GROUP_SIZE);
	FAILS_BUT_POCL(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, fits, NULL, 0, NULL, NULL),
		       CL_INVALID_WORK_GROUP_SIZE);
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

RIG_MAIN(CASE(shapes__flags_of_buffers), CASE(shapes__sizes_of_buffers),
	 CASE(shapes__regions_of_sub_buffers), CASE(shapes__rectangles),
	 CASE(shapes__descriptors_of_images), CASE(shapes__images_of_buffers),
	 CASE(shapes__regions_of_images), CASE(shapes__the_kernels_own_work_groups))
