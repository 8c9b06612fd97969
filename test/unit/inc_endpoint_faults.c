/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests failures of the n-th allocation, socket, thread or send of two members: same status at
 * both, right results, no leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cmocka.h>

#include <dxp/inc.h>

#include "base/log.h"
#include "base/util.h"
#include "switch/serve.h"
#include "test/sim/memory.h"

#define MEMBERS  2
#define RUNS_MAX 400

#define FALLIBLE(type, name, parameters, arguments, error, result) \
	type __real_##name parameters;                             \
	type __wrap_##name parameters;                             \
	type __wrap_##name parameters                              \
	{                                                          \
		if (!fails_now())                                  \
			return __real_##name arguments;            \
		errno = error;                                     \
		return result;                                     \
	}

FALLIBLE(int, socket, (int family, int type, int protocol), (family, type, protocol), EMFILE, -1)
FALLIBLE(int, eventfd, (unsigned value, int flags), (value, flags), EMFILE, -1)
FALLIBLE(int, epoll_create1, (int flags), (flags), EMFILE, -1)
FALLIBLE(void *, mmap, (void *at, size_t bytes, int rights, int flags, int fd, off_t offset),
	 (at, bytes, rights, flags, fd, offset), ENOMEM, MAP_FAILED)
FALLIBLE(int, pthread_create,
	 (pthread_t * thread, const pthread_attr_t *a, void *(*run)(void *), void *context),
	 (thread, a, run, context), EAGAIN, EAGAIN)
FALLIBLE(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), ENOBUFS, -1)
FALLIBLE(ssize_t, sendto,
	 (int fd, const void *data, size_t bytes, int flags, const struct sockaddr *to,
	  socklen_t to_bytes),
	 (fd, data, bytes, flags, to, to_bytes), EPERM, -1)
FALLIBLE(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned count, int flags),
	 (fd, m, count, flags), EPERM, -1)

/* ---- the switch, in its own process, where no call fails ---- */

struct scene {
	pid_t sw;
	char text[32];
	struct dxp_inc *incs[MEMBERS];
	pthread_barrier_t barrier;
	uint8_t all[MEMBERS][256];
};

struct seat {
	struct scene *scene;
	unsigned index;
	int status;
	bool right;
};

static void scene_open(struct scene *s)
{
	unsigned pid = (unsigned)getpid();
	uint32_t ip = 0x7f000000u | (pid & 0x7fff) << 8 | 11;
	int ready[2];
	char line;

	snprintf(s->text, sizeof(s->text), "127.%u.%u.11", ip >> 16 & 255, ip >> 8 & 255);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	s->sw = fork();
	assert_true(s->sw >= 0);
	if (s->sw == 0) {
		static _Atomic int stop;
		struct serve_options o = {.core = {.name = "test", .ip = ip},
					  .plane = SERVE_PLANE_USER,
					  .stop = &stop,
					  .wake_fd = -1,
					  .ready_fd = ready[1]};
		serve_run(&o);
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &line, 1), 1);
	close(ready[0]);
	pthread_barrier_init(&s->barrier, NULL, MEMBERS);
}

static void scene_close(struct scene *s)
{
	kill(s->sw, SIGKILL);
	waitpid(s->sw, NULL, 0);
	pthread_barrier_destroy(&s->barrier);
}

static int allgather(void *context, const void *own, void *all, size_t bytes)
{
	struct seat *me = context;
	struct scene *s = me->scene;

	memcpy(s->all[me->index], own, bytes);
	pthread_barrier_wait(&s->barrier);
	for (unsigned i = 0; i < MEMBERS; i++)
		memcpy((uint8_t *)all + i * bytes, s->all[i], bytes);
	pthread_barrier_wait(&s->barrier);
	return 0;
}

/* An operation that lacks memory is tried again. Returns whether all results are right. */
static bool calls(struct dxp_inc_group *g)
{
	static const double in[3000] = {1, 2};
	double out[3000];

	for (unsigned i = 0; i < 3; i++) {
		int status;
		do
			status = dxp_inc_allreduce(g, in, out, 3000, DXP_INC_DOUBLE, DXP_INC_SUM,
						   NULL);
		while (status == DXP_ENOMEM);
		if (status != DXP_OK || out[0] != MEMBERS || out[1] != 2 * MEMBERS)
			return false;
	}
	return true;
}

static void *member(void *context)
{
	struct seat *me = context;
	struct dxp_inc_bootstrap boot = {me->index, MEMBERS, allgather, me};
	struct dxp_inc_group *g;
	char why[DXP_INC_WHY_BYTES];

	me->status = dxp_inc_group_create(me->scene->incs[me->index], &boot, NULL, &g, why);
	me->right = true;
	if (me->status != DXP_OK)
		return NULL;
	me->right = calls(g);
	dxp_inc_group_destroy(g);
	return NULL;
}

static unsigned files_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* Returns whether no call failed. */
static bool lifetime(struct scene *s, uint64_t n)
{
	struct dxp_inc_options o = {
		.switches = s->text, .deadline_ns = 20 * S_NS, .create_ns = 400 * MS_NS};
	struct seat seats[MEMBERS];
	pthread_t other;
	bool well = true;

	countdown = n;
	for (unsigned i = 0; i < MEMBERS; i++) {
		int status = dxp_inc_open(&o, &s->incs[i]);
		if (status != DXP_OK) {
			assert_true(status == DXP_ENOMEM || status == DXP_EIO ||
				    status == DXP_ENOENT);
			well = false;
			while (i-- > 0)
				dxp_inc_close(s->incs[i]);
			break;
		}
	}
	if (well) {
		for (unsigned i = 0; i < MEMBERS; i++)
			seats[i] = (struct seat){.scene = s, .index = i};
		assert_int_equal(__real_pthread_create(&other, NULL, member, &seats[1]), 0);
		member(&seats[0]);
		pthread_join(other, NULL);
		/* two threads may decrement `countdown` below 0 */
		well = countdown > 0 && countdown <= n;
		countdown = 0;
		assert_int_equal(seats[0].status, seats[1].status);
		assert_true(seats[0].right && seats[1].right);
		for (unsigned i = 0; i < MEMBERS; i++)
			dxp_inc_close(s->incs[i]);
	}
	countdown = 0;
	return well;
}

static void faults__each_call_for_help(void **state)
{
	struct scene s;
	uint64_t n = 1;

	log_level_set(LOG_LEVEL_ERROR);
	scene_open(&s);
	lifetime(&s, 1u << 30); /* creates objects that live until exit */
	unsigned files = files_open();
	while (!lifetime(&s, n)) {
		assert_true(n++ < RUNS_MAX);
		assert_int_equal(files_open(), files);
	}
	scene_close(&s);
	print_message("%llu of them\n", (unsigned long long)n);
	assert_true(n > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults__each_call_for_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
