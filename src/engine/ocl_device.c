/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects an OpenCL device and shares it between the slots of this process. */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <openssl/evp.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/scratch.h"
#include "base/util.h"
#include "engine/ocl_internal.h"

#define PLATFORMS_MAX 16
#define DEVICES_MAX   64 /* of all platforms */
#define LIST_BYTES    512
#define OUR_PLATFORM  "Direct xPU"
/* of a kernel's name on PoCL, which makes file names with suffixes and random letters */
#define POCL_NAME_BYTES (NAME_MAX - 35)

/* The highest rank is selected; of equal ones, the first. */
struct candidate {
	cl_device_id id;
	char name[FABRIC_DEVICE_BYTES];
	int wanted; /* 0: does not match */
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ocl_device *list;

/* PoCL's device `basic` runs a kernel in 0.3 us in the calling thread, the default one in 20 to 50
 * us. A selection by name enables both. POCL_DEVICES of the user stays. */
static void environment_prepare(const char *part)
{
	setenv("POCL_DEVICES", part ? "basic pthread" : "basic", 0);
}

/* Folder for PoCL's files. It stays until the process exits, because the driver reads its path only
 * once. */
static struct scratch *own_work;

static void work_close(void)
{
	scratch_close(own_work);
}

static int work_make(void)
{
	if (getenv("POCL_CACHE_DIR"))
		return DXP_OK; /* set by the user or an earlier call */
	int status = scratch_open(NULL, &own_work);
	if (status != DXP_OK)
		return status;
	atexit(work_close);
	setenv("POCL_CACHE_DIR", scratch_path(own_work), 0);
	return DXP_OK;
}

/* Each slot has its own; ocl_build.c serializes processes that share one. */
static int work_prepare(const struct engine_options *options)
{
	if (!options->work_folder)
		return work_make();
	setenv("POCL_CACHE_DIR", options->work_folder, 1);
	return DXP_OK;
}

/* The node table does not allow unprintable characters. */
static void name_read(const struct ocl_library *cl, cl_device_id id, char out[FABRIC_DEVICE_BYTES])
{
	char name[256] = "";

	cl->clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
	size_t bytes = 0;
	for (const char *p = name; *p && bytes + 1 < FABRIC_DEVICE_BYTES; p++)
		out[bytes++] = *p >= ' ' && *p < 0x7f ? *p : '?';
	while (bytes > 0 && out[bytes - 1] == ' ')
		bytes--;
	out[bytes] = '\0';
}

static bool contains(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

static int wanted(const struct ocl_library *cl, const struct candidate *c, const char *part)
{
	cl_device_type type = 0;

	if (part)
		return contains(c->name, part);
	cl->clGetDeviceInfo(c->id, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
	return strncmp(c->name, "basic", 5) == 0 ? 3 : (type & CL_DEVICE_TYPE_CPU) != 0 ? 2 : 1;
}

/* This project's own driver, whose devices are other nodes. */
static bool platform_is_dxp(const struct ocl_library *cl, cl_platform_id platform)
{
	char name[64] = "";

	cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name) - 1, name, NULL);
	return strcmp(name, OUR_PLATFORM) == 0;
}

static uint32_t candidates_find(const struct ocl_library *cl, const char *part,
				struct candidate *out)
{
	cl_platform_id platforms[PLATFORMS_MAX];
	cl_device_id ids[DEVICES_MAX];
	cl_uint platform_count = 0, device_count;
	uint32_t count = 0;

	if (cl->clGetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count) != CL_SUCCESS)
		return 0;
	for (cl_uint p = 0; p < min_u64(platform_count, PLATFORMS_MAX); p++) {
		if (platform_is_dxp(cl, platforms[p]) ||
		    cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids,
				       &device_count) != CL_SUCCESS)
			continue;
		for (cl_uint i = 0; i < min_u64(device_count, DEVICES_MAX) && count < DEVICES_MAX;
		     i++) {
			out[count].id = ids[i];
			name_read(cl, ids[i], out[count].name);
			out[count].wanted = wanted(cl, &out[count], part);
			count++;
		}
	}
	return count;
}

static void nothing_found(const char *part, const struct candidate *c, uint32_t count)
{
	char names[LIST_BYTES] = "";
	size_t used = 0;

	if (count == 0) {
		log_error("OpenCL finds no device; install PoCL, for example: apt install "
			  "pocl-opencl-icd; or use --engine none");
		return;
	}
	for (uint32_t i = 0; i < count && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%s'",
					 i ? ", " : "", c[i].name);
	log_error("no OpenCL device has '%s' in its name; choose one of: %s", part, names);
}

static int choose(const struct ocl_library *cl, const char *part, struct candidate *out)
{
	struct candidate found[DEVICES_MAX];
	uint32_t count = candidates_find(cl, part, found);
	const struct candidate *best = NULL;

	for (uint32_t i = 0; i < count; i++)
		if (found[i].wanted > (best ? best->wanted : 0))
			best = &found[i];
	if (!best) {
		nothing_found(part, found, count);
		return DXP_EUNSUPPORTED;
	}
	*out = *best;
	return DXP_OK;
}

/* Computes a hash of the texts that identify driver and device. */
static void device_sum(struct ocl_device *d)
{
	static const cl_device_info what[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION,
					      CL_DRIVER_VERSION, CL_DEVICE_OPENCL_C_VERSION};
	EVP_MD_CTX *sum = EVP_MD_CTX_new();
	char text[1024];

	if (!sum)
		return;
	EVP_DigestInit_ex(sum, EVP_sha256(), NULL);
	for (size_t i = 0; i < ARRAY_COUNT(what); i++) {
		memset(text, 0, sizeof(text));
		d->cl->clGetDeviceInfo(d->id, what[i], sizeof(text) - 1, text, NULL);
		EVP_DigestUpdate(sum, text, strlen(text) + 1);
	}
	EVP_DigestFinal_ex(sum, d->sum, NULL);
	EVP_MD_CTX_free(sum);
}

static int device_create(const struct ocl_library *cl, const struct candidate *c,
			 struct ocl_device **out)
{
	struct ocl_device *d = calloc(1, sizeof(*d));
	cl_uint units = 1;
	cl_int error;

	if (!d)
		return DXP_ENOMEM;
	d->cl = cl;
	d->id = c->id;
	snprintf(d->name, sizeof(d->name), "%s", c->name);
	cl->clGetDeviceInfo(c->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
	d->units = units;
	device_sum(d);
	d->context = cl->clCreateContext(NULL, 1, &c->id, NULL, NULL, &error);
	if (!d->context) {
		log_error("cannot create a context on OpenCL device '%s': %s (%d); check whether "
			  "another program uses it",
			  c->name, ocl_error_name(error), error);
		free(d);
		return DXP_EIO;
	}
	pthread_mutex_init(&d->lock, NULL);
	*out = d;
	return DXP_OK;
}

static void cache_set(struct ocl_device *d, const char *cache)
{
	mkdir(cache, 0700);
	if (asprintf(&d->folder, "%s/programs", cache) < 0)
		d->folder = NULL;
}

static void folders_set(struct ocl_device *d, const struct engine_options *options)
{
	const char *folder = getenv("POCL_CACHE_DIR");

	if (!d->scratch && folder)
		d->scratch = strdup(folder);
	if (!d->folder && options->cache_folder)
		cache_set(d, options->cache_folder);
}

void ocl_device_folders(struct ocl_device *d, const char *work, const char *cache)
{
	pthread_mutex_lock(&d->lock);
	ocl_builds_free(d);
	d->idle_builds = 0;
	free(d->scratch);
	free(d->folder);
	d->scratch = strdup(work);
	d->folder = NULL;
	if (cache)
		cache_set(d, cache);
	pthread_mutex_unlock(&d->lock);
}

static int get_locked(const char *part, const struct engine_options *options,
		      struct ocl_device **out)
{
	const struct ocl_library *cl;
	struct candidate chosen;

	environment_prepare(part);
	int status = work_prepare(options);
	if (status == DXP_OK)
		status = ocl_library_get(&cl);
	if (status == DXP_OK)
		status = choose(cl, part, &chosen);
	if (status != DXP_OK)
		return status;
	struct ocl_device *d = list;
	while (d && d->id != chosen.id)
		d = d->next;
	if (!d) {
		status = device_create(cl, &chosen, &d);
		if (status != DXP_OK)
			return status;
		d->next = list;
		list = d;
	}
	d->users++;
	pthread_mutex_lock(&d->lock);
	folders_set(d, options);
	pthread_mutex_unlock(&d->lock);
	*out = d;
	return DXP_OK;
}

int ocl_device_get(const char *part, const struct engine_options *options, struct ocl_device **out)
{
	pthread_mutex_lock(&list_lock);
	int status = get_locked(part, options, out);
	pthread_mutex_unlock(&list_lock);
	return status;
}

static void device_unlink(struct ocl_device *d)
{
	struct ocl_device **at = &list;

	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
}

void ocl_device_put(struct ocl_device *d)
{
	pthread_mutex_lock(&list_lock);
	bool last = --d->users == 0;
	if (last)
		device_unlink(d);
	pthread_mutex_unlock(&list_lock);
	if (!last)
		return;
	ocl_builds_free(d);
	d->cl->clReleaseContext(d->context);
	pthread_mutex_destroy(&d->lock);
	free(d->folder);
	free(d->scratch);
	free(d);
}

cl_device_id ocl_device_id(const struct ocl_device *d)
{
	return d->id;
}

cl_context ocl_device_context(const struct ocl_device *d)
{
	return d->context;
}

const char *ocl_device_name(const struct ocl_device *d)
{
	return d->name;
}

bool ocl_device_is_pocl(const struct ocl_device *d)
{
	char version[256] = "";

	d->cl->clGetDeviceInfo(d->id, CL_DEVICE_VERSION, sizeof(version) - 1, version, NULL);
	return strcasestr(version, "pocl") != NULL;
}

bool ocl_device_is_plain(const struct ocl_device *d)
{
	cl_device_type type = 0;

	d->cl->clGetDeviceInfo(d->id, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
	return ocl_device_is_pocl(d) && (type & CL_DEVICE_TYPE_CPU) != 0;
}

uint32_t ocl_device_name_bytes(const struct ocl_device *d)
{
	return ocl_device_is_pocl(d) ? POCL_NAME_BYTES : COMMAND_NAME_BYTES - 1;
}

uint32_t ocl_device_units(const struct ocl_device *d)
{
	return d->units;
}
