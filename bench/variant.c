/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses names of variants. */
#include "bench/variant.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define VARIANT_BYTES 64

static bool name_apply(const char *name, struct rltp_tuning *tuning)
{
	if (rltp_recovery_parse(name, &tuning->recovery) || cc_parse(name, &tuning->cc))
		return true;
	if (strcmp(name, "no_pacing") == 0) {
		tuning->no_pacing = true;
		return true;
	}
	log_error("unknown recovery or congestion control '%s'", name);
	return false;
}

bool variant_apply(const char *variant, struct rltp_tuning *tuning)
{
	char names[VARIANT_BYTES], *rest = names;
	const char *name;

	if (!variant)
		return true;
	if (snprintf(names, sizeof(names), "%s", variant) >= VARIANT_BYTES)
		return false;
	while ((name = strsep(&rest, ",")) != NULL)
		if (*name && !name_apply(name, tuning))
			return false;
	return true;
}
