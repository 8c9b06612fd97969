/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager's end of a channel, and the requests that it carries. */
#ifndef MANAGER_COMMAND_H
#define MANAGER_COMMAND_H

#include "keys/noise.h"
#include "manager/internal.h"
#include "wire/channel.h"

struct manager_channel {
	bool used;
	bool former;  /* true: the handshake was for the manager's former key */
	bool tokened; /* true: the sender stated the id of a valid token */
	uint64_t id;
	struct udp_address from;
	uint64_t until_ns; /* time in ns at which the channel ends unless a request arrives */
	struct noise noise;
	uint8_t token[TOKEN_ID_BYTES];
	uint16_t number; /* number of the next request */
	uint16_t answer_bytes;
	uint8_t answer[FABRIC_DATAGRAM_BYTES]; /* frame of the last answer */
};

/* Decides whether the sender may make requests. The handshake has proved the sender's key,
 * c->noise.peer. If a token admits the sender, OPENED is sealed with the token's pre-shared key, so
 * only the owner of the token can read it. */
void manager_command_open(struct registry *r, struct manager_channel *c,
			  const struct channel_open *open, struct channel_opened *opened);

void manager_command_run(struct registry *r, const struct manager_channel *c,
			 const struct channel_request *request, struct channel_answer *answer,
			 uint64_t now_ns);

/* Sets status and text of a struct channel_answer or channel_opened. */
#define MANAGER_ANSWER(answer, value, ...) \
	manager_text_set(&(answer)->status, (answer)->text, (value), __VA_ARGS__)
void manager_text_set(int32_t *status, char text[MANAGE_TEXT_BYTES], int value, const char *format,
		      ...) PRINTF_LIKE(4, 5);

/* rotate.c: replaces the sender's key by a new one. */
void manager_rotate(struct registry *r, const struct manager_channel *c,
		    const struct channel_request *request, struct channel_answer *answer,
		    uint64_t now_ns);

/* fabric_rotation.c: replace the fabric key for an operator; state the present one. */
void manager_fabric_rotate(struct registry *r, const struct channel_request *request,
			   struct channel_answer *answer, uint64_t now_ns);
void manager_fabric_show(const struct registry *r, struct channel_answer *answer, uint64_t now_ns);

/* manager_rotation.c: replace the manager's key pair for an operator; state the present public
 * key. */
void manager_key_rotate(struct registry *r, const struct channel_request *request,
			struct channel_answer *answer, uint64_t now_ns);
void manager_key_show(const struct registry *r, struct channel_answer *answer, uint64_t now_ns);

#endif
