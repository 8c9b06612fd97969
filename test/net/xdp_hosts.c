/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts around a switch with a loaded XDP plane, in namespaces of inc_xdp.sh.
 *
 *   xdp-hosts SWITCH_NS HOST_NS HOST_NS HOST_NS HOST_NS SEGMENTS
 *
 * Hosts 10.99.0.1 .. 4 are behind ports p0 .. p3 of a bridge with 10.99.0.254. Group A has all
 * hosts, with members in two threads on different CPUs; at the same time group B has the first
 * three, in one thread. Random contributions, some sent twice; results are compared bit for bit
 * with the CPU's. TCP runs through the bridge meanwhile. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "bench/child.h"
#include "bench/inc_end.h"
#include "switch/plane_group.h"

#define HOSTS       4
#define SWITCH_IP   0x0a6300feu
#define HOST_IP     0x0a630001u /* of the first host; add another's index */
#define QKEY        0x11223344u
#define ELEMENTS    32
#define REPEAT_NS   (2ull * 1000 * 1000)
#define TRIES       2000
#define TCP_BYTES   (8u << 20)
#define TCP_PORT    7777
#define TWICE_IN_16 1 /* contributions sent twice, of sixteen */

struct group {
	uint32_t id, members;
	struct inc_end ends[HOSTS];
};

/* One thread's members: `count` from `first`. */
struct mover {
	struct group *group;
	uint32_t first, count, segments;
	int cpu;
	uint64_t repeats, wrong, lost;
};

static struct group groups[2] = {{.id = 0xa0a1a2a3, .members = 4},
				 {.id = 0xb0b1b2b3, .members = 3}};

/* Returns the same value for the same arguments, so that both sides can compute it. Exponents are
 * close, so that sums round and cancel. */
static double value_of(uint32_t group, uint32_t segment, uint32_t member, uint32_t element)
{
	struct rng rng = {((uint64_t)group << 32 | segment) * 4096 + member * 64 + element};
	uint64_t bits = (rng_next(&rng) & 0x801fffffffffffffull) | 0x3fc0000000000000ull;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static bool result_right(const struct group *g, uint32_t segment, const struct inc_packet *p)
{
	double expected[ELEMENTS];

	for (uint32_t e = 0; e < ELEMENTS; e++) {
		expected[e] = value_of(g->id, segment, 0, e);
		for (uint32_t m = 1; m < g->members; m++)
			expected[e] += value_of(g->id, segment, m, e);
	}
	return p->header.status == 0 && p->payload_bytes == sizeof(expected) &&
	       memcmp(p->payload, expected, sizeof(expected)) == 0;
}

static void contribute(struct group *g, uint32_t segment, uint32_t member, bool again)
{
	struct inc_header h = {
		.src_rank = member,
		.comm_id = g->id,
		.epoch = 1,
		.op = DXP_INC_SUM,
		.type = DXP_INC_DOUBLE,
		.req_id = segment,
		.call_elements = ELEMENTS,
		.elements = ELEMENTS,
		.kind = INC_DATA,
		.flags = INC_FLAG_SHORT | INC_FLAG_LAST | (again ? INC_FLAG_REPEAT : 0),
		.collective = INC_ALLREDUCE,
	};
	double values[ELEMENTS];

	for (uint32_t e = 0; e < ELEMENTS; e++)
		values[e] = value_of(g->id, segment, member, e);
	inc_end_send(&g->ends[member], &h, QKEY, values, sizeof(values));
}

/* Waits for one member's result; retransmits for all of this thread. */
static void finish(struct mover *m, uint32_t segment, uint32_t member)
{
	struct inc_packet p;

	for (int tries = 0; tries < TRIES;) {
		if (!inc_end_receive(&m->group->ends[member], true, REPEAT_NS, &p)) {
			for (uint32_t i = 0; i < m->count; i++)
				contribute(m->group, segment, m->first + i, true);
			m->repeats++;
			tries++;
		} else if (p.header.comm_id != m->group->id) {
			/* of a group without a member at this end */
			m->wrong++;
		} else if (p.header.req_id == segment) {
			m->wrong += !result_right(m->group, segment, &p);
			return;
		}
	}
	m->lost++;
}

static void *move(void *context)
{
	struct mover *m = context;
	struct rng rng = {m->first + 1};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(m->cpu % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (uint32_t s = 0; s < m->segments && !m->lost; s++) {
		for (uint32_t i = 0; i < m->count; i++) {
			contribute(m->group, s, m->first + i, false);
			if (rng_below(&rng, 16) < TWICE_IN_16)
				contribute(m->group, s, m->first + i, true);
		}
		for (uint32_t i = 0; i < m->count; i++)
			finish(m, s, m->first + i);
	}
	return NULL;
}

/* ---- TCP through the bridge ---- */

static int tcp_listener;

static void *tcp_receive(void *context)
{
	static char buffer[65536];
	int fd = accept(tcp_listener, NULL, NULL);
	ssize_t n;
	uint64_t *bytes = context;

	while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		*bytes += (uint64_t)n;
	close(fd);
	return NULL;
}

static int tcp_open(const char *netns, bool listens)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(HOST_IP),
				 .sin_port = htons(TCP_PORT)};
	int fd;

	if (child_netns_enter(netns) != DXP_OK)
		exit(1);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (listens ? bind(fd, (struct sockaddr *)&to, sizeof(to)) || listen(fd, 1)
		    : connect(fd, (struct sockaddr *)&to, sizeof(to)))
		exit(1);
	return fd;
}

static uint64_t tcp_run(char **host_ns)
{
	static char data[65536];
	uint64_t received = 0, given = 0;
	pthread_t thread;
	int fd;

	tcp_listener = tcp_open(host_ns[0], true);
	pthread_create(&thread, NULL, tcp_receive, &received);
	fd = tcp_open(host_ns[3], false);
	while (given < TCP_BYTES) {
		ssize_t n = write(fd, data, sizeof(data));

		if (n <= 0)
			break;
		given += (uint64_t)n;
	}
	close(fd);
	pthread_join(thread, NULL);
	return received;
}

/* ---- the groups ---- */

static void ends_open(char **host_ns)
{
	for (uint32_t host = 0; host < HOSTS; host++) {
		if (child_netns_enter(host_ns[host]) != DXP_OK)
			exit(1);
		for (uint32_t g = 0; g < 2; g++)
			if (inc_end_open(
				    HOST_IP + host, (uint16_t)(ROCE_SOURCE_PORT + g), SWITCH_IP,
				    SWITCH_MULTICAST_IP | (groups[g].id & SWITCH_MULTICAST_MASK),
				    &groups[g].ends[host]) != DXP_OK)
				exit(1);
	}
}

/* Retries with control packets of all members, from which the program learns their ports. */
static void groups_install(struct plane *p)
{
	struct inc_header h = {.comm_id = INC_COMM_CONTROL, .kind = INC_RENEW};
	static const uint8_t payload[72];

	for (uint32_t g = 0; g < 2; g++) {
		struct sw_child children[HOSTS];
		struct sw_group_view view = {.id = groups[g].id,
					     .qkey = QKEY,
					     .members = groups[g].members,
					     .epoch = 1,
					     .planes = INC_PLANE_KERNEL,
					     .child_count = groups[g].members,
					     .children = children};
		int tries = 0;

		for (uint32_t m = 0; m < groups[g].members; m++)
			children[m] = (struct sw_child){HOST_IP + m,
							(uint16_t)(ROCE_SOURCE_PORT + g), false, m};
		while (!plane_install(p, &view)) {
			for (uint32_t m = 0; m < groups[g].members; m++)
				inc_end_send(&groups[g].ends[m], &h, INC_CONTROL_QKEY, payload,
					     sizeof(payload));
			usleep(10000);
			if (++tries == 100) {
				printf("FAILED: the group is not installed\n");
				exit(1);
			}
		}
	}
}

static struct plane *plane_start(const char *netns)
{
	static const char *const ports[HOSTS] = {"p0", "p1", "p2", "p3"};
	struct plane_options options = {.ip = SWITCH_IP, .ports = ports, .port_count = HOSTS};
	char why[PLANE_WHY_BYTES];
	struct plane *p;

	if (child_netns_enter(netns) != DXP_OK)
		exit(1);
	switch (plane_open(&options, &p, why)) {
	case DXP_OK: return p;
	case DXP_EUNSUPPORTED: printf("skipped: %s\n", why); exit(77);
	default: printf("FAILED: %s\n", why); exit(1);
	}
}

static void row(void *context, const char *interface, uint32_t program_id, bool native)
{
	++*(int *)context;
}

/* Lists and removes the program from another process: any with the right can, even if it attached
 * nothing. */
static bool list_and_remove(const char *netns)
{
	char why[PLANE_WHY_BYTES];
	int before = 0, after = 0;

	if (child_netns_enter(netns) != DXP_OK)
		exit(1);
	plane_list(row, &before);
	if (plane_remove("p3", why) != DXP_OK)
		return false;
	plane_list(row, &after);
	return before == HOSTS && after == HOSTS - 1 && plane_remove("p3", why) == DXP_ENOENT &&
	       plane_remove("nosuch", why) == DXP_ENOENT;
}

int main(int argc, char **argv)
{
	uint32_t segments = argc == 3 + HOSTS ? (uint32_t)atoi(argv[2 + HOSTS]) : 0;
	struct mover movers[3] = {{&groups[0], 0, 2, segments, 0},
				  {&groups[0], 2, 2, segments, 1},
				  {&groups[1], 0, 3, segments, 1}};
	uint64_t repeats = 0, wrong = 0, lost = 0, tcp, counts[KERNEL_COUNTERS];
	pthread_t threads[3];
	struct inc_packet stray;
	struct plane *p;

	if (segments == 0)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	p = plane_start(argv[1]);
	ends_open(argv + 2);
	if (child_netns_enter(argv[1]) != DXP_OK) /* the namespace with the ports */
		return 1;
	groups_install(p);
	for (size_t i = 0; i < ARRAY_COUNT(movers); i++)
		pthread_create(&threads[i], NULL, move, &movers[i]);
	tcp = tcp_run(argv + 2);
	for (size_t i = 0; i < ARRAY_COUNT(movers); i++) {
		pthread_join(threads[i], NULL);
		repeats += movers[i].repeats;
		wrong += movers[i].wrong;
		lost += movers[i].lost;
	}
	/* The fourth host is not in group B, so its port must receive no results of it. */
	if (inc_end_receive(&groups[1].ends[3], true, 1000, &stray))
		wrong++;
	plane_counts(&p->program, counts);
	printf("%u segments of two groups: %ju repeats, %ju wrong, %ju lost; kernel: %ju "
	       "contributions, %ju results, %ju answers, %ju duplicates, %ju bad ICRCs; TCP %ju of "
	       "%u bytes\n",
	       segments, (uintmax_t)repeats, (uintmax_t)wrong, (uintmax_t)lost,
	       (uintmax_t)counts[KERNEL_CONTRIBUTIONS], (uintmax_t)counts[KERNEL_RESULTS],
	       (uintmax_t)counts[KERNEL_REPEATS], (uintmax_t)counts[KERNEL_DUPLICATES],
	       (uintmax_t)counts[KERNEL_ICRC_WRONG], (uintmax_t)tcp, TCP_BYTES);
	if (!list_and_remove(argv[1])) {
		printf("FAILED: list and remove\n");
		return 1;
	}
	plane_close(p);
	return wrong || lost || tcp != TCP_BYTES || counts[KERNEL_RESULTS] != 2ull * segments ||
	       counts[KERNEL_ICRC_WRONG];
}
