/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaches to a NIC function, finds the server (server.c), and accesses its memory by a PUT that
 * notifies it, a GET, and an atomic operation.
 *
 *   build/bin/nic_client [NIC [SERVER]]      SERVER: the address that the server printed, when it
 *                                            is on another node */
#include "common.h"

static struct dxp_target server_find(struct dxp_function *f, const char *address)
{
	struct dxp_target t;
	unsigned node, function, qp, magic;
	int status, tries = 0;

	if (!address) {
		do
			status = dxp_function_find(f, LABEL, 0, &t);
		while (again(status, &tries));
		check(status, "find the server");
		return t;
	}
	if (sscanf(address, "%u:%u:%u:%x", &node, &function, &qp, &magic) != 4) {
		fprintf(stderr, "'%s' is not NODE:FUNCTION:QP:MAGIC\n", address);
		exit(2);
	}
	t.node = (uint16_t)node;
	t.function = (uint8_t)function;
	t.qp = (uint8_t)qp;
	t.magic = magic;
	return t;
}

static struct hello hello_send(struct dxp_function *f, const struct dxp_target *server)
{
	struct dxp_window *w = dxp_function_window(f);
	const struct dxp_nic_event *event;
	struct hello self = {.key = 0}, answer;

	check(dxp_function_target(f, 0, &self.target), "own address");
	posted(f, dxp_post_nap(w, 0, server, &self, sizeof(self), 0, 0), "hello");
	completion(f, "hello");
	while (!(event = dxp_received_peek(w)))
		check(dxp_function_wait(f, WAIT_NS), "the server's answer");
	memcpy(&answer, dxp_received_data(w, event), sizeof(answer));
	dxp_received_release(w);
	return answer;
}

int main(int argc, char **argv)
{
	const struct dxp_function_options options = {.nic = argc > 1 ? argv[1] : NULL};
	struct dxp_function *f;
	struct dxp_memory memory;
	int status, tries = 0;

	usage_if_requested(argc, argv, "usage: nic_client [NIC [NODE:FUNCTION:QP:MAGIC]]\n");
	do
		status = dxp_function_attach(&options, &f);
	while (again(status, &tries));
	check(status, "attach");
	check(dxp_memory_create(f, 2 * BYTES, DXP_LOCAL, &memory), "memory");
	struct dxp_window *w = dxp_function_window(f);
	struct dxp_target server = server_find(f, argc > 2 ? argv[2] : NULL);
	struct hello peer = hello_send(f, &server);

	char *out = memory.base, *back = out + BYTES;
	struct dxp_entry whole = {0, COUNTER_AT, peer.key}, own = {0, COUNTER_AT, memory.key};
	for (int i = 0; i < COUNTER_AT; i++)
		out[i] = (char)('a' + i % 26);
	struct dxp_announced_put put = {.peer = server, .local = own, .tag = TAG};
	check(dxp_announced_put_send(f, &put, WAIT_NS), "PUT");

	own.offset = BYTES;
	posted(f, dxp_post_get(w, 0, &server, &whole, &own, 0), "GET");
	completion(f, "GET");
	printf("client: wrote %d bytes and read them back, %s\n", COUNTER_AT,
	       memcmp(out, back, COUNTER_AT) == 0 ? "the same" : "and they DIFFER");

	struct dxp_entry counter = {COUNTER_AT, 8, peer.key};
	posted(f, dxp_post_atomic(w, 0, &server, DXP_OP_FETCH_ADD, &counter, 1, 0, 0), "fetch-add");
	struct dxp_nic_event count = completion(f, "fetch-add");
	printf("client: %" PRIu64 " clients before this one\n", count.imm);

	posted(f, dxp_post_nap(w, 0, &server, NULL, 0, count.imm + 1, 0), "bye");
	completion(f, "bye");
	dxp_function_close(f);
	return output_lost();
}
