/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/standby.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "keys/token.h"
#include "wire/manage.h"

/* answers per second: enough for many nodes that search at the same time; each answer may cost a
 * key agreement of 0.1 ms */
#define ANSWERS_PER_S 500
#define ANSWER_UNIT   S_NS

int standby_open(const uint8_t fabric_key[FABRIC_KEY_BYTES], const uint8_t private_key[KEYS_BYTES],
		 struct standby *out)
{
	*out = (struct standby){.allowance = ANSWERS_PER_S * ANSWER_UNIT};
	memcpy(out->private_key, private_key, KEYS_BYTES);
	if (!keys_public(private_key, out->public_key))
		return DXP_EIO;
	return mac_create(fabric_key, &out->mac);
}

void standby_close(struct standby *s)
{
	mac_destroy(s->mac);
	keys_erase(s, sizeof(*s));
}

static bool answer_allowed(struct standby *s, uint64_t now_ns)
{
	const uint64_t passed_ns = min_u64(now_ns - s->allowance_ns, S_NS);

	s->allowance_ns = now_ns;
	s->allowance =
		min_u64(s->allowance + passed_ns * ANSWERS_PER_S, ANSWERS_PER_S * ANSWER_UNIT);
	if (s->allowance < ANSWER_UNIT)
		return false;
	s->allowance -= ANSWER_UNIT;
	return true;
}

/* Returns the MAC state for frames of this sender; NULL: no memory, or the sender's key is
 * unusable. The caller destroys it if it is not s->mac. */
static struct mac *mac_of(const struct standby *s, const struct manage_body *body)
{
	uint8_t pair[KEYS_BYTES];
	struct mac *mac = NULL;

	if (!body->key)
		return s->mac;
	if (keys_pair(s->private_key, body->key, s->public_key, pair) &&
	    mac_create(pair, &mac) != DXP_OK)
		mac = NULL;
	keys_erase(pair, sizeof(pair));
	return mac;
}

/* Returns true for requests that this manager rejects. It does not reject LEAVE, because a node
 * ends its membership after any rejection of that. */
static bool is_request(uint8_t type)
{
	return type == WIRE_JOIN || type == WIRE_RENEW || type == WIRE_STATUS ||
	       type == WIRE_ASSIGN || type == WIRE_GRANTS || type == WIRE_EVENTS;
}

size_t standby_answer(struct standby *s, const uint8_t *data, size_t bytes, const char *other,
		      uint64_t now_ns, uint8_t out[FABRIC_DATAGRAM_BYTES])
{
	struct manage_answer answer = {.status = DXP_EAGAIN};
	struct wire_header header;
	struct manage_body body;

	if (manage_parse(data, bytes, &header, &body) != DXP_OK || !is_request(header.type) ||
	    header.dst_node != WIRE_NODE_MANAGER || bytes < MANAGE_ANSWER_MIN ||
	    !manage_prefix(body, &answer.request, &answer.nonce) || !answer_allowed(s, now_ns))
		return 0;
	struct mac *mac = mac_of(s, &body);
	size_t length = 0;
	if (mac && manage_authentic(data, body, mac)) {
		snprintf(answer.text, sizeof(answer.text),
			 *other ? "this manager stands by for %s; use --manager with all managers"
				: "no manager is active; see the logs of the managers and of etcd",
			 other);
		length = manage_answer_encode(WIRE_REFUSE, header.src_node, &answer,
					      min_u64(bytes, MANAGE_FRAME_BYTES), mac, out);
	}
	if (mac != s->mac)
		mac_destroy(mac);
	return length;
}
