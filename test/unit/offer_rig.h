/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a node that offers its functions, in a thread, and processes that attach without the
 * library. Include cmocka.h first. */
#ifndef TEST_UNIT_OFFER_RIG_H
#define TEST_UNIT_OFFER_RIG_H

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/local.h"
#include "node/node.h"
#include "node/offer_folder.h"
#include "wire/attach.h"

#define WAIT_NS (120 * S_NS)

struct rig {
	char folder[64];
	struct node *node, *nodes[1];
	struct node_loop loop;
	_Atomic int stop;
	pthread_t thread;
	/* a test that holds this pauses the node at the end of its poll */
	pthread_mutex_t hold;
	_Atomic int held;
};

static inline uint32_t service(void *context)
{
	struct rig *r = context;

	if (pthread_mutex_trylock(&r->hold) != 0) {
		r->held = 1;
		pthread_mutex_lock(&r->hold);
	}
	r->held = 0;
	pthread_mutex_unlock(&r->hold);
	return 0;
}

/* The node reads nothing until node_release. */
static inline void node_hold(struct rig *r)
{
	pthread_mutex_lock(&r->hold);
	while (!r->held) {
		node_wake(r->node);
		usleep(50);
	}
}

static inline void node_release(struct rig *r)
{
	pthread_mutex_unlock(&r->hold);
}

static inline void *loop_main(void *context)
{
	node_loop_run(context);
	return NULL;
}

static inline int rig_open(void **state)
{
	struct node_options options = {.name = "offers-test", .static_id = 1};
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	strcpy(r->folder, "/tmp/dxp-offers-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	setenv("DXP_RUN", r->folder, 1);
	address_parse("127.0.0.1", 0, &options.bind);
	assert_int_equal(node_open(&options, &r->node), DXP_OK);
	assert_int_equal(node_offer(r->node, 7, NULL), DXP_OK);
	assert_int_equal(node_offer(r->node, 7, NULL), DXP_EEXIST);
	r->nodes[0] = r->node;
	pthread_mutex_init(&r->hold, NULL);
	r->loop = (struct node_loop){.nodes = r->nodes,
				     .count = 1,
				     .spin_ns = UINT32_MAX,
				     .service = service,
				     .service_context = r,
				     .stop = &r->stop};
	assert_int_equal(pthread_create(&r->thread, NULL, loop_main, &r->loop), 0);
	/* its files are open and its loop sleeps */
	while (dxp_load_acquire(&node_window(r->node)->need_wakeup) == 0)
		usleep(50);
	*state = r;
	return 0;
}

static inline int rig_close(void **state)
{
	struct rig *r = *state;

	r->stop = 1;
	node_wake(r->node);
	pthread_join(r->thread, NULL);
	node_close(r->node);
	assert_int_equal(rmdir(r->folder), 0); /* fails if the node left a socket */
	free(r);
	return 0;
}

/* ---- a process that attaches ---- */

struct user {
	int socket, fds[3];
	struct dxp_window *w;
	struct attach_answer answer;
};

static inline bool user_connect(const struct rig *r, uint32_t function, struct user *u)
{
	char folder[128], path[OFFER_PATH_BYTES];

	memset(u, 0, sizeof(*u));
	snprintf(folder, sizeof(folder), "%s/offers-test.nic", r->folder);
	const struct offer_scope scope = {.only = function > 0, .function = (uint8_t)function};

	return offer_socket_path(folder, scope, path) &&
	       local_connect(path, WAIT_NS, &u->socket) == DXP_OK;
}

/* DXP_ETIMEDOUT: no answer; DXP_ECLOSED: the node closed the socket. */
static inline int answer_decode(struct user *u)
{
	uint8_t bytes[ATTACH_BYTES_MAX];
	unsigned count = 3;

	if (local_wait(u->socket, WAIT_NS) != DXP_OK)
		return DXP_ETIMEDOUT;
	int got = local_receive(u->socket, bytes, sizeof(bytes), u->fds, &count);
	if (got < 0)
		return got;
	int status = attach_answer_decode(bytes, (size_t)got, &u->answer);
	return status == DXP_OK ? u->answer.status : DXP_EIO;
}

static inline int request_send(struct user *u, const struct attach_request *request, int fd)
{
	uint8_t bytes[ATTACH_BYTES_MAX];
	size_t length = attach_request_encode(request, bytes);

	if (local_send(u->socket, bytes, length, &fd, fd >= 0) < 0)
		return DXP_ECLOSED;
	return answer_decode(u);
}

static inline int user_open(struct user *u, uint8_t function, const char *label)
{
	struct attach_request request = {.type = ATTACH_OPEN, .function = function};

	strcpy(request.label, label);
	int status = request_send(u, &request, -1);
	if (status == DXP_OK)
		u->w = mmap(NULL, sizeof(*u->w), PROT_READ | PROT_WRITE, MAP_SHARED, u->fds[0], 0);
	return status;
}

static inline bool attach(const struct rig *r, const char *label, struct user *u)
{
	return user_connect(r, 0, u) && user_open(u, 0, label) == DXP_OK;
}

static inline void user_close(struct user *u)
{
	close(u->socket);
	if (!u->w)
		return;
	munmap(u->w, sizeof(*u->w));
	for (int i = 0; i < 3; i++)
		close(u->fds[i]);
}

static inline uint32_t user_register(struct user *u, const struct local_memory *m)
{
	const struct attach_request request = {
		.type = ATTACH_REGISTER, .bytes = m->bytes, .rights = NIC_REMOTE_WRITE};

	return request_send(u, &request, m->fd) == DXP_OK ? u->answer.key : 0;
}

static inline void kick(const struct user *u)
{
	const uint64_t one = 1;

	dxp_fence();
	if (dxp_load_acquire(&u->w->need_wakeup) && write(u->fds[1], &one, sizeof(one)) < 0)
		abort();
}

static inline bool sent_wait(struct user *u, struct dxp_nic_event *event)
{
	static uint32_t sleeps;
	struct pollfd p = {.fd = u->fds[2], .events = POLLIN};
	char drop[256];

	for (int again = 0; again < 5; again++) {
		__atomic_store_n(&u->w->user_waits, ++sleeps, __ATOMIC_RELAXED);
		dxp_fence();
		if (dxp_sent_dequeue(u->w, event) ||
		    (poll(&p, 1, 10000), dxp_sent_dequeue(u->w, event))) {
			__atomic_store_n(&u->w->user_waits, 0, __ATOMIC_RELAXED);
			if (read(u->fds[2], drop, sizeof(drop)) < 0)
				drop[0] = 0;
			return true;
		}
		if (read(u->fds[2], drop, sizeof(drop)) < 0)
			return false;
	}
	return false;
}

static inline struct attach_row row_of(const struct rig *r, uint8_t function)
{
	const struct attach_request list = {.type = ATTACH_LIST, .function = function};
	struct user u;

	assert_true(user_connect(r, 0, &u));
	assert_int_equal(request_send(&u, &list, -1), DXP_OK);
	close(u.socket);
	return u.answer.rows[0];
}

/* Soon after its user has closed. */
static inline bool freed(const struct rig *r, uint8_t function)
{
	const struct timespec pause = {.tv_nsec = MS_NS};

	for (int i = 0; i < 3000; i++) {
		struct attach_row row = row_of(r, function);
		if (row.state == 0 && row.regions == 0 && row.mapped_bytes == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Counts shared memories, of the node and of the test. */
static inline unsigned mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned count = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "/memfd:") != NULL;
	fclose(maps);
	return count;
}

static inline unsigned descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* The node closes its end later than the test. false: not after 3 s. */
static inline bool all_back(unsigned maps, unsigned fds)
{
	const struct timespec pause = {.tv_nsec = MS_NS};

	for (int i = 0; i < 3000; i++) {
		if (mappings() <= maps && descriptors() <= fds)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

#endif
