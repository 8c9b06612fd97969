/* SPDX-License-Identifier: BSD-3-Clause */
/* One request over an encrypted channel to the manager. The request admits this program's key, or
 * it carries a change by an operator. Pure, like member.h. Protocol: docs/guide/manager.md
 * "Admission". */
#ifndef NODE_CHANNEL_H
#define NODE_CHANNEL_H

#include "base/rng.h"
#include "keys/token.h"
#include "link/udp.h"
#include "node/managers.h"
#include "wire/channel.h"

struct channel_options {
	struct udp_address manager;
	struct manager_backups others; /* tried in order until one answers */
	/* key of the expected manager, so that only the owner of this key can answer */
	uint8_t manager_key[KEYS_BYTES];
	uint8_t private_key[KEYS_BYTES]; /* key of this program */
	/* token that admits the key; NULL: the manager has admitted the key already. Copied. */
	const struct token *token;
	struct channel_request request; /* for TOKEN_LIST, the channel requests all pages */
	uint64_t timeout_ns;            /* limit for the whole request; 0: FABRIC_REQUEST_NS */
	entropy_fn entropy;
	void *entropy_context;
};

struct channel;

/* Creates a channel; destroy it with channel_destroy. DXP_EINVAL: the manager's key is unusable;
 * DXP_ENOMEM. */
int channel_create(const struct channel_options *options, uint64_t now_ns, struct channel **out);
void channel_destroy(struct channel *c);

void channel_receive(struct channel *c, const struct udp_address *from, const uint8_t *data,
		     size_t bytes, uint64_t now_ns);
/* Handles everything whose time has come. Returns 1 and sets *out if a datagram is due, otherwise
 * 0. *out is valid until the next call. */
size_t channel_send(struct channel *c, struct datagram *out, uint64_t now_ns);
/* Returns the time in ns at which to call channel_send again; UINT64_MAX: done. */
uint64_t channel_deadline(const struct channel *c);

/* Begins another request on a channel whose last request was answered. Call it within seconds of
 * that answer, because the manager closes silent channels. channel_done() is false until the new
 * answer arrives. */
void channel_again(struct channel *c, const struct channel_request *request, uint64_t now_ns);

bool channel_done(const struct channel *c);
/* Returns true if the manager answered the last request. Then channel_again() is possible. */
bool channel_answered(const struct channel *c);
/* Return the result, after channel_done. channel_status: DXP_OK; DXP_EACCESS: the manager rejects
 * the request; DXP_EAUTH: another manager answers, or the secret is wrong; DXP_ETIMEDOUT ...
 * channel_text: the reason and the next step for the user, or the manager's text after success. */
int channel_status(const struct channel *c);
const char *channel_text(const struct channel *c);

/* Return the last answer, and all tokens of TOKEN_LIST. Valid after success. */
const struct channel_answer *channel_last(const struct channel *c);
size_t channel_tokens(const struct channel *c, const struct channel_token **rows);

#endif
