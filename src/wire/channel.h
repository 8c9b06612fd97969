/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of the encrypted channel between a node or an operator and the manager
 * (docs/guide/manager.md "Admission"). The frame carries a message of the handshake Noise_IKpsk2
 * or, after it, a sealed request or answer; it has no MAC of its own. This file has the bytes in
 * clear; src/keys/noise.h seals them. */
#ifndef WIRE_CHANNEL_H
#define WIRE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/limits.h"
#include "wire/manage.h"

#define CHANNEL_ID_BYTES     8
#define CHANNEL_MESSAGE_MAX  1100 /* bytes of a message; the frame fits FABRIC_DATAGRAM_BYTES */
#define CHANNEL_TOKEN_ID     5    /* bytes; TOKEN_ID_BYTES */
#define CHANNEL_TOKENS_MAX   12   /* tokens in an answer */
#define CHANNEL_OPEN_BYTES   240  /* payload of OPEN; so that OPENED is not longer */
#define CHANNEL_OPENED_BYTES 196

enum channel_step { CHANNEL_OPEN = 1, CHANNEL_OPENED, CHANNEL_REQUEST, CHANNEL_ANSWER };

/* `id` is drawn by the sender of OPEN. `number` counts requests of a channel from 0. */
struct channel_frame {
	uint64_t id;
	uint16_t number;
	uint8_t step;
	const uint8_t *message;
	size_t bytes;
};

/* Payload of OPEN: the token that admits this key; zero: the key is admitted already. */
struct channel_open {
	uint8_t token[CHANNEL_TOKEN_ID];
};

/* Payload of OPENED. */
struct channel_opened {
	int32_t status; /* enum dxp_status */
	char text[MANAGE_TEXT_BYTES];
};

enum channel_command {
	CHANNEL_ADMIT = 1,    /* name; answer: role, fabric key */
	CHANNEL_TOKEN_CREATE, /* id, psk, role, uses, seconds */
	CHANNEL_TOKEN_LIST,   /* first; answer: tokens, next */
	CHANNEL_TOKEN_REVOKE, /* id */
	CHANNEL_NODE_REMOVE,  /* name */
	CHANNEL_GRANT,        /* name: host; xpu */
	CHANNEL_REVOKE,
	CHANNEL_COMMANDS = CHANNEL_REVOKE
};

struct channel_request {
	uint8_t command; /* enum channel_command */
	uint8_t role;    /* enum manage_role */
	uint16_t first;
	uint32_t uses;
	uint64_t seconds; /* until the token expires */
	uint8_t token[CHANNEL_TOKEN_ID];
	uint8_t psk[PUBLIC_KEY_BYTES];
	char name[FABRIC_NAME_BYTES], xpu[FABRIC_NAME_BYTES];
};

enum channel_token_state { TOKEN_VALID, TOKEN_USED, TOKEN_EXPIRED, TOKEN_REVOKED };

struct channel_token {
	uint8_t id[CHANNEL_TOKEN_ID];
	uint8_t role, state; /* enum channel_token_state */
	uint32_t uses;       /* left */
	uint64_t seconds;    /* until it expires; 0: expired */
	char used_by[FABRIC_NAME_BYTES];
};

struct channel_answer {
	int32_t status;
	char text[MANAGE_TEXT_BYTES];
	uint8_t role;
	uint8_t fabric_key[FABRIC_KEY_BYTES];
	uint16_t next; /* first of the next request for tokens; 0: no more */
	uint8_t count;
	struct channel_token tokens[CHANNEL_TOKENS_MAX];
};

/* Writes what both sides of the handshake must agree on: the version and the channel's id. Returns
 * its length. */
#define CHANNEL_PROLOGUE_BYTES 21
size_t channel_prologue(uint64_t id, uint8_t out[CHANNEL_PROLOGUE_BYTES]);

/* Frames: encode into FABRIC_DATAGRAM_BYTES and return the length. `source` and `target` are node
 * ids. */
size_t channel_frame_encode(const struct channel_frame *frame, uint16_t source, uint16_t target,
			    uint8_t *out);
/* DXP_EMALFORMED: no such frame; DXP_EIO: damaged in transit. out->message points into `data`. */
int channel_frame_decode(const uint8_t *data, size_t bytes, struct channel_frame *out);

/* Messages in clear. Encoding returns the length. Decoding returns DXP_EMALFORMED for a wrong
 * length or an invalid field, and leaves *out then. */
void channel_open_encode(const struct channel_open *open, uint8_t out[CHANNEL_OPEN_BYTES]);
int channel_open_decode(const uint8_t *data, size_t bytes, struct channel_open *out);
void channel_opened_encode(const struct channel_opened *opened, uint8_t out[CHANNEL_OPENED_BYTES]);
int channel_opened_decode(const uint8_t *data, size_t bytes, struct channel_opened *out);
size_t channel_request_encode(const struct channel_request *request, uint8_t *out);
int channel_request_decode(const uint8_t *data, size_t bytes, struct channel_request *out);
size_t channel_answer_encode(const struct channel_answer *answer, uint8_t *out);
int channel_answer_decode(const uint8_t *data, size_t bytes, struct channel_answer *out);

/* "host", "xpu" or "operator"; "?" for others. */
const char *channel_role_text(uint8_t role);
/* ROLE_NONE: no such role. */
enum manage_role channel_role_parse(const char *text);

#endif
