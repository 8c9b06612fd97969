/* SPDX-License-Identifier: BSD-3-Clause */
/* Two functions of one NIC, each in its own process, through the public dxp/function.h and
 * dxp/device.h only. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dxp/function.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/child.h"
#include "bench/nic.h"

#define PATH_BYTES 64
#define ATTACH_MS  5000

struct function_end {
	struct dxp_nic *nic;
	struct dxp_function *function;
	struct dxp_window *window;
	/* variant "alone": the second function, in place of the other end */
	struct dxp_window *second;
	struct dxp_memory memory;
	/* the other end's function; for `second`, the first one */
	struct dxp_target other, back;
	uint32_t other_key;
	/* the ends share a core, so an idle poll yields it */
	bool shares_core;
	uint64_t posted, counted;
	struct child server;
	uint8_t region[DXP_NAP_BYTES];
};

struct hello {
	struct dxp_target target;
	uint32_t key;
};

static void cpu_read(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int nic_serve(const char *path, struct dxp_nic **out)
{
	const struct dxp_nic_options options = {0};
	int status = dxp_nic_open(&options, out);

	if (status == DXP_OK)
		status = dxp_nic_serve(*out, path);
	if (status != DXP_OK)
		log_error("%s", dxp_function_error());
	return status;
}

static void server_main(int control, void *context)
{
	struct dxp_nic *nic;
	char ready = 0;

	cpu_read(1);
	if (nic_serve(context, &nic) != DXP_OK || !control_write(control, &ready, 1))
		return;
	for (uint64_t poll = 0;; poll++)
		dxp_nic_poll(nic);
}

static int server_start(struct function_end *s, char *path)
{
	char ready;
	int status = child_spawn(server_main, path, &s->server);

	if (status != DXP_OK)
		return status;
	return control_read(s->server.control, &ready, 1) ? DXP_OK : DXP_EIO;
}

static int function_get(struct function_end *s, const char *path, struct dxp_function **function,
			struct dxp_window **window)
{
	const struct dxp_function_options options = {.nic = path, .timeout_ms = ATTACH_MS};
	int status = s->nic ? dxp_nic_function(s->nic, NULL, function)
			    : dxp_function_attach(&options, function);

	if (status != DXP_OK)
		log_error("%s", dxp_function_error());
	else
		*window = dxp_function_window(*function);
	return status;
}

/* Reads the other end's hello. If this end runs the NIC, it polls the NIC meanwhile. */
static bool hello_read(struct peer_end *e, struct function_end *s, struct hello *theirs)
{
	ssize_t got;

	if (!s->nic)
		return control_read(e->control, theirs, sizeof(*theirs));
	while ((got = recv(e->control, theirs, sizeof(*theirs), MSG_DONTWAIT)) < 0)
		dxp_nic_poll(s->nic);
	return got == sizeof(*theirs);
}

static int meet(struct peer_end *e, struct function_end *s)
{
	struct hello own, theirs;
	int status = dxp_memory_create(s->function, work_region_bytes(e->work),
				       DXP_REMOTE_READ | DXP_REMOTE_WRITE, &s->memory);

	if (status == DXP_OK)
		status = dxp_function_target(s->function, 0, &own.target);
	if (status != DXP_OK) {
		log_error("%s", dxp_function_error());
		return status;
	}
	memset(s->memory.base, 1, s->memory.bytes);
	own.target.node = 0;
	own.key = s->memory.key;
	if (!control_write(e->control, &own, sizeof(own)) || !hello_read(e, s, &theirs))
		return DXP_EIO;
	s->other = theirs.target;
	s->other_key = theirs.key;
	return DXP_OK;
}

/* The far process runs the NIC, the near one uses both functions. */
static int alone_open(struct peer_end *e, struct function_end *s)
{
	struct dxp_function *second;
	struct dxp_target first;
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/tmp/dxp-bench-%d.sock", getpid());
	if (e->far) {
		int status = nic_serve(path, &s->nic);
		return status == DXP_OK && !control_write(e->control, path, sizeof(path)) ? DXP_EIO
											  : status;
	}
	if (e->work->op != WORK_PING)
		return DXP_EUNSUPPORTED;
	if (!control_read(e->control, path, sizeof(path)))
		return DXP_EIO;
	int status = function_get(s, path, &s->function, &s->window);
	if (status == DXP_OK)
		status = function_get(s, path, &second, &s->second);
	if (status == DXP_OK)
		status = dxp_function_target(second, 0, &s->other);
	if (status == DXP_OK)
		status = dxp_function_target(s->function, 0, &first);
	unlink(path);
	s->other.node = first.node = 0;
	s->back = first;
	return status;
}

static int function_open(struct peer_end *e)
{
	struct function_end *s = calloc(1, sizeof(*s));
	bool served = strcmp(e->variant, "served") == 0;
	char path[PATH_BYTES];
	int status = DXP_OK;

	e->state = s;
	if (!s)
		return DXP_ENOMEM;
	if (strcmp(e->variant, "alone") == 0)
		return alone_open(e, s);
	s->shares_core = served && sysconf(_SC_NPROCESSORS_ONLN) < 3;
	if (s->shares_core)
		cpu_read(0);
	/* the process with the NIC sends its socket's path to the other */
	bool first = e->far != served;
	snprintf(path, sizeof(path), "/tmp/dxp-bench-%d.sock", getpid());
	if (first && served)
		status = server_start(s, path);
	else if (first)
		status = nic_serve(path, &s->nic);
	if (status == DXP_OK && !(first ? control_write(e->control, path, sizeof(path))
					: control_read(e->control, path, sizeof(path))))
		status = DXP_EIO;
	if (status == DXP_OK)
		status = function_get(s, path, &s->function, &s->window);
	if (status == DXP_OK)
		status = meet(e, s);
	unlink(path);
	return status;
}

static void poll(struct function_end *s)
{
	if (s->nic)
		dxp_nic_poll(s->nic);
	else if (s->shares_core)
		sched_yield();
	else
		/* the other hardware thread may run the NIC */
		dxp_relax();
}

static int nap_post(struct function_end *s, const void *data, uint32_t bytes)
{
	return dxp_post_nap(s->window, 0, &s->other, data, bytes, 0, 0);
}

static int function_post(struct peer_end *e)
{
	struct function_end *s = e->state;
	const struct work *w = e->work;

	if (w->op == WORK_PING || w->op == WORK_MESSAGE)
		return nap_post(s, s->region, w->bytes);
	uint64_t at = work_offset(w, s->posted);
	const struct dxp_entry here = {at, w->bytes, s->memory.key},
			       there = {at, w->bytes, s->other_key};
	int status = w->op == WORK_PUT
			     ? dxp_post_put(s->window, 0, &s->other, &here, &there, 0, 0, 0)
			     : dxp_post_get(s->window, 0, &s->other, &there, &here, 0);
	s->posted += status == DXP_OK;
	return status;
}

static int completions_dequeue(struct dxp_window *w)
{
	struct dxp_nic_event event;
	int count = 0;

	while (dxp_sent_dequeue(w, &event) > 0) {
		if (event.status != DXP_OK)
			return event.status;
		count++;
	}
	return count;
}

static bool nap_copy(struct function_end *s, struct dxp_window *w)
{
	const struct dxp_nic_event *event = dxp_received_peek(w);

	if (!event)
		return false;
	memcpy(s->region, dxp_received_data(w, event), event->bytes);
	dxp_received_release(w);
	return true;
}

/* Variant "alone": echoes messages of the second function. */
static int second_serve(struct function_end *s, uint32_t bytes)
{
	if (!nap_copy(s, s->second))
		return DXP_OK;
	int status = dxp_post_nap(s->second, 0, &s->back, s->region, bytes, 0, 0);
	int ended = completions_dequeue(s->second);
	return status == DXP_OK && ended < 0 ? ended : status;
}

static int function_poll(struct peer_end *e)
{
	struct function_end *s = e->state;

	if (e->work->op == WORK_PING) {
		if (!nap_copy(s, s->window)) {
			poll(s);
			return s->second ? second_serve(s, e->work->bytes) : 0;
		}
		int status = completions_dequeue(s->window);
		return status < 0 ? status : 1;
	}
	int ended = completions_dequeue(s->window);
	if (ended == 0)
		poll(s);
	return ended;
}

static void function_serve(struct peer_end *e)
{
	struct function_end *s = e->state;
	uint64_t came = 0;

	poll(s);
	while (s->window && nap_copy(s, s->window)) {
		came++;
		if (e->work->op != WORK_PING)
			continue;
		while (nap_post(s, s->region, e->work->bytes) == DXP_EAGAIN)
			poll(s);
		if (s->nic)
			dxp_nic_poll(s->nic);
		completions_dequeue(s->window);
	}
	if (came > 0)
		e->tally->counted += came;
}

const struct peer_ops peer_function = {function_open, function_post, function_poll, function_serve};
