/* SPDX-License-Identifier: BSD-3-Clause */
/* A channel at the manager, and the requests that it carries. */
#ifndef MANAGER_COMMAND_H
#define MANAGER_COMMAND_H

#include "keys/noise.h"
#include "manager/internal.h"
#include "wire/channel.h"

struct manager_channel {
	bool used;
	bool tokened; /* the sender stated the id of a valid token */
	uint64_t id;
	struct udp_address from;
	uint64_t until_ns; /* ends then, unless a request arrives */
	struct noise noise;
	uint8_t token[TOKEN_ID_BYTES];
	uint16_t number; /* of the next request */
	uint16_t answer_bytes;
	uint8_t answer[FABRIC_DATAGRAM_BYTES]; /* frame of the last answer */
};

/* Decides whether the sender, whose key c->noise.peer has proved, may make requests. If a token
 * permits it, only its pre-shared key opens the answer. */
void manager_command_open(struct registry *r, struct manager_channel *c,
			  const struct channel_open *open, struct channel_opened *opened);

void manager_command_run(struct registry *r, const struct manager_channel *c,
			 const struct channel_request *request, struct channel_answer *answer,
			 uint64_t now_ns);

#endif
