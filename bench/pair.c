/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of the pair. */
#include "bench/pair.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "link/udp.h"

#define NEAR_ID    1
#define FAR_ID     2
#define TIMEOUT_NS (10 * S_NS)

/* What the ends tell each other. */
struct introduction {
	struct wire_address address;
	uint64_t incarnation;
	uint32_t magic, key;
};

static uint8_t *memory_map(uint64_t bytes)
{
	uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int end_open(struct pair *p, const struct pair_options *o, bool far)
{
	struct node_options options = {
		.static_id = far ? FAR_ID : NEAR_ID,
		.bind = far ? o->ends.far : o->ends.near,
		.spin_ns = LINK_SPIN_NS,
		.no_payload_crc = o->no_payload_crc,
	};

	options.bind.port = 0;
	p->memory_bytes = o->memory_bytes;
	p->spin = o->spin;
	p->memory = memory_map(o->memory_bytes);
	if (!p->memory)
		return DXP_ENOMEM;
	int status = node_open(&options, &p->node);
	if (status != DXP_OK)
		return status;
	p->window = node_window(p->node);
	return nic_region_register(node_nic(p->node), p->memory, p->memory_bytes,
				   NIC_REMOTE_READ | NIC_REMOTE_WRITE, &p->key);
}

static int introduce(struct pair *p, uint16_t other_id)
{
	struct introduction mine = {.incarnation = node_incarnation(p->node),
				    .magic = p->window->qp_magic[0],
				    .key = p->key};
	struct introduction theirs;

	node_address(p->node, &mine.address);
	if (write(p->control, &mine, sizeof(mine)) != sizeof(mine) ||
	    read(p->control, &theirs, sizeof(theirs)) != sizeof(theirs))
		return DXP_EIO;
	p->far = (struct nic_target){.node = other_id, .magic = theirs.magic};
	p->far_key = theirs.key;
	return node_peer(p->node, other_id, &theirs.address, theirs.incarnation);
}

/* As a program that has nothing else to do: spins for the node's spin time, then sleeps; or spins
 * for ever. */
static void turn_or_wait(struct pair *p)
{
	if (node_turn(p->node) == 0 && !p->spin)
		node_wait(p->node, link_now_ns() + S_NS);
}

static void echo_serve(struct pair *p)
{
	struct nic_event sent;
	const uint8_t *data;
	const struct nic_event *event;

	while (nic_user_sent(p->window, &sent))
		;
	while ((event = nic_user_received_peek(p->window, &data)) != NULL) {
		if (nic_user_nap(p->window, 0, &p->far, data, event->bytes, event->imm, 0) !=
		    DXP_OK)
			return;
		nic_user_received_release(p->window);
		node_turn(p->node);
	}
}

/* Ends when the near end closes its side of the socket pair. */
static void far_run(struct pair *p)
{
	char byte;

	for (uint32_t i = 1;; i++) {
		turn_or_wait(p);
		echo_serve(p);
		if (i % 65536 == 0 && recv(p->control, &byte, 1, MSG_DONTWAIT) == 0)
			return;
	}
}

static int netns_enter(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int status = fd >= 0 && setns(fd, CLONE_NEWNET) == 0 ? DXP_OK : DXP_EIO;
	if (fd >= 0)
		close(fd);
	return status;
}

static void far_main(const struct pair_options *o, int control)
{
	struct pair p = {.control = control};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((o->ends.far_netns && netns_enter(o->ends.far_netns) != DXP_OK) ||
	    end_open(&p, o, true) != DXP_OK || introduce(&p, NEAR_ID) != DXP_OK)
		_exit(1);
	far_run(&p);
	_exit(0);
}

int pair_open(const struct pair_options *options, struct pair *p)
{
	int ends[2];

	*p = (struct pair){0};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return DXP_EIO;
	p->child = fork();
	if (p->child == 0) {
		close(ends[0]);
		far_main(options, ends[1]);
	}
	close(ends[1]);
	p->control = ends[0];
	int status = p->child < 0 ? DXP_EIO : end_open(p, options, false);
	if (status == DXP_OK)
		status = introduce(p, FAR_ID);
	if (status != DXP_OK) {
		log_error("the two ends did not find each other: %s", dxp_status_text(status));
		pair_close(p);
	}
	return status;
}

void pair_close(struct pair *p)
{
	close(p->control);
	node_close(p->node);
	if (p->memory)
		munmap(p->memory, p->memory_bytes);
	if (p->child > 0) {
		kill(p->child, SIGKILL);
		waitpid(p->child, NULL, 0);
	}
	*p = (struct pair){.control = -1};
}

static int completion_await(struct pair *p)
{
	uint64_t end_ns = link_now_ns() + TIMEOUT_NS;
	struct nic_event event;

	for (uint32_t i = 1; !nic_user_sent(p->window, &event); i++) {
		turn_or_wait(p);
		if (i % 1024 == 0 && link_now_ns() > end_ns)
			return DXP_ETIMEDOUT;
	}
	return event.status;
}

static int transfer_post(struct pair *p, bool get, uint64_t offset, uint32_t bytes)
{
	const struct nic_entry local = {offset, bytes, p->key},
			       remote = {offset, bytes, p->far_key};
	const struct nic_lists lists = {&local, &remote, 1, 1};

	return get ? nic_user_get(p->window, 0, &p->far, &lists, 0)
		   : nic_user_put(p->window, 0, &p->far, &lists, 0);
}

int pair_put(struct pair *p, uint64_t offset, uint32_t bytes)
{
	int status = transfer_post(p, false, offset, bytes);

	return status == DXP_OK ? completion_await(p) : status;
}

int pair_get(struct pair *p, uint64_t offset, uint32_t bytes)
{
	int status = transfer_post(p, true, offset, bytes);

	return status == DXP_OK ? completion_await(p) : status;
}

int pair_ping(struct pair *p, uint32_t bytes)
{
	uint64_t end_ns = link_now_ns() + TIMEOUT_NS;
	const uint8_t *data;
	struct nic_event sent;
	int status = nic_user_nap(p->window, 0, &p->far, p->memory, bytes, 0, 0);

	if (status != DXP_OK)
		return status;
	for (uint32_t i = 1; !nic_user_received_peek(p->window, &data); i++) {
		turn_or_wait(p);
		if (i % 1024 == 0 && link_now_ns() > end_ns)
			return DXP_ETIMEDOUT;
	}
	nic_user_received_release(p->window);
	while (nic_user_sent(p->window, &sent))
		;
	return DXP_OK;
}

int pair_stream(struct pair *p, bool get, uint64_t bytes, uint32_t chunk, uint32_t depth)
{
	uint64_t posted = 0, done = 0, end_ns = link_now_ns() + TIMEOUT_NS + bytes * 100;
	uint32_t outstanding = 0;
	struct nic_event event;

	while (done < bytes) {
		while (posted < bytes && outstanding < depth) {
			if (transfer_post(p, get, posted % (p->memory_bytes - chunk + 1), chunk) !=
			    DXP_OK)
				break;
			posted += chunk;
			outstanding++;
		}
		turn_or_wait(p);
		while (nic_user_sent(p->window, &event)) {
			if (event.status != DXP_OK)
				return event.status;
			done += chunk;
			outstanding--;
		}
		if (link_now_ns() > end_ns)
			return DXP_ETIMEDOUT;
	}
	return DXP_OK;
}

uint64_t pair_far_cpu_ns(const struct pair *p)
{
	clockid_t clock;
	struct timespec t = {0};

	if (clock_getcpuclockid(p->child, &clock) == 0)
		clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}
