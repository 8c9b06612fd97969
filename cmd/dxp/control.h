/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares requests over the encrypted channel to a manager. */
#ifndef CMD_DXP_CONTROL_H
#define CMD_DXP_CONTROL_H

#include <dxp/mmd.h>

#include "node/channel.h"

#define CONTROL_TEXT_BYTES 512

struct control {
	struct udp_address manager;
	struct manager_backups others;
	uint8_t manager_key[KEYS_BYTES], private_key[KEYS_BYTES];
	const struct token *token; /* NULL: the key is admitted already */
	struct channel_request request;
	char text[CONTROL_TEXT_BYTES]; /* reason of a failure */
};

/* Sets manager and keys from a fabric that `dxp join` has joined. Returns DXP_EUNSUPPORTED if the
 * fabric has only a shared key; other statuses are those of config_resolve(). Sets q->text on
 * failure. */
int control_find(const struct dxp_fabric_options *fabric, struct control *q);

/* Makes the request and waits for the answer. On DXP_OK the caller destroys *out with
 * channel_destroy. Prints nothing. */
int control_run(struct control *q, struct channel **out);

#endif
