/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one member of a job on <dxp/inc.h> alone: many kinds, types and sizes, every result checked.
 * After a lost group it continues by TCP through rank 0, as an MPI library does. Prints counts.
 * Exits with 0 if no result was wrong, no operation exceeded its deadline, and all members got the
 * same reports.
 *
 *   inc-rank RANK RANKS ROOT_IP:PORT [word=value]...       words: see `words` */
#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <dxp/inc.h>

#include "test/net/inc_values.h"

#define ELEMENTS_MAX (1u << 18)
#define BYTES_MAX    (ELEMENTS_MAX * 8u)
#define RANKS_MAX    256
#define TCP_CALLS    10 /* operations by TCP after a loss, before a new group */

static struct words {
	uint64_t calls;       /* 0: until `seconds` have passed */
	uint64_t seconds;     /* duration by rank 0's clock */
	uint64_t longest;     /* bytes of the longest operation */
	uint64_t groups;      /* at the same time; operations alternate */
	uint64_t deadline_ms; /* an operation without progress fails after it */
	uint64_t create_ms;
	uint64_t user;     /* 1: user-space plane only */
	uint64_t rc;       /* 1: RC framing */
	uint64_t compat;   /* 1: compatible format */
	uint64_t mode;     /* enum dxp_inc_mode */
	uint64_t again;    /* 1: recreates a lost group */
	uint64_t need;     /* 1: fails if the group is rejected */
	uint64_t die;      /* this rank kills itself before this operation; 0: none */
	uint64_t pause_ms; /* pause before each operation */
	uint64_t sleep_ms; /* before this rank's first operation */
	uint64_t abandon;  /* 1: exits without destroying its groups */
	/* kinds of operation in use; XDP supports the first 7; 0: all */
	uint64_t kinds;
	uint64_t plain; /* 1: allreduces only */
	uint64_t seed;
} w = {.mode = DXP_INC_FLAT,
       .calls = 1000,
       .longest = 20000,
       .groups = 1,
       .create_ms = 1000,
       .seed = 1};

static const struct {
	const char *name;
	uint64_t *to;
} words[] = {
	{"calls", &w.calls},
	{"seconds", &w.seconds},
	{"longest", &w.longest},
	{"groups", &w.groups},
	{"deadline", &w.deadline_ms},
	{"create", &w.create_ms},
	{"user", &w.user},
	{"rc", &w.rc},
	{"compat", &w.compat},
	{"mode", &w.mode},
	{"again", &w.again},
	{"need", &w.need},
	{"die", &w.die},
	{"pause", &w.pause_ms},
	{"sleep", &w.sleep_ms},
	{"abandon", &w.abandon},
	{"kinds", &w.kinds},
	{"plain", &w.plain},
	{"seed", &w.seed},
};

static uint32_t rank, ranks;
/* rank 0: sockets of the others; else [0]: to rank 0 */
static int peers[RANKS_MAX];
static uint64_t by_switch, by_tcp, lost, wrong, refused, slowest_us, segments, repeated;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void pause_ms(uint64_t ms)
{
	const struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

static void die(const char *what)
{
	fprintf(stderr, "rank %u: %s\n", rank, what);
	exit(1);
}

/* ---- TCP through rank 0 ---- */

static void move_all(int fd, void *data, size_t bytes, int out)
{
	char *at = data;

	while (bytes > 0) {
		ssize_t n = out ? send(fd, at, bytes, MSG_NOSIGNAL) : recv(fd, at, bytes, 0);
		if (n <= 0) {
			/* another member has exited, so all ranks exit */
			printf("rank %u: a member is gone; switch %" PRIu64 " tcp %" PRIu64
			       " lost %" PRIu64 " wrong %" PRIu64 " slowest_ms %" PRIu64 "\n",
			       rank, by_switch, by_tcp, lost, wrong, slowest_us / 1000);
			exit(wrong ? 1 : 3);
		}
		at += n;
		bytes -= (size_t)n;
	}
}

static int allgather(void *context, const void *own, void *all, size_t bytes)
{
	char *to = all;

	memcpy(to + rank * bytes, own, bytes);
	if (rank != 0) {
		move_all(peers[0], to + rank * bytes, bytes, 1);
		move_all(peers[0], to, bytes * ranks, 0);
		return 0;
	}
	for (uint32_t i = 1; i < ranks; i++)
		move_all(peers[i], to + i * bytes, bytes, 0);
	for (uint32_t i = 1; i < ranks; i++)
		move_all(peers[i], to, bytes * ranks, 1);
	return 0;
}

static void root_listen(const struct sockaddr_in *at)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)at, sizeof(*at)) < 0 || listen(fd, RANKS_MAX) < 0)
		die("cannot listen");
	for (uint32_t i = 1; i < ranks; i++) {
		uint32_t rank_name;
		int peer = accept(fd, NULL, NULL);
		move_all(peer, &rank_name, sizeof(rank_name), 0);
		peers[rank_name] = peer;
	}
	close(fd);
}

static void root_connect(const struct sockaddr_in *at)
{
	for (int i = 0; i < 200; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0) {
			peers[0] = fd;
			move_all(fd, &rank, sizeof(rank), 1);
			return;
		}
		close(fd);
		pause_ms(50);
	}
	die("rank 0 is not there");
}

/* ---- contributions and expected results ---- */

static void own_make(uint64_t call, unsigned kind, size_t count, void *out)
{
	size_t bytes = dxp_inc_type_bytes(kinds[kind].type);

	for (size_t i = 0; i < count; i++)
		store(kinds[kind].type, (char *)out + i * bytes,
		      value(w.seed, rank, call, i, kinds[kind].op), rank);
}

static void expected_make(uint64_t call, unsigned kind, size_t count, void *out)
{
	enum dxp_inc_op op = kinds[kind].op;
	size_t bytes = dxp_inc_type_bytes(kinds[kind].type);

	for (size_t i = 0; i < count; i++) {
		int64_t best = value(w.seed, 0, call, i, op);
		uint32_t index = 0;
		for (uint32_t r = 1; r < ranks; r++) {
			int64_t v = value(w.seed, r, call, i, op);
			bool located = op == DXP_INC_MINLOC || op == DXP_INC_MAXLOC;
			if (!located)
				best = combine(op, best, v);
			else if (op == DXP_INC_MINLOC ? v < best : v > best) {
				best = v;
				index = r;
			}
		}
		store(kinds[kind].type, (char *)out + i * bytes, best, index);
	}
}

/* ---- groups ---- */

struct rank_link {
	struct dxp_inc_group *group; /* NULL: operations run over TCP */
	uint64_t tcp_calls;          /* operations since the loss */
};

static void view_add(const struct dxp_inc_group *g)
{
	struct dxp_inc_group_view v;

	dxp_inc_group_view(g, &v);
	segments += v.segments_sent;
	repeated += v.segments_repeated;
}

static void link_open(struct dxp_inc *inc, struct rank_link *l, unsigned index)
{
	const struct dxp_inc_bootstrap b = {
		.member = rank, .members = ranks, .allgather = allgather};
	const struct dxp_inc_group_options o = {.mode = (enum dxp_inc_mode)w.mode,
						.job_id = w.seed,
						.c_id = index,
						.world_rank = rank};
	char why[DXP_INC_WHY_BYTES] = "";
	int status = dxp_inc_group_create(inc, &b, &o, &l->group, why);

	if (status == DXP_OK)
		return;
	l->group = NULL;
	l->tcp_calls = 0;
	refused++;
	if (rank == 0)
		printf("refused: %s\n", why);
	if (w.need)
		exit(1);
}

/* Fails unless all ranks got the same report. */
static void agree(const char *what, uint64_t own)
{
	uint64_t all[RANKS_MAX];

	allgather(NULL, &own, all, sizeof(own));
	for (uint32_t i = 0; i < ranks; i++) {
		if (all[i] == all[0])
			continue;
		fprintf(stderr, "rank %u: %s: %" PRIu64 " here, %" PRIu64 " at %u\n", rank, what,
			own, all[i], i);
		wrong++;
		die("members were told different things");
	}
}

static void link_lose(struct rank_link *l, size_t done)
{
	struct dxp_inc_group_view v;

	dxp_inc_group_view(l->group, &v);
	if (rank == 0)
		printf("lost: %s\n", dxp_status_text(v.lost_status));
	view_add(l->group);
	lost++;
	agree("elements done", done);
	dxp_inc_group_destroy(l->group);
	l->group = NULL;
	l->tcp_calls = 0;
}

static void check(uint64_t call, const char *what, const void *got, const void *wanted,
		  size_t bytes)
{
	if (memcmp(got, wanted, bytes) == 0)
		return;
	fprintf(stderr, "rank %u: call %" PRIu64 ": wrong result of %s\n", rank, call, what);
	wrong++;
}

static char send_data[BYTES_MAX], received[BYTES_MAX], expected[BYTES_MAX], before[BYTES_MAX];

/* Allreduce, or reduce to one: completed elements are right, others unchanged. */
static void reduce_call(struct rank_link *l, uint64_t call, unsigned kind, size_t count,
			bool to_one)
{
	size_t bytes = dxp_inc_type_bytes(kinds[kind].type), done = 0;
	uint32_t root = (uint32_t)(call % ranks);
	bool own = !to_one || root == rank;
	struct dxp_inc_operation *c;
	int status;

	own_make(call, kind, count, send_data);
	expected_make(call, kind, count, expected);
	memset(received, 0xa5, count * bytes);
	memset(before, 0xa5, count * bytes);
	status = to_one ? dxp_inc_reduce_start(l->group, send_data, received, count,
					       kinds[kind].type, kinds[kind].op, root, &c)
			: dxp_inc_allreduce_start(l->group, send_data, received, count,
						  kinds[kind].type, kinds[kind].op, &c);
	if (status == DXP_OK)
		status = dxp_inc_wait(c, &done);
	if (status != DXP_OK && status != DXP_EPEERLOST)
		die(dxp_status_text(status));
	if (status == DXP_OK && done != count)
		die("done, but not all");
	check(call, to_one ? "a reduce" : "an allreduce", received, own ? expected : before,
	      done * bytes);
	check(call, "an unfinished call", received + done * bytes, before, (count - done) * bytes);
	if (status == DXP_OK)
		by_switch++;
	else
		link_lose(l, done);
}

static void broadcast_call(struct rank_link *l, uint64_t call, size_t bytes)
{
	uint32_t root = (uint32_t)(call % ranks);
	struct dxp_inc_operation *c;
	size_t done = 0;

	for (size_t i = 0; i < bytes; i++)
		expected[i] = (char)mix(call * 31 + i);
	memset(received, 0xa5, bytes);
	if (root == rank)
		memcpy(received, expected, bytes);
	int status = dxp_inc_broadcast_start(l->group, received, bytes, root, &c);
	if (status == DXP_OK)
		status = dxp_inc_wait(c, &done);
	if (status != DXP_OK && status != DXP_EPEERLOST)
		die(dxp_status_text(status));
	check(call, "a broadcast", received, expected, done);
	if (status == DXP_OK)
		by_switch++;
	else
		link_lose(l, done);
}

static void barrier_call(struct rank_link *l)
{
	int status = dxp_inc_barrier(l->group);

	if (status == DXP_OK)
		by_switch++;
	else
		link_lose(l, 0);
}

static size_t count_of(uint64_t call, size_t element_bytes)
{
	uint64_t most = call % 8 == 7 ? w.longest : w.longest < 256 ? w.longest : 256;
	uint64_t count = mix(call + w.seed) % (most / element_bytes + 1);

	return count ? count : 1;
}

static void call_make(struct dxp_inc *inc, struct rank_link *l, uint64_t call, unsigned index)
{
	unsigned kind = (unsigned)(call % (w.kinds ? w.kinds : KINDS));
	uint64_t begin_us;

	if (!l->group && w.again && l->tcp_calls >= TCP_CALLS)
		link_open(inc, l, index);
	if (!l->group) {
		agree("the call", call);
		l->tcp_calls++;
		by_tcp++;
		return;
	}
	size_t count = count_of(call, dxp_inc_type_bytes(kinds[kind].type));
	begin_us = now_us();
	if (w.plain)
		reduce_call(l, call, kind, count, false);
	else if (call % 13 == 5)
		barrier_call(l);
	else if (call % 13 == 8)
		broadcast_call(l, call, count_of(call, 1));
	else
		reduce_call(l, call, kind, count, call % 13 == 11);
	if (now_us() - begin_us > slowest_us)
		slowest_us = now_us() - begin_us;
}

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	stopped = 1;
}

/* Rank 0 decides by its clock every 16 operations; SIGTERM to it stops the job. */
static bool goes_on(uint64_t call, uint64_t begin_us)
{
	uint64_t over = 0, all[RANKS_MAX];

	if (w.calls)
		return call < w.calls;
	if (call % 16 != 0)
		return true;
	over = stopped || now_us() - begin_us > w.seconds * 1000000;
	allgather(NULL, &over, all, sizeof(over));
	return !all[0];
}

static void work(struct dxp_inc *inc)
{
	struct rank_link *rank_links = calloc(w.groups, sizeof(*rank_links));
	uint64_t begin_us;

	for (unsigned i = 0; i < w.groups; i++)
		link_open(inc, &rank_links[i], i);
	pause_ms(w.sleep_ms);
	begin_us = now_us();
	for (uint64_t call = 0; goes_on(call, begin_us); call++) {
		if (w.die && call + 1 == w.die)
			kill(getpid(), SIGKILL);
		if (w.pause_ms)
			pause_ms(w.pause_ms);
		unsigned index = (unsigned)(call % w.groups);
		call_make(inc, &rank_links[index], call, index);
	}
	agree("the end", 1);
	if (w.abandon)
		return;
	for (unsigned i = 0; i < w.groups; i++) {
		if (!rank_links[i].group)
			continue;
		view_add(rank_links[i].group);
		dxp_inc_group_destroy(rank_links[i].group);
	}
	free(rank_links);
}

static void words_parse(int argc, char **argv)
{
	for (int i = 4; i < argc; i++) {
		size_t k = 0, most = sizeof(words) / sizeof(words[0]);
		char *equals = strchr(argv[i], '=');
		if (!equals)
			die("word=value");
		*equals = '\0';
		while (k < most && strcmp(words[k].name, argv[i]) != 0)
			k++;
		if (k == most)
			die("no such word");
		*words[k].to = strtoull(equals + 1, NULL, 10);
	}
	if (w.kinds > KINDS || w.groups == 0)
		die("kinds or groups is wrong");
	if (w.longest > BYTES_MAX / 2)
		die("longest is too long");
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	struct dxp_inc *inc;

	if (argc < 4 || !strchr(argv[3], ':'))
		die("usage: inc-rank RANK RANKS IP:PORT [word=value]...");
	rank = (uint32_t)atoi(argv[1]);
	ranks = (uint32_t)atoi(argv[2]);
	at.sin_port = htons((uint16_t)atoi(strchr(argv[3], ':') + 1));
	*strchr(argv[3], ':') = '\0';
	if (ranks < 1 || ranks > RANKS_MAX || rank >= ranks ||
	    inet_pton(AF_INET, argv[3], &at.sin_addr) != 1)
		die("wrong rank or address");
	words_parse(argc, argv);
	if (rank == 0) {
		signal(SIGTERM, stop);
		root_listen(&at);
	} else {
		root_connect(&at);
	}

	const struct dxp_inc_options o = {.deadline_ns = w.deadline_ms * 1000000,
					  .create_ns = w.create_ms * 1000000,
					  .framing = w.compat ? DXP_INC_COMPAT
						     : w.rc   ? DXP_INC_RC
							      : DXP_INC_UD,
					  .user_plane = w.user};
	if (dxp_inc_open(&o, &inc) != DXP_OK)
		die("no endpoint");
	work(inc);
	if (!w.abandon)
		dxp_inc_close(inc);
	printf("rank %u: switch %" PRIu64 " tcp %" PRIu64 " lost %" PRIu64 " refused %" PRIu64
	       " wrong %" PRIu64 " segments %" PRIu64 " repeated %" PRIu64 " slowest_ms %" PRIu64
	       "\n",
	       rank, by_switch, by_tcp, lost, refused, wrong, segments, repeated,
	       slowest_us / 1000);
	return wrong ? 1 : 0;
}
