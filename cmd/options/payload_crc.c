/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/options/payload_crc.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

const char *option_payload_crc_set(const char *text, void *to)
{
	static const char *const modes[] = {"auto", "always", "never"};

	for (size_t i = 0; i < ARRAY_COUNT(modes); i++)
		if (strcmp(text, modes[i]) == 0)
			return setenv("DXP_PAYLOAD_CRC", text, 1) == 0 ? NULL
								       : "does not fit into memory";
	return "is auto, always or never";
}
