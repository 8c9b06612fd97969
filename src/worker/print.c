/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/print.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/descriptor.h"
#include "base/util.h"
#include "wire/limits.h"

#define SPACE_FIRST 65536u

struct text {
	char *at;
	size_t bytes, space;
};

struct worker_print {
	int fd; /* read end of the pipe, non-blocking */
	pthread_t thread;
	pthread_mutex_t lock; /* guards the members below, and reads of the pipe */
	struct text kept;     /* read from the pipe, not returned yet */
	uint64_t lost;        /* bytes dropped after `kept` */
	/* set before each read of the pipe; cleared when all text was returned */
	_Atomic bool read;
	struct text given; /* last returned text, valid until the next call */
	char loss[128];
};

static bool text_add(struct text *t, const char *bytes, size_t count)
{
	if (t->bytes + count > t->space) {
		size_t space = t->space ? 2 * t->space : SPACE_FIRST;
		char *at = realloc(t->at, space);
		if (!at)
			return false;
		t->at = at;
		t->space = space;
	}
	memcpy(t->at + t->bytes, bytes, count);
	t->bytes += count;
	return true;
}

/* Moves text from the pipe to `kept`. Caller holds the lock. */
static void drain(struct worker_print *p)
{
	char part[16384];
	ssize_t got;

	atomic_store(&p->read, true);
	while ((got = read(p->fd, part, sizeof(part))) > 0) {
		size_t keeps = min_u64((uint64_t)got, WIRE_PRINT_BYTES - p->kept.bytes);
		if (p->lost || !text_add(&p->kept, part, keeps))
			keeps = 0;
		p->lost += (uint64_t)got - keeps;
	}
}

static void *print_main(void *argument)
{
	struct worker_print *p = argument;
	struct pollfd poller = {.fd = p->fd, .events = POLLIN};

	for (;;) {
		if (poll(&poller, 1, -1) < 1)
			continue;
		pthread_mutex_lock(&p->lock);
		drain(p);
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

int worker_print_open(struct worker_print **out)
{
	struct worker_print *p = calloc(1, sizeof(*p));
	int fds[2];

	if (!p)
		return DXP_ENOMEM;
	if (descriptor_raise_pair(pipe2(fds, O_CLOEXEC), fds) != 0) {
		free(p);
		return DXP_EIO;
	}
	p->fd = fds[0];
	fcntl(p->fd, F_SETFL, O_NONBLOCK);
	pthread_mutex_init(&p->lock, NULL);
	if (dup2(fds[1], STDOUT_FILENO) < 0 ||
	    pthread_create(&p->thread, NULL, print_main, p) != 0) {
		close(fds[0]);
		close(fds[1]);
		free(p);
		return DXP_EIO;
	}
	close(fds[1]);
	*out = p;
	return DXP_OK;
}

/* There may be text. Checks the pipe first, because print_main() sets `read` before it removes text
 * from the pipe. */
static bool print_any(struct worker_print *p)
{
	int waiting = 0;

	return (ioctl(p->fd, FIONREAD, &waiting) == 0 && waiting > 0) || atomic_load(&p->read);
}

static const char *loss_text(struct worker_print *p, size_t *bytes)
{
	if (!p->lost)
		return NULL;
	*bytes = (size_t)snprintf(p->loss, sizeof(p->loss),
				  "\n"
				  "[dxp: %llu more bytes of this kernel's output are lost]\n",
				  (unsigned long long)p->lost);
	p->lost = 0;
	return p->loss;
}

/* Returns the text that is there. If there is none, returns the line about dropped text, or NULL.
 * Caller holds the lock. */
static const char *text_give(struct worker_print *p, size_t *bytes)
{
	struct text given = p->given;

	drain(p);
	if (p->kept.bytes == 0) {
		const char *loss = loss_text(p, bytes);
		atomic_store(&p->read, loss != NULL);
		return loss;
	}
	p->given = p->kept;
	p->kept = (struct text){.at = given.at, .space = given.space};
	*bytes = p->given.bytes;
	return p->given.at;
}

const char *worker_print_dequeue(struct worker_print *p, size_t *bytes)
{
	fflush(stdout);
	if (!print_any(p))
		return NULL;
	pthread_mutex_lock(&p->lock);
	const char *text = text_give(p, bytes);
	pthread_mutex_unlock(&p->lock);
	return text;
}
