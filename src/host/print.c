/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes text that kernels print with printf to the program. */
#include <stdio.h>

#include "base/log.h"
#include "host/internal.h"

void dxp_fabric_print(struct dxp_fabric *fabric, dxp_print_fn print, void *context)
{
	host_fabric_enter(fabric);
	fabric->print = print;
	fabric->print_context = context;
	host_fabric_leave(fabric);
}

void print_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes)
{
	const uint8_t *text;
	size_t text_bytes;

	if (command_print_decode(data, bytes, &text, &text_bytes) != DXP_OK) {
		log_debug("the output of a kernel of node %u does not parse", node);
		return;
	}
	if (f->print) {
		f->print(f->print_context, node, (const char *)text, text_bytes);
		return;
	}
	fwrite(text, 1, text_bytes, stdout);
	fflush(stdout);
}
