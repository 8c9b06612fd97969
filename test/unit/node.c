/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests nodes on loopback with a real manager: join, node table, data, departures. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "manager/limits.h"
#include "manager/server.h"
#include "nic/limits.h"
#include "node/node.h"
#include "rltp/internal.h"
#include "wire/manage.h"

#define LIMIT_NS (120 * S_NS)
#define MEMORY   (4u << 20)

struct rig {
	char folder[32];
	uint8_t key[FABRIC_KEY_BYTES];
	struct server *server;
	struct udp_address manager;
	pthread_t thread;
	struct node *host, *xpu;
	uint8_t *host_memory, *xpu_memory;
	uint32_t host_key, xpu_key;
	/* reports about a peer */
	uint32_t lost, silent, back;
};

static void *manager_main(void *server)
{
	server_run(server);
	return NULL;
}

static void changed(void *context, const struct table_change *change)
{
	struct rig *r = context;

	r->lost += (change->what & TABLE_LOST) != 0;
	r->silent += (change->what & TABLE_SILENT) != 0;
	r->back += (change->what & TABLE_BACK) != 0;
}

static struct node *node_start(struct rig *r, const char *name, bool xpu, const uint8_t *key)
{
	struct node_options o = {
		.name = name,
		.xpu = xpu,
		.engine = xpu ? "none" : NULL,
		.memory_bytes = xpu ? MEMORY : 0,
		.manager = r->manager,
		.fabric_key = key,
		.changed = changed,
		.changed_context = r,
	};
	struct node *n;

	address_parse("127.0.0.1", 0, &o.bind);
	assert_int_equal(node_open(&o, &n), DXP_OK);
	return n;
}

static int rig_open(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct server_options o = {.policy = GRANTS_ANY};

	strcpy(r->folder, "node-test-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	memset(r->key, 0x42, sizeof(r->key));
	memcpy(o.key, r->key, sizeof(o.key));
	o.state_folder = r->folder;
	address_parse("127.0.0.1", 0, &o.bind);
	assert_int_equal(server_open(&o, &r->server), DXP_OK);
	server_address(r->server, &r->manager);
	assert_int_equal(pthread_create(&r->thread, NULL, manager_main, r->server), 0);
	*state = r;
	return 0;
}

static int rig_close(void **state)
{
	struct rig *r = *state;
	char command[64];

	node_close(r->host);
	node_close(r->xpu);
	free(r->host_memory);
	free(r->xpu_memory);
	server_stop(r->server);
	pthread_join(r->thread, NULL);
	server_close(r->server);
	snprintf(command, sizeof(command), "rm -rf '%s'", r->folder);
	int status = system(command);
	free(r);
	return status;
}

static void poll_both(struct rig *r)
{
	uint32_t work = r->host ? node_poll(r->host) : 0;

	work += r->xpu ? node_poll(r->xpu) : 0;
	if (work == 0)
		usleep(50);
}

static void both_join(struct rig *r)
{
	uint64_t end_ns = clock_now_ns() + LIMIT_NS;
	struct dxp_target target;

	r->host = node_start(r, "host", false, r->key);
	r->xpu = node_start(r, "xpu", true, r->key);
	assert_int_equal(node_join(r->xpu, end_ns), DXP_OK);
	assert_int_equal(node_join(r->host, end_ns), DXP_OK);
	assert_int_not_equal(node_id(r->host), node_id(r->xpu));
	while (node_target(r->host, node_id(r->xpu), &target) != DXP_OK ||
	       node_target(r->xpu, node_id(r->host), &target) == DXP_ENOENT) {
		poll_both(r);
		assert_true(clock_now_ns() < end_ns);
	}
	r->host_memory = malloc(MEMORY);
	r->xpu_memory = calloc(1, MEMORY);
	for (uint32_t i = 0; i < MEMORY; i++)
		r->host_memory[i] = (uint8_t)(i * 13 + (i >> 12));
	assert_int_equal(nic_region_register(node_nic(r->host), 0, r->host_memory, MEMORY,
					     NIC_LOCAL, &r->host_key),
			 DXP_OK);
	assert_int_equal(nic_region_register(node_nic(r->xpu), 0, r->xpu_memory, MEMORY,
					     NIC_REMOTE_READ | NIC_REMOTE_WRITE, &r->xpu_key),
			 DXP_OK);
}

/* All of the host's memory; returns the completion's status. */
static int transfer(struct rig *r, bool get)
{
	const struct dxp_entry local = {0, MEMORY, r->host_key}, remote = {0, MEMORY, r->xpu_key};
	const struct nic_lists lists = {&local, &remote, 1, 1};
	uint64_t end_ns = clock_now_ns() + LIMIT_NS;
	struct dxp_target to;
	struct dxp_nic_event event;

	assert_int_equal(node_target(r->host, node_id(r->xpu), &to), DXP_OK);
	assert_int_equal(
		(get ? nic_user_get : nic_user_put)(node_window(r->host), 1, &to, &lists, 0),
		DXP_OK);
	while (!dxp_sent_dequeue(node_window(r->host), &event)) {
		poll_both(r);
		assert_true(clock_now_ns() < end_ns);
	}
	return event.status;
}

static void node__put_and_get(void **state)
{
	struct rig *r = *state;
	uint64_t sent, received;

	both_join(r);
	assert_int_equal(transfer(r, false), DXP_OK);
	assert_memory_equal(r->xpu_memory, r->host_memory, MEMORY);
	memset(r->host_memory, 0, MEMORY);
	assert_int_equal(transfer(r, true), DXP_OK);
	assert_memory_equal(r->xpu_memory, r->host_memory, MEMORY);
	node_traffic(r->host, node_id(r->xpu), &sent, &received);
	assert_in_range(sent, MEMORY, MEMORY + 100);
	assert_int_equal(received, MEMORY);
}

/* Forges the table of a new manager, in which the xPU is dead. At the next renewal, the host
 * reloads the real table. */
static void table_forge(struct rig *r)
{
	struct node_table *t = (struct node_table *)node_table(r->host);
	struct node_entry e = *node_table_find(t, node_id(r->xpu));
	struct manage_rows rows = {
		.epoch = node_table_progress(t).epoch + 2, .from = 1, .to = 1, .first = 1};
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct manage_reader reader;
	struct manage_writer w;
	struct mac *mac;

	assert_int_equal(mac_create(r->key, &mac), DXP_OK);
	e.alive = false;
	manage_rows_begin(&w, frame, sizeof(frame));
	assert_true(manage_rows_add(&w, &e));
	size_t bytes = manage_rows_finish(&w, WIRE_NODE_TABLE, node_id(r->host), &rows, mac);
	struct manage_body body = {frame + WIRE_COMMON_BYTES,
				   bytes - WIRE_COMMON_BYTES - MAC_BYTES};
	assert_int_equal(manage_rows_decode(WIRE_NODE_TABLE, body, &rows, &reader), DXP_OK);
	node_table_epoch(t, rows.epoch);
	assert_int_equal(node_table_apply(t, WIRE_NODE_TABLE, &rows, reader), DXP_OK);
	mac_destroy(mac);
}

static void node__a_session_with_a_live_peer_outranks_the_table(void **state)
{
	struct rig *r = *state;
	uint64_t end_ns = clock_now_ns() + LIMIT_NS;

	both_join(r);
	assert_int_equal(transfer(r, false), DXP_OK);
	r->lost = r->silent = r->back = 0;
	table_forge(r);
	do {
		assert_int_equal(transfer(r, false), DXP_OK);
		assert_true(clock_now_ns() < end_ns);
	} while (r->back == 0);
	assert_int_equal(r->silent, 1);
	assert_int_equal(r->lost, 0);
}

/* The session was idle for RLTP_DEAD_NS and the table lists the peer as dead; it probes before it
 * trusts the table. */
static void node__an_idle_session_probes_before_the_table_counts(void **state)
{
	struct rig *r = *state;
	uint64_t end_ns;
	struct rltp_session *s;

	both_join(r);
	assert_int_equal(transfer(r, false), DXP_OK);
	s = rltp_endpoint_session(nic_endpoint(node_nic(r->host)), node_id(r->xpu));
	assert_non_null(s);
	end_ns = clock_now_ns() + LIMIT_NS;
	while (s->io) {
		poll_both(r);
		assert_true(clock_now_ns() < end_ns);
	}
	/* the peer's last packet is older than RLTP_DEAD_NS */
	s->received_ns -= min_u64(s->received_ns, RLTP_DEAD_NS);
	r->lost = r->silent = r->back = 0;
	table_forge(r);
	while (r->back == 0) {
		poll_both(r);
		assert_int_equal(r->lost, 0);
		assert_true(clock_now_ns() < end_ns);
	}
	assert_int_equal(r->silent, 1);
	assert_true(s->counters.pings_sent > 0);
	assert_false(s->watched);
	assert_int_equal(transfer(r, false), DXP_OK);
}

/* There is no session that receives from the peer. The host trusts the manager's table at once. */
static void node__the_table_counts_without_a_live_session(void **state)
{
	struct rig *r = *state;
	struct dxp_target to;

	both_join(r);
	r->lost = 0;
	table_forge(r);
	node_poll(r->host);
	assert_int_equal(r->lost, 1);
	assert_int_equal(node_target(r->host, node_id(r->xpu), &to), DXP_EPEERLOST);
}

static int puts_fill(struct rig *r, const struct dxp_target *to, uint8_t qp)
{
	const struct dxp_entry local = {0, 64, r->host_key}, remote = {0, 64, r->xpu_key};
	const struct nic_lists lists = {&local, &remote, 1, 1};
	int count = 0, status;

	while ((status = nic_user_put(node_window(r->host), qp, to, &lists, 0)) == DXP_OK)
		count++;
	assert_int_equal(status, DXP_EAGAIN);
	return count;
}

static void node__more_than_the_fifo_in_one_poll(void **state)
{
	struct rig *r = *state;
	uint64_t end_ns = clock_now_ns() + LIMIT_NS;
	struct dxp_target to;
	struct dxp_nic_event event;
	int ended = 0;

	both_join(r);
	assert_int_equal(node_target(r->host, node_id(r->xpu), &to), DXP_OK);
	assert_int_equal(node_doorbells_accept(r->host), 0);
	assert_int_equal(puts_fill(r, &to, 0), NIC_DOORBELLS);
	assert_int_equal(node_doorbells_accept(r->host), NIC_DOORBELLS);
	assert_int_equal(puts_fill(r, &to, 1), NIC_DOORBELLS);
	assert_int_equal(node_doorbells_accept(r->host), NIC_DOORBELLS);
	assert_int_equal(node_deadline(r->host), 0);
	while (ended < 2 * NIC_DOORBELLS) {
		poll_both(r);
		while (dxp_sent_dequeue(node_window(r->host), &event)) {
			assert_int_equal(event.status, DXP_OK);
			ended++;
		}
		assert_true(clock_now_ns() < end_ns);
	}
}

static void node__a_peer_that_leaves_ends_work(void **state)
{
	struct rig *r = *state;
	uint64_t end_ns = clock_now_ns() + LIMIT_NS;

	both_join(r);
	uint16_t id = node_id(r->xpu);
	struct dxp_target to;
	assert_int_equal(transfer(r, false), DXP_OK);
	node_close(r->xpu);
	r->xpu = NULL;
	while (r->lost == 0) {
		poll_both(r);
		assert_true(clock_now_ns() < end_ns);
	}
	assert_true(node_target(r->host, id, &to) < 0);
}

/* A closing node sends one BYE to its peer. So the peer knows before the manager's table reports
 * the loss. */
static void node__sends_bye(void **state)
{
	struct rig *r = *state;
	uint64_t end_ns = clock_now_ns() + LIMIT_NS;

	both_join(r);
	assert_int_equal(transfer(r, false), DXP_OK);
	const struct rltp_endpoint_counters *c =
		rltp_endpoint_counters(nic_endpoint(node_nic(r->host)));
	assert_int_equal(c->byes_accepted, 0);
	node_close(r->xpu);
	r->xpu = NULL;
	while (c->byes_accepted == 0) {
		poll_both(r);
		assert_true(clock_now_ns() < end_ns);
	}
	assert_int_equal(c->byes_accepted, 1);
}

static int cc_open(const char *name, enum cc_kind requested)
{
	struct node_options o = {.static_id = 5, .tuning.cc = requested};
	struct node *n = NULL;

	address_parse("127.0.0.1", 0, &o.bind);
	setenv("DXP_CC", name, 1);
	int status = node_open(&o, &n);
	node_close(n);
	unsetenv("DXP_CC");
	return status;
}

static void node__congestion_control_by_name(void **state)
{
	static const char *const names[] = {"swift", "none", "dctcp", "reno", ""};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		assert_int_equal(cc_open(names[i], CC_SWIFT), DXP_OK);
	assert_int_equal(cc_open("cubic", CC_SWIFT), DXP_EINVAL);
	assert_int_equal(cc_open("Swift", CC_SWIFT), DXP_EINVAL);
	/* options override the environment */
	assert_int_equal(cc_open("cubic", CC_RENO), DXP_OK);
}

static int payload_crc_open(const char *variable, const char *option)
{
	struct node_options o = {.static_id = 5, .payload_crc = option};
	struct node *n = NULL;

	address_parse("127.0.0.1", 0, &o.bind);
	setenv("DXP_PAYLOAD_CRC", variable, 1);
	int status = node_open(&o, &n);
	node_close(n);
	unsetenv("DXP_PAYLOAD_CRC");
	return status;
}

static void node__payload_crc_by_name(void **state)
{
	static const char *const names[] = {"auto", "always", "never", ""};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		assert_int_equal(payload_crc_open(names[i], NULL), DXP_OK);
	assert_int_equal(payload_crc_open("no", NULL), DXP_EINVAL);
	/* options override the environment */
	assert_int_equal(payload_crc_open("no", "never"), DXP_OK);
	assert_int_equal(payload_crc_open("never", "no"), DXP_EINVAL);
}

static void node__wrong_key(void **state)
{
	struct rig *r = *state;
	uint8_t key[FABRIC_KEY_BYTES] = {1};

	r->host = node_start(r, "host", false, key);
	assert_int_equal(node_join(r->host, clock_now_ns() + LIMIT_NS), DXP_EAUTH);
	assert_non_null(strstr(node_error(r->host), "key"));
}

static void node__no_manager(void **state)
{
	struct rig *r = *state;

	r->manager.port = 9; /* none listens here */
	r->host = node_start(r, "host", false, r->key);
	assert_int_equal(node_join(r->host, clock_now_ns() + 300 * MS_NS), DXP_ETIMEDOUT);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
	const struct CMUnitTest tests[] = {
		CASE(node__put_and_get),
		CASE(node__more_than_the_fifo_in_one_poll),
		CASE(node__a_peer_that_leaves_ends_work),
		CASE(node__sends_bye),
		CASE(node__a_session_with_a_live_peer_outranks_the_table),
		CASE(node__an_idle_session_probes_before_the_table_counts),
		CASE(node__the_table_counts_without_a_live_session),
		cmocka_unit_test(node__congestion_control_by_name),
		cmocka_unit_test(node__payload_crc_by_name),
		CASE(node__wrong_key),
		CASE(node__no_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
