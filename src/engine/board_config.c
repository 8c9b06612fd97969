/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads settings of a board: numbers by a table, others by functions. */
#include "engine/board_config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "engine/engine.h"
#include "engine/limits.h"

#define STRING_OF(x) #x
#define NUMBER(x)    STRING_OF(x)

#define RATES   "0 (unlimited) .. " NUMBER(BOARD_RATE_MAX) " MB/s"
#define DELAYS  "0 .. 1000000000 ns"
#define COUNTS  "0 (none) .. 1000000000000"
#define QUEUES  "1 .. " NUMBER(BOARD_QUEUE_MAX)
#define CORES   "pass, add N (N 0 .. 4294967295), checksum, kernel FILE NAME"
#define ENGINES "ocl, ocl:PART, none"
#define PRESETS BOARD_PRESET ", fast"

#define COUNT_MAX 1000000000000ull

static const struct board_setting settings[] = {
	{"preset", PRESETS}, {"to_device", RATES}, {"from_device", RATES}, {"through", RATES},
	{"memory", RATES},   {"control", DELAYS},  {"latency", DELAYS},    {"interrupt", DELAYS},
	{"queue", QUEUES},   {"core", CORES},      {"compute", ENGINES},   {"fail", COUNTS},
	{"stall", COUNTS},
};
#define SETTINGS ARRAY_COUNT(settings)

static const struct number {
	const char *name;
	size_t offset;
	uint64_t low, high;
} numbers[] = {
	{"to_device", offsetof(struct board_config, to_device), 0, BOARD_RATE_MAX},
	{"from_device", offsetof(struct board_config, from_device), 0, BOARD_RATE_MAX},
	{"through", offsetof(struct board_config, through), 0, BOARD_RATE_MAX},
	{"memory", offsetof(struct board_config, memory), 0, BOARD_RATE_MAX},
	{"control", offsetof(struct board_config, control_ns), 0, BOARD_DELAY_MAX_NS},
	{"latency", offsetof(struct board_config, latency_ns), 0, BOARD_DELAY_MAX_NS},
	{"interrupt", offsetof(struct board_config, interrupt_ns), 0, BOARD_DELAY_MAX_NS},
	{"queue", offsetof(struct board_config, queue), 1, BOARD_QUEUE_MAX},
	{"fail", offsetof(struct board_config, fail), 0, COUNT_MAX},
	{"stall", offsetof(struct board_config, stall), 0, COUNT_MAX},
};

/* The board of S-07 (PCIe Gen3 x8, memory of 200 MHz x 512 bit), and one without limits. S-07
 * states no delays; here they are a PCIe round trip and an interrupt up to user space. */
static const struct board_config presets[] = {
	{.preset = BOARD_PRESET,
	 .to_device = 7877,
	 .from_device = 7877,
	 .memory = 12800,
	 .latency_ns = 2000,
	 .interrupt_ns = 10000,
	 .queue = 16},
	{.preset = "fast", .queue = BOARD_QUEUE_MAX},
};

/* Position of the parser, for messages. */
struct position {
	const char *file;
	unsigned line;
	/* line that sets each setting; 0: not set */
	unsigned given[SETTINGS];
};

const struct board_setting *board_config_settings(size_t *count)
{
	*count = SETTINGS;
	return settings;
}

static const struct board_config *preset_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(presets); i++)
		if (strcmp(presets[i].preset, name) == 0)
			return &presets[i];
	return NULL;
}

static int setting_find(const char *name)
{
	for (size_t i = 0; i < SETTINGS; i++)
		if (strcmp(settings[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int wrong(const struct position *at, const char *name, const char *value)
{
	log_error("%s:%u: the value of %s cannot be '%.80s'; write %s", at->file, at->line, name,
		  value, settings[setting_find(name)].values);
	return DXP_EINVAL;
}

/* Reads a number of decimal digits only, without sign or blanks. */
static bool number_read(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	unsigned long long value = strtoull(text, &end, 10);
	/* on overflow the maximum, which is above `high` */
	if (*end || value < low || value > high)
		return false;
	*out = value;
	return true;
}

static int number_set(const struct position *at, const struct number *n, const char *value,
		      struct board_config *c)
{
	uint64_t number;

	if (!number_read(value, n->low, n->high, &number))
		return wrong(at, n->name, value);
	memcpy((char *)c + n->offset, &number, sizeof(number));
	return DXP_OK;
}

static int preset_set(const struct position *at, const char *value, struct board_config *c)
{
	const struct board_config *preset = preset_find(value);

	if (!preset)
		return wrong(at, "preset", value);
	for (size_t i = 0; i < SETTINGS; i++)
		if (at->given[i] && at->given[i] < at->line) {
			log_error("%s:%u: `preset` would override %s of line %u; move it to the "
				  "first line",
				  at->file, at->line, settings[i].name, at->given[i]);
			return DXP_EINVAL;
		}
	*c = *preset;
	return DXP_OK;
}

/* "kernel FILE NAME"; only FILE may contain spaces. A relative FILE starts at the directory of the
 * board's file. */
static int kernel_set(const struct position *at, const char *value, struct board_config *c)
{
	const char *file = value + strlen("kernel "), *space = strrchr(file, ' ');
	const char *slash = strrchr(at->file, '/');
	int folder = *file == '/' || !slash ? 0 : (int)(slash - at->file) + 1;

	while (*file == ' ')
		file++;
	if (!space || space <= file || strlen(space + 1) >= sizeof(c->core_kernel))
		return wrong(at, "core", value);
	const char *name = space + 1;
	while (space > file && space[-1] == ' ')
		space--;
	int length = snprintf(c->core_file, sizeof(c->core_file), "%.*s%.*s", folder, at->file,
			      (int)(space - file), file);
	if (length >= (int)sizeof(c->core_file)) {
		log_error("%s:%u: core: the file's name is too long; at most %d bytes", at->file,
			  at->line, BOARD_PATH_BYTES - 1);
		return DXP_EINVAL;
	}
	snprintf(c->core_kernel, sizeof(c->core_kernel), "%s", name);
	c->core = ENGINE_CORE_KERNEL;
	return DXP_OK;
}

static int core_set(const struct position *at, const char *value, struct board_config *c)
{
	uint64_t operand = 0;

	if (strncmp(value, "kernel ", 7) == 0)
		return kernel_set(at, value, c);
	if (strcmp(value, "pass") == 0)
		c->core = ENGINE_CORE_PASS;
	else if (strcmp(value, "checksum") == 0)
		c->core = ENGINE_CORE_CHECKSUM;
	else if (strncmp(value, "add ", 4) == 0 &&
		 number_read(value + 4 + strspn(value + 4, " "), 0, UINT32_MAX, &operand))
		c->core = ENGINE_CORE_ADD;
	else
		return wrong(at, "core", value);
	c->operand = (uint32_t)operand;
	return DXP_OK;
}

static int compute_set(const struct position *at, const char *value, struct board_config *c)
{
	bool known = strcmp(value, BOARD_COMPUTE_NONE) == 0 || strcmp(value, "ocl") == 0 ||
		     (strncmp(value, "ocl:", 4) == 0 && value[4]);

	if (!known || strlen(value) >= sizeof(c->compute))
		return wrong(at, "compute", value);
	snprintf(c->compute, sizeof(c->compute), "%s", value);
	return DXP_OK;
}

static int setting_set(struct position *at, const char *name, const char *value,
		       struct board_config *c)
{
	int index = setting_find(name);

	if (index < 0) {
		log_error("%s:%u: unknown setting '%.40s'; docs/guide/bridge.md lists all, such as "
			  "to_device, from_device, latency",
			  at->file, at->line, name);
		return DXP_EINVAL;
	}
	if (at->given[index]) {
		log_error("%s:%u: %s is given twice, first in line %u; remove one of them",
			  at->file, at->line, name, at->given[index]);
		return DXP_EINVAL;
	}
	at->given[index] = at->line;
	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++)
		if (strcmp(numbers[i].name, name) == 0)
			return number_set(at, &numbers[i], value, c);
	if (strcmp(name, "preset") == 0)
		return preset_set(at, value, c);
	if (strcmp(name, "core") == 0)
		return core_set(at, value, c);
	return compute_set(at, value, c);
}

static char *trim(char *text)
{
	text += strspn(text, " \t\r");
	size_t bytes = strlen(text);
	while (bytes > 0 && strchr(" \t\r", text[bytes - 1]))
		bytes--;
	text[bytes] = '\0';
	return text;
}

static int line_parse(struct position *at, char *line, struct board_config *c)
{
	line[strcspn(line, "#")] = '\0';
	char *name = trim(line), *equals = strchr(name, '=');

	if (!*name)
		return DXP_OK;
	if (!equals) {
		log_error("%s:%u: cannot parse '%.40s'; write NAME = VALUE, or # before a comment",
			  at->file, at->line, name);
		return DXP_EINVAL;
	}
	*equals = '\0';
	return setting_set(at, trim(name), trim(equals + 1), c);
}

static int lines_parse(struct position *at, char *text, struct board_config *c)
{
	int status = DXP_OK;

	for (char *line = text; status == DXP_OK && line; at->line++) {
		char *end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		status = line_parse(at, line, c);
		line = end;
	}
	return status;
}

int board_config_parse(const char *name, const char *text, size_t bytes, struct board_config *out)
{
	struct position at = {.file = name, .line = 1};
	struct board_config c = *preset_find(BOARD_PRESET);

	if (bytes > BOARD_FILE_BYTES_MAX || memchr(text, '\0', bytes)) {
		log_error("%s does not describe a board; write a text of at most %u KiB with lines "
			  "NAME = VALUE; see docs/guide/bridge.md",
			  name, BOARD_FILE_BYTES_MAX >> 10);
		return DXP_EINVAL;
	}
	char *copy = malloc(bytes + 1);
	if (!copy)
		return DXP_ENOMEM;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	int status = lines_parse(&at, copy, &c);
	free(copy);
	if (status == DXP_OK)
		*out = c;
	return status;
}

static int file_read(const char *name, FILE *file, struct board_config *out)
{
	char *text = malloc(BOARD_FILE_BYTES_MAX + 1);

	if (!text)
		return DXP_ENOMEM;
	size_t bytes = fread(text, 1, BOARD_FILE_BYTES_MAX + 1, file);
	int status = DXP_EIO;
	if (ferror(file))
		log_error("cannot read %s: %s; name a file that describes a board", name,
			  strerror(errno));
	else
		status = board_config_parse(name, text, bytes, out);
	free(text);
	return status;
}

static int file_load(const char *name, struct board_config *out)
{
	FILE *file = descriptor_fopen(name, "re");

	if (!file) {
		log_error("unknown board '%s' (%s); use one of the presets " PRESETS
			  ", or name a file; see docs/guide/bridge.md",
			  name, strerror(errno));
		return DXP_EINVAL;
	}
	int status = file_read(name, file, out);
	fclose(file);
	return status;
}

int board_config_load(const char *name, struct board_config *out)
{
	const struct board_config *preset = preset_find(name ? name : BOARD_PRESET);

	if (!preset)
		return file_load(name, out);
	*out = *preset;
	return DXP_OK;
}
