/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings after `--engine rv32:`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "engine/rv32_engine.h"

static int build_read(const char *value, enum rv32_build *out)
{
	static const char *const names[] = {"best", "baseline", "avx2"};
	static const enum rv32_build builds[] = {RV32_BUILD_BEST, RV32_BUILD_BASELINE,
						 RV32_BUILD_AVX2};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		if (strcmp(value, names[i]) != 0)
			continue;
		*out = builds[i];
		if (rv32_build_runs(builds[i]))
			return DXP_OK;
		log_error("engine rv32: this CPU cannot run build=%s; omit the option", value);
		return DXP_EINVAL;
	}
	log_error("engine rv32: build=%s is not known; there are best, baseline and avx2", value);
	return DXP_EINVAL;
}

static int time_read(const char *value, struct rv32_settings *s)
{
	const struct rv32_time_parameters *preset;
	char names[256] = "";

	s->time = rv32_time_preset(value);
	if (s->time)
		return DXP_OK;
	for (size_t i = 0; (preset = rv32_time_preset_at(i)); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", preset->name);
	log_error("engine rv32: time=%s is not known; there are %s", value, names);
	return DXP_EINVAL;
}

static int setting_read(char *word, struct rv32_settings *s)
{
	const struct {
		const char *name;
		uint32_t *value, least, most, multiple;
	} numbers[] = {{"cores", &s->cores, 1, RV32_CORES_MAX, 1},
		       {"warps", &s->warps, 1, RV32_WARPS_MAX, 1},
		       {"trace", &s->listed, 0, RV32_LISTED_MAX, 1},
		       {"limit", &s->limit_s, 0, 1u << 20, 1},
		       {"private", &s->private_bytes, 1024, RV32_PRIVATE_MAX, 16},
		       {"clock", &s->clock_mhz, 1, 100000, 1}};
	char *value = strchr(word, '='), *end;

	if (value) {
		*value++ = '\0';
		if (strcmp(word, "build") == 0)
			return build_read(value, &s->build);
		if (strcmp(word, "time") == 0)
			return time_read(value, s);
		for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
			if (strcmp(word, numbers[i].name) != 0)
				continue;
			unsigned long number = strtoul(value, &end, 10);
			if (end > value && *end == '\0' && number >= numbers[i].least &&
			    number <= numbers[i].most && number % numbers[i].multiple == 0) {
				*numbers[i].value = (uint32_t)number;
				return DXP_OK;
			}
			log_error("engine rv32: %s=%s is out of range; it is %u to %u, a multiple "
				  "of %u",
				  word, value, numbers[i].least, numbers[i].most,
				  numbers[i].multiple);
			return DXP_EINVAL;
		}
	}
	log_error("engine rv32 has no option '%s'; there are cores=N, warps=N, "
		  "limit=SECONDS, private=BYTES, clock=MHZ, build=best|baseline|avx2, "
		  "time=PRESET, trace=N",
		  word);
	return DXP_EINVAL;
}

int rv32_settings_read(const char *text, struct rv32_settings *out)
{
	char *copy = strdup(text ? text : ""), *rest;
	int status = copy ? DXP_OK : DXP_ENOMEM;

	*out = (struct rv32_settings){.cores = 1,
				      .warps = RV32_WARPS_MAX,
				      .limit_s = RV32_LIMIT_S,
				      .private_bytes = RV32_PRIVATE_BYTES,
				      .clock_mhz = RV32_CLOCK_MHZ,
				      .build = RV32_BUILD_BEST};
	for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word && status == DXP_OK;
	     word = strtok_r(NULL, ",", &rest))
		status = setting_read(word, out);
	if (status == DXP_OK && out->time && out->cores > 1) {
		log_error("engine rv32: time= models one core only; omit cores=");
		status = DXP_EINVAL;
	}
	free(copy);
	return status;
}
