/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the names of variants. */
#include "bench/variant.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "wire/frame.h"

#define VARIANT_BYTES 64

static bool name_apply(const char *name, struct variant *v)
{
	uint8_t protect;

	if (rltp_recovery_parse(name, &v->tuning.recovery) || cc_parse(name, &v->tuning.cc))
		return true;
	if (strcmp(name, "no_pacing") == 0) {
		v->tuning.no_pacing = true;
		return true;
	}
	if (wire_protect_parse(name, &protect)) {
		v->protect = wire_protect_name(protect);
		return true;
	}
	log_error("unknown recovery, congestion control or protection '%s'", name);
	return false;
}

bool variant_parse(const char *text, struct variant *out)
{
	char names[VARIANT_BYTES], *rest = names;
	const char *name;

	*out = (struct variant){.protect = "none"};
	if (!text)
		return true;
	if (snprintf(names, sizeof(names), "%s", text) >= VARIANT_BYTES)
		return false;
	while ((name = strsep(&rest, ",")) != NULL)
		if (*name && !name_apply(name, out))
			return false;
	return true;
}
