/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/label.h"

#include <stdio.h>
#include <string.h>

/* Length without "-DIGITS" at the end. */
static size_t base_bytes(const char *name)
{
	const char *dash = strrchr(name, '-');

	if (!dash || dash == name || dash[1] == '\0' ||
	    dash[1 + strspn(dash + 1, "0123456789")] != '\0')
		return strlen(name);
	return (size_t)(dash - name);
}

void label_make(const char *name, const struct udp_address *address, char out[WORKER_LABEL_BYTES])
{
	struct udp_address machine = *address;
	char text[UDP_ADDRESS_TEXT_BYTES];

	machine.port = 0;
	address_format(&machine, text);
	*strrchr(text, ':') = '\0';
	snprintf(out, WORKER_LABEL_BYTES, "%.*s@%s", (int)base_bytes(name), name, text);
}
