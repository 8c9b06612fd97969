/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaches to a NIC function and offers 64 KiB of memory to each client that sends a hello. Exits
 * after CLIENTS clients; 0: never.
 *
 * A NIC of dxpd:                          A NIC inside the server, served to others:
 *   dxp up                                  build/bin/nic_server --own mine 1 &
 *   build/bin/nic_server xpu1 1 &           build/bin/nic_client mine
 *   build/bin/nic_client xpu1 */
#include "common.h"

static struct dxp_nic *nic;

static struct dxp_function *function_get(const char *name, int own)
{
	const struct dxp_nic_options inside = {.name = name, .thread = true};
	const struct dxp_function_options options = {.nic = name, .label = LABEL};
	struct dxp_function *f;

	if (own) {
		check(dxp_nic_open(&inside, &nic), "open a NIC");
		check(dxp_nic_serve(nic, NULL), "serve it");
		check(dxp_nic_function(nic, LABEL, &f), "open a function");
	} else {
		check(dxp_function_attach(&options, &f), "attach");
	}
	return f;
}

static void hello_answer(struct dxp_function *f, const struct hello *client,
			 const struct hello *own)
{
	posted(f, dxp_post_nap(dxp_function_window(f), 0, &client->target, own, sizeof(*own), 0, 0),
	       "answer");
	completion(f, "answer");
}

/* Clients whose hello came while another was served. */
static struct hello waiting[CLIENTS_MAX];
static int waiting_count;

/* Returns 1 for a client's last message, otherwise 0. */
static int event_handle(struct dxp_function *f)
{
	struct dxp_window *w = dxp_function_window(f);
	struct dxp_nic_event event = *dxp_received_peek(w);
	int hello = event.bytes == sizeof(waiting[0]) && waiting_count < CLIENTS_MAX;

	if (hello)
		memcpy(&waiting[waiting_count++], dxp_received_data(w, &event), sizeof(waiting[0]));
	dxp_received_release(w);
	if (hello || event.bytes > 0)
		return 0;
	printf("server: bye, client %" PRIu64 "\n", event.imm);
	return 1;
}

/* Returns how many other clients sent their last message meanwhile. */
static int client_serve(struct dxp_function *f, const struct hello *own,
			const struct dxp_memory *memory)
{
	struct dxp_announced_put put = {.local = {0, COUNTER_AT, memory->key}, .tag = TAG};
	const struct hello client = waiting[0];
	int gone = 0, status;

	memmove(waiting, waiting + 1, sizeof(waiting[0]) * (size_t)--waiting_count);
	hello_answer(f, &client, own);
	while ((status = dxp_announced_put_receive(f, &put, WAIT_NS)) == DXP_EBUSY)
		gone += event_handle(f);
	if (status == DXP_ETIMEDOUT) {
		printf("server: a client sent nothing\n");
		return gone;
	}
	check(status, "receive");
	printf("server: %u bytes were put, with %u: %.26s ...\n", put.bytes, put.tag,
	       (const char *)memory->base);
	return gone;
}

int main(int argc, char **argv)
{
	usage_if_requested(argc, argv,
			   "usage: nic_server [NIC [CLIENTS]]\n"
			   "       nic_server --own NAME [CLIENTS]\n");
	int own = argc > 1 && strcmp(argv[1], "--own") == 0;
	const char *name = argc > 1 + own ? argv[1 + own] : NULL;
	int clients = argc > 2 + own ? atoi(argv[2 + own]) : 0, gone = 0;
	struct dxp_function *f = function_get(name, own);
	struct dxp_memory memory;
	struct hello self;

	check(dxp_memory_create(f, BYTES, DXP_REMOTE_READ | DXP_REMOTE_WRITE | DXP_REMOTE_ATOMIC,
				&memory),
	      "memory");
	self.key = memory.key;
	check(dxp_function_target(f, 0, &self.target), "own address");
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("server: at %u:%u:%u:%08x\n", self.target.node, self.target.function, self.target.qp,
	       self.target.magic);
	while (clients == 0 || gone < clients) {
		int status = dxp_function_wait(f, WAIT_NS);
		if (status == DXP_ETIMEDOUT)
			continue;
		check(status, "wait");
		if (dxp_received_peek(dxp_function_window(f)))
			gone += event_handle(f);
		while (waiting_count > 0)
			gone += client_serve(f, &self, &memory);
	}
	dxp_function_close(f);
	dxp_nic_close(nic);
	return output_lost();
}
