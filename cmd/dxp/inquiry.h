/* SPDX-License-Identifier: BSD-3-Clause */
/* A question to the manager from somebody who has the key but is no node. */
#ifndef CMD_DXP_INQUIRY_H
#define CMD_DXP_INQUIRY_H

#include <dxp/mmd.h>

#include "node/ask.h"

#define INQUIRY_TEXT_BYTES 512

struct inquiry {
	const struct dxp_fabric_options *fabric;
	enum ask_kind kind;
	const char *host, *xpu;        /* of grant and revoke */
	uint64_t timeout_ns;           /* 0: FABRIC_JOIN_NS */
	char text[INQUIRY_TEXT_BYTES]; /* after a failure: why */
};

/* Asks and waits for the answer; on DXP_OK *out must be destroyed with ask_destroy. Says nothing.
 */
int inquiry_run(struct inquiry *q, struct ask **out);

#endif
