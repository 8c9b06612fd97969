/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of the encrypted channel between a node or an operator and the manager
 * (docs/guide/manager.md "Admission"). A frame carries a message of the handshake Noise_IKpsk2 or,
 * later, a sealed request or answer. A frame has no MAC of its own. This file has the messages
 * before encryption; src/keys/noise.h encrypts them. */
#ifndef WIRE_CHANNEL_H
#define WIRE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/limits.h"
#include "wire/manage.h"

#define CHANNEL_ID_BYTES    8
#define CHANNEL_MESSAGE_MAX 1100 /* bytes of a message; the frame fits FABRIC_DATAGRAM_BYTES */
#define CHANNEL_TOKEN_ID    5    /* bytes of a token's id, as TOKEN_ID_BYTES */
#define CHANNEL_TOKENS_MAX  12   /* tokens in one answer */
/* bytes of the payload of OPEN: padded, so that OPENED is not longer than OPEN */
#define CHANNEL_OPEN_BYTES   240
#define CHANNEL_OPENED_BYTES 196

enum channel_step { CHANNEL_OPEN = 1, CHANNEL_OPENED, CHANNEL_REQUEST, CHANNEL_ANSWER };

/* A frame of the channel. The sender of OPEN draws `id` at random. `number` counts the requests of
 * a channel from 0. */
struct channel_frame {
	uint64_t id;
	uint16_t number;
	uint8_t step;
	const uint8_t *message;
	size_t bytes;
};

/* Payload of OPEN: id of the token that admits the sender's key. Zero: the key is already
 * admitted. */
struct channel_open {
	uint8_t token[CHANNEL_TOKEN_ID];
};

/* Payload of OPENED, the answer to OPEN. */
struct channel_opened {
	int32_t status; /* enum dxp_status */
	char text[MANAGE_TEXT_BYTES];
};

/* Commands of a request. A comment lists the members of the request that are used, then those of
 * the answer. */
enum channel_command {
	CHANNEL_ADMIT = 1,    /* name; answer: role, fabric key */
	CHANNEL_TOKEN_CREATE, /* token, psk, role, uses, seconds */
	CHANNEL_TOKEN_LIST,   /* first; answer: tokens, next */
	CHANNEL_TOKEN_REVOKE, /* token */
	CHANNEL_NODE_REMOVE,  /* name */
	CHANNEL_GRANT,        /* name: the host; xpu: the xPU */
	CHANNEL_REVOKE,
	CHANNEL_ROTATE, /* psk: the new public key; proof: keys_rotation_proof */
	CHANNEL_COMMANDS = CHANNEL_ROTATE
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
	/* for CHANNEL_ROTATE only; has the place of `xpu` in the message */
	uint8_t proof[PUBLIC_KEY_BYTES];
};

enum channel_token_state { TOKEN_VALID, TOKEN_USED, TOKEN_EXPIRED, TOKEN_REVOKED };

struct channel_token {
	uint8_t id[CHANNEL_TOKEN_ID];
	uint8_t role, state; /* state: enum channel_token_state */
	uint32_t uses;       /* keys that the token can still admit */
	uint64_t seconds;    /* seconds until the token expires; 0: expired */
	char used_by[FABRIC_NAME_BYTES];
};

struct channel_answer {
	int32_t status;
	char text[MANAGE_TEXT_BYTES];
	uint8_t role;
	uint8_t fabric_key[FABRIC_KEY_BYTES];
	uint16_t next; /* `first` of the next request for tokens; 0: no tokens are left */
	uint8_t count;
	struct channel_token tokens[CHANNEL_TOKENS_MAX];
};

/* Writes the prologue of the handshake, which both sides must have equal: the version and the
 * channel's id. Returns its length. */
#define CHANNEL_PROLOGUE_BYTES 21
size_t channel_prologue(uint64_t id, uint8_t out[CHANNEL_PROLOGUE_BYTES]);

/* Encodes a frame into FABRIC_DATAGRAM_BYTES and returns the length. `source` and `target` are node
 * ids. */
size_t channel_frame_encode(const struct channel_frame *frame, uint16_t source, uint16_t target,
			    uint8_t *out);
/* DXP_EMALFORMED: not a frame of the channel; DXP_EIO: damaged in transit. out->message points into
 * `data`. */
int channel_frame_decode(const uint8_t *data, size_t bytes, struct channel_frame *out);

/* Encode and decode messages before encryption. Encoders return the length. Decoders return
 * DXP_EMALFORMED for a wrong length or an invalid field, and then leave *out unchanged. */
void channel_open_encode(const struct channel_open *open, uint8_t out[CHANNEL_OPEN_BYTES]);
int channel_open_decode(const uint8_t *data, size_t bytes, struct channel_open *out);
void channel_opened_encode(const struct channel_opened *opened, uint8_t out[CHANNEL_OPENED_BYTES]);
int channel_opened_decode(const uint8_t *data, size_t bytes, struct channel_opened *out);
size_t channel_request_encode(const struct channel_request *request, uint8_t *out);
int channel_request_decode(const uint8_t *data, size_t bytes, struct channel_request *out);
size_t channel_answer_encode(const struct channel_answer *answer, uint8_t *out);
int channel_answer_decode(const uint8_t *data, size_t bytes, struct channel_answer *out);

/* Returns "host", "xpu" or "operator", or "?" for other values. */
const char *channel_role_text(uint8_t role);
/* Returns the role, or ROLE_NONE for other text. */
enum manage_role channel_role_parse(const char *text);

#endif
