/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures libfabric's reliable datagrams by tagged messages, which its software providers carry
 * faster than RMA. The variant is the provider. As a module, includes only bench/peer.h and
 * libfabric_end.h. An operation is a message each way, as in peer_tcp.c. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include <dxp/status.h>

#include "bench/libfabric_end.h"

#define REGION_BYTES_MIN 4096
#define ANSWER_BYTES     8
#define BATCH            32
#define TAG              7

struct transfer {
	struct fi_context2 context; /* first, because completions contain its address */
	bool receive;
};

struct fabric_end {
	struct libfabric_end end;
	uint8_t *region;
	uint64_t region_bytes;
	/* bytes per operation each way; 0: no message */
	size_t out_bytes, in_bytes;
	uint32_t depth;
	uint64_t received, sends_ended, injected;
	uint64_t owed; /* far end: answers to send */
	uint32_t sends_free;
	struct transfer *free_sends[WORK_DEPTH_MAX];
	struct transfer sends[WORK_DEPTH_MAX], receives[WORK_DEPTH_MAX];
};

static void address_text(const struct udp_address *a, char text[INET6_ADDRSTRLEN])
{
	static const uint8_t v4[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (memcmp(a->ip, v4, sizeof(v4)) == 0)
		inet_ntop(AF_INET, a->ip + 12, text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, a->ip, text, INET6_ADDRSTRLEN);
}

static int info_get(const struct peer_end *e, struct fi_info **out)
{
	struct fi_info *hints = libfabric_hints(e, FI_MSG | FI_TAGGED);
	char address[INET6_ADDRSTRLEN];

	if (!hints)
		return -FI_ENOMEM;
	address_text(e->far ? &e->ends->far : &e->ends->near, address);
	hints->tx_attr->msg_order = FI_ORDER_SAS;
	bool network = strcmp(e->variant, "shm") != 0;
	int error = fi_getinfo(FI_VERSION(1, 15), network ? address : NULL, NULL,
			       network ? FI_SOURCE : 0, hints, out);
	fi_freeinfo(hints);
	return error;
}

static void shape(const struct peer_end *e, struct fabric_end *f)
{
	size_t bytes = e->work->bytes;
	size_t there = e->work->op == WORK_GET ? ANSWER_BYTES : bytes;
	size_t back = e->work->op == WORK_PUT       ? ANSWER_BYTES
		      : e->work->op == WORK_MESSAGE ? 0
						    : bytes;

	f->out_bytes = e->far ? back : there;
	f->in_bytes = e->far ? there : back;
	f->depth = e->far && e->work->op == WORK_MESSAGE ? WORK_DEPTH_MAX : e->work->depth;
	for (f->sends_free = 0; f->sends_free < WORK_DEPTH_MAX; f->sends_free++)
		f->free_sends[f->sends_free] = &f->sends[f->sends_free];
}

/* Short messages have 8 bytes. */
static uint64_t region_bytes(const struct work *w)
{
	uint64_t bytes = work_region_bytes(w);

	return bytes > REGION_BYTES_MIN ? bytes : REGION_BYTES_MIN;
}

static uint8_t *buffer_of(const struct fabric_end *f, size_t bytes, uint64_t index)
{
	return f->region + (bytes > 0 ? index % (f->region_bytes / bytes) * bytes : 0);
}

static int receive_post(struct fabric_end *f, struct transfer *s)
{
	int error;

	s->receive = true;
	do {
		error = (int)fi_trecv(f->end.ep,
				      buffer_of(f, f->in_bytes, (uint64_t)(s - f->receives)),
				      f->in_bytes, NULL, f->end.other, TAG, 0, s);
		if (error == -FI_EAGAIN)
			fi_cq_read(f->end.cq, NULL, 0);
	} while (error == -FI_EAGAIN);
	return error;
}

/* Returns -FI_EAGAIN if there is no space now. */
static int message_send(struct fabric_end *f)
{
	uint8_t *from = buffer_of(f, f->out_bytes, f->sends_ended + f->injected);

	if (f->out_bytes <= f->end.info->tx_attr->inject_size) {
		int error = (int)fi_tinject(f->end.ep, from, f->out_bytes, f->end.other, TAG);
		f->injected += error == 0;
		return error;
	}
	if (f->sends_free == 0)
		return -FI_EAGAIN;
	struct transfer *s = f->free_sends[f->sends_free - 1];
	int error = (int)fi_tsend(f->end.ep, from, f->out_bytes, NULL, f->end.other, TAG, s);
	f->sends_free -= error == 0;
	return error;
}

static int progress(struct fabric_end *f)
{
	struct fi_cq_entry entries[BATCH];
	ssize_t n = fi_cq_read(f->end.cq, entries, BATCH);

	if (n == -FI_EAGAIN)
		return 0;
	if (n < 0) {
		struct fi_cq_err_entry error = {0};
		fi_cq_readerr(f->end.cq, &error, 0);
		return libfabric_complain("operation", error.err ? -error.err : (int)n);
	}
	for (ssize_t i = 0; i < n; i++) {
		struct transfer *s = entries[i].op_context;
		if (!s->receive) {
			f->free_sends[f->sends_free++] = s;
			f->sends_ended++;
			continue;
		}
		f->received++;
		int error = receive_post(f, s);
		if (error != 0)
			return libfabric_complain("receive", error);
	}
	return 0;
}

static int fabric_open(struct peer_end *e)
{
	struct fabric_end *f = calloc(1, sizeof(*f));
	struct libfabric_hello theirs;

	e->state = f;
	if (!f)
		return DXP_ENOMEM;
	f->region_bytes = region_bytes(e->work);
	f->region = mmap(NULL, f->region_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (f->region == MAP_FAILED)
		return DXP_ENOMEM;
	shape(e, f);
	int error = info_get(e, &f->end.info);
	if (error == -FI_ENODATA)
		return DXP_EUNSUPPORTED;
	if (error == 0)
		error = libfabric_open(&f->end);
	if (error == 0)
		error = libfabric_meet(e, &f->end, (struct libfabric_hello){0}, &theirs);
	for (uint32_t i = 0; error == 0 && f->in_bytes > 0 && i < f->depth; i++)
		error = receive_post(f, &f->receives[i]);
	return error == 0 ? DXP_OK : libfabric_complain(e->variant, error);
}

static int fabric_post(struct peer_end *e)
{
	int error = message_send(e->state);

	if (error == 0)
		return DXP_OK;
	return error == -FI_EAGAIN ? DXP_EAGAIN : libfabric_complain("send", error);
}

static int fabric_poll(struct peer_end *e)
{
	struct fabric_end *f = e->state;
	bool answered = f->in_bytes > 0;
	uint64_t before = answered ? f->received : f->sends_ended;
	int status = progress(f);

	if (status != 0)
		return status;
	int ended = (int)((answered ? f->received : f->sends_ended) - before);
	if (!answered) { /* counts injected messages too, which have no completion */
		ended += (int)f->injected;
		f->injected = 0;
	}
	return ended;
}

static void fabric_serve(struct peer_end *e)
{
	struct fabric_end *f = e->state;
	uint64_t before = f->received;

	if (progress(f) != 0)
		exit(1);
	uint64_t came = f->received - before;
	if (e->work->op == WORK_MESSAGE) {
		if (came > 0)
			e->tally->counted += came;
		return;
	}
	f->owed += came;
	while (f->owed > 0 && message_send(f) == 0)
		f->owed--;
}

__attribute__((visibility("default")))
const struct peer_ops peer_ops_exported = {fabric_open, fabric_post, fabric_poll, fabric_serve};
