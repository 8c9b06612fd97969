/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the sockets through which a node offers functions; the node runs in a thread and sleeps
 * while idle. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "node/limits.h"
#include "test/unit/offer_rig.h"

#define MEMORY (1u << 20)
#define PIECE  (64u << 10)
#define KILLS  12

/* ---- tests ---- */

static void offers__a_function_by_socket(void **state)
{
	struct rig *r = *state;
	unsigned before = mappings(), open_before = descriptors();
	struct user a, b;
	struct dxp_nic_event event;
	struct attach_request find = {.type = ATTACH_FIND, .label = "b", .qp = 1};

	assert_true(attach(r, "a", &a));
	assert_true(user_connect(r, 5, &b));
	assert_int_equal(user_open(&b, 0, "b"), DXP_OK);
	assert_int_equal(b.w->function, 5);
	assert_int_equal(row_of(r, 1).pid, getpid());
	assert_int_equal(request_send(&a, &find, -1), DXP_OK);
	struct dxp_target to = a.answer.target;
	/* node and test wake each other between messages */
	for (uint64_t i = 1; i <= 200; i++) {
		assert_int_equal(dxp_post_nap(a.w, 0, &to, "hello", 5, i, i), DXP_OK);
		kick(&a);
		assert_true(sent_wait(&a, &event));
		assert_int_equal(event.context, i);
		assert_int_equal(event.status, DXP_OK);
		assert_non_null(dxp_received_peek(b.w));
		assert_int_equal(dxp_received_peek(b.w)->imm, i);
		dxp_received_release(b.w);
	}
	user_close(&a);
	user_close(&b);
	assert_true(freed(r, 1) && freed(r, 5));
	assert_true(all_back(before, open_before));
}

static void offers__answers_what_is_malformed(void **state)
{
	struct rig *r = *state;
	const struct attach_request list = {.type = ATTACH_LIST};
	unsigned before = mappings(), open_before = descriptors();
	struct rng random = {7};
	uint8_t bytes[ATTACH_BYTES_MAX + 1];
	struct user u;

	assert_true(user_connect(r, 0, &u));
	for (uint32_t i = 0; i < 200; i++) {
		size_t length = 1 + rng_below(&random, sizeof(bytes));
		const int fds[4] = {0, 1, 2, 0};
		for (size_t k = 0; k < length; k++)
			bytes[k] = (uint8_t)rng_next(&random);
		assert_int_equal(local_send(u.socket, bytes, length, fds, i % 5), (int)length);
		assert_int_equal(answer_decode(&u), DXP_EMALFORMED);
		assert_int_equal(u.answer.type, 0);
	}
	size_t length = attach_request_encode(&list, bytes);
	bytes[4] = 77;
	assert_int_equal(local_send(u.socket, bytes, length, NULL, 0), (int)length);
	assert_int_equal(answer_decode(&u), DXP_EUNSUPPORTED);
	assert_int_equal(request_send(&u, &list, -1), DXP_OK);
	assert_int_equal(u.answer.malformed, 201);
	user_close(&u);
	assert_true(freed(r, 1));
	assert_true(all_back(before, open_before));
}

/* All its connections are in use, but others can connect. */
static void offers__one_socket_does_not_crowd_out_another(void **state)
{
	struct rig *r = *state;
	const struct attach_request list = {.type = ATTACH_LIST};
	struct user crowd[OFFER_CLIENTS_ONE + 3], other;

	for (int i = 0; i < OFFER_CLIENTS_ONE + 3; i++) {
		assert_true(user_connect(r, 2, &crowd[i]));
		if (i < OFFER_CLIENTS_ONE) {
			assert_int_equal(request_send(&crowd[i], &list, -1), DXP_EACCESS);
			continue;
		}
		assert_int_equal(answer_decode(&crowd[i]), DXP_EBUSY);
		assert_int_equal(answer_decode(&crowd[i]), DXP_ECLOSED);
	}
	assert_true(attach(r, "", &other));
	user_close(&other);
	for (int i = 0; i < OFFER_CLIENTS_ONE + 3; i++)
		user_close(&crowd[i]);
	assert_true(user_connect(r, 2, &other));
	assert_int_equal(user_open(&other, 0, ""), DXP_OK);
	user_close(&other);
	assert_true(freed(r, 1) && freed(r, 2));
}

static void offers__drops_clients_that_do_not_read(void **state)
{
	struct rig *r = *state;
	const struct attach_request list = {.type = ATTACH_LIST};
	uint8_t bytes[ATTACH_BYTES_MAX];
	size_t length = attach_request_encode(&list, bytes);
	uint64_t end_ns = clock_now_ns() + WAIT_NS;
	struct user deaf, other;
	int status = DXP_OK;

	assert_true(user_connect(r, 0, &deaf));
	while (status != DXP_ECLOSED && clock_now_ns() < end_ns)
		status = local_send(deaf.socket, bytes, length, NULL, 0);
	assert_int_equal(status, DXP_ECLOSED);
	assert_true(attach(r, "", &other));
	user_close(&other);
	user_close(&deaf);
	assert_true(freed(r, 1));
}

/* Writes a byte to `report` when many PUTs have completed. */
static void victim_run(const struct rig *r, uint32_t sink_key, int report)
{
	struct attach_request find = {.type = ATTACH_FIND, .label = "sink"};
	struct local_memory m;
	struct dxp_nic_event event;
	struct user u;

	if (!attach(r, "victim", &u) || local_memory_create("victim", MEMORY, &m) != DXP_OK ||
	    request_send(&u, &find, -1) != DXP_OK)
		_exit(1);
	struct dxp_target to = u.answer.target;
	struct dxp_entry from = {.bytes = PIECE, .key = user_register(&u, &m)};
	struct dxp_entry at = {.bytes = PIECE, .key = sink_key};
	for (uint64_t i = 0;; i++) {
		at.offset = from.offset = i % (MEMORY / PIECE) * PIECE;
		while (dxp_post_put(u.w, 0, &to, &from, &at, 0, 0, i) == DXP_EAGAIN)
			kick(&u);
		kick(&u);
		while (dxp_sent_dequeue(u.w, &event))
			if (event.status != DXP_OK)
				_exit(2);
		if (i == 100 && write(report, "x", 1) != 1)
			_exit(3);
	}
}

static pid_t victim_start(struct rig *r, uint32_t sink_key)
{
	int pipes[2];
	char x;

	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	if (child == 0)
		victim_run(r, sink_key, pipes[1]);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &x, 1), 1); /* it is sending now */
	close(pipes[0]);
	return child;
}

/* A client killed while it sends delays no other, and all it used is freed. */
static void offers__a_killed_process_hurts_no_other(void **state)
{
	struct rig *r = *state;
	unsigned before = mappings(), open_before = descriptors();
	struct user sink, other;
	struct attach_request find = {.type = ATTACH_FIND, .label = "sink", .qp = 1};
	struct local_memory m;
	struct dxp_nic_event event;
	int status;

	assert_true(attach(r, "sink", &sink) && attach(r, "other", &other));
	assert_int_equal(local_memory_create("sink", MEMORY, &m), DXP_OK);
	uint32_t key = user_register(&sink, &m);
	assert_int_not_equal(key, 0);
	assert_int_equal(request_send(&other, &find, -1), DXP_OK);
	struct dxp_target to = other.answer.target;
	for (uint64_t i = 0; i < KILLS; i++) {
		pid_t victim = victim_start(r, key);
		assert_int_equal(row_of(r, 3).pid, victim);
		assert_int_equal(row_of(r, 3).regions, 1);
		assert_int_equal(kill(victim, SIGKILL), 0);
		assert_int_equal(waitpid(victim, &status, 0), victim);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(dxp_post_nap(other.w, 0, &to, NULL, 0, i, i), DXP_OK);
		kick(&other);
		assert_true(sent_wait(&other, &event));
		assert_int_equal(event.status, DXP_OK);
		assert_int_equal(event.context, i);
		assert_true(freed(r, 3));
	}
	assert_int_equal(dxp_error(sink.w), DXP_OK);
	user_close(&sink);
	user_close(&other);
	assert_true(freed(r, 1) && freed(r, 2));
	local_memory_free(&m);
	assert_true(all_back(before, open_before));
}

static uint64_t node_cpu_ns(const struct rig *r)
{
	struct timespec t;
	clockid_t clock;

	assert_int_equal(pthread_getcpuclockid(r->thread, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

/* A busy machine may reach the sleep late, so the test tries several times. */
static void offers__idle_costs_nothing(void **state)
{
	struct rig *r = *state;
	const struct timespec while_idle = {.tv_nsec = 400 * MS_NS};
	uint64_t used_ns = UINT64_MAX;
	struct user u[3];

	for (int i = 0; i < 3; i++)
		assert_true(attach(r, "", &u[i]));
	for (int looks = 0; looks < 20 && used_ns >= 4 * MS_NS; looks++) {
		uint64_t begin_ns = node_cpu_ns(r);
		nanosleep(&while_idle, NULL);
		used_ns = node_cpu_ns(r) - begin_ns;
		print_message("%.2f %% of a core\n", 100.0 * (double)used_ns / (400.0 * MS_NS));
	}
	assert_true(used_ns < 4 * MS_NS);
	for (int i = 0; i < 3; i++)
		user_close(&u[i]);
	assert_true(freed(r, 1) && freed(r, 2) && freed(r, 3));
}

static void node_offer__reports_a_folder_that_fails(void **state)
{
	struct node_options options = {.name = "offers-test", .static_id = 2};
	struct rig *r = *state;
	struct node *other;

	address_parse("127.0.0.1", 0, &options.bind);
	assert_int_equal(node_open(&options, &other), DXP_OK);
	assert_int_equal(node_offer(other, 0, NULL), DXP_EINVAL);
	assert_int_equal(node_offer(other, 8, NULL), DXP_EINVAL);
	/* the name is in use */
	assert_int_equal(node_offer(other, 7, NULL), DXP_EBUSY);
	assert_int_equal(node_offer(other, 7, "/none/there"), DXP_ENOENT);
	setenv("DXP_RUN", "", 1);
	assert_int_equal(node_offer(other, 7, NULL), DXP_EUNSUPPORTED);
	setenv("DXP_RUN", r->folder, 1);
	node_close(other);
	struct user u;
	assert_true(attach(r, "", &u)); /* the first node still serves */
	user_close(&u);
	assert_true(freed(r, 1));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(offers__a_function_by_socket),
		CASE(offers__answers_what_is_malformed),
		CASE(offers__one_socket_does_not_crowd_out_another),
		CASE(offers__drops_clients_that_do_not_read),
		CASE(offers__a_killed_process_hurts_no_other),
		CASE(offers__idle_costs_nothing),
		CASE(node_offer__reports_a_folder_that_fails),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
