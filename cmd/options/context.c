/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/options/context.h"

#include <stdio.h>

#include <dxp/mmd.h>

#include "host/config.h"
#include "host/context.h"

/* Returns the error text of the last call, as the rest of a sentence. */
static const char *reason(void)
{
	static char text[CONFIG_PATH_BYTES + 256];

	snprintf(text, sizeof(text), "is unusable: %s", dxp_fabric_error(NULL));
	return text;
}

const char *option_context_new_parse(const char *text, void *to)
{
	static char folder[CONFIG_PATH_BYTES];

	if (context_folder(text, folder, sizeof(folder)) != DXP_OK)
		return reason();
	*(const char **)to = folder;
	return NULL;
}

const char *option_context_parse(const char *text, void *to)
{
	return context_check(text) == DXP_OK ? option_context_new_parse(text, to) : reason();
}
