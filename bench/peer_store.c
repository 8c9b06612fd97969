/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the best that this machine's memory permits: the ends store to mailboxes and poll them.
 * A message's number is written last. Nothing is checked, queued or protected. Only PING and
 * MESSAGE. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dxp/device.h>

#include "base/log.h"
#include "bench/contenders.h"
#include "bench/peer.h"

/* ---- memory that both ends map: the near end sends its name over the control socket ---- */

struct where {
	int pid, fd;
};

static int file_make(struct peer_end *e, size_t bytes)
{
	struct where here = {getpid(), memfd_create("dxp-bench", MFD_CLOEXEC)};

	if (here.fd < 0 || ftruncate(here.fd, (off_t)bytes) < 0) {
		log_error("cannot create shared memory of %zu bytes: %m", bytes);
		return -1;
	}
	return control_write(e->control, &here, sizeof(here)) ? here.fd : -1;
}

static int file_find(struct peer_end *e)
{
	struct where there;
	char path[64];

	if (!control_read(e->control, &there, sizeof(there)))
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", there.pid, there.fd);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		log_error("cannot open the memory of the other process (%s): %m", path);
	return fd;
}

/* Maps zeroed memory shared by both ends, which call this at the same time. Returns NULL, after a
 * message, on failure. Never unmapped. */
static void *shared_map(struct peer_end *e, size_t bytes)
{
	int fd = e->far ? file_find(e) : file_make(e, bytes);
	char done = 0;

	if (fd < 0)
		return NULL;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	/* near end keeps its file open until the far end has mapped it */
	bool met =
		e->far ? control_write(e->control, &done, 1) : control_read(e->control, &done, 1);
	close(fd);
	return memory == MAP_FAILED || !met ? NULL : memory;
}

#define MAILBOXES 64 /* outstanding messages in each direction */
#define MAILBOX   2112

struct mailbox {
	/* beside the data: a short message shares one cache line with it */
	_Alignas(64) _Atomic uint32_t number;
	uint8_t data[MAILBOX - 4];
};

struct direction {
	_Alignas(4096) struct mailbox mailboxes[MAILBOXES];
	/* messages counted, written by the reader; MESSAGE only */
	_Alignas(64) _Atomic uint32_t counted;
};

struct store_end {
	struct direction *out, *in;
	uint32_t sent, received, counted;
	uint8_t region[MAILBOX];
};

static int store_open(struct peer_end *e)
{
	struct store_end *s = calloc(1, sizeof(*s));
	struct direction *shared = shared_map(e, 2 * sizeof(*shared));

	e->state = s;
	if (!s || !shared)
		return DXP_ENOMEM;
	if (e->work->bytes > sizeof(shared->mailboxes[0].data) || e->work->op == WORK_PUT ||
	    e->work->op == WORK_GET)
		return DXP_EUNSUPPORTED;
	s->out = &shared[e->far];
	s->in = &shared[!e->far];
	return DXP_OK;
}

static void block_fill(struct peer_end *e, struct store_end *s)
{
	struct mailbox *b = &s->out->mailboxes[s->sent++ % MAILBOXES];

	memcpy(b->data, s->region, e->work->bytes);
	atomic_store_explicit(&b->number, s->sent, memory_order_release);
}

static bool block_read(struct peer_end *e, struct store_end *s)
{
	struct mailbox *b = &s->in->mailboxes[s->received % MAILBOXES];

	if (atomic_load_explicit(&b->number, memory_order_acquire) != s->received + 1)
		return false;
	memcpy(s->region, b->data, e->work->bytes);
	s->received++;
	return true;
}

static int store_post(struct peer_end *e)
{
	struct store_end *s = e->state;

	if (e->work->op == WORK_MESSAGE &&
	    s->sent - atomic_load_explicit(&s->out->counted, memory_order_acquire) >= MAILBOXES)
		return DXP_EAGAIN;
	block_fill(e, s);
	return DXP_OK;
}

static int store_poll(struct peer_end *e)
{
	struct store_end *s = e->state;

	if (e->work->op != WORK_MESSAGE)
		return block_read(e, s);
	int ended = (int)(s->sent - s->counted);
	s->counted = s->sent;
	return ended;
}

static void store_serve(struct peer_end *e)
{
	struct store_end *s = e->state;

	if (!block_read(e, s)) {
		dxp_relax();
		return;
	}
	if (e->work->op == WORK_PING) {
		block_fill(e, s);
		return;
	}
	atomic_store_explicit(&s->in->counted, s->received, memory_order_release);
	e->tally->counted = s->received;
}

const struct peer_ops peer_store = {store_open, store_post, store_poll, store_serve};
