/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits how many HELLOs are checked. Above a limit, a COOKIE answers, which only the owner of the
 * source address receives; the HELLO that returns it counts under another limit. So forged HELLOs
 * do not displace those of the peer.
 *
 * The cookie is a hash of address and HELLO by a secret that changes every RLTP_COOKIE_NS, so
 * nothing is stored per HELLO. */
#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/siphash.h"
#include "base/util.h"
#include "rltp/endpoint_internal.h"

_Static_assert(WIRE_COOKIE_BYTES <= WIRE_HELLO_BYTES, "a COOKIE is not longer than its HELLO");

/* Starts with a letter, so no frame and no other use of the key has the same text. */
static const char label[] = "dxp COOKIE";

#define LABEL_BYTES  (sizeof(label) - 1)
#define PROVED_BYTES (WIRE_OFF_COOKIE_PROOF - WIRE_COMMON_BYTES)
#define TEXT_BYTES   (LABEL_BYTES + 4 + PROVED_BYTES)
#define HELLO_WORDS  5

static void secret_draw(struct rltp_endpoint *e, unsigned which)
{
	e->options.entropy(e->options.entropy_context, e->cookies.secrets[which],
			   sizeof(e->cookies.secrets[which]));
}

/* A cookie is valid for one to two RLTP_COOKIE_NS. */
static void secrets_renew(struct rltp_endpoint *e, uint64_t now_ns)
{
	struct cookies *c = &e->cookies;
	uint64_t age_ns = now_ns - c->since_ns;

	if (c->drawn && age_ns < RLTP_COOKIE_NS)
		return;
	if (c->drawn && age_ns < 2 * RLTP_COOKIE_NS) {
		memcpy(c->secrets[1], c->secrets[0], sizeof(c->secrets[1]));
		c->since_ns += RLTP_COOKIE_NS;
	} else {
		secret_draw(e, 1); /* no cookie was made with it */
		c->since_ns = now_ns;
	}
	secret_draw(e, 0);
	c->drawn = true;
}

static uint64_t value_make(const struct rltp_endpoint *e, unsigned which,
			   const struct wire_header *h, const struct wire_hello *hello,
			   const struct udp_address *from)
{
	uint64_t words[HELLO_WORDS];
	uint8_t text[sizeof(words)];

	memcpy(text, from->ip, 16);
	put_be16(text + 16, from->port);
	put_be16(text + 18, h->src_node);
	put_be32(text + 20, hello->session);
	put_be32(text + 24, hello->psn);
	put_be32(text + 28, hello->epoch);
	put_be64(text + 32, hello->incarnation);
	memcpy(words, text, sizeof(words));
	uint64_t value = siphash_words(e->cookies.secrets[which], words, HELLO_WORDS);
	return value ? value : 1;
}

static bool cookie_good(struct rltp_endpoint *e, const struct wire_header *h,
			const struct wire_hello *hello, const struct udp_address *from,
			uint64_t now_ns)
{
	const uint64_t value = wire_hello_cookie(hello);

	if (value == 0)
		return false;
	secrets_renew(e, now_ns);
	if (value == value_make(e, 0, h, hello, from) || value == value_make(e, 1, h, hello, from))
		return true;
	e->counters.cookie_wrong++;
	return false;
}

static void cookie_queue(struct rltp_endpoint *e, const struct wire_header *h,
			 const struct wire_hello *hello, const struct udp_address *from,
			 uint64_t now_ns)
{
	struct cookies *c = &e->cookies;

	if (!(hello->features & WIRE_FEATURE_COOKIE) || c->count == COOKIES_PENDING ||
	    e->hellos.cookies == RLTP_COOKIES_PER_S)
		return;
	e->hellos.cookies++;
	secrets_renew(e, now_ns);
	c->pending[c->count++] = (struct pending_cookie){
		.to = *from,
		.node = h->src_node,
		.cookie = {.session = hello->session,
			   .psn = hello->psn,
			   .value = value_make(e, 0, h, hello, from)},
	};
}

static void second_begin(struct rltp_endpoint *e, struct rltp_session *s, uint64_t now_ns)
{
	uint32_t second = (uint32_t)(now_ns / S_NS);

	if (e->hellos.second != second)
		e->hellos = (struct hello_counts){.second = second};
	if (s && s->hello_second != (uint16_t)second) {
		s->hello_second = (uint16_t)second;
		memset(s->hello_spent, 0, sizeof(s->hello_spent));
	}
}

/* False: the limit is reached. */
static bool spend(struct rltp_endpoint *e, struct rltp_session *s, bool cookie)
{
	uint32_t *all = s ? &e->hellos.known[cookie] : &e->hellos.outside[cookie];
	const uint32_t limit = s ? RLTP_HANDSHAKES_PER_S : RLTP_HANDSHAKES_OUTSIDE_PER_S;

	if (*all == limit || (s && s->hello_spent[cookie] == RLTP_HANDSHAKES_PEER_PER_S))
		return false;
	++*all;
	if (s)
		s->hello_spent[cookie]++;
	return true;
}

bool cookie_admit(struct rltp_endpoint *e, struct rltp_session *s, const struct wire_header *h,
		  const struct wire_hello *hello, const struct udp_address *from, uint64_t now_ns)
{
	second_begin(e, s, now_ns);
	if (spend(e, s, false))
		return true;
	bool good = cookie_good(e, h, hello, from, now_ns);
	if (good && spend(e, s, true)) {
		e->counters.cookie_hellos++;
		return true;
	}
	e->counters.flooded++;
	if (!good)
		cookie_queue(e, h, hello, from, now_ns);
	return false;
}

static void text_write(const struct wire_header *h, const uint8_t *body, uint8_t text[TEXT_BYTES])
{
	uint8_t *at = text + LABEL_BYTES;

	memcpy(text, label, LABEL_BYTES);
	put_be16(at, h->src_node);
	put_be16(at + 2, h->dst_node);
	memcpy(at + 4, body, PROVED_BYTES);
}

static void cookie_build(struct rltp_endpoint *e, const struct pending_cookie *p, uint64_t now_ns,
			 struct datagram *out)
{
	const struct wire_header h = {
		.type = WIRE_COOKIE,
		.header_bytes = WIRE_COMMON_BYTES,
		.src_node = e->options.node,
		.dst_node = p->node,
		.tx_ts = timestamp_of(now_ns),
	};
	uint8_t *body = out->header + WIRE_COMMON_BYTES, text[TEXT_BYTES];

	wire_cookie_encode(&p->cookie, body);
	text_write(&h, body, text);
	endpoint_authenticate(e, RLTP_KEY_SEND, text, sizeof(text),
			      out->header + WIRE_OFF_COOKIE_PROOF);
	rltp_control_finish(&p->to, &h, WIRE_COOKIE_BYTES, out);
}

size_t cookies_send(struct rltp_endpoint *e, struct datagram *out, size_t count, uint64_t now_ns)
{
	struct cookies *c = &e->cookies;
	size_t n = 0;

	while (n < count && c->count > 0)
		cookie_build(e, &c->pending[--c->count], now_ns, &out[n++]);
	e->counters.cookies_sent += n;
	return n;
}

/* Accepts a COOKIE only for the present HELLO, whose numbers an attacker off the path cannot guess.
 */
void cookie_receive(struct rltp_endpoint *e, const struct wire_header *h,
		    const struct datagram_arrival *a, uint64_t now_ns)
{
	struct rltp_session *s = endpoint_peer_at(e, h->src_node, &a->from);
	const uint8_t *body = a->data + h->header_bytes;
	uint8_t text[TEXT_BYTES];
	struct wire_cookie c;
	enum rltp_key key;

	if (wire_cookie_decode(body, h->payload_bytes, &c) != DXP_OK) {
		e->counters.malformed++;
		return;
	}
	bool awaited = s && s->state == RLTP_HANDSHAKE && c.session == s->local_id &&
		       c.psn == s->initial_psn;
	if (awaited)
		text_write(h, body, text);
	if (!awaited || !endpoint_authentic(e, text, sizeof(text), c.proof, &key)) {
		e->counters.cookies_refused++;
		return;
	}
	e->counters.cookies_accepted++;
	if (c.value == s->io->cookie)
		return;
	s->io->cookie = c.value;
	if (s->io->cookie_hellos == RLTP_COOKIE_HELLOS)
		return;
	s->io->cookie_hellos++;
	s->io->hello_deadline_ns = now_ns;
	s->io->hello_interval_ns = RLTP_HELLO_FIRST_NS;
	schedule_ready(&e->schedule, s);
}
