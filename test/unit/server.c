/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the manager as in production: sockets, a store on disk, its loop in a thread. */
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
#include "manager/server.h"
#include "node/query.h"
#include "node/member.h"

static char folder[64];

static int folder_make(void **state)
{
	snprintf(folder, sizeof(folder), "server-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int scratch_folder_remove(void **state)
{
	static const char *const names[] = {"manager.db", "manager.db-wal", "manager.db-shm",
					    "manager.key", "operator.token"};
	char path[128];

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

static struct server_options options_make(void)
{
	struct server_options options = {.state_folder = folder, .policy = GRANTS_EXPLICIT};

	address_parse("127.0.0.1:0", 0, &options.bind);
	return options;
}

static void *server_main(void *server)
{
	server_run(server);
	return NULL;
}

struct running {
	struct server *server;
	pthread_t thread;
	struct udp_address address;
};

static struct running running_start(const struct server_options *options)
{
	struct running r;

	assert_int_equal(server_open(options, &r.server), DXP_OK);
	server_address(r.server, &r.address);
	assert_int_equal(pthread_create(&r.thread, NULL, server_main, r.server), 0);
	return r;
}

static void running_stop(struct running *r)
{
	server_stop(r->server);
	assert_int_equal(pthread_join(r->thread, NULL), 0);
	server_close(r->server);
}

static struct link *endpoint_open(void)
{
	struct link_options options = {0};
	struct link *l;

	address_parse("127.0.0.1:0", 0, &options.bind);
	assert_int_equal(link_open(&options, &l), DXP_OK);
	return l;
}

static int question(const struct query_options *options)
{
	struct link *l = endpoint_open();
	struct datagram_arrival a;
	struct datagram out;
	struct query *query;

	assert_int_equal(query_create(options, clock_now_ns(), &query), DXP_OK);
	while (!query_done(query)) {
		while (link_receive(l, &a, 1))
			query_receive(query, &a.from, a.data, a.bytes, clock_now_ns());
		if (query_send(query, &out, clock_now_ns()))
			link_send(l, &out, 1);
		if (!query_done(query))
			link_wait(l, query_deadline(query));
	}
	int status = query_status(query);
	query_destroy(query);
	link_close(l);
	return status;
}

static void server_run__answers_and_rejects(void **state)
{
	struct server_options options = options_make();
	struct running r = running_start(&options);
	struct query_options query = {
		.manager = r.address, .kind = QUERY_NODES, .entropy = rng_entropy_kernel};

	assert_int_equal(question(&query), DXP_OK);
	query.kind = QUERY_GRANT;
	query.host = "*";
	query.xpu = "xpu-1";
	assert_int_equal(question(&query), DXP_OK);
	query.key[31] = 1;
	assert_int_equal(question(&query), DXP_EAUTH);
	running_stop(&r);
	query.key[31] = 0;
	query.timeout_ns = 250 * MS_NS;
	assert_int_equal(question(&query), DXP_ETIMEDOUT);
}

/* Polls the member until it has joined, at most for `limit_ns`. */
static void member_poll(struct member *m, struct link *l, uint64_t limit_ns)
{
	uint64_t end_ns = clock_now_ns() + limit_ns;
	struct datagram out[4];
	struct datagram_arrival a;

	while (member_state(m) != MEMBER_JOINED && clock_now_ns() < end_ns) {
		size_t count = member_send(m, out, ARRAY_COUNT(out), clock_now_ns());
		assert_int_equal(link_send(l, out, count), count);
		link_wait(l, min_u64(member_deadline(m), end_ns));
		while (link_receive(l, &a, 1))
			member_receive(m, &a.from, a.data, a.bytes, clock_now_ns());
	}
}

static uint16_t id_get(const struct running *r, struct link *l, const char *name,
		       uint64_t incarnation)
{
	struct member_options options = {
		.manager = r->address,
		.self = {.kind = MANAGE_XPU, .incarnation = incarnation},
		.entropy = rng_entropy_kernel,
	};
	struct member *m;

	strcpy(options.self.name, name);
	strcpy((char *)options.self.uuid, name);
	assert_int_equal(member_create(&options, clock_now_ns(), &m), DXP_OK);
	member_poll(m, l, 5 * S_NS);
	assert_int_equal(member_state(m), MEMBER_JOINED);
	uint16_t id = member_id(m);
	member_destroy(m);
	return id;
}

/* The second id, because a new node would get the first. */
static void server_open__a_restart_gives_the_same_id(void **state)
{
	struct server_options options = options_make();
	struct link *l = endpoint_open(), *other = endpoint_open();
	struct running r = running_start(&options);

	uint16_t first = id_get(&r, other, "first", 1), second = id_get(&r, l, "second", 1);
	assert_int_not_equal(first, second);
	running_stop(&r);
	r = running_start(&options);
	assert_int_equal(id_get(&r, l, "second", 2), second);
	running_stop(&r);
	link_close(l);
	link_close(other);
}

static void server_open__a_port_in_use(void **state)
{
	struct server_options options = options_make();
	struct running r = running_start(&options);
	struct server *second;

	options.bind = r.address;
	assert_int_equal(server_open(&options, &second), DXP_EBUSY);
	running_stop(&r);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, scratch_folder_remove)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(server_run__answers_and_rejects),
		IN_FOLDER(server_open__a_restart_gives_the_same_id),
		IN_FOLDER(server_open__a_port_in_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
