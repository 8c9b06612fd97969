/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/options/protect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static const char *choice_set(const char *variable, const char *const *names, size_t count,
			      const char *text, const char *expected)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(text, names[i]) == 0)
			return setenv(variable, text, 1) == 0 ? NULL : "does not fit into memory";
	return expected;
}

const char *option_protect_set(const char *text, void *to)
{
	static const char *const modes[] = {"auto", "none", "integrity", "encrypt"};

	return choice_set("DXP_PROTECT", modes, ARRAY_COUNT(modes), text,
			  "is auto, none, integrity or encrypt");
}

const char *option_peer_keys_set(const char *text, void *to)
{
	static const char *const modes[] = {"auto", "require", "allow"};

	return choice_set("DXP_PEER_KEYS", modes, ARRAY_COUNT(modes), text,
			  "is auto, require or allow");
}
