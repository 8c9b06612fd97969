/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses one function of a NIC, for functions.sh and outside.sh:
 *
 *   function-user sink NIC LABEL          offers 1 MiB of memory to any peer
 *   function-user stream NIC LABEL PEER   PUTs into the memory of the function PEER forever
 *   function-user overrun NIC LABEL       stores 40 doorbells without a claim
 *   function-user registers NIC LABEL     receives in register mode; prints "at FUNCTION MAGIC",
 *                                         then "received" and the text of each message
 *   function-user by-address NIC LABEL IP PORT FUNCTION MAGIC TEXT
 *                                         sends the text to a receiver in register mode; prints
 *                                         "sent"
 *
 * Prints "ready", or "streaming" after 100 PUTs, or the function's error. When its function is
 * closed, prints the reason's name and exits with 3. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dxp/function.h>

#define MEMORY    (1u << 20)
#define PIECE     (64u << 10)
#define PIECES    (MEMORY / PIECE)
#define WAIT_NS   120000000000ull
#define UNDER_WAY 100

struct hello {
	struct dxp_target target; /* target of the sender */
	uint32_t key;
};

static struct dxp_function *function;
static struct dxp_window *window;

static void give_up(const char *what, int status)
{
	printf("%s: %s\n", what, dxp_status_name(status));
	if (status != DXP_ECLOSED)
		fprintf(stderr, "%s\n", dxp_function_error());
	exit(3);
}

static void check(const char *what, int status)
{
	if (status != DXP_OK)
		give_up(what, status);
}

static void hello_send(const struct dxp_target *to, uint32_t key)
{
	struct hello own = {.key = key};
	struct dxp_nic_event event;

	check("target", dxp_function_target(function, 0, &own.target));
	check("post", dxp_post_nap(window, 0, to, &own, sizeof(own), 0, 0));
	dxp_function_kick(function);
	while (!dxp_sent_dequeue(window, &event))
		check("wait", dxp_function_wait(function, WAIT_NS));
	check("hello", event.status);
}

static struct hello hello_receive(uint64_t timeout_ns)
{
	struct hello other = {0};
	struct dxp_nic_event sent;

	while (!dxp_received_peek(window)) {
		check("wait", dxp_function_wait(function, timeout_ns));
		while (dxp_sent_dequeue(window, &sent))
			/* a wait returns at once while completions of earlier answers are unread */
			;
	}
	const struct dxp_nic_event *event = dxp_received_peek(window);
	if (event->bytes == sizeof(other))
		memcpy(&other, dxp_received_data(window, event), sizeof(other));
	dxp_received_release(window);
	return other;
}

static void sink_run(const struct dxp_memory *memory)
{
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct hello other = hello_receive(UINT64_MAX);
		struct dxp_nic_event event;
		struct hello own = {.key = memory->key};
		/* Errors are ignored, because the requester may have exited. */
		if (dxp_post_nap(window, 0, &other.target, &own, sizeof(own), 0, 0) == DXP_OK)
			dxp_function_kick(function);
		while (dxp_sent_dequeue(window, &event))
			;
	}
}

static void stream_run(const struct dxp_memory *memory, const char *peer)
{
	struct dxp_target to;
	struct dxp_nic_event event;
	uint64_t ended = 0;

	check("find", dxp_function_find(function, peer, 0, &to));
	hello_send(&to, memory->key);
	struct dxp_entry at = {.bytes = PIECE, .key = hello_receive(WAIT_NS).key};
	struct dxp_entry from = {.bytes = PIECE, .key = memory->key};
	for (uint64_t posted = 0;;) {
		at.offset = from.offset = posted % PIECES * PIECE;
		int status = posted - ended < PIECES
				     ? dxp_post_put(window, 0, &to, &from, &at, 0, 0, posted)
				     : DXP_EAGAIN;
		posted += status == DXP_OK;
		if (status != DXP_OK && status != DXP_EAGAIN)
			give_up("post", status);
		if (status == DXP_EAGAIN) {
			dxp_function_kick(function);
			check("wait", dxp_function_wait(function, WAIT_NS));
		}
		while (dxp_sent_dequeue(window, &event)) {
			check("put", event.status);
			if (++ended == UNDER_WAY) {
				puts("streaming");
				fflush(stdout);
			}
		}
	}
}

/* Prints the overrun's error, then waits until the function is closed. */
static void overrun_run(void)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	struct dxp_target own;

	check("target", dxp_function_target(function, 0, &own));
	const struct dxp_descriptor head = dxp_head(DXP_OP_NAP, 0, &own, 0);
	for (uint32_t i = 0; i < 40; i++) {
		dxp_head_store(dxp_slot(window, i), &head);
		dxp_ring(window, i);
	}
	dxp_function_kick(function);
	for (int tries = 0; dxp_error(window) == DXP_OK && tries < 1000; tries++)
		nanosleep(&pause, NULL);
	/* no dxp_function_wait(): a busy engine may have completed some requests */
	printf("overrun: %s\n", dxp_status_name(dxp_error(window)));
	fflush(stdout);
	while (dxp_error(window) != DXP_ECLOSED)
		nanosleep(&pause, NULL);
	give_up("closed", DXP_ECLOSED);
}

/* ---- register mode ---- */

#define DEVICE_ADDRESS 0x1000u
#define TEXT_BYTES     64u
#define LOOKS          1000000000ull

static void registers_run(const struct dxp_memory *memory)
{
	struct dxp_target own;
	uint64_t total = 0;

	check("lookup", dxp_lookup_add(function, DEVICE_ADDRESS, MEMORY, memory->key, 0));
	check("target", dxp_function_target(function, 0, &own));
	for (;;) {
		check("receive", dxp_register_receive(window, DEVICE_ADDRESS, TEXT_BYTES, LOOKS));
		if (total == 0)
			printf("at %u %x\n", own.function, own.magic);
		fflush(stdout);
		total += TEXT_BYTES;
		while (dxp_total_wait(window, total, 1) == DXP_ETIMEDOUT)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		check("total", dxp_error(window));
		printf("received %.*s\n", (int)TEXT_BYTES, (const char *)memory->base);
	}
}

/* Sends by the address alone: the register for the node id is 0. */
static void by_address_run(const struct dxp_memory *memory, char **words)
{
	struct dxp_registers *r = &window->registers;
	unsigned ip[4];

	if (sscanf(words[0], "%u.%u.%u.%u", &ip[0], &ip[1], &ip[2], &ip[3]) != 4)
		give_up("address", DXP_EINVAL);
	check("lookup", dxp_lookup_add(function, DEVICE_ADDRESS, MEMORY, memory->key, 0));
	snprintf(memory->base, TEXT_BYTES, "%s", words[4]);
	r->send_vaddr = DEVICE_ADDRESS;
	r->send_bytes = TEXT_BYTES;
	r->node = 0;
	r->ip = ip[0] << 24 | ip[1] << 16 | ip[2] << 8 | ip[3];
	r->port = (uint32_t)strtoul(words[1], NULL, 10);
	r->queue = (uint32_t)strtoul(words[2], NULL, 10) << 8;
	r->magic = (uint32_t)strtoul(words[3], NULL, 16);
	dxp_store_release(&r->send_go, r->send_go + 1);
	dxp_function_kick(function);
	check("send", dxp_register_wait(window, LOOKS));
	puts("sent");
	exit(0);
}

int main(int argc, char **argv)
{
	const struct dxp_function_options options = {.nic = argc > 2 ? argv[2] : NULL,
						     .label = argc > 3 ? argv[3] : NULL};
	struct dxp_memory memory;

	if (argc < 4 || (strcmp(argv[1], "stream") == 0) != (argc == 5) ||
	    (strcmp(argv[1], "by-address") == 0) != (argc == 9)) {
		fprintf(stderr, "usage: function-user sink NIC LABEL | stream NIC LABEL PEER | "
				"overrun NIC LABEL | registers NIC LABEL | "
				"by-address NIC LABEL IP PORT FUNCTION MAGIC TEXT\n");
		return 2;
	}
	check("attach", dxp_function_attach(&options, &function));
	window = dxp_function_window(function);
	check("memory", dxp_memory_create(function, MEMORY, DXP_REMOTE_WRITE, &memory));
	if (argc == 5)
		stream_run(&memory, argv[4]);
	if (strcmp(argv[1], "registers") == 0)
		registers_run(&memory);
	if (argc == 9)
		by_address_run(&memory, argv + 4);
	if (strcmp(argv[1], "overrun") == 0)
		overrun_run();
	sink_run(&memory);
}
