/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares a query to the manager. The program has the key but is not a node. */
#ifndef CMD_DXP_INQUIRY_H
#define CMD_DXP_INQUIRY_H

#include <dxp/mmd.h>

#include "node/query.h"

#define INQUIRY_TEXT_BYTES 512

struct inquiry {
	const struct dxp_fabric_options *fabric;
	enum query_kind kind;
	const char *host, *xpu;        /* names for grant and revoke */
	struct events_request events;  /* for events: from, since_ms, kind */
	uint64_t timeout_ns;           /* ns; 0: FABRIC_JOIN_NS */
	char text[INQUIRY_TEXT_BYTES]; /* reason of a failure */
};

/* Sends the query and waits for the answer. On DXP_OK the caller destroys *out with query_destroy.
 * Prints nothing. */
int inquiry_run(struct inquiry *q, struct query **out);

#endif
