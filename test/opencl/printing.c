/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the output of printf in kernels appears on this program's standard output, in
 * order. */
#include "rig.h"

#include <fcntl.h>
#include <unistd.h>

static char printed[1 << 20];

struct capture {
	int file, saved;
};

static struct capture capture_begin(void)
{
	struct capture c;
	char name[] = "/tmp/rig-XXXXXX";

	fflush(stdout);
	c.file = mkstemp(name);
	unlink(name);
	c.saved = dup(STDOUT_FILENO);
	CHECK(c.file >= 0 && c.saved >= 0);
	dup2(c.file, STDOUT_FILENO);
	return c;
}

static const char *capture_end(struct capture c)
{
	fflush(stdout);
	dup2(c.saved, STDOUT_FILENO);
	ssize_t count = pread(c.file, printed, sizeof(printed) - 1, 0);
	close(c.file);
	close(c.saved);
	printed[count > 0 ? count : 0] = '\0';
	return printed;
}

static void has_text(const char *wanted)
{
	if (strcmp(printed, wanted) != 0)
		rig_fail(__FILE__, __LINE__, "printed '%s', not '%s'", printed, wanted);
}

static void printing__formats(void)
{
	static const char source[] =
		"kernel void f(int n) {\n"
		" printf(\"%d %5d %-5d| %05d %+d\\n\", n, n, n, n, n);\n"
		" printf(\"%u %x %X %#x %o\\n\", 77u, 0xabcu, 0xabcu, 255u, 8u);\n"
		" printf(\"%f %.2f %e %g\\n\", 1.5f, 3.14159f, 12345.678f, 0.5f);\n"
		" printf(\"%c%c %s %%\\n\", 'o', 'k', \"text\");\n"
		" printf(\"%ld %lu\\n\", 1234567890123L, 9876543210UL);\n"
		" printf(\"%v4hld %v2hlx\\n\", (int4)(1, 2, 3, 4), (int2)(10, 11));\n"
		"}\n";
	cl_kernel k = rig_kernel(source, "f");
	int n = -42;

	SET(k, 0, n);
	for (cl_uint d = 0; d < rig.device_count; d++) {
		struct capture c = capture_begin();
		rig_run(rig.queues[d], k, 1);
		capture_end(c);
		has_text("-42   -42 -42  | -0042 -42\n77 abc ABC 0xff 10\n"
			 "1.500000 3.14 1.234568e+04 0.5\nok text %\n1234567890123 9876543210\n"
			 "1,2,3,4 a,b\n");
	}
	OK(clReleaseKernel(k));
}

static void printing__in_the_order_of_kernels(void)
{
	cl_kernel k = rig_kernel("kernel void f(int n) { printf(\"number %d\\n\", n); }\n", "f");
	size_t one = 1, at = 0;
	char *wanted = rig_memory(8192);

	struct capture c = capture_begin();
	for (int i = 0; i < 300; i++) {
		SET(k, 0, i);
		OK(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &one, NULL, 0, NULL, NULL));
		at += (size_t)snprintf(wanted + at, 8192 - at, "number %d\n", i);
	}
	OK(clFinish(rig.queues[0]));
	capture_end(c);
	has_text(wanted);
	OK(clReleaseKernel(k));
}

/* Counts an item such as "7;" in the list `printed`. */
static int printed_count(const char *item)
{
	int count = 0;

	for (const char *at = printed; (at = strstr(at, item)); at++)
		count += at == printed || at[-1] == ';';
	return count;
}

/* Each output of kernels that alternate between devices arrives once. Only a wait would order
 * output of different devices, so its order is not compared. */
static void printing__between_devices(void)
{
	cl_kernel k = rig_kernel("kernel void f(int n) { printf(\"%d;\", n); }\n", "f");
	size_t one = 1, bytes = 0;
	cl_event last = NULL, next = NULL;

	struct capture c = capture_begin();
	for (int i = 0; i < 20; i++) {
		SET(k, 0, i);
		OK(clEnqueueNDRangeKernel(rig.queues[(cl_uint)i % rig.device_count], k, 1, NULL,
					  &one, NULL, last ? 1 : 0, last ? &last : NULL, &next));
		if (last)
			OK(clReleaseEvent(last));
		last = next;
	}
	OK(clWaitForEvents(1, &last));
	for (cl_uint d = 0; d < rig.device_count; d++)
		OK(clFinish(rig.queues[d]));
	OK(clReleaseEvent(last));
	capture_end(c);
	for (int i = 0; i < 20; i++) {
		char item[16];
		bytes += (size_t)snprintf(item, sizeof(item), "%d;", i);
		CHECK(printed_count(item) == 1);
	}
	CHECK(strlen(printed) == bytes);
	OK(clReleaseKernel(k));
}

static void printing__a_lot(void)
{
	static const char source[] =
		"kernel void f(int n) {\n"
		" for (int i = 0; i < n; i++) printf(\"line %d with some more words\\n\", i); }\n";
	cl_kernel k = rig_kernel(source, "f");
	int lines = 1500;
	size_t at = 0, space = 100000;
	char *wanted = rig_memory(space);

	for (int i = 0; i < lines; i++)
		at += (size_t)snprintf(wanted + at, space - at, "line %d with some more words\n",
				       i);
	SET(k, 0, lines);
	struct capture c = capture_begin();
	rig_run(rig.queues[rig.device_count - 1], k, 1);
	capture_end(c);
	if (strcmp(printed, wanted) != 0)
		rig_fail(__FILE__, __LINE__, "%zu bytes are there of %zu, or others",
			 strlen(printed), strlen(wanted));
	OK(clReleaseKernel(k));
}

/* The output of a kernel appears before its event completes. */
static void printing__before_the_event(void)
{
	cl_kernel k = rig_kernel("kernel void f(int n) { printf(\"now %d\", n); }\n", "f");
	size_t one = 1;
	cl_event event = NULL;
	int n = 3;

	SET(k, 0, n);
	struct capture c = capture_begin();
	OK(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &one, NULL, 0, NULL, &event));
	OK(clWaitForEvents(1, &event));
	capture_end(c);
	has_text("now 3");
	OK(clReleaseEvent(event));
	OK(clReleaseKernel(k));
}

RIG_MAIN(CASE(printing__formats), CASE(printing__in_the_order_of_kernels),
	 CASE(printing__between_devices), CASE(printing__a_lot), CASE(printing__before_the_event))
