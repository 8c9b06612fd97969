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

#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#include <cmocka.h>

#include <dxp/inc.h>

#include "base/util.h"
#include "link/udp.h"
#include "switch/serve.h"

#define MEMBERS 3
#define AWAY_NS (900 * MS_NS)

struct bench {
	pthread_t sw;
	_Atomic int stop;
	int wake_fd;
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
				  .ready_fd = -1};

	serve(&o);
	return NULL;
}

/* An address of loopback's network that other runs of this test do not have. */
static void bench_open(struct bench *b)
{
	unsigned pid = (unsigned)getpid();

	b->stop = 0;
	b->wake_fd = eventfd(0, 0);
	b->ip = 0x7f000000u | (pid & 0x7fff) << 8 | 9;
	snprintf(b->text, sizeof(b->text), "127.%u.%u.9", b->ip >> 16 & 255, b->ip >> 8 & 255);
	assert_int_equal(pthread_create(&b->sw, NULL, switch_run, b), 0);
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

static void play(struct bench *b, int (*how)(struct member *), struct dxp_inc_options options)
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
		assert_int_equal(members[i].failed, 0);
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
	struct bench b;

	bench_open(&b);
	play(&b, late_play, (struct dxp_inc_options){.deadline_ns = S_NS});
	bench_close(&b);
}

static void endpoint__switch_ends(void **state)
{
	struct bench b;

	bench_open(&b);
	play(&b, lost_play, (struct dxp_inc_options){.deadline_ns = 600 * MS_NS});
}

static void endpoint__selftest(void **state)
{
	struct bench b;
	struct dxp_inc *inc;
	char line[DXP_INC_WHY_BYTES];

	bench_open(&b);
	struct dxp_inc_options o = {.switches = b.text, .create_ns = 300 * MS_NS};
	assert_int_equal(dxp_inc_open(&o, &inc), DXP_OK);
	assert_int_equal(dxp_inc_selftest(inc, line), DXP_OK);
	assert_memory_equal(line, "offload works: switch 127.", 26);
	assert_non_null(strstr(line, "(user plane), 0 switches above it, 8 B in "));
	bench_close(&b);
	assert_int_equal(dxp_inc_selftest(inc, line), DXP_ENOENT);
	assert_memory_equal(line, "no answer by way of switch 127.", 31);
	dxp_inc_close(inc);
	o.switches = "nonsense";
	assert_int_equal(dxp_inc_open(&o, &inc), DXP_EINVAL);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
