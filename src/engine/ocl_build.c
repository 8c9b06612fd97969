/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of one device, each built once, in a list with the most recently used first. Unused ones
 * are dropped from its end. From its second build on, a program is also on disk, for other
 * processes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "engine/limits.h"
#include "engine/ocl_about.h"
#include "engine/ocl_cache.h"
#include "engine/ocl_internal.h"
#include "engine/ocl_make.h"

static void build_free(struct ocl_device *d, struct ocl_build *b)
{
	if (b->made.program)
		d->cl->clReleaseProgram(b->made.program);
	free(b->made.log);
	free(b->about.data);
	free(b->object);
	free(b);
}

void ocl_builds_free(struct ocl_device *d)
{
	struct ocl_build *b;

	while ((b = d->builds)) {
		d->builds = b->next;
		build_free(d, b);
	}
}

/* Moves it to the front. NULL: none. */
static struct ocl_build *build_find(struct ocl_device *d, const uint8_t key[OCL_KEY_BYTES])
{
	for (struct ocl_build **at = &d->builds, *b; (b = *at); at = &b->next) {
		if (memcmp(b->key, key, OCL_KEY_BYTES) != 0)
			continue;
		*at = b->next;
		b->next = d->builds;
		d->builds = b;
		return b;
	}
	return NULL;
}

/* Frees the least recently used of too many unused builds. Only memory limits those in use. */
static void builds_trim(struct ocl_device *d)
{
	struct ocl_build **last = NULL;

	if (d->idle_builds <= ENGINE_CACHE_PROGRAMS)
		return;
	for (struct ocl_build **at = &d->builds; *at; at = &(*at)->next)
		if ((*at)->users == 0)
			last = at;
	struct ocl_build *b = *last;
	*last = b->next;
	d->idle_builds--;
	build_free(d, b);
}

static int binary_get(struct ocl_device *d, const struct ocl_build *b, uint8_t **out, size_t *bytes)
{
	struct ocl_pack pack = {
		.type = b->made.type,
		.log = b->made.log,
		.log_bytes = b->made.log ? strlen(b->made.log) : 0,
		.about = b->about.data,
		.about_bytes = b->about.bytes,
	};
	size_t binary_bytes = b->object_bytes;
	uint8_t *binary = b->object ? NULL : ocl_made_binary(d, &b->made, &binary_bytes);

	if (!binary && !b->object)
		return DXP_EUNSUPPORTED;
	memcpy(pack.device, d->sum, sizeof(pack.device));
	pack.binary = binary ? binary : b->object;
	pack.binary_bytes = binary_bytes;
	*out = ocl_pack_make(&pack, bytes);
	free(binary);
	return *out ? DXP_OK : DXP_ENOMEM;
}

/* Stores the binary of a program on disk, from the program's second build on. To make a binary,
 * PoCL compiles every kernel once more, 0.2 s each, but most programs are built only once. */
static void build_keep(struct ocl_device *d, struct ocl_build *b)
{
	uint8_t *pack;
	size_t bytes;

	b->grown = false;
	if (!d->folder || b->from_host || !b->seen || !b->made.program ||
	    binary_get(d, b, &pack, &bytes) != DXP_OK)
		return;
	ocl_cache_put(d->folder, b->key, pack, bytes);
	free(pack);
}

/* PoCL 3.1 cannot return the binary of a loaded object or library. */
static void object_keep(const struct ocl_pack *pack, struct ocl_build *b)
{
	if (pack->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE || pack->binary_bytes == 0)
		return;
	b->object = malloc(pack->binary_bytes);
	if (!b->object)
		return;
	memcpy(b->object, pack->binary, pack->binary_bytes);
	b->object_bytes = pack->binary_bytes;
}

/* NULL, or a sentence with the reason. */
static const char *pack_load(struct ocl_device *d, const void *data, size_t bytes,
			     struct ocl_build *b)
{
	struct ocl_pack pack;
	const char *wrong = ocl_pack_read(data, bytes, &pack);

	if (wrong)
		return wrong;
	if (memcmp(pack.device, d->sum, sizeof(d->sum)) != 0)
		return "the binary is for another device, or for another version of its driver; "
		       "build the program from source";
	if (!ocl_made_load(d, &pack, &b->made))
		return "the device rejects the binary; build the program from source";
	object_keep(&pack, b);
	if (pack.log_bytes)
		b->made.log = strndup(pack.log, pack.log_bytes);
	b->about.data = malloc(pack.about_bytes + 1);
	if (b->about.data) {
		memcpy(b->about.data, pack.about, pack.about_bytes);
		b->about.bytes = pack.about_bytes;
	}
	return NULL;
}

static bool disk_load(struct ocl_device *d, struct ocl_build *b)
{
	size_t bytes = 0;
	uint8_t *data = d->folder ? ocl_cache_get(d->folder, b->key, &bytes) : NULL;

	if (!data)
		return false;
	const char *wrong = pack_load(d, data, bytes, b);
	free(data);
	if (!wrong)
		return true;
	log_info("a compiled program in %s is unusable: %s; it is built again", d->folder, wrong);
	ocl_cache_drop(d->folder, b->key);
	return false;
}

static void host_load(struct ocl_device *d, const struct engine_source *s, struct ocl_build *b)
{
	const char *wrong = s->file_count == 1
				    ? pack_load(d, s->files[0].data, s->files[0].bytes, b)
				    : "a binary must be one file";

	b->from_host = true;
	if (wrong && asprintf(&b->made.log, "%s\n", wrong) < 0)
		b->made.log = NULL;
}

/* Takes the file lock of a build: with PoCL 3.1, two processes that build in one directory read
 * each other's partial files and get wrong kernels. -1: there is no lock, and the build continues
 * without it. */
static int build_lock(const struct ocl_device *d)
{
	char path[PATH_MAX];

	if (!d->scratch ||
	    (size_t)snprintf(path, sizeof(path), "%s/lock", d->scratch) >= sizeof(path))
		return -1;
	int file = descriptor_raise(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	while (file >= 0 && flock(file, LOCK_EX) != 0 && errno == EINTR)
		;
	return file;
}

static void build_unlock(int file)
{
	if (file >= 0)
		close(file);
}

static int program_make(struct ocl_device *d, const struct engine_source *s, struct ocl_build *b)
{
	if (s->kind == DXP_PROGRAM_BINARY) {
		host_load(d, s, b);
		return DXP_OK;
	}
	if (disk_load(d, b)) {
		b->seen = true;
		return DXP_OK;
	}
	int status = ocl_make(d, s, &b->made);
	if (status != DXP_OK || !b->made.program)
		return status;
	ocl_about_program(d->cl, d->id, b->made.program, &b->about);
	b->seen = d->folder && ocl_cache_seen(d->folder, b->key);
	build_keep(d, b);
	return DXP_OK;
}

static int build_make(struct ocl_device *d, const struct engine_source *s,
		      const uint8_t key[OCL_KEY_BYTES], struct ocl_build **out)
{
	struct ocl_build *b = calloc(1, sizeof(*b));

	if (!b)
		return DXP_ENOMEM;
	memcpy(b->key, key, OCL_KEY_BYTES);
	int build_file = build_lock(d);
	int status = program_make(d, s, b);
	build_unlock(build_file);
	if (status != DXP_OK) {
		build_free(d, b);
		return status;
	}
	b->next = d->builds;
	d->builds = b;
	d->idle_builds++;
	*out = b;
	return DXP_OK;
}

static int get_locked(struct ocl_device *d, const struct engine_source *s, struct ocl_build **out,
		      char **log, int32_t *native)
{
	uint8_t key[OCL_KEY_BYTES];

	if (!ocl_make_key(d, s, key))
		return DXP_ENOMEM;
	struct ocl_build *b = build_find(d, key);
	int status = b ? DXP_OK : build_make(d, s, key, &b);
	if (status != DXP_OK)
		return status;
	*log = b->made.log ? strdup(b->made.log) : NULL;
	if (b->made.program) {
		if (b->users++ == 0)
			d->idle_builds--;
		*out = b;
	} else {
		*native = b->made.error;
		status = DXP_EBUILD;
	}
	builds_trim(d);
	return status;
}

int ocl_build_get(struct ocl_device *d, const struct engine_source *source, struct ocl_build **out,
		  char **log, int32_t *native)
{
	pthread_mutex_lock(&d->lock);
	int status = get_locked(d, source, out, log, native);
	pthread_mutex_unlock(&d->lock);
	return status;
}

void ocl_build_put(struct ocl_device *d, struct ocl_build *b)
{
	pthread_mutex_lock(&d->lock);
	if (--b->users == 0) {
		d->idle_builds++;
		if (b->grown)
			build_keep(d, b);
		builds_trim(d);
	}
	pthread_mutex_unlock(&d->lock);
}

void ocl_build_grown(struct ocl_device *d, struct ocl_build *b)
{
	pthread_mutex_lock(&d->lock);
	b->grown = true;
	pthread_mutex_unlock(&d->lock);
}

int ocl_build_about(const struct ocl_build *b, uint8_t **out, size_t *bytes)
{
	uint8_t *copy = malloc(b->about.bytes + 1);

	if (!copy)
		return DXP_ENOMEM;
	if (b->about.bytes)
		memcpy(copy, b->about.data, b->about.bytes);
	*out = copy;
	*bytes = b->about.bytes;
	return DXP_OK;
}

int ocl_build_binary(struct ocl_device *d, const struct ocl_build *b, uint8_t **out, size_t *bytes)
{
	pthread_mutex_lock(&d->lock);
	int status = binary_get(d, b, out, bytes);
	pthread_mutex_unlock(&d->lock);
	return status;
}
