/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile peer omits, repeats and overlaps parts of the answer to a GET. The GET must fail
 * without all bytes: a gap exposes old memory, in a bridge buffer another tenant's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "nic/internal.h"
#include "rltp/internal.h"
#include "sim/sim.h"

#define BYTES 1000

struct part {
	uint32_t at, bytes;
};
#define PARTS 6

static struct sim *sim;
static uint8_t memory[BYTES];
static const uint8_t payload[BYTES];

static int never_answer(void *context, struct nic_staged_read *r, uint64_t offset, uint64_t bytes)
{
	return DXP_OK;
}

static void never_mind(void *context, struct nic_staged_read *r)
{
}

static bool never(void *context)
{
	return false;
}

/* Host 1 never answers; the test makes the answers. */
static struct nic_peer *request_send(void)
{
	static const struct nic_staged_ops ops = {.read_begin = never_answer,
						  .read_cancel = never_mind};
	const struct sim_options o = {.seed = 1, .hosts = 2};
	struct nic *n;
	uint32_t key, theirs;

	assert_int_equal(sim_create(&o, &sim), DXP_OK);
	n = sim_nic(sim, 0);
	nic_region_register(n, 0, memory, BYTES, NIC_LOCAL, &key);
	nic_region_register_staged(sim_nic(sim, 1), 0, &ops, NULL, BYTES, NIC_REMOTE_READ, &theirs);
	struct dxp_target to = sim_target(sim, 1, 0);
	const struct dxp_entry local = {0, BYTES, key}, remote = {0, BYTES, theirs};
	const struct nic_lists lists = {&local, &remote, 1, 1};
	assert_int_equal(nic_user_get(sim_window(sim, 0), 0, &to, &lists, 7), DXP_OK);
	sim_run(sim, 10 * MS_NS, never, NULL);
	return nic_peer_of(rltp_endpoint_session(nic_endpoint(n), to.node));
}

static int answer(const struct part parts[PARTS])
{
	struct nic_peer *p = request_send();
	struct nic *n = sim_nic(sim, 0);
	struct dxp_nic_event event = {0};
	uint32_t id = 0;

	for (uint32_t i = 0; i < NIC_READS_MAX; i++)
		if (p->work->reads[i].request)
			id = p->work->reads[i].id;
	for (uint32_t i = 0; i < PARTS; i++) {
		const struct wire_header h = {.type = WIRE_GET_RSP,
					      .src_node = p->session->node,
					      .msg_id = id,
					      .addr = parts[i].at,
					      .payload_bytes = (uint16_t)parts[i].bytes};
		if (parts[i].bytes)
			receive_packet_deliver(n, p->session, &h, payload);
	}
	bool ended = dxp_sent_dequeue(sim_window(sim, 0), &event);
	sim_destroy(sim);
	assert_true(ended);
	return event.status;
}

static void answers__each_byte_once(void **state)
{
	static const struct {
		struct part parts[PARTS];
		int status;
	} cases[] = {
		{{{0, 1000}}, DXP_OK},
		{{{600, 400}, {0, 300}, {300, 300}}, DXP_OK},
		{{{0, 500}, {0, 500}}, DXP_EMALFORMED},
		{{{500, 500}, {500, 500}}, DXP_EMALFORMED},
		{{{0, 400}, {300, 400}, {800, 200}}, DXP_EMALFORMED},
		{{{0, 300}, {600, 400}, {150, 300}}, DXP_EMALFORMED},
		{{{0, 200}, {800, 200}, {200, 200}, {200, 200}, {600, 200}}, DXP_EMALFORMED},
		{{{0, 999}, {1, 1}}, DXP_EMALFORMED},
		{{{1, 999}, {999, 1}}, DXP_EMALFORMED},
		{{{1000, 1}}, DXP_EMALFORMED},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		int status = answer(cases[i].parts);
		if (status != cases[i].status)
			fail_msg("case %zu: %s", i, dxp_status_name(status));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers__each_byte_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
