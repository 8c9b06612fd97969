/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface to the ICD loader, and the end of the fabric at the program's exit. Table entries
 * of unsupported extensions (GL, D3D, EGL) are NULL, as loaders expect. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mac.h"
#include "host/abandon.h"
#include "plugins/opencl/command/complete.h"
#include "plugins/opencl/entry/extension.h"
#include "plugins/opencl/entry/groups.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/program.h"

/* ns that exit waits until no other thread holds the plugin's lock */
#define LOCK_NS  200000000ull
#define LEAVE_NS 500000000ull /* ns that exit waits until connections are closed */

/* The loader reads that many bytes. */
_Static_assert(sizeof(cl_icd_dispatch) == 149 * sizeof(void *), "cl_icd.h has another table");

#define ENTRY(name) .name = dxp_##name,
const cl_icd_dispatch opencl_dispatch = {OPENCL_ENTRY_POINTS(ENTRY)};
#undef ENTRY

struct extension_function {
	const char *name;
	void *address;
};

static cl_int CL_API_CALL icd_get_platforms(cl_uint entries, cl_platform_id *platforms,
					    cl_uint *count);
static void at_exit(void);

#define ENTRY(name) {#name, (void *)dxp_##name},
static const struct extension_function functions[] = {
	{"clIcdGetPlatformIDsKHR", (void *)icd_get_platforms},
	OPENCL_ENTRY_POINTS(ENTRY) EXTENSION_FUNCTIONS(ENTRY)};
#undef ENTRY

static void exit_prepare(void)
{
	mac_before_end(at_exit);
}

static cl_int CL_API_CALL icd_get_platforms(cl_uint entries, cl_platform_id *platforms,
					    cl_uint *count)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if ((platforms && !entries) || (!platforms && !count))
		return CL_INVALID_VALUE;
	pthread_once(&once, exit_prepare);
	if (platforms)
		platforms[0] = platform_get();
	if (count)
		*count = 1;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetPlatformIDs(cl_uint entries, cl_platform_id *platforms,
						     cl_uint *count)
{
	return icd_get_platforms(entries, platforms, count);
}

CL_API_ENTRY void *CL_API_CALL dxp_clGetExtensionFunctionAddress(const char *name)
{
	for (size_t i = 0; name && i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].address;
	return NULL;
}

CL_API_ENTRY void *CL_API_CALL dxp_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
									    const char *name)
{
	return platform == platform_get() ? dxp_clGetExtensionFunctionAddress(name) : NULL;
}

/* ---- exported symbols: the loader finds these three by name ---- */

DXP_API CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint entries,
							       cl_platform_id *platforms,
							       cl_uint *count)
{
	return icd_get_platforms(entries, platforms, count);
}

DXP_API CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
	return dxp_clGetExtensionFunctionAddress(name);
}

DXP_API CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
							  cl_platform_info name, size_t size,
							  void *value, size_t *size_ret)
{
	return dxp_clGetPlatformInfo(platform, name, size, value, size_ret);
}

static pthread_mutex_t leave_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left_cond = PTHREAD_COND_INITIALIZER;
static bool left;   /* the fabric is closed; guarded by leave_lock, as is the next one */
static bool ending; /* the fabric is being closed */

static struct timespec wall_after(uint64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000u);
	t.tv_nsec = (long)(ns % 1000000000u);
	return t;
}

static void *close_notify(void *context)
{
	groups_close();
	devices_close();
	pthread_mutex_lock(&leave_lock);
	ending = true;
	pthread_mutex_unlock(&leave_lock);
	dxp_fabric_close(context);
	pthread_mutex_lock(&leave_lock);
	left = true;
	pthread_cond_signal(&left_cond);
	pthread_mutex_unlock(&leave_lock);
	return NULL;
}

/* Closes the connections and leaves the fabric, which frees this host's resources on the nodes
 * before its lease expires. A silent node may need seconds, so the wait is bounded; then only
 * notices are sent. The thread that closes ends with the program. */
static void leave(struct dxp_fabric *f)
{
	struct timespec until = wall_after(LEAVE_NS);
	pthread_t thread;

	if (pthread_create(&thread, NULL, close_notify, f))
		return;
	pthread_detach(thread);
	pthread_mutex_lock(&leave_lock);
	while (!left && pthread_cond_timedwait(&left_cond, &leave_lock, &until) == 0)
		;
	if (!ending)
		fabric_abandon(f);
	pthread_mutex_unlock(&leave_lock);
}

static bool is_quiet(void)
{
	return opencl_is_quiet() && !complete_is_dequeuing();
}

/* Stops the progress thread, then waits until no thread is inside the fabric's library. Returns
 * false if either needs too long (CLOSE_NS, LOCK_NS). Caller holds the lock; it is released during
 * the wait. */
static bool become_quiet(void)
{
	uint64_t deadline = clock_now_ns() + LOCK_NS;
	const struct timespec pause = {.tv_nsec = 200000};

	if (!complete_stop())
		return false;
	while (!is_quiet() && clock_now_ns() < deadline) {
		pthread_mutex_unlock(&opencl_lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&opencl_lock);
	}
	return is_quiet();
}

/* If the program has queried the platforms, runs first before libcrypto frees its state. Always
 * runs with the program's destructors; then `done` makes a second run do nothing. */
__attribute__((destructor)) static void at_exit(void)
{
	struct timespec until = wall_after(LOCK_NS);
	static bool done;

	if (opencl_forked())
		return;
	if (pthread_mutex_timedlock(&opencl_lock, &until))
		return;
	if (done) {
		pthread_mutex_unlock(&opencl_lock);
		return;
	}
	done = true;
	builds_profile();
	fabric_close();
	bool quiet = !opencl_fabric() || become_quiet();
	struct dxp_fabric *f = fabric_detach(false);
	events_close();
	groups_detach();
	devices_detach();
	trace_close();
	pthread_mutex_unlock(&opencl_lock);
	if (f && quiet)
		leave(f);
}
