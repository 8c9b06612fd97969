/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks by handshakes: forged HELLOs, in the name and from the address of a peer, do not keep the
 * peer's own HELLO out. Uses two nodes on loopback. The forger sends by the peer's socket, as an
 * attacker elsewhere with a forged source address would. It reads nothing and has no key. */
#include <dirent.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/util.h"
#include "node/node.h"
#include "rltp/endpoint.h"

#define VICTIM    1
#define PEER      2
#define RATE      10000 /* HELLOs per second */
#define BURST_MAX 64    /* HELLOs at once; fit the socket's buffer */
#define TRIALS    3
#define LIMIT_NS  (120 * S_NS)

struct attack {
	struct node *victim, *peer;
	uint8_t key[FABRIC_KEY_BYTES];
	uint8_t protect; /* enum wire_protect */
	struct rng rng;
	int fd; /* the peer's socket */
	struct sockaddr_storage to;
	socklen_t to_bytes;
	uint64_t begun_ns, sent;
};

static struct node *node_start(const struct attack *a, uint16_t id)
{
	const struct node_options o = {.static_id = id,
				       .name = id == VICTIM ? "victim" : "peer",
				       .fabric_key = a->key,
				       .bind = address_v4(0x7f000001, 0),
				       .protect = wire_protect_name(a->protect)};
	struct node *n;

	assert_int_equal(node_open(&o, &n), DXP_OK);
	return n;
}

static void introduce(struct node *to, const struct node *of)
{
	struct udp_address at;

	node_address(of, &at);
	assert_int_equal(node_peer(to, node_id(of), &at, node_incarnation(of)), DXP_OK);
}

static bool socket_of(int fd, uint16_t port, struct sockaddr_storage *at, socklen_t *bytes)
{
	*bytes = sizeof(*at);
	return getsockname(fd, (struct sockaddr *)at, bytes) == 0 &&
	       (at->ss_family == AF_INET || at->ss_family == AF_INET6) &&
	       /* at the same offset in both families */
	       ((const struct sockaddr_in *)at)->sin_port == htons(port);
}

/* Finds the peer's socket among this process's descriptors. Both nodes have the same IP address. */
static void forger_start(struct attack *a)
{
	struct udp_address peer, victim;
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;

	assert_non_null(d);
	node_address(a->peer, &peer);
	node_address(a->victim, &victim);
	a->fd = -1;
	while ((e = readdir(d)) != NULL && a->fd < 0)
		if (socket_of(atoi(e->d_name), peer.port, &a->to, &a->to_bytes))
			a->fd = atoi(e->d_name);
	closedir(d);
	assert_true(a->fd >= 0);
	((struct sockaddr_in *)&a->to)->sin_port = htons(victim.port);
	a->begun_ns = clock_now_ns();
	a->sent = 0;
}

static void forge(struct attack *a)
{
	uint8_t frame[WIRE_HELLO_SEALED_FRAME] = {0};
	const size_t body = a->protect ? WIRE_HELLO_SEALED_BYTES : WIRE_HELLO_BYTES;
	const struct wire_header h = {.type = WIRE_HELLO,
				      .header_bytes = WIRE_COMMON_BYTES,
				      .src_node = PEER,
				      .dst_node = VICTIM};
	struct wire_hello hello = {.incarnation = UINT64_MAX >> 1,
				   .epoch = (uint32_t)rng_next(&a->rng),
				   .session = (uint32_t)rng_next(&a->rng) | 1,
				   .psn = (uint32_t)rng_next(&a->rng),
				   .rwnd = 100,
				   .payload_bytes = 1408,
				   .features = WIRE_FEATURES,
				   .protect = a->protect};

	rng_entropy_rng(&a->rng, hello.tag, sizeof(hello.tag));
	wire_header_encode(&h, frame);
	wire_hello_encode(&hello, frame + WIRE_COMMON_BYTES);
	wire_control_seal(frame, WIRE_COMMON_BYTES + body);
	sendto(a->fd, frame, WIRE_COMMON_BYTES + body, MSG_DONTWAIT,
	       (const struct sockaddr *)&a->to, a->to_bytes);
	a->sent++;
}

/* Forges what is due by the clock, then lets both nodes work. */
static void step(struct attack *a)
{
	const uint64_t due = (clock_now_ns() - a->begun_ns) / (S_NS / RATE);

	for (int i = 0; i < BURST_MAX && a->sent < due; i++)
		forge(a);
	a->sent = max_u64(a->sent, due);
	node_poll(a->victim);
	node_poll(a->peer);
}

static const struct rltp_endpoint_counters *counters(struct node *n)
{
	return rltp_endpoint_counters(nic_endpoint(node_nic(n)));
}

/* A message of the peer, whose session is not open yet. */
static int message_send(struct attack *a)
{
	const struct dxp_target to = {
		.node = VICTIM, .qp = 1, .magic = node_window(a->victim)->qp_magic[1]};
	const uint64_t end_ns = clock_now_ns() + LIMIT_NS;
	struct dxp_nic_event event;

	assert_int_equal(dxp_post_nap(node_window(a->peer), 1, &to, "hello", 5, 0, 0), DXP_OK);
	while (!dxp_sent_dequeue(node_window(a->peer), &event)) {
		step(a);
		assert_true(clock_now_ns() < end_ns);
	}
	return event.status;
}

static void trial(struct attack *a)
{
	const uint64_t end_ns = clock_now_ns() + LIMIT_NS, flooded = counters(a->victim)->flooded;

	a->peer = node_start(a, PEER);
	introduce(a->victim, a->peer);
	introduce(a->peer, a->victim);
	forger_start(a);
	while (counters(a->victim)->flooded < flooded + 100) {
		step(a);
		assert_true(clock_now_ns() < end_ns);
	}
	int status = message_send(a);
	if (status != DXP_OK)
		fail_msg("the peer's message: %s", dxp_status_name(status));
	node_close(a->peer);
}

static void forged_hellos_fail(uint8_t protect)
{
	struct attack a = {.protect = protect, .rng = {.state = 5}, .key = {1, 2, 3}};
	uint64_t cookies;

	a.victim = node_start(&a, VICTIM);
	for (int i = 0; i < TRIALS; i++)
		trial(&a);
	cookies = counters(a.victim)->cookie_hellos;
	/* without one, each of the HELLOs arrived in the first 4 ms of a second */
	assert_true(cookies > 0);
	assert_true(counters(a.victim)->cookies_sent >= cookies);
	node_close(a.victim);
}

static void flood__of_forged_hellos(void **state)
{
	forged_hellos_fail(WIRE_PROTECT_NONE);
}

static void flood__of_forged_hellos_with_protection(void **state)
{
	forged_hellos_fail(WIRE_PROTECT_ENCRYPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flood__of_forged_hellos),
		cmocka_unit_test(flood__of_forged_hellos_with_protection),
	};

	unsetenv("DXP_PROTECT");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
