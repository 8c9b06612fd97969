/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the shipped node as node 1 for peer.py, node 2 at loopback port PORT. Prints its port,
 * memory key and magic, then executes NAPs: "echo ..." returns with its trailer; "put N" writes N
 * bytes to the peer; "add N" adds to the word at ADD_AT, reports status and previous value; "quit"
 * exits. Gives up after LIMIT_NS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "node/node.h"

#define REGION_BYTES (256u << 10)
#define LIMIT_NS     (60 * S_NS)
#define PEER         2
#define PEER_MAGIC   0x50454552 /* peer.py reads these two from here */
#define PEER_KEY     77
#define ADD_AT       200000

static _Alignas(8) uint8_t memory[REGION_BYTES];

static void print(struct node *n, const void *data, uint32_t bytes, uint64_t trailer)
{
	struct dxp_target to = {.node = PEER, .magic = PEER_MAGIC};
	struct dxp_descriptor d = dxp_head(DXP_OP_NAP, 0, &to, 0);

	d.flags = DXP_FLAG_INLINE;
	d.inline_bytes = (uint16_t)bytes;
	d.trailer = trailer;
	dxp_post(node_window(n), &d, NULL, data);
}

static void serve(struct node *n, uint32_t key, const struct dxp_nic_event *e, const uint8_t *data)
{
	uint32_t bytes = e->bytes;
	struct dxp_target to = {.node = PEER, .magic = PEER_MAGIC};
	struct dxp_window *w = node_window(n);
	char text[16] = {0};

	memcpy(text, data, min_u64(bytes, sizeof(text) - 1));
	if (strncmp(text, "put ", 4) == 0) {
		uint32_t count = (uint32_t)strtoul(text + 4, NULL, 10);
		struct dxp_entry local = {0, count, key}, remote = {0, count, PEER_KEY};
		struct nic_lists lists = {&local, &remote, 1, 1};
		nic_user_put(w, 0, &to, &lists, 0);
	} else if (strncmp(text, "add ", 4) == 0) {
		const struct dxp_entry at = {ADD_AT, 8, PEER_KEY};
		dxp_post_atomic(w, 0, &to, DXP_OP_FETCH_ADD, &at, strtoull(text + 4, NULL, 10), 0,
				1);
	} else {
		print(n, data, bytes, e->context);
	}
}

/* Returns false after "quit". */
static bool events_dequeue(struct node *n, uint32_t key)
{
	const struct dxp_nic_event *event;
	struct dxp_nic_event sent;
	const uint8_t *data;
	bool quit = false;

	while ((event = nic_user_received_peek(node_window(n), &data)) != NULL) {
		quit |= event->bytes == 4 && memcmp(data, "quit", 4) == 0;
		if (!quit)
			serve(n, key, event, data);
		dxp_received_release(node_window(n));
	}
	while (dxp_sent_dequeue(node_window(n), &sent)) {
		char text[64];
		int length = snprintf(text, sizeof(text), "added: %d %llu", sent.status,
				      (unsigned long long)sent.imm);
		if (sent.context == 1)
			print(n, text, (uint32_t)length, sent.imm);
	}
	return !quit;
}

int main(int argc, char **argv)
{
	struct node_options options = {.name = "interop", .static_id = 1};
	struct udp_address peer, own;
	struct node *n;
	uint32_t key;

	if (argc != 2 || address_parse("127.0.0.1", (uint16_t)atoi(argv[1]), &peer) != DXP_OK)
		return 2;
	address_parse("127.0.0.1", 0, &options.bind);
	if (node_open(&options, &n) != DXP_OK || node_peer(n, PEER, &peer, 0) != DXP_OK ||
	    nic_region_register(node_nic(n), 0, memory, sizeof(memory),
				NIC_REMOTE_READ | NIC_REMOTE_WRITE | NIC_REMOTE_ATOMIC,
				&key) != DXP_OK)
		return 1;
	node_address(n, &own);
	printf("%u %u %u\n", own.port, key, node_window(n)->qp_magic[0]);
	fflush(stdout);

	uint64_t end_ns = clock_now_ns() + LIMIT_NS;
	bool going = true;
	while (going && clock_now_ns() < end_ns) {
		node_poll(n);
		going = events_dequeue(n, key);
		node_poll(n);
		if (going)
			node_wait(n, min_u64(clock_now_ns() + 10 * MS_NS, node_deadline(n)));
	}
	node_close(n);
	return going ? 1 : 0;
}
