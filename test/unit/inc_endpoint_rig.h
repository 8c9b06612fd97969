/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of endpoints with sockets: a switch and members in threads. */
#ifndef TEST_UNIT_INC_ENDPOINT_RIG_H
#define TEST_UNIT_INC_ENDPOINT_RIG_H

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

#include "base/util.h"
#include "switch/serve.h"

#define MEMBERS     3
#define AWAY_NS     (900 * MS_NS)
#define PATIENCE_NS (30 * S_NS)
#define STILL_NS    (60 * MS_NS)

struct bench {
	pthread_t sw;
	_Atomic int stop;
	enum serve_plane plane;
	int wake_fd, ready_fd;
	uint32_t ip;
	char text[32];
};

/* The members' threads exchange data outside the network here. */
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
	int failed; /* line of the first failed CHECK; 0: none */
};

#define CHECK(what)                      \
	do {                             \
		if (!(what))             \
			return __LINE__; \
	} while (0)

UNUSED static void *switch_run(void *context)
{
	struct bench *b = context;
	const char *const port = "lo";
	struct serve_options o = {.core = {.name = "test", .ip = b->ip},
				  .plane = b->plane,
				  .ports = &port,
				  .port_count = 1,
				  .stop = &b->stop,
				  .wake_fd = b->wake_fd,
				  .ready_fd = b->ready_fd};

	serve_run(&o);
	return NULL;
}

/* Each run of this test has another loopback address. */
UNUSED static void bench_open_plane(struct bench *b, enum serve_plane plane)
{
	unsigned pid = (unsigned)getpid();
	int ready[2];
	char line;

	b->stop = 0;
	b->plane = plane;
	b->wake_fd = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	b->ready_fd = ready[1];
	b->ip = 0x7f000000u | (pid & 0x7fff) << 8 | 9;
	snprintf(b->text, sizeof(b->text), "127.%u.%u.9", b->ip >> 16 & 255, b->ip >> 8 & 255);
	assert_int_equal(pthread_create(&b->sw, NULL, switch_run, b), 0);
	assert_int_equal(read(ready[0], &line, 1), 1);
	close(ready[0]);
}

UNUSED static void bench_open(struct bench *b)
{
	bench_open_plane(b, SERVE_PLANE_USER);
}

UNUSED static void bench_close(struct bench *b)
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

UNUSED static int allgather(void *context, const void *own, void *all, size_t bytes)
{
	struct seat *s = context;

	memcpy(s->m->all[s->index], own, bytes);
	pthread_barrier_wait(&s->m->barrier);
	for (unsigned i = 0; i < MEMBERS; i++)
		memcpy((uint8_t *)all + i * bytes, s->m->all[i], bytes);
	pthread_barrier_wait(&s->m->barrier);
	return 0;
}

UNUSED static int group_make(struct member *me, struct meeting *m, struct dxp_inc_group **out)
{
	struct seat seat = {m, me->index};
	struct dxp_inc_bootstrap boot = {me->index, MEMBERS, allgather, &seat};
	char why[DXP_INC_WHY_BYTES];
	int status = dxp_inc_group_create(me->inc, &boot, NULL, out, why);

	if (status != DXP_OK)
		fprintf(stderr, "member %u: %s\n", me->index, why);
	return status;
}

UNUSED static void *member_run(void *context)
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

/* One thread per member. Returns the line of a failed CHECK, or 0. */
UNUSED static int played(struct bench *b, int (*how)(struct member *),
			 struct dxp_inc_options options)
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

/* Timeouts are long, so a busy machine loses no group. */
UNUSED static void play(struct bench *b, int (*how)(struct member *),
			struct dxp_inc_options options)
{
	options.deadline_ns = options.create_ns = PATIENCE_NS;
	assert_int_equal(played(b, how, options), 0);
}

UNUSED static struct dxp_inc *inc_open(const struct bench *b)
{
	struct dxp_inc_options o = {.switches = b->text};
	struct dxp_inc *inc = NULL;

	assert_int_equal(dxp_inc_open(&o, &inc), DXP_OK);
	return inc;
}

UNUSED static int alone(void *context, const void *own, void *all, size_t bytes)
{
	memcpy(all, own, bytes);
	return 0;
}

UNUSED static struct dxp_inc_group *group_alone(struct dxp_inc *inc)
{
	const struct dxp_inc_bootstrap boot = {.members = 1, .allgather = alone};
	struct dxp_inc_group *g = NULL;
	char why[DXP_INC_WHY_BYTES];

	assert_int_equal(dxp_inc_group_create(inc, &boot, NULL, &g, why), DXP_OK);
	return g;
}

#endif
