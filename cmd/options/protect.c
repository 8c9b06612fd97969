/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/options/protect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

const char *option_protect_set(const char *text, void *to)
{
	static const char *const modes[] = {"auto", "none", "integrity", "encrypt"};

	for (size_t i = 0; i < ARRAY_COUNT(modes); i++)
		if (strcmp(text, modes[i]) == 0)
			return setenv("DXP_PROTECT", text, 1) == 0 ? NULL
								   : "does not fit into memory";
	return "is auto, none, integrity or encrypt";
}
