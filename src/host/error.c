/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes error texts for failures of an xPU. A text contains the xPU's name and the next step for
 * the user. */
#include <stdio.h>

#include "host/internal.h"

static void where(const struct dxp_xpu *x, char *out, size_t bytes)
{
	const struct node_entry *row = node_table_find(node_table(x->fabric->node), x->node);
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (row)
		snprintf(out, bytes, "xPU '%s' (node %u at %s)", x->caps.name, x->node,
			 address_format(&row->address, address));
	else
		snprintf(out, bytes, "xPU '%s' (node %u)", x->caps.name, x->node);
}

int error_xpu(const struct dxp_xpu *x, int status, const char *doing)
{
	char subject[FABRIC_NAME_BYTES + UDP_ADDRESS_TEXT_BYTES + 32];

	where(x, subject, sizeof(subject));
	switch (status) {
	case DXP_EPEERLOST:
	case DXP_ETIMEDOUT:
		return error_set(status, "%s: %s does not answer; see `dxp nodes`", doing, subject);
	case DXP_EPEERRESET:
		return error_set(status,
				 "%s: %s restarted, or closed this host because it was silent; "
				 "open the xPU again",
				 doing, subject);
	case DXP_EACCESS:
		return error_set(status, "%s: %s rejects this host; permit it with `dxp grant`",
				 doing, subject);
	case DXP_ECANCELED:
		return error_set(status,
				 "%s: not run on %s, because a command that it waits for failed; "
				 "see the error of that command",
				 doing, subject);
	case DXP_EDEVICE:
		return error_set(status,
				 "%s: the device of %s failed or was reset; see the log of its "
				 "dxpd. The memory being written is undefined; later commands run "
				 "if the device works again",
				 doing, subject);
	case DXP_ENOMEM:
		return error_set(status,
				 "%s: no space in the memory of %s (%llu of %llu bytes free for "
				 "this host); free some, or start the xPU with a larger --memory "
				 "(or --host-memory, if given)",
				 doing, subject, (unsigned long long)x->caps.free_bytes,
				 (unsigned long long)x->caps.memory_bytes);
	default:
		return error_set(status, "%s: %s failed: %s", doing, subject,
				 dxp_status_text(status));
	}
}
