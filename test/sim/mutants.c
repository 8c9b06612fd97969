/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the checkers of the transport: they must detect each defect that an adapter between NIC and
 * network adds, and pass the correct transport. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/util.h"
#include "test/support/world.h"

enum mutation {
	SOUND,
	/* a byte changes between checksum and memory */
	CORRUPT_AFTER_CHECKSUM,
	MISPLACE, /* 64 bytes behind their address */
	REPLAY_NAP,
	REPLAY_AFTER_RESTART, /* at the new process */
	ACKNOWLEDGE_TOO_MUCH, /* packets that have not arrived */
	WITHDRAW,             /* fewer packets than before */
	RESEND_ACKNOWLEDGED,
	REUSE_NUMBER, /* two packets with one number */
	SKIP_NUMBER,
	OVERSPEND,  /* beyond the granted credit */
	ALWAYS_DUE, /* polls without work, again and again */
	NEVER_DUE,  /* never a poll in time */
};

#define RUNS   4
#define CREDIT 32 /* assumed by OVERSPEND; its peer grants 1 */
#define REPEAT 50 /* correct data packets before the defect */

struct mutant {
	struct sim *sim;
	uint32_t host;
	enum mutation what;
	uint32_t data_sent;
	uint32_t first_psn;
	uint8_t nap[WIRE_HEADER_BYTES_MAX + WIRE_PAYLOAD_MAX];
	size_t nap_bytes;
	uint32_t acks;
	bool restarted;
};

static void reseal_arrival(uint8_t *frame, size_t bytes)
{
	uint32_t header = (frame[0] & 0xfu) * 8;
	uint32_t crc = wire_crc_begin(frame, header);

	if (get_be16(frame + WIRE_OFF_FLAGS) & WIRE_FLAG_CRCP)
		crc = crc32c(crc, frame + header, bytes - header);
	wire_crc_set(frame, crc);
}

static void reseal_datagram(struct datagram *d)
{
	uint32_t header = (d->header[0] & 0xfu) * 8;
	uint32_t crc = wire_crc_begin(d->header, header);

	if (get_be16(d->header + WIRE_OFF_FLAGS) & WIRE_FLAG_CRCP) {
		crc = crc32c(crc, d->header + header, d->header_bytes - header);
		for (int i = 0; i < d->slice_count; i++)
			crc = crc32c(crc, d->slices[i].base, d->slices[i].bytes);
	}
	wire_crc_set(d->header, crc);
}

/* Makes a copy of an old NAP acceptable again: sets a new packet number, message id, session and
 * magic. Returns the frame's bytes. */
static size_t nap_replay(struct mutant *m, uint8_t *frame, size_t bytes)
{
	static const struct {
		uint8_t offset, bytes;
	} fresh[] = {{WIRE_OFF_DST_SESSION, 4}, {WIRE_OFF_PSN, 4},      {WIRE_OFF_TX_TS, 4},
		     {WIRE_OFF_CUM_ACK, 4},     {WIRE_OFF_QP_MAGIC, 4}, {WIRE_OFF_MSG_ID, 4}};
	uint16_t whole = WIRE_FLAG_FIRST | WIRE_FLAG_LAST | WIRE_FLAG_IMM;

	if ((get_be16(frame + WIRE_OFF_FLAGS) & whole) != whole)
		return bytes;
	if (m->nap_bytes == 0 && !m->restarted) {
		memcpy(m->nap, frame, bytes);
		m->nap_bytes = bytes;
		return bytes;
	}
	if ((m->what == REPLAY_AFTER_RESTART && !m->restarted) ||
	    memcmp(frame + WIRE_OFF_DST_QP, m->nap + WIRE_OFF_DST_QP, 2) != 0)
		return bytes;
	for (size_t i = 0; i < ARRAY_COUNT(fresh); i++)
		memcpy(m->nap + fresh[i].offset, frame + fresh[i].offset, fresh[i].bytes);
	memcpy(frame, m->nap, m->nap_bytes);
	return m->nap_bytes;
}

static bool handshake(uint8_t type)
{
	return type == WIRE_HELLO || type == WIRE_HELLO_ACK;
}

static void receive(void *host, const struct datagram_arrival *arrival, uint64_t now_ns)
{
	static uint8_t frame[WIRE_HEADER_BYTES_MAX + WIRE_PAYLOAD_MAX + 64];
	struct mutant *m = host;
	struct datagram_arrival a = *arrival;
	struct wire_header h;

	if (wire_header_decode(a.data, a.bytes, &h) == DXP_OK) {
		memcpy(frame, a.data, a.bytes);
		a.data = frame;
		if (m->what == CORRUPT_AFTER_CHECKSUM && h.payload_bytes > 0 &&
		    wire_type_data(h.type))
			frame[h.header_bytes] ^= 0x10;
		if (m->what == MISPLACE && h.type == WIRE_PUT)
			put_be64(frame + WIRE_OFF_ADDR, h.addr + 64);
		if ((m->what == REPLAY_NAP || m->what == REPLAY_AFTER_RESTART) &&
		    h.type == WIRE_NAP)
			a.bytes = nap_replay(m, frame, a.bytes);
		if (m->what == OVERSPEND && handshake(h.type))
			put_be16(frame + WIRE_OFF_HELLO_NAP_CREDIT, CREDIT);
		reseal_arrival(frame, a.bytes);
	}
	nic_receive(sim_nic(m->sim, m->host), &a, now_ns);
}

static void acknowledgement_mutate(struct mutant *m, struct datagram *d)
{
	uint32_t cum = get_be32(d->header + WIRE_OFF_CUM_ACK);

	m->acks++;
	if (m->what == ACKNOWLEDGE_TOO_MUCH && m->acks % 4 == 0)
		put_be32(d->header + WIRE_OFF_CUM_ACK, cum + 1);
	if (m->what == WITHDRAW && m->acks % 4 == 0)
		put_be32(d->header + WIRE_OFF_CUM_ACK, cum - 8);
}

static void data_mutate(struct mutant *m, struct datagram *d)
{
	uint32_t psn = get_be32(d->header + WIRE_OFF_PSN);

	m->data_sent++;
	if (m->what == REUSE_NUMBER && m->data_sent == REPEAT)
		put_be32(d->header + WIRE_OFF_PSN, psn - 1);
	if (m->what == SKIP_NUMBER && m->data_sent == REPEAT)
		put_be32(d->header + WIRE_OFF_PSN, psn + 1);
	if (m->what == RESEND_ACKNOWLEDGED && m->data_sent == 1)
		m->first_psn = psn;
	if (m->what == RESEND_ACKNOWLEDGED && m->data_sent == REPEAT)
		put_be32(d->header + WIRE_OFF_PSN, m->first_psn);
}

static size_t send(void *host, struct datagram *out, size_t count, uint64_t now_ns)
{
	struct mutant *m = host;
	struct nic *n = sim_nic(m->sim, m->host);

	nic_doorbells(n, now_ns);
	count = nic_send(n, out, count, now_ns);
	for (size_t i = 0; i < count; i++) {
		uint8_t type = out[i].header[WIRE_OFF_TYPE];
		if (type == WIRE_ACK)
			acknowledgement_mutate(m, &out[i]);
		else if (wire_type_data(type))
			data_mutate(m, &out[i]);
		else if (m->what == OVERSPEND && handshake(type))
			put_be16(out[i].header + WIRE_OFF_HELLO_NAP_CREDIT, 1);
		else
			continue;
		reseal_datagram(&out[i]);
	}
	return count;
}

static uint64_t deadline(void *host)
{
	struct mutant *m = host;

	if (m->what == ALWAYS_DUE)
		return 0;
	return m->what == NEVER_DUE ? UINT64_MAX : nic_deadline(sim_nic(m->sim, m->host));
}

static const struct net_host_ops mutant_ops = {receive, send, deadline};

/* Returns the checkers' first error, or NULL. */
static const char *verdict(enum mutation what, uint64_t seed)
{
	const struct sim_options o = {
		.seed = seed,
		.hosts = 2,
		.faults = {.loss_ppm = what == NEVER_DUE ? 300000 : 30000, .duplicate_ppm = 10000}};
	static struct world w;
	static struct mutant mutants[2];
	static char text[200];

	assert_int_equal(world_create(&w, &o, true), DXP_OK);
	for (uint32_t i = 0; i < 2; i++) {
		mutants[i] = (struct mutant){.sim = w.sim, .host = i, .what = what};
		net_host_set(sim_net(w.sim), i, &mutant_ops, &mutants[i]);
	}
	w.until = WORLD_OPERATIONS / 2;
	bool ended = sim_run(w.sim, 20 * S_NS, world_step, &w);
	if (ended && !w.wrong[0]) {
		assert_int_equal(world_restart(&w, 1, true), DXP_OK);
		net_host_set(sim_net(w.sim), 1, &mutant_ops, &mutants[1]);
		mutants[1].restarted = true;
		w.until = WORLD_OPERATIONS;
		ended = sim_run(w.sim, 20 * S_NS, world_step, &w);
	}
	if (!ended)
		world_wrong(&w, "not all operations end", WORLD_NONE, WORLD_NONE);
	world_finish(&w);
	memcpy(text, w.wrong, sizeof(text));
	world_destroy(&w);
	return text[0] ? text : NULL;
}

static void found(enum mutation what)
{
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		const char *text = verdict(what, seed);
		assert_non_null(text);
		print_message("seed %u: %s\n", (unsigned)seed, text);
	}
}

static void mutants__sound_one_passes(void **state)
{
	for (uint64_t seed = 1; seed <= RUNS; seed++)
		assert_null(verdict(SOUND, seed));
}

#define FOUND(name, what)                         \
	static void mutants__##name(void **state) \
	{                                         \
		found(what);                      \
	}
FOUND(corrupt_after_checksum, CORRUPT_AFTER_CHECKSUM)
FOUND(misplace, MISPLACE)
FOUND(replay_nap, REPLAY_NAP)
FOUND(replay_after_restart, REPLAY_AFTER_RESTART)
FOUND(acknowledge_too_much, ACKNOWLEDGE_TOO_MUCH)
FOUND(withdraw, WITHDRAW)
FOUND(resend_acknowledged, RESEND_ACKNOWLEDGED)
FOUND(reuse_number, REUSE_NUMBER)
FOUND(skip_number, SKIP_NUMBER)
FOUND(overspend, OVERSPEND)
FOUND(always_due, ALWAYS_DUE)
FOUND(never_due, NEVER_DUE)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mutants__sound_one_passes),
		cmocka_unit_test(mutants__corrupt_after_checksum),
		cmocka_unit_test(mutants__misplace),
		cmocka_unit_test(mutants__replay_nap),
		cmocka_unit_test(mutants__replay_after_restart),
		cmocka_unit_test(mutants__acknowledge_too_much),
		cmocka_unit_test(mutants__withdraw),
		cmocka_unit_test(mutants__resend_acknowledged),
		cmocka_unit_test(mutants__reuse_number),
		cmocka_unit_test(mutants__skip_number),
		cmocka_unit_test(mutants__overspend),
		cmocka_unit_test(mutants__always_due),
		cmocka_unit_test(mutants__never_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
