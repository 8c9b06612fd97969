/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the settings in the environment, once. An invalid setting is reported on standard error and
 * ignored, because a program that does not know this plugin must not fail. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/object/object.h"

/* ms; short, because a program that only lists platforms must not hang */
#define JOIN_MS     2000
#define JOIN_MS_MAX 600000

static const char *text_of(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

bool settings_bytes(const char *text, uint64_t *out)
{
	static const char units[] = "KMGT";
	char *end;

	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return false;
	uint64_t bytes = v;
	const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);
		if (bytes > UINT64_MAX >> shift)
			return false;
		bytes <<= shift;
		end++;
		if (*end == 'i')
			end++;
	}
	if (*end == 'B' || *end == 'b')
		end++;
	if (*end)
		return false;
	*out = bytes;
	return true;
}

bool settings_type(const char *text, cl_device_type *out)
{
	static const struct {
		const char *name;
		cl_device_type type;
	} types[] = {{"cpu", CL_DEVICE_TYPE_CPU},
		     {"gpu", CL_DEVICE_TYPE_GPU},
		     {"accelerator", CL_DEVICE_TYPE_ACCELERATOR}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, text) == 0) {
			*out = types[i].type;
			return true;
		}
	return false;
}

uint32_t settings_names(const char *list, const char *name)
{
	size_t length = strlen(name);
	uint32_t index = 0;

	for (const char *at = list; at && *at;) {
		size_t part = strcspn(at, ",");
		index++;
		if (part == length && memcmp(at, name, length) == 0)
			return index;
		at += part + (at[part] == ',');
	}
	return 0;
}

static void reject(const char *name, const char *value, const char *what)
{
	fprintf(stderr, "dxp: %s=%s is ignored; it must be %s\n", name, value, what);
}

static struct settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_all(void)
{
	const char *count = text_of("DXP_CL_NODE_COUNT"), *memory = text_of("DXP_CL_MEM");
	const char *type = text_of("DXP_CL_TYPE"), *join = text_of("DXP_CL_JOIN_MS");
	uint64_t v = 0;

	settings.nodes = text_of("DXP_CL_NODES");
	settings.engine = text_of("DXP_CL_ENGINE");
	settings.trace = text_of("DXP_CL_TRACE");
	settings.summary = text_of("DXP_CL_SUMMARY");
	settings.profile = text_of("DXP_CL_PROFILE");
	settings.verbose = text_of("DXP_CL_VERBOSE") != NULL;
	settings.join_ms = JOIN_MS;
	if (join && settings_bytes(join, &v) && v > 0 && v <= JOIN_MS_MAX)
		settings.join_ms = (uint32_t)v;
	else if (join)
		reject("DXP_CL_JOIN_MS", join, "a number of milliseconds, 1 to 600000");
	if (count && settings_bytes(count, &v) && v <= OPENCL_DEVICES_MAX)
		settings.node_count = (uint32_t)v;
	else if (count)
		reject("DXP_CL_NODE_COUNT", count, "a number of nodes, at most 256");
	if (memory && !settings_bytes(memory, &settings.memory))
		reject("DXP_CL_MEM", memory, "a size such as 512M or 2G");
	if (type && !settings_type(type, &settings.type))
		reject("DXP_CL_TYPE", type, "cpu, gpu or accelerator");
}

const struct settings *settings_get(void)
{
	pthread_once(&once, read_all);
	return &settings;
}
