/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints with real sockets over loopback, a switch in a thread, members in threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <cmocka.h>

#include <dxp/inc.h>

#include "base/limits.h"
#include "base/util.h"
#include "link/udp.h"
#include "switch/serve.h"

#define MEMBERS     3
#define AWAY_NS     (900 * MS_NS)
#define PATIENCE_NS (30 * S_NS)
#define STILL_NS    (60 * MS_NS)

struct bench {
	pthread_t sw;
	_Atomic int stop;
	int wake_fd, ready_fd;
	uint32_t ip;
	char text[32];
};

/* What the members share besides the network. */
struct meeting {
	pthread_barrier_t barrier;
	uint8_t all[MEMBERS][256];
};

struct member {
	struct bench *b;
	struct meeting *m;
	struct meeting *second; /* of a second group */
	unsigned index;
	struct dxp_inc *inc;
	struct dxp_inc_group *group, *other;
	struct dxp_inc_options options;
	int (*play)(struct member *);
	int failed; /* line */
};

#define CHECK(what)                      \
	do {                             \
		if (!(what))             \
			return __LINE__; \
	} while (0)

static void *switch_run(void *context)
{
	struct bench *b = context;
	struct serve_options o = {.core = {.name = "test", .ip = b->ip},
				  .plane = SERVE_PLANE_USER,
				  .stop = &b->stop,
				  .wake_fd = b->wake_fd,
				  .ready_fd = b->ready_fd};

	serve(&o);
	return NULL;
}

/* An address of loopback's network that other runs of this test do not have. */
static void bench_open(struct bench *b)
{
	unsigned pid = (unsigned)getpid();
	int ready[2];
	char line;

	b->stop = 0;
	b->wake_fd = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	b->ready_fd = ready[1];
	b->ip = 0x7f000000u | (pid & 0x7fff) << 8 | 9;
	snprintf(b->text, sizeof(b->text), "127.%u.%u.9", b->ip >> 16 & 255, b->ip >> 8 & 255);
	assert_int_equal(pthread_create(&b->sw, NULL, switch_run, b), 0);
	assert_int_equal(read(ready[0], &line, 1), 1);
	close(ready[0]);
}

static void bench_close(struct bench *b)
{
	uint64_t one = 1;

	b->stop = 1;
	assert_int_equal(write(b->wake_fd, &one, sizeof(one)), sizeof(one));
	pthread_join(b->sw, NULL);
	close(b->wake_fd);
}

struct seat {
	struct meeting *m;
	unsigned index;
};

static int allgather(void *context, const void *mine, void *all, size_t bytes)
{
	struct seat *s = context;

	memcpy(s->m->all[s->index], mine, bytes);
	pthread_barrier_wait(&s->m->barrier);
	for (unsigned i = 0; i < MEMBERS; i++)
		memcpy((uint8_t *)all + i * bytes, s->m->all[i], bytes);
	pthread_barrier_wait(&s->m->barrier);
	return 0;
}

static int group_make(struct member *me, struct meeting *m, struct dxp_inc_group **out)
{
	struct seat seat = {m, me->index};
	struct dxp_inc_bootstrap boot = {me->index, MEMBERS, allgather, &seat};
	char why[DXP_INC_WHY_BYTES];
	int status = dxp_inc_group_create(me->inc, &boot, NULL, out, why);

	if (status != DXP_OK)
		fprintf(stderr, "member %u: %s\n", me->index, why);
	return status;
}

static void *member_run(void *context)
{
	struct member *me = context;

	me->options.switches = me->b->text;
	if (dxp_inc_open(&me->options, &me->inc) != DXP_OK ||
	    group_make(me, me->m, &me->group) != DXP_OK) {
		me->failed = __LINE__;
		return NULL;
	}
	me->failed = me->play(me);
	pthread_barrier_wait(&me->m->barrier);
	dxp_inc_group_destroy(me->other);
	dxp_inc_group_destroy(me->group);
	dxp_inc_close(me->inc);
	return NULL;
}

/* Returns the line of a failure; 0: none. */
static int played(struct bench *b, int (*how)(struct member *), struct dxp_inc_options options)
{
	struct member members[MEMBERS];
	struct meeting m, second;
	pthread_t threads[MEMBERS];

	pthread_barrier_init(&m.barrier, NULL, MEMBERS);
	pthread_barrier_init(&second.barrier, NULL, MEMBERS);
	for (unsigned i = 0; i < MEMBERS; i++) {
		members[i] = (struct member){.b = b,
					     .m = &m,
					     .second = &second,
					     .index = i,
					     .options = options,
					     .play = how};
		assert_int_equal(pthread_create(&threads[i], NULL, member_run, &members[i]), 0);
	}
	for (unsigned i = 0; i < MEMBERS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < MEMBERS; i++)
		if (members[i].failed)
			return members[i].failed;
	return 0;
}

/* Where nothing is to be lost: patient, since this machine may be busy. */
static void play(struct bench *b, int (*how)(struct member *), struct dxp_inc_options options)
{
	options.deadline_ns = options.create_ns = PATIENCE_NS;
	assert_int_equal(played(b, how, options), 0);
}

/* ---- tests that look at the clock ---- */

/* Looks whether threads of this process are kept from running. */
struct canary {
	pthread_t thread;
	_Atomic bool stop;
	_Atomic uint64_t longest_ns;
};

static void *canary_run(void *context)
{
	struct canary *c = context;

	while (!c->stop) {
		uint64_t begin_ns = link_now_ns();
		usleep(1000);
		uint64_t took_ns = link_now_ns() - begin_ns;
		if (took_ns > c->longest_ns)
			c->longest_ns = took_ns;
	}
	return NULL;
}

/* Failures on a machine that stood still for a while do not count. */
static void play_timed(int (*how)(struct member *), uint64_t deadline_ns, bool ends)
{
	int failed = 1;

	for (unsigned i = 0; failed && i < 10; i++) {
		struct canary c = {.stop = false};
		struct bench b;

		assert_int_equal(pthread_create(&c.thread, NULL, canary_run, &c), 0);
		bench_open(&b);
		failed = played(&b, how,
				(struct dxp_inc_options){.deadline_ns = deadline_ns,
							 .create_ns = PATIENCE_NS});
		if (!ends)
			bench_close(&b);
		c.stop = true;
		pthread_join(c.thread, NULL);
		if (failed && c.longest_ns < STILL_NS)
			fail_msg("line %d", failed);
	}
	if (failed) {
		print_message("this machine stands still too often\n");
		skip();
	}
}

static int sums(struct dxp_inc_group *g, unsigned index, unsigned rounds, size_t longest)
{
	double *in = calloc(longest, sizeof(*in)), *out = calloc(longest, sizeof(*out));

	CHECK(in && out);
	for (unsigned k = 0; k < rounds; k++) {
		size_t n = 1 + k * 7919 % longest, done;
		for (size_t i = 0; i < n; i++)
			in[i] = (double)(i + index + k);
		CHECK(dxp_inc_allreduce(g, in, out, n, DXP_INC_DOUBLE, DXP_INC_SUM, &done) ==
		      DXP_OK);
		CHECK(done == n);
		for (size_t i = 0; i < n; i++)
			CHECK(out[i] == (double)(MEMBERS * (i + k) + MEMBERS * (MEMBERS - 1) / 2));
	}
	free(in);
	free(out);
	return 0;
}

static int sums_play(struct member *me)
{
	return sums(me->group, me->index, 100, 30000);
}

static int kinds_play(struct member *me)
{
	struct dxp_inc_group *g = me->group;
	struct dxp_inc_call *c[3];
	int32_t one = (int32_t)me->index, sum = 0, low = 0;
	char text[3000] = "";
	size_t done;

	if (me->index == 1)
		memset(text, 'x', sizeof(text));
	CHECK(dxp_inc_barrier(g) == DXP_OK);
	/* three at once, and the last asked for first */
	CHECK(dxp_inc_allreduce_start(g, &one, &sum, 1, DXP_INC_INT32, DXP_INC_SUM, &c[0]) ==
	      DXP_OK);
	CHECK(dxp_inc_broadcast_start(g, text, sizeof(text), 1, &c[1]) == DXP_OK);
	CHECK(dxp_inc_reduce_start(g, &one, &low, 1, DXP_INC_INT32, DXP_INC_MAX, 2, &c[2]) ==
	      DXP_OK);
	CHECK(dxp_inc_wait(c[2], &done) == DXP_OK && done == 1);
	CHECK(low == (me->index == 2 ? MEMBERS - 1 : 0));
	while (dxp_inc_test(c[1], &done) == DXP_EAGAIN)
		;
	CHECK(done == sizeof(text) && text[0] == 'x' && text[2999] == 'x');
	CHECK(dxp_inc_wait(c[0], NULL) == DXP_OK && sum == MEMBERS * (MEMBERS - 1) / 2);
	CHECK(dxp_inc_allreduce(g, NULL, &one, 1, DXP_INC_INT32, DXP_INC_SUM, NULL) == DXP_OK);
	CHECK(one == sum);
	CHECK(dxp_inc_allreduce(g, NULL, NULL, 0, DXP_INC_INT32, DXP_INC_SUM, &done) == DXP_OK);
	CHECK(dxp_inc_allreduce(g, NULL, &one, 1, DXP_INC_FLOAT, DXP_INC_BXOR, &done) ==
	      DXP_EINVAL);
	CHECK(!dxp_inc_takes(g, DXP_INC_BXOR, DXP_INC_FLOAT, 1));
	CHECK(dxp_inc_takes(g, DXP_INC_MINLOC, DXP_INC_DOUBLE_INT, 1));
	return 0;
}

static void *other_group(void *context)
{
	struct member *me = context;

	return (void *)(intptr_t)sums(me->other, me->index, 100, 9000);
}

static int two_threads_play(struct member *me)
{
	pthread_t thread;
	void *line;

	CHECK(group_make(me, me->second, &me->other) == DXP_OK);
	CHECK(pthread_create(&thread, NULL, other_group, me) == 0);
	int own = sums(me->group, me->index, 100, 9000);
	pthread_join(thread, &line);
	CHECK(own == 0);
	return (int)(intptr_t)line;
}

/* Longer away than the deadline; the thread answers for it. */
static int late_play(struct member *me)
{
	if (me->index == 1)
		usleep(2500 * 1000);
	return sums(me->group, me->index, 3, 1000);
}

/* The switch ends; member 1 is in no call and comes to know it later. */
static int lost_play(struct member *me)
{
	int64_t in = 1, out = 0;
	size_t done = 7;
	struct dxp_inc_group_view v;

	CHECK(sums(me->group, me->index, 5, 1000) == 0);
	pthread_barrier_wait(&me->m->barrier);
	if (me->index == 0)
		bench_close(me->b);
	pthread_barrier_wait(&me->m->barrier);
	if (me->index == 1)
		usleep(AWAY_NS / 1000);
	uint64_t begin_ns = link_now_ns();
	CHECK(dxp_inc_allreduce(me->group, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, &done) ==
	      DXP_EPEERLOST);
	CHECK(done == 0 && out == 0);
	/* counted from when the last is there: until then it may be waited for in vain */
	CHECK(link_now_ns() - begin_ns <
	      (me->index == 1 ? 0 : AWAY_NS) + me->options.deadline_ns + 600 * MS_NS);
	dxp_inc_group_view(me->group, &v);
	CHECK(v.lost && v.lost_status != DXP_OK);
	return 0;
}

static void endpoint__sums_are_right(void **state)
{
	struct bench b;

	bench_open(&b);
	play(&b, sums_play, (struct dxp_inc_options){0});
	play(&b, sums_play, (struct dxp_inc_options){.spin_ns = 50000, .user_plane = true});
	play(&b, sums_play, (struct dxp_inc_options){.framing = DXP_INC_RC});
	bench_close(&b);
}

static void idle(void *context)
{
	atomic_fetch_add((_Atomic unsigned *)context, 1);
}

static void endpoint__kinds_of_calls(void **state)
{
	struct bench b;
	_Atomic unsigned count = 0;

	bench_open(&b);
	play(&b, kinds_play, (struct dxp_inc_options){.idle = idle, .idle_context = &count});
	play(&b, kinds_play, (struct dxp_inc_options){.no_icrc_check = true});
	bench_close(&b);
}

static void endpoint__two_groups_in_two_threads(void **state)
{
	struct bench b;

	bench_open(&b);
	play(&b, two_threads_play, (struct dxp_inc_options){0});
	bench_close(&b);
}

static void endpoint__packets_get_lost(void **state)
{
	struct bench b;

	setenv("DXP_FAULT", "loss=2%,dup=2%,reorder=2%,corrupt=1%,seed=5", 1);
	bench_open(&b);
	play(&b, sums_play, (struct dxp_inc_options){0});
	play(&b, kinds_play, (struct dxp_inc_options){0});
	unsetenv("DXP_FAULT");
	bench_close(&b);
}

static void endpoint__late_member(void **state)
{
	play_timed(late_play, S_NS, false);
}

static void endpoint__switch_ends(void **state)
{
	play_timed(lost_play, 600 * MS_NS, true);
}

static struct dxp_inc *inc_open(const struct bench *b)
{
	struct dxp_inc_options o = {.switches = b->text};
	struct dxp_inc *inc = NULL;

	assert_int_equal(dxp_inc_open(&o, &inc), DXP_OK);
	return inc;
}

static void endpoint__selftest(void **state)
{
	struct dxp_inc_options o = {.switches = "nonsense"};
	char line[DXP_INC_WHY_BYTES];
	struct dxp_inc *inc;
	struct bench b;

	bench_open(&b);
	inc = inc_open(&b);
	assert_int_equal(dxp_inc_selftest(inc, line), DXP_OK);
	assert_memory_equal(line, "offload works: switch 127.", 26);
	assert_non_null(strstr(line, "(user plane), 0 switches above it, 8 B in "));
	bench_close(&b);
	/* The kernel says that nothing listens there. What the switch said last may be read late,
	 * on a machine that stands still, and look like a sign of life. */
	for (unsigned i = 0; i < 10 && !strstr(line, "nothing listens"); i++) {
		usleep(INC_HEARD_NS / 1000);
		assert_int_equal(dxp_inc_selftest(inc, line), DXP_ENOENT);
		assert_memory_equal(line, "no answer by way of switch 127.", 31);
	}
	assert_non_null(strstr(line, "nothing listens"));
	dxp_inc_close(inc);
	assert_int_equal(dxp_inc_open(&o, &inc), DXP_EINVAL);
}

/* Somebody has the port, and says nothing. */
static void endpoint__silent_switch(void **state)
{
	struct bench b = {.ip = 0x7f000000u | ((unsigned)getpid() & 0x7fff) << 8 | 8};
	const struct link_options o = {.bind = wire_address_v4(b.ip, ROCE_PORT)};
	char line[DXP_INC_WHY_BYTES];
	struct link *mute;

	assert_int_equal(link_open(&o, &mute), DXP_OK);
	snprintf(b.text, sizeof(b.text), "127.%u.%u.8", b.ip >> 16 & 255, b.ip >> 8 & 255);
	struct dxp_inc *inc = inc_open(&b);
	assert_int_equal(dxp_inc_selftest(inc, line), DXP_ENOENT);
	assert_non_null(strstr(line, "it does not answer"));
	dxp_inc_close(inc);
	link_close(mute);
}

static int alone(void *context, const void *mine, void *all, size_t bytes)
{
	memcpy(all, mine, bytes);
	return 0;
}

static struct dxp_inc_group *group_alone(struct dxp_inc *inc)
{
	const struct dxp_inc_bootstrap boot = {.members = 1, .allgather = alone};
	struct dxp_inc_group *g = NULL;
	char why[DXP_INC_WHY_BYTES];

	assert_int_equal(dxp_inc_group_create(inc, &boot, NULL, &g, why), DXP_OK);
	return g;
}

/* What a C program may hand over by mistake. */
static void endpoint__wrong_arguments(void **state)
{
	const struct dxp_inc_bootstrap mute = {.members = 1};
	const struct dxp_inc_bootstrap none = {.allgather = alone};
	const struct dxp_inc_group_options odd = {.mode = (enum dxp_inc_mode)9};
	struct dxp_inc_options framing = {.framing = (enum dxp_inc_framing)7};
	struct dxp_inc_call *call;
	char why[DXP_INC_WHY_BYTES];
	int64_t in = 3, out = 0;
	size_t done = 9;
	struct bench b;

	bench_open(&b);
	struct dxp_inc *inc = inc_open(&b);
	struct dxp_inc_group *g = group_alone(inc), *no = NULL;
	assert_int_equal(dxp_inc_open(NULL, NULL), DXP_EINVAL);
	assert_int_equal(dxp_inc_open(&framing, &inc), DXP_EINVAL);
	assert_int_equal(dxp_inc_group_create(inc, &mute, NULL, &no, why), DXP_EINVAL);
	assert_int_equal(dxp_inc_group_create(inc, &none, NULL, &no, why), DXP_EINVAL);
	assert_int_equal(dxp_inc_group_create(inc, NULL, NULL, &no, why), DXP_EINVAL);
	assert_int_equal(dxp_inc_group_create(inc, &none, &odd, &no, why), DXP_EINVAL);
#define SUM(group, send, receive, count, type, op) \
	dxp_inc_allreduce(group, send, receive, count, type, op, &done)
	assert_int_equal(SUM(NULL, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(done, 0);
	assert_int_equal(SUM(g, &in, NULL, 1, DXP_INC_INT64, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(SUM(g, NULL, NULL, 1, DXP_INC_INT64, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, 1, (enum dxp_inc_type)17, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, 1, (enum dxp_inc_type) - 1, DXP_INC_SUM), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, 1, DXP_INC_INT64, (enum dxp_inc_op)13), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, 1, DXP_INC_INT64, (enum dxp_inc_op) - 1), DXP_EINVAL);
	assert_int_equal(SUM(g, &in, &out, SIZE_MAX, DXP_INC_DOUBLE_INT, DXP_INC_MAXLOC),
			 DXP_EUNSUPPORTED);
	assert_int_equal(SUM(g, &in, &out, 1ull << 32, DXP_INC_INT64, DXP_INC_SUM),
			 DXP_EUNSUPPORTED);
	assert_int_equal(SUM(g, NULL, NULL, 0, DXP_INC_INT64, DXP_INC_SUM), DXP_OK);
	assert_int_equal(dxp_inc_allreduce_start(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, NULL),
			 DXP_EINVAL);
	assert_int_equal(
		dxp_inc_reduce_start(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, 1, &call),
		DXP_EINVAL);
	assert_int_equal(
		dxp_inc_reduce_start(g, &in, NULL, 1, DXP_INC_INT64, DXP_INC_SUM, 0, &call),
		DXP_EINVAL);
	assert_int_equal(dxp_inc_broadcast_start(g, NULL, 5, 0, &call), DXP_EINVAL);
	assert_int_equal(dxp_inc_broadcast_start(g, &in, SIZE_MAX, 0, &call), DXP_EUNSUPPORTED);
	assert_int_equal(dxp_inc_barrier(NULL), DXP_EINVAL);
	assert_int_equal(dxp_inc_wait(NULL, NULL), DXP_EINVAL);
	assert_int_equal(dxp_inc_test(NULL, NULL), DXP_EINVAL);
	assert_false(dxp_inc_takes(NULL, DXP_INC_SUM, DXP_INC_INT32, 1));
	assert_false(dxp_inc_takes(g, DXP_INC_SUM, (enum dxp_inc_type)99, 1));
	/* after all that it works */
	assert_int_equal(SUM(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM), DXP_OK);
	assert_int_equal(out, 3);
	dxp_inc_group_destroy(g);
	dxp_inc_group_destroy(NULL);
	uint64_t begin_ns = link_now_ns();
	dxp_inc_close(inc);
	dxp_inc_close(NULL);
	/* nobody needs the results of a group of one: close need not wait */
	if (link_now_ns() - begin_ns > 90 * MS_NS)
		print_message("closing took %llu ms\n",
			      (unsigned long long)((link_now_ns() - begin_ns) / MS_NS));
	bench_close(&b);
}

/* system() and fork() of a program in the middle of its work. */
static void endpoint__child_process(void **state)
{
	int64_t in = 3, out = 0;
	struct bench b;
	int how;

	bench_open(&b);
	struct dxp_inc *inc = inc_open(&b);
	struct dxp_inc_group *g = group_alone(inc);
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();
		if (child == 0) {
			alarm(20); /* whoever hangs dies */
			bool well = dxp_inc_allreduce(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM,
						      NULL) == DXP_ECLOSED;
			dxp_inc_group_destroy(g);
			dxp_inc_close(inc);
			_exit(well ? 0 : 1);
		}
		assert_true(child > 0);
		assert_int_equal(
			dxp_inc_allreduce(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, NULL),
			DXP_OK);
		assert_int_equal(waitpid(child, &how, 0), child);
		assert_int_equal(how, 0);
	}
	/* a program that is called has none of the sockets */
	char command[80];
	snprintf(command, sizeof(command), "! ls -l /proc/self/fd | grep -q -e socket: -e eventfd");
	assert_int_equal(system(command), 0);
	assert_int_equal(dxp_inc_allreduce(g, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, NULL),
			 DXP_OK);
	dxp_inc_group_destroy(g);
	dxp_inc_close(inc);
	bench_close(&b);
}

/* exit() in the middle of it, as a program does that failed. */
static void endpoint__exit_without_close(void **state)
{
	struct bench b;
	int how;

	bench_open(&b);
	pid_t child = fork();
	if (child == 0) {
		alarm(20);
		group_alone(inc_open(&b));
		exit(7);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_true(WIFEXITED(how)); /* sanitizers have statuses of their own */
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(endpoint__sums_are_right),
		cmocka_unit_test(endpoint__kinds_of_calls),
		cmocka_unit_test(endpoint__two_groups_in_two_threads),
		cmocka_unit_test(endpoint__packets_get_lost),
		cmocka_unit_test(endpoint__late_member),
		cmocka_unit_test(endpoint__switch_ends),
		cmocka_unit_test(endpoint__selftest),
		cmocka_unit_test(endpoint__silent_switch),
		cmocka_unit_test(endpoint__wrong_arguments),
		cmocka_unit_test(endpoint__child_process),
		cmocka_unit_test(endpoint__exit_without_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
