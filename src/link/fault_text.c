/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses DXP_FAULT; not by strtod, which expects the locale's decimal point. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "link/fault.h"

#define PPM_PER_PERCENT 10000u
/* longest "name=value", with the final zero */
#define ITEM_BYTES 64

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Accepts "1%" or "0.01%", at most four decimals. */
static bool rate_parse(const char *text, uint32_t *ppm)
{
	uint32_t value = 0, unit = PPM_PER_PERCENT;

	if (!is_digit(*text))
		return false;
	for (; is_digit(*text) && value <= 100; text++)
		value = value * 10 + (uint32_t)(*text - '0');
	if (value > 100)
		return false;
	value *= PPM_PER_PERCENT;
	if (*text == '.')
		for (text++; is_digit(*text) && unit >= 10; text++)
			value += (uint32_t)(*text - '0') * (unit /= 10);
	if (strcmp(text, "%") != 0 || value > 100 * PPM_PER_PERCENT)
		return false;
	*ppm = value;
	return true;
}

static bool seed_parse(const char *text, uint64_t *seed)
{
	char *end;

	if (!is_digit(*text))
		return false;
	errno = 0;
	*seed = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0;
}

static int item_parse(char *item, struct fault_options *o)
{
	const struct {
		const char *name;
		uint32_t *ppm;
	} rates[] = {{"loss", &o->loss_ppm},
		     {"dup", &o->dup_ppm},
		     {"corrupt", &o->corrupt_ppm},
		     {"reorder", &o->reorder_ppm}};
	char *value = strchr(item, '=');

	if (value)
		*value++ = '\0';
	else
		value = item + strlen(item);
	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		if (strcmp(item, rates[i].name) != 0)
			continue;
		if (rate_parse(value, rates[i].ppm))
			return DXP_OK;
		log_error("DXP_FAULT: %s=\"%s\" is not a rate; write a percentage from 0%% to "
			  "100%% with at "
			  "most four decimals, such as %s=0.5%%",
			  item, value, item);
		return DXP_EINVAL;
	}
	if (strcmp(item, "seed") != 0)
		log_error("DXP_FAULT: \"%s\" is not one of loss, dup, corrupt, reorder, seed; "
			  "write for example DXP_FAULT=loss=1%%,seed=7",
			  item);
	else if (seed_parse(value, &o->seed))
		return DXP_OK;
	else
		log_error("DXP_FAULT: seed=\"%s\" is not a number; write for example seed=7",
			  value);
	return DXP_EINVAL;
}

int fault_parse(const char *text, struct fault_options *out)
{
	struct fault_options parsed = {0};
	char item[ITEM_BYTES];

	while (true) {
		size_t bytes = strcspn(text, ",");
		if (bytes >= sizeof(item)) {
			log_error("DXP_FAULT: \"%.20s...\" is too long; write for example "
				  "loss=1%%,seed=7",
				  text);
			return DXP_EINVAL;
		}
		memcpy(item, text, bytes);
		item[bytes] = '\0';
		int status = item_parse(item, &parsed);
		if (status != DXP_OK)
			return status;
		if (text[bytes] == '\0')
			break;
		text += bytes + 1;
	}
	*out = parsed;
	return DXP_OK;
}
