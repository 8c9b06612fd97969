/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/use.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/util.h"
#include "host/internal.h"

#define PATH_BYTES 4096
#define LINE_BYTES 512 /* bytes of a summary line: a name and all numbers */
/* ns that the exit handler waits for a thread that is inside the library */
#define EXIT_LOCK_NS 100000000ll

/* guards the following two variables */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dxp_fabric *open_fabrics;
static bool disabled;

/* Adds the part of [from, to) that is after *until to *sum. *until is the latest end so far. */
static void busy_add(uint64_t *sum, uint64_t *until, uint64_t from, uint64_t to)
{
	from = max_u64(from, *until);
	if (to <= from)
		return;
	*sum += to - from;
	*until = to;
}

/* Returns the open xPU with this node id, or NULL. This is a copy of xpu_find(), because unit tests
 * of the OpenCL driver replace xpu.c. */
static struct dxp_xpu *peer_of(const struct dxp_xpu *x, uint16_t node)
{
	struct dxp_xpu *peer = x->fabric->xpus;

	while (peer && (peer->node != node || peer->status != DXP_OK))
		peer = peer->next;
	return peer;
}

static void bridge_count(struct dxp_xpu *x, const struct command *c)
{
	struct dxp_xpu *peer = peer_of(x, c->to_node);

	if (c->to_node != node_id(x->fabric->node)) {
		x->use.from_bytes += c->bytes;
		if (peer)
			peer->use.to_bytes += c->bytes;
		return;
	}
	if (c->path != COMMAND_BRIDGE_OUT)
		x->use.in_bytes += c->bytes;
	if (c->path != COMMAND_BRIDGE_IN)
		x->use.out_bytes += c->bytes;
}

void use_started(struct dxp_xpu *x, const struct command *c, struct host_event *event)
{
	struct dxp_xpu *peer;

	switch (c->op) {
	case COMMAND_MARK:
	case COMMAND_SIGNAL: return;
	case COMMAND_RUN:
		x->use.kernels++;
		event->kernel = true;
		break;
	case COMMAND_WRITE: x->use.in_bytes += c->data_bytes; break;
	case COMMAND_BRIDGE:
		bridge_count(x, c);
		event->transfer = true;
		break;
	case COMMAND_SEND:
		peer = peer_of(x, c->to_node);
		x->use.to_bytes += c->bytes;
		if (peer)
			peer->use.from_bytes += c->bytes;
		event->transfer = true;
		break;
	case COMMAND_ALLREDUCE: /* by switches */
		x->use.to_bytes += c->bytes;
		x->use.from_bytes += c->bytes;
		event->transfer = true;
		break;
	}
	x->use.commands++;
}

void use_completed(struct dxp_xpu *x, const struct host_event *event, int status,
		   const struct dxp_event_times *times)
{
	if (event->state != HOST_EVENT_PENDING)
		return;
	x->use.failed += status != DXP_OK;
	if (times && event->kernel)
		busy_add(&x->use.device_ns, &x->use.device_until, times->started_ns,
			 times->ended_ns);
	if (times && event->transfer)
		busy_add(&x->use.network_ns, &x->use.network_until, times->started_ns,
			 times->ended_ns);
}

void use_moved(struct dxp_xpu *x, bool to_xpu, uint64_t bytes, uint64_t started_ns,
	       uint64_t ended_ns, int status)
{
	x->use.commands++;
	x->use.failed += status != DXP_OK;
	if (status == DXP_OK)
		*(to_xpu ? &x->use.in_bytes : &x->use.out_bytes) += bytes;
	/* These times come from this host's clock, other times from the node's clock. So overlaps
	 * with commands are not detected. */
	if (ended_ns > started_ns)
		x->use.network_ns += ended_ns - started_ns;
}

/* Appends a line by one write(), so that lines of several processes are not mixed. */
static void line_append(const char *folder, const char *line, size_t bytes)
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/%d.library.summary", folder, (int)getpid()) >=
	    (int)sizeof(path))
		return;
	int fd = descriptor_raise(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
	if (fd < 0)
		return; /* no error here: the reader of the file reports that numbers are missing */
	ssize_t written = write(fd, line, bytes);
	(void)written;
	close(fd);
}

void use_write(struct dxp_xpu *x)
{
	const struct host_use *u = &x->use;
	const char *folder = getenv("DXP_SUMMARY");
	char line[LINE_BYTES];

	if (disabled || !folder || !*folder || u->commands == 0)
		return;
	int bytes = snprintf(line, sizeof(line),
			     "node=%s commands=%" PRIu64 " kernels=%" PRIu64 " failed=%" PRIu64
			     " in=%" PRIu64 " out=%" PRIu64 " from=%" PRIu64 " to=%" PRIu64
			     " device_ns=%" PRIu64 " network_ns=%" PRIu64 "\n",
			     x->caps.name, u->commands, u->kernels, u->failed, u->in_bytes,
			     u->out_bytes, u->from_bytes, u->to_bytes, u->device_ns, u->network_ns);
	if (bytes > 0 && bytes < LINE_BYTES)
		line_append(folder, line, (size_t)bytes);
	x->use = (struct host_use){0};
}

void use_remember(struct dxp_fabric *f)
{
	pthread_mutex_lock(&open_lock);
	f->opener = getpid();
	f->next_open = open_fabrics;
	open_fabrics = f;
	pthread_mutex_unlock(&open_lock);
}

void use_forget(struct dxp_fabric *f)
{
	pthread_mutex_lock(&open_lock);
	for (struct dxp_fabric **at = &open_fabrics; *at; at = &(*at)->next_open) {
		if (*at != f)
			continue;
		*at = f->next_open;
		break;
	}
	pthread_mutex_unlock(&open_lock);
}

void use_disable(void)
{
	disabled = true;
}

/* At exit, writes the numbers of xPUs that are still open. Excludes fabrics that the parent process
 * opened, and fabrics that another thread keeps locked. */
__attribute__((destructor)) static void at_exit(void)
{
	struct timespec until;

	if (disabled || !getenv("DXP_SUMMARY") || pthread_mutex_trylock(&open_lock))
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += EXIT_LOCK_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	for (struct dxp_fabric *f = open_fabrics; f; f = f->next_open) {
		if (f->opener != getpid() || pthread_mutex_timedlock(&f->lock, &until))
			continue;
		for (struct dxp_xpu *x = f->xpus; x; x = x->next)
			use_write(x);
		pthread_mutex_unlock(&f->lock);
	}
	pthread_mutex_unlock(&open_lock);
}
