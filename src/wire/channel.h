/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of the encrypted channel to the manager (docs/guide/manager.md "Admission"): handshake
 * Noise_IKpsk2, then sealed requests and answers, without a MAC. Messages here are before
 * encryption by src/keys/noise.h. */
#ifndef WIRE_CHANNEL_H
#define WIRE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/limits.h"
#include "wire/manage.h"

#define CHANNEL_ID_BYTES    8
#define CHANNEL_MESSAGE_MAX 1100 /* the frame fits FABRIC_DATAGRAM_BYTES */
#define CHANNEL_TOKEN_ID    5    /* as TOKEN_ID_BYTES */
#define CHANNEL_TOKENS_MAX  12   /* per answer */
/* padded, so that OPENED is not longer than OPEN */
#define CHANNEL_OPEN_BYTES   240
#define CHANNEL_OPENED_BYTES 196

enum channel_step { CHANNEL_OPEN = 1, CHANNEL_OPENED, CHANNEL_REQUEST, CHANNEL_ANSWER };

/* OPEN's sender draws `id` at random. `number` counts the channel's requests from 0. */
struct channel_frame {
	uint64_t id;
	uint16_t number;
	uint8_t step;
	const uint8_t *message;
	size_t bytes;
};

/* Id of the token that admits the sender's key; zero: it is admitted. */
struct channel_open {
	uint8_t token[CHANNEL_TOKEN_ID];
};

struct channel_opened {
	int32_t status; /* enum dxp_status */
	char text[MANAGE_TEXT_BYTES];
};

/* Comments list the request's members, then the answer's. */
enum channel_command {
	CHANNEL_ADMIT = 1,    /* name; answer: role, fabric key */
	CHANNEL_TOKEN_CREATE, /* token, psk, role, uses, seconds */
	CHANNEL_TOKEN_LIST,   /* first; answer: tokens, next */
	CHANNEL_TOKEN_REVOKE, /* token */
	CHANNEL_NODE_REMOVE,  /* name */
	CHANNEL_GRANT,        /* host; xpu */
	CHANNEL_REVOKE,
	CHANNEL_ROTATE, /* psk: the new public key; proof: keys_rotation_proof */
	/* seconds: the overlap; uses: CHANNEL_FORCE or 0; answer: fabric key, fabric */
	CHANNEL_FABRIC_ROTATE,
	CHANNEL_FABRIC_SHOW, /* answer: fabric key, fabric */
	CHANNEL_COMMANDS = CHANNEL_FABRIC_SHOW
};

/* Rotate although some nodes cannot follow, or the last rotation is not complete. */
#define CHANNEL_FORCE 1u

/* State of the fabric key, in answers to CHANNEL_FABRIC_... only. */
struct channel_fabric {
	bool present;        /* the answer has it */
	uint32_t generation; /* number of rotations; 0: none */
	uint32_t former_ms;  /* in which nodes still accept the former key */
	uint64_t age_s;      /* since the last rotation */
};

struct channel_request {
	uint8_t command; /* enum channel_command */
	uint8_t role;    /* enum manage_role */
	uint16_t first;
	uint32_t uses;
	uint64_t seconds; /* time until it expires */
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
	uint32_t uses;       /* keys that it can still admit */
	uint64_t seconds;    /* time until it expires; 0: expired */
	char used_by[FABRIC_NAME_BYTES];
};

struct channel_answer {
	int32_t status;
	char text[MANAGE_TEXT_BYTES];
	uint8_t role;
	uint8_t fabric_key[FABRIC_KEY_BYTES];
	uint16_t next; /* `first` of the next request; 0: no more tokens */
	uint8_t count;
	struct channel_token tokens[CHANNEL_TOKENS_MAX];
	struct channel_fabric fabric;
};

/* Version and channel id, on which both sides of the handshake must agree. Returns the length. */
#define CHANNEL_PROLOGUE_BYTES 21
size_t channel_prologue(uint64_t id, uint8_t out[CHANNEL_PROLOGUE_BYTES]);

/* Encodes into FABRIC_DATAGRAM_BYTES and returns the length. `source` and `target` are node ids. */
size_t channel_frame_encode(const struct channel_frame *frame, uint16_t source, uint16_t target,
			    uint8_t *out);
/* DXP_EMALFORMED: no frame of the channel; DXP_EIO: damaged. out->message points into `data`. */
int channel_frame_decode(const uint8_t *data, size_t bytes, struct channel_frame *out);

/* The messages before encryption. Encoders return the length. DXP_EMALFORMED: wrong length or
 * field; *out is unchanged. */
void channel_open_encode(const struct channel_open *open, uint8_t out[CHANNEL_OPEN_BYTES]);
int channel_open_decode(const uint8_t *data, size_t bytes, struct channel_open *out);
void channel_opened_encode(const struct channel_opened *opened, uint8_t out[CHANNEL_OPENED_BYTES]);
int channel_opened_decode(const uint8_t *data, size_t bytes, struct channel_opened *out);
size_t channel_request_encode(const struct channel_request *request, uint8_t *out);
int channel_request_decode(const uint8_t *data, size_t bytes, struct channel_request *out);
size_t channel_answer_encode(const struct channel_answer *answer, uint8_t *out);
int channel_answer_decode(const uint8_t *data, size_t bytes, struct channel_answer *out);

/* "host", "xpu", "operator", or "?". */
const char *channel_role_text(uint8_t role);
/* ROLE_NONE: other text. */
enum manage_role channel_role_parse(const char *text);

#endif
