/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests 31 processes that use one NIC at once, each with a queue pair (C-12, C-36). One is killed,
 * and another gets its queue pair. */
#include "test/unit/host_function.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define PROCESSES 31 /* 8 functions of 4 queue pairs, minus the NIC's own */
#define BYTES     4096
#define KILLED    7
#define LIMIT_NS  (120 * S_NS) /* ns; longer is a hang */

struct board {
	_Atomic bool open;
	_Atomic uint32_t attached;   /* processes with a queue pair */
	_Atomic uint32_t arrived[4]; /* processes that reached each barrier */
	uint32_t place[PROCESSES];   /* function * 4 + queue pair */
};

static struct board *board;
static bool child; /* true in a child, where a failed assertion would continue with the next test */
static char run[PATH_MAX];

struct hello {
	uint32_t from, key;
};

static void meeting(uint32_t which, uint32_t count)
{
	uint64_t end_ns = clock_now_ns() + LIMIT_NS;

	atomic_fetch_add(&board->arrived[which], 1);
	while (atomic_load(&board->arrived[which]) < count) {
		assert_true(clock_now_ns() < end_ns);
		usleep(1000);
	}
}

static void name_of(uint32_t i, char name[16])
{
	snprintf(name, 16, "process%u", i);
}

static struct dxp_function *attach(uint32_t i)
{
	char name[16];
	const struct dxp_function_options options = {
		.nic = "shared", .qp = DXP_QP_ANY, .label = name, .timeout_ms = 60000};
	struct dxp_function *f;

	name_of(i, name);
	ok(dxp_function_attach(&options, &f));
	struct dxp_target t = target_of(f, 0);
	board->place[i] = t.function * DXP_QPS + t.qp;
	atomic_fetch_add(&board->attached, 1);
	return f;
}

/* The events that a process has received in one round; they arrive in any order. */
struct inbox {
	bool nap, put;
	struct hello hello;
};

static void receive(struct dxp_function *f, struct inbox *in)
{
	struct dxp_window *w = dxp_function_window(f);
	const struct dxp_nic_event *e = received(f);

	if (e->type == DXP_EVENT_NAP) {
		assert_false(in->nap);
		assert_int_equal(e->bytes, sizeof(in->hello));
		memcpy(&in->hello, dxp_received_data(w, e), sizeof(in->hello));
	} else {
		assert_int_equal(e->type, DXP_EVENT_PUT);
		assert_false(in->put);
	}
	*(e->type == DXP_EVENT_NAP ? &in->nap : &in->put) = true;
	dxp_received_release(w);
}

/* Exchanges keys, then accesses the memory of `from`, while `to` writes bytes [BYTES, 2 * BYTES)
 * here. */
static void exchange(struct dxp_function *f, const struct dxp_memory *m, uint32_t self, uint32_t to,
		     uint32_t from)
{
	struct dxp_window *w = dxp_function_window(f);
	const struct hello own = {self, m->key};
	struct dxp_target next, last;
	struct inbox in = {0};
	char name[16];

	name_of(to, name);
	ok(dxp_function_find(f, name, 0, &next));
	posted(f, dxp_post_nap(w, 0, &next, &own, sizeof(own), 0, 1));
	done(f);
	while (!in.nap)
		receive(f, &in);
	assert_int_equal(in.hello.from, from);
	name_of(from, name);
	ok(dxp_function_find(f, name, 0, &last));
	const struct dxp_entry here = {0, BYTES, m->key}, there = {BYTES, BYTES, in.hello.key};
	const struct dxp_entry back = {2 * BYTES, BYTES, m->key};
	memset(m->base, (int)(self + 1), BYTES);
	posted(f, dxp_post_put(w, 0, &last, &here, &there, DXP_FLAG_NOTIFY, 0, 2));
	posted(f, dxp_post_get(w, 0, &last, &there, &back, 3));
	done(f);
	done(f);
	assert_memory_equal((uint8_t *)m->base + 2 * BYTES, m->base, BYTES);
	while (!in.put)
		receive(f, &in);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(((uint8_t *)m->base)[BYTES + i], to + 1);
}

static uint32_t after(uint32_t i)
{
	return (i + 1) % PROCESSES;
}

static uint32_t before(uint32_t i)
{
	return (i + PROCESSES - 1) % PROCESSES;
}

/* Skips the killed process. */
static uint32_t living(uint32_t (*next)(uint32_t i), uint32_t i)
{
	return next(i) == KILLED ? next(next(i)) : next(i);
}

static void process(uint32_t i)
{
	struct dxp_memory m;

	child = true;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!atomic_load(&board->open))
		usleep(1000);
	struct dxp_function *f = attach(i);
	ok(dxp_memory_create(f, 3 * BYTES, DXP_REMOTE_READ | DXP_REMOTE_WRITE, &m));
	meeting(0, PROCESSES);
	exchange(f, &m, i, after(i), before(i));
	meeting(1, PROCESSES + 1);
	if (i == KILLED)
		raise(SIGKILL);
	exchange(f, &m, i, living(after, i), living(before, i));
	meeting(2, PROCESSES); /* the parent replaces the killed process */
	dxp_function_close(f);
	_exit(0);
}

static struct dxp_nic *nic_serve(void)
{
	const struct dxp_nic_options options = {.name = "shared", .thread = true, .qps = 1};
	struct dxp_nic *nic;

	ok(dxp_nic_open(&options, &nic));
	ok(dxp_nic_serve(nic, NULL));
	return nic;
}

static void places_differ(void)
{
	uint32_t seen = 1; /* the NIC's program has queue pair 0 of function 0 */

	for (uint32_t i = 0; i < PROCESSES; i++) {
		assert_in_range(board->place[i], 1, PROCESSES);
		assert_false(seen >> board->place[i] & 1);
		seen |= 1u << board->place[i];
	}
	assert_int_equal(seen, UINT32_MAX);
}

static void one_more_is_rejected(void)
{
	const struct dxp_function_options any = {.qp = DXP_QP_ANY, .timeout_ms = 60000};
	const struct dxp_function_options whole = {.timeout_ms = 60000};
	struct dxp_function *f;

	fails(dxp_function_attach(&any, &f), DXP_EBUSY, "all queue pairs that");
	fails(dxp_function_attach(&whole, &f), DXP_EBUSY, "all functions that");
}

static void children_end(const pid_t *children)
{
	for (uint32_t i = 0; i < PROCESSES; i++) {
		int status;
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		if (i == KILLED)
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		else
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

static void killed_ones_queue_pair(void)
{
	const struct dxp_function_options options = {.qp = DXP_QP_ANY, .timeout_ms = 60000};
	uint64_t end_ns = clock_now_ns() + LIMIT_NS;
	struct dxp_function *f;

	while (dxp_function_attach(&options, &f) != DXP_OK) {
		assert_true(clock_now_ns() < end_ns);
		usleep(1000);
	}
	struct dxp_target t = target_of(f, 0);
	assert_int_equal(t.function * DXP_QPS + t.qp, board->place[KILLED]);
	dxp_function_close(f);
}

static int folder_make(void **state)
{
	static char folder[] = "host-processes-XXXXXX";

	assert_non_null(mkdtemp(folder));
	assert_non_null(realpath(folder, run));
	setenv("DXP_RUN", run, 1);
	unsetenv("DXP_NIC");
	return 0;
}

static int folder_remove(void **state)
{
	/* fails unless each NIC removed its socket */
	return child ? 0 : rmdir(run);
}

static void processes__31_at_once(void **state)
{
	pid_t children[PROCESSES];

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	assert_ptr_not_equal(board, MAP_FAILED);
	/* Before the NIC has a thread, because fork copies only the calling one. */
	for (uint32_t i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		assert_int_not_equal(children[i], -1);
		if (children[i] == 0)
			process(i);
	}
	struct dxp_nic *nic = nic_serve();
	atomic_store(&board->open, true);
	meeting(1, PROCESSES + 1);
	places_differ();
	killed_ones_queue_pair();
	meeting(2, PROCESSES);
	children_end(children);
	dxp_nic_close(nic);
	munmap(board, sizeof(*board));
}

static void processes__32nd_is_rejected(void **state)
{
	struct dxp_function *f[PROCESSES];

	if (child)
		_exit(1);
	struct dxp_nic *nic = nic_serve();
	for (uint32_t i = 0; i < PROCESSES; i++) {
		const struct dxp_function_options any = {.qp = DXP_QP_ANY, .timeout_ms = 60000};
		ok(dxp_function_attach(&any, &f[i]));
	}
	one_more_is_rejected();
	for (uint32_t i = 0; i < PROCESSES; i++)
		dxp_function_close(f[i]);
	dxp_nic_close(nic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes__31_at_once),
		cmocka_unit_test(processes__32nd_is_rejected),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
