/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the cases. The parent never calls OpenCL, because a platform with its own threads does not
 * survive fork(). */
#include "rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_MAX 4096

struct rig rig;
_Thread_local cl_int rig_error;

/* Report of the child to its parent. It is in shared memory, and the child writes it. */
struct progress {
	size_t current; /* index of the running case */
	uint32_t passed, failed, skipped;
};

enum verdict { VERDICT_PASSED, VERDICT_FAILED, VERDICT_SKIPPED };

static jmp_buf case_end;
static const struct rig_case *case_now;
static bool case_jumps; /* a case is running, so a failed check of its main thread may longjmp */
static _Thread_local bool case_thread;
static uint64_t random_state;
static void *blocks[MEMORY_MAX];
static size_t block_count;

static void end_case(enum verdict verdict)
{
	fflush(stdout);
	if (case_jumps && case_thread)
		longjmp(case_end, (int)verdict + 1);
	/* Another thread cannot continue: longjmp cannot cross stacks. */
	_exit(verdict == VERDICT_SKIPPED ? 77 : 99);
}

void rig_fail(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	va_list list;

	printf("FAILED %s: %s:%d: ", case_now->name, base ? base + 1 : file, line);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf(" (RIG_SEED=%" PRIu64 ")\n", rig.seed);
	end_case(VERDICT_FAILED);
	abort();
}

void rig_skip(const char *format, ...)
{
	va_list list;

	printf("skipped %s: ", case_now->name);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	end_case(VERDICT_SKIPPED);
	abort();
}

void rig_check_error(const char *file, int line, const char *what, cl_int got, cl_int wanted)
{
	if (got != wanted)
		rig_fail(file, line, "%s: %s, not %s", what, rig_error_name(got),
			 rig_error_name(wanted));
}

void rig_check_number(const char *file, int line, const char *what, int64_t got, int64_t wanted)
{
	if (got != wanted)
		rig_fail(file, line, "%s is %" PRId64 " (0x%" PRIx64 "), not %" PRId64, what, got,
			 (uint64_t)got, wanted);
}

void rig_check_made(const char *file, int line, const char *what, const void *handle)
{
	if (!handle || rig_error != CL_SUCCESS)
		rig_fail(file, line, "no %s: %s", what, rig_error_name(rig_error));
}

void rig_check_rejected(const char *file, int line, const char *what, const void *handle,
			cl_int wanted)
{
	if (handle || rig_error != wanted)
		rig_fail(file, line, "%s: %s%s, not %s", what, handle ? "a handle and " : "",
			 rig_error_name(rig_error), rig_error_name(wanted));
}

void rig_check_bytes(const char *file, int line, const void *got, const void *wanted, size_t bytes)
{
	const uint8_t *a = got, *b = wanted;
	size_t first = bytes, wrong = 0;

	if (memcmp(a, b, bytes) == 0)
		return;
	for (size_t i = 0; i < bytes; i++)
		if (a[i] != b[i]) {
			first = wrong++ == 0 ? i : first;
		}
	rig_fail(file, line, "%zu of %zu bytes differ, the first at %zu: 0x%02x, not 0x%02x", wrong,
		 bytes, first, a[first], b[first]);
}

void rig_same(const void *bytes, size_t count)
{
	const uint8_t *p = bytes;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	printf("same %s %016" PRIx64 "\n", case_now->name, hash);
}

uint64_t rig_random(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

size_t rig_below(size_t limit)
{
	return (size_t)(rig_random() % limit);
}

void rig_scramble(void *bytes, size_t count)
{
	uint8_t *p = bytes;

	for (size_t i = 0; i < count; i += 8) {
		uint64_t r = rig_random();
		memcpy(p + i, &r, count - i < 8 ? count - i : 8);
	}
}

static uint64_t seed_of(const char *name, uint64_t seed)
{
	while (*name)
		seed = (seed ^ (uint8_t)*name++) * 0x100000001b3u;
	return seed;
}

static bool platform_fits(cl_platform_id p, const char *wanted)
{
	char name[256] = "";
	cl_uint count = 0;

	clGetPlatformInfo(p, CL_PLATFORM_NAME, sizeof(name) - 1, name, NULL);
	if (wanted && !strstr(name, wanted))
		return false;
	if (clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 0, NULL, &count) != CL_SUCCESS || count == 0)
		return false;
	rig.pocl = strstr(name, "Portable Computing Language") != NULL;
	return true;
}

static void find_platform(void)
{
	cl_platform_id all[16];
	cl_uint count = 0;
	const char *wanted = getenv("RIG_PLATFORM");

	OK(clGetPlatformIDs(COUNT_OF(all), all, &count));
	count = count > COUNT_OF(all) ? COUNT_OF(all) : count;
	for (cl_uint i = 0; i < count && !rig.platform; i++)
		if (platform_fits(all[i], wanted))
			rig.platform = all[i];
	if (!rig.platform)
		rig_fail(__FILE__, __LINE__, "no platform '%s' with devices among %u",
			 wanted ? wanted : "", count);
}

static void open_rig(void)
{
	uint64_t seed = rig.seed;

	rig = (struct rig){.seed = seed, .images = true};
	find_platform();
	OK(clGetDeviceIDs(rig.platform, CL_DEVICE_TYPE_ALL, RIG_DEVICES_MAX, rig.devices,
			  &rig.device_count));
	if (rig.device_count > RIG_DEVICES_MAX)
		rig.device_count = RIG_DEVICES_MAX;
	rig.context = clCreateContext(NULL, rig.device_count, rig.devices, NULL, NULL, ERR);
	MADE(rig.context);
	for (cl_uint i = 0; i < rig.device_count; i++) {
		cl_bool images = CL_FALSE;
		OK(clGetDeviceInfo(rig.devices[i], CL_DEVICE_IMAGE_SUPPORT, sizeof(images), &images,
				   NULL));
		rig.images = rig.images && images;
		rig.queues[i] = rig_queue(i, CL_QUEUE_PROFILING_ENABLE);
	}
}

static void close_rig(void)
{
	for (cl_uint i = 0; i < rig.device_count; i++) {
		OK(clFinish(rig.queues[i]));
		OK(clReleaseCommandQueue(rig.queues[i]));
	}
	OK(clReleaseContext(rig.context));
	while (block_count)
		free(blocks[--block_count]);
}

void *rig_memory(size_t bytes)
{
	void *p = aligned_alloc(4096, (bytes + 4096) & ~(size_t)4095);

	if (!p || block_count == MEMORY_MAX)
		rig_fail(__FILE__, __LINE__, "no memory for %zu bytes", bytes);
	memset(p, 0, bytes);
	blocks[block_count++] = p;
	return p;
}

void *rig_noise(size_t bytes)
{
	void *p = rig_memory(bytes);

	rig_scramble(p, bytes);
	return p;
}

cl_mem rig_buffer(cl_mem_flags flags, size_t bytes, void *host)
{
	cl_mem m = clCreateBuffer(rig.context, flags, bytes, host, ERR);

	MADE(m);
	return m;
}

static void show_log(cl_program p, cl_device_id d)
{
	size_t bytes = 0;

	clGetProgramBuildInfo(p, d, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
	char *log = calloc(1, bytes + 1);
	if (log)
		clGetProgramBuildInfo(p, d, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
	printf("build log:\n%s\n", log ? log : "");
	free(log);
}

cl_program rig_program(const char *source, const char *options)
{
	cl_program p = clCreateProgramWithSource(rig.context, 1, &source, NULL, ERR);

	MADE(p);
	cl_int error = clBuildProgram(p, 0, NULL, options, NULL, NULL);
	if (error != CL_SUCCESS)
		for (cl_uint i = 0; i < rig.device_count; i++)
			show_log(p, rig.devices[i]);
	rig_check_error(__FILE__, __LINE__, "clBuildProgram", error, CL_SUCCESS);
	return p;
}

cl_kernel rig_kernel(const char *source, const char *name)
{
	cl_program p = rig_program(source, NULL);
	cl_kernel k = clCreateKernel(p, name, ERR);

	MADE(k);
	OK(clReleaseProgram(p));
	return k;
}

void rig_set(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
	cl_int error = clSetKernelArg(kernel, index, bytes, value);

	if (error != CL_SUCCESS)
		rig_fail(__FILE__, __LINE__, "clSetKernelArg %u, %zu bytes: %s", index, bytes,
			 rig_error_name(error));
}

void rig_run(cl_command_queue queue, cl_kernel kernel, size_t global)
{
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
	OK(clFinish(queue));
}

void rig_read(cl_command_queue queue, cl_mem m, void *to, size_t bytes)
{
	OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}

void rig_write(cl_command_queue queue, cl_mem m, const void *from, size_t bytes)
{
	OK(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, bytes, from, 0, NULL, NULL));
}

cl_command_queue rig_queue(cl_uint device, cl_command_queue_properties properties)
{
	cl_command_queue q =
		clCreateCommandQueue(rig.context, rig.devices[device], properties, ERR);

	MADE(q);
	return q;
}

cl_int rig_status(cl_event event)
{
	cl_int status = 1000;

	OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
	return status;
}

bool rig_until(cl_event event, cl_int status, unsigned seconds)
{
	uint64_t end = rig_now_ns() + seconds * 1000000000ull;

	while (rig_status(event) != status) {
		if (rig_now_ns() > end)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
	return true;
}

bool rig_has_extension(cl_device_id device, const char *name)
{
	static char text[16384];

	OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof(text), text, NULL));
	return strstr(text, name) != NULL;
}

uint64_t rig_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

size_t rig_resident(void)
{
	size_t total = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%zu %zu", &total, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

static unsigned seconds_of_case(void)
{
	const char *text = getenv("RIG_SECONDS");
	unsigned seconds = text ? (unsigned)strtoul(text, NULL, 0) : 0;

	return seconds ? seconds : 60;
}

static void run_case(const struct rig_case *c, struct progress *p)
{
	uint64_t begin = rig_now_ns();

	case_now = c;
	case_jumps = case_thread = true;
	random_state = seed_of(c->name, rig.seed);
	alarm(seconds_of_case());
	switch (setjmp(case_end)) {
	case 0:
		open_rig();
		c->run();
		close_rig();
		p->passed++;
		printf("ok %s", c->name);
		if (getenv("RIG_TIMES"))
			printf(" (%.3f s)", (double)(rig_now_ns() - begin) * 1e-9);
		printf("\n");
		break;
	case VERDICT_SKIPPED + 1: p->skipped++; break;
	default: p->failed++; break;
	}
	alarm(0);
	fflush(stdout);
}

static bool chosen(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(name, argv[i]))
			return true;
	return argc < 2;
}

struct suite {
	int argc;
	char **argv;
	const struct rig_case *cases;
	size_t count;
	struct progress *progress;
};

static void run_from(const struct suite *s, size_t first)
{
	for (size_t i = first; i < s->count; i++) {
		s->progress->current = i;
		if (chosen(s->cases[i].name, s->argc, s->argv))
			run_case(&s->cases[i], s->progress);
	}
	s->progress->current = s->count;
}

/* Returns the index of the case with which the next child starts. */
static size_t death_report(const struct suite *s, int status)
{
	struct progress *p = s->progress;
	bool after = p->current >= s->count;
	const char *name = after ? "the end of the program" : s->cases[p->current].name;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		p->skipped++;
		return p->current + 1;
	}
	p->failed++;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		printf("FAILED %s: it hangs (RIG_SEED=%" PRIu64 ")\n", name, rig.seed);
	else if (WIFSIGNALED(status))
		printf("FAILED %s: killed by signal %d (RIG_SEED=%" PRIu64 ")\n", name,
		       WTERMSIG(status), rig.seed);
	else if (WEXITSTATUS(status) != 99)
		printf("FAILED %s: the process ended with %d\n", name, WEXITSTATUS(status));
	return p->current + 1;
}

static void run_forked(const struct suite *s)
{
	size_t next = 0;

	while (next < s->count) {
		int status = 0;
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			run_from(s, next);
			/* so that the platform's exit handlers run */
			exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child) {
			perror("fork");
			exit(EXIT_FAILURE);
		}
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
		    s->progress->current == s->count)
			return;
		next = death_report(s, status);
	}
}

int rig_main(int argc, char **argv, const struct rig_case *cases, size_t count)
{
	const char *text = getenv("RIG_SEED");
	struct suite s = {argc, argv, cases, count, NULL};

	setvbuf(stdout, NULL, _IOLBF, 0);
	rig.seed = text ? strtoull(text, NULL, 0) : rig_now_ns();
	s.progress = mmap(NULL, sizeof(*s.progress), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.progress == MAP_FAILED)
		return EXIT_FAILURE;
	printf("seed %" PRIu64 "\n", rig.seed);
	if (getenv("RIG_NO_FORK"))
		run_from(&s, 0);
	else
		run_forked(&s);
	printf("%u passed, %u failed, %u skipped\n", s.progress->passed, s.progress->failed,
	       s.progress->skipped);
	return s.progress->failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
