/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes an endpoint that requires encryption, with a session opened by a real handshake. The input
 * selects what arrives: the peer's sealed frames (unchanged, changed, cut or replayed), or plain
 * bytes. Only unchanged frames are delivered, each at most once. */
#define FUZZ_NAME "fuzz_sealed"

#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "rltp/endpoint_internal.h"
#include "rltp/user.h"
#include "seal/seal.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/input.h"

#define FRAMES    64
#define BYTES     512
#define STEPS_MAX 400
#define UPDATE    16 /* packets before the key changes */

struct frame {
	uint8_t data[BYTES];
	size_t bytes;
};

struct side {
	struct rltp_endpoint *endpoint;
	struct seal *seal;
	struct udp_address address;
	uint32_t delivered;
};

struct scene {
	struct input in;
	struct rng secrets;
	struct side sides[2]; /* [0] under test; [1] its peer */
	struct rltp_message messages[FRAMES];
	uint32_t posted; /* messages of the peer */
	struct frame frames[FRAMES];
	uint32_t frame_count;
	uint64_t now_ns;
};

static const uint8_t payload[256];

static void fill(void *user, struct rltp_message *m, uint32_t offset, uint32_t bytes,
		 struct rltp_packet *out)
{
	out->header.msg_id = m->msg_id;
	out->slices[0] = (struct datagram_slice){payload, bytes};
	out->slice_count = 1;
}

static void done(void *user, struct rltp_session *s, struct rltp_message *m, int status)
{
}

static struct rltp_verdict deliver(void *user, struct rltp_session *s, const struct wire_header *h,
				   const uint8_t *data)
{
	struct side *side = user;

	if (h->type != WIRE_PUT || memcmp(data, payload, h->payload_bytes) != 0)
		die("a frame that nobody sent was delivered");
	side->delivered++;
	return (struct rltp_verdict){0};
}

static void reset(void *user, struct rltp_session *s, int status)
{
}

static const struct rltp_user_ops user_ops = {
	.fill = fill,
	.done = done,
	.deliver = deliver,
	.aborted = rltp_user_aborted,
	.reset = reset,
	.rest = rltp_user_rest,
	.grants = rltp_user_no_credits,
	.granted = rltp_user_credit,
	.wants = rltp_user_no_credits,
	.requested = rltp_user_credit,
};

static uint64_t token_of(void *context, uint32_t id)
{
	return id * 0x9e3779b97f4a7c15ull;
}

static uint8_t encrypt(void *context, const struct udp_address *peer)
{
	return WIRE_PROTECT_ENCRYPT;
}

static void side_open(struct scene *s, uint16_t i)
{
	struct side *side = &s->sides[i];
	const struct seal_options seal = {.entropy = rng_entropy_rng,
					  .entropy_context = &s->secrets,
					  .update_packets = UPDATE};

	if (seal_create(&seal, &side->seal) != DXP_OK)
		die("no memory");
	const struct rltp_endpoint_options options = {.node = (uint16_t)(i + 1),
						      .incarnation = 7,
						      .uuid = {(uint8_t)(i + 1)},
						      .ops = &user_ops,
						      .user = side,
						      .entropy = rng_entropy_rng,
						      .entropy_context = &s->secrets,
						      .token = token_of,
						      .protect = encrypt,
						      .seal = &seal_ops,
						      .seal_context = side->seal};
	side->address = (struct udp_address){.ip = {[15] = (uint8_t)(i + 1)}, .port = 9};
	if (rltp_endpoint_create(&options, &side->endpoint) != DXP_OK)
		die("no memory");
}

static void sides_meet(struct scene *s)
{
	for (int i = 0; i < 2; i++) {
		const struct rltp_peer_info peer = {.node = (uint16_t)(2 - i),
						    .address = s->sides[1 - i].address,
						    .payload_bytes = 1408};
		if (rltp_endpoint_peer(s->sides[i].endpoint, &peer, s->now_ns) != DXP_OK)
			die("no memory");
	}
}

static void receive(struct scene *s, int to, const uint8_t *data, size_t bytes)
{
	const struct datagram_arrival a = {.from = s->sides[1 - to].address,
					   .data = data,
					   .bytes = bytes,
					   .arrived_ns = s->now_ns};

	rltp_endpoint_receive(s->sides[to].endpoint, &a, s->now_ns);
}

static bool frame_of(const struct datagram *d, struct frame *f)
{
	f->bytes = d->header_bytes;
	memcpy(f->data, d->header, f->bytes);
	for (int i = 0; i < d->slice_count; i++) {
		if (f->bytes + d->slices[i].bytes > BYTES)
			return false;
		memcpy(f->data + f->bytes, d->slices[i].base, d->slices[i].bytes);
		f->bytes += d->slices[i].bytes;
	}
	return true;
}

/* Delivers frames of the endpoint under test; stores the peer's for later, or while `opening` also
 * delivers them. */
static void sides_send(struct scene *s, bool opening)
{
	struct datagram out[8];
	struct frame f;

	for (int i = 0; i < 2; i++) {
		size_t count = rltp_endpoint_send(s->sides[i].endpoint, out, 8, s->now_ns);
		for (size_t k = 0; k < count; k++) {
			if (!frame_of(&out[k], &f))
				continue;
			if (i == 0 || opening)
				receive(s, 1 - i, f.data, f.bytes);
			else if (s->frame_count < FRAMES)
				s->frames[s->frame_count++] = f;
		}
	}
}

static void peer_post(struct scene *s)
{
	struct rltp_session *session = rltp_endpoint_session(s->sides[1].endpoint, 1);

	if (s->posted == FRAMES)
		return;
	struct rltp_message *m = &s->messages[s->posted++];
	*m = (struct rltp_message){
		.type = WIRE_PUT, .flow = 1, .bytes = 1u + take8(&s->in), .msg_id = s->posted};
	rltp_endpoint_post(s->sides[1].endpoint, session, m, s->now_ns);
}

/* Delivers a stored frame with up to three changed bytes. */
static void frame_pass(struct scene *s)
{
	if (s->frame_count == 0)
		return;
	struct frame f = s->frames[take8(&s->in) % s->frame_count];
	for (int changes = take8(&s->in) % 4; changes > 0; changes--)
		f.data[take32(&s->in) % f.bytes] ^= take8(&s->in);
	if (take8(&s->in) % 8 == 0)
		f.bytes = take8(&s->in) % (f.bytes + 1);
	receive(s, 0, f.data, f.bytes);
}

static void bytes_pass(struct scene *s)
{
	uint8_t data[BYTES];
	size_t bytes = take32(&s->in) % BYTES;

	for (size_t i = 0; i < bytes; i++)
		data[i] = take8(&s->in);
	if (bytes >= WIRE_COMMON_BYTES && take8(&s->in) % 2) {
		data[0] = (uint8_t)(WIRE_VERSION << 4 | 4);
		wire_control_seal(data, bytes);
	}
	receive(s, 0, data, bytes);
}

static void step(struct scene *s)
{
	switch (take8(&s->in) % 6) {
	case 0:
	case 1: peer_post(s); break;
	case 2:
	case 3: frame_pass(s); break;
	case 4: bytes_pass(s); break;
	default: s->now_ns += take32(&s->in) % (2 * MS_NS);
	}
	sides_send(s, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct scene s;

	s = (struct scene){.in = {data, data + bytes}, .secrets = {5}, .now_ns = S_NS};
	side_open(&s, 0);
	side_open(&s, 1);
	sides_meet(&s);
	peer_post(&s);
	for (int i = 0; i < 20; i++) {
		s.now_ns += 100 * US_NS;
		sides_send(&s, true);
	}
	if (s.sides[0].delivered != 1)
		die("the first message did not arrive");
	for (int i = 0; i < STEPS_MAX && s.in.at < s.in.end; i++)
		step(&s);
	if (s.sides[0].delivered > s.posted)
		die("a message was delivered twice");
	for (int i = 0; i < 2; i++) {
		rltp_endpoint_destroy(s.sides[i].endpoint);
		seal_destroy(s.sides[i].seal);
	}
	return 0;
}
