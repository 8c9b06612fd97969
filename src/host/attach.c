/* SPDX-License-Identifier: BSD-3-Clause */
/* A function of another program's NIC. Data passes through the window; other operations are
 * requests over a socket, one at a time. The socket closes when either program exits. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/wakeup.h"
#include "host/function.h"
#include "host/internal.h"
#include "host/offer.h"
#include "nic/limits.h"
#include "wire/attach.h"

enum attach_fd { FD_WINDOW, FD_ENGINE, FD_USER, FD_COUNT };

struct attached {
	struct dxp_function base;
	struct local_memory window;
	int socket;
	int engine_wakeup, user_wakeup;
	int lost; /* DXP_OK, or the reason why requests are impossible */
	char path[OFFER_PATH_BYTES];
};

static struct attached *attached_of(const struct dxp_function *f)
{
	return CONTAINER_OF(f, struct attached, base);
}

/* ---- requests ---- */

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / S_NS), .tv_nsec = (long)(ns % S_NS)};
}

/* Records that the program with the NIC has exited. Also writes this to the window, for threads
 * that post or wait. */
static int ended(struct attached *a)
{
	a->lost = DXP_ECLOSED;
	if (a->base.window) {
		dxp_store_release(&a->base.window->error, -DXP_ECLOSED);
		dxp_store_release(&a->base.window->state, DXP_FUNCTION_CLOSED);
	}
	return error_set(DXP_ECLOSED,
			 "the program that serves %s has exited; close the function and attach "
			 "again when it is back",
			 a->path);
}

static int silent(struct attached *a)
{
	/* A late answer would be mistaken for the answer to the next request. */
	a->lost = DXP_ETIMEDOUT;
	return error_set(DXP_ETIMEDOUT,
			 "the program that serves %s did not answer within %llu ms; check that it "
			 "is not stopped",
			 a->path, (unsigned long long)(a->base.timeout_ns / MS_NS));
}

static int socket_wait(struct attached *a, short events, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns();
	struct timespec left = timespec_of(deadline_ns > now_ns ? deadline_ns - now_ns : 0);
	struct pollfd p = {.fd = a->socket, .events = events};

	return ppoll(&p, 1, &left, NULL) == 0 && now_ns >= deadline_ns ? silent(a) : DXP_OK;
}

struct descriptors {
	int fds[ATTACH_FDS_MAX];
	unsigned count;
};

static void descriptors_close(struct descriptors *d)
{
	while (d->count > 0)
		close(d->fds[--d->count]);
}

static int request_send(struct attached *a, const struct attach_request *request, int fd,
			uint64_t deadline_ns)
{
	uint8_t bytes[ATTACH_BYTES_MAX];
	size_t length = attach_request_encode(request, bytes);
	int status;

	while ((status = local_send(a->socket, bytes, length, &fd, fd >= 0)) == DXP_EAGAIN) {
		status = socket_wait(a, POLLOUT, deadline_ns);
		if (status != DXP_OK)
			return status;
	}
	return status < 0 ? ended(a) : DXP_OK;
}

static int answer_decode(struct attached *a, struct attach_answer *answer, struct descriptors *d,
			 uint64_t deadline_ns)
{
	uint8_t bytes[ATTACH_BYTES_MAX];
	int length;

	for (;;) {
		d->count = ATTACH_FDS_MAX;
		length = local_receive(a->socket, bytes, sizeof(bytes), d->fds, &d->count);
		if (length != DXP_EAGAIN)
			break;
		int status = socket_wait(a, POLLIN, deadline_ns);
		if (status != DXP_OK)
			return status;
	}
	if (length == DXP_ECLOSED) {
		descriptors_close(d);
		return ended(a);
	}
	if (length < 0 || attach_answer_decode(bytes, (size_t)length, answer) != DXP_OK) {
		descriptors_close(d);
		a->lost = DXP_EIO;
		return error_set(
			DXP_EIO,
			"the answer of %s does not parse; use programs of the same version",
			a->path);
	}
	return DXP_OK;
}

/* Sends a request and receives the answer. Stores the descriptors that come with the answer in `d`,
 * or closes them if `d` is NULL. Returns the status in the answer, without an error text. If there
 * is no answer, returns the cause, and sets a->lost and the error text. */
static int request_exchange(struct attached *a, const struct attach_request *request, int fd,
			    struct attach_answer *answer, struct descriptors *d)
{
	uint64_t deadline_ns = clock_now_ns() + a->base.timeout_ns;
	struct descriptors none;

	if (a->lost != DXP_OK)
		return error_set(
			a->lost,
			"the connection to %s is closed; close the function and attach again",
			a->path);
	int status = request_send(a, request, fd, deadline_ns);
	if (status == DXP_OK)
		status = answer_decode(a, answer, &none, deadline_ns);
	if (status != DXP_OK)
		return status;
	if (answer->type != request->type) {
		descriptors_close(&none);
		a->lost = DXP_EIO;
		return error_set(DXP_EIO, "%s answered another request; attach again", a->path);
	}
	if (d && answer->status == DXP_OK)
		*d = none;
	else
		descriptors_close(&none);
	return answer->status;
}

/* ---- operations ---- */

static int region_error(const struct attached *a, int status, uint64_t bytes)
{
	switch (a->lost ? DXP_OK : status) {
	case DXP_OK: return status; /* if a->lost is set, its error text is set already */
	case DXP_EBUSY:
		return error_set(status, "%s has no space for another region; revoke some",
				 a->path);
	case DXP_EINVAL:
		return error_set(status,
				 "cannot register %llu bytes of this file; it must be a memfd with "
				 "F_SEAL_SHRINK, writable, and long enough",
				 (unsigned long long)bytes);
	default:
		return error_set(status, "%s cannot map a region of %llu bytes: %s", a->path,
				 (unsigned long long)bytes, dxp_status_text(status));
	}
}

static int attached_region_add(struct dxp_function *f, const struct function_region *r,
			       uint32_t *key)
{
	struct attached *a = attached_of(f);
	const struct attach_request request = {.type = ATTACH_REGISTER,
					       .offset = r->offset,
					       .bytes = r->bytes,
					       .rights = r->rights};
	struct attach_answer answer;

	if (r->fd < 0)
		return error_set(DXP_EUNSUPPORTED,
				 "a NIC in another program reaches only memory that is a memfd; "
				 "use dxp_memory_create or dxp_memory_register");
	int status = request_exchange(a, &request, r->fd, &answer, NULL);
	if (status == DXP_OK)
		*key = answer.key;
	return region_error(a, status, r->bytes);
}

static int attached_region_revoke(struct dxp_function *f, uint32_t key)
{
	struct attached *a = attached_of(f);
	const struct attach_request request = {.type = ATTACH_REVOKE, .key = key};
	struct attach_answer answer;
	int status = request_exchange(a, &request, -1, &answer, NULL);

	if (status != DXP_OK && a->lost == DXP_OK)
		return error_set(status, "this function has no region with key %#x", key);
	return status;
}

static void attached_memory_free(struct dxp_function *f, struct function_memory *m)
{
	/* If the NIC is closed or the key is already revoked, this call fails without harm. The
	 * NIC has its own mapping, so this one can be freed now. */
	attached_region_revoke(f, m->key);
	m->next = NULL;
	function_memories_free(m);
}

static int attached_area_add(struct dxp_function *f, const struct nic_area *area)
{
	struct attached *a = attached_of(f);
	const struct attach_request request = {.type = ATTACH_LOOKUP,
					       .vaddr = area->vaddr,
					       .bytes = area->bytes,
					       .key = area->key,
					       .offset = area->offset};
	struct attach_answer answer;
	int status = request_exchange(a, &request, -1, &answer, NULL);

	return a->lost ? status : function_area_error(status, area);
}

static int attached_find(struct dxp_function *f, const char *label, uint8_t qp,
			 struct dxp_target *out)
{
	struct attached *a = attached_of(f);
	struct attach_request request = {.type = ATTACH_FIND, .qp = qp};
	struct attach_answer answer;

	snprintf(request.label, sizeof(request.label), "%s", label);
	int status = request_exchange(a, &request, -1, &answer, NULL);
	if (status == DXP_OK)
		*out = answer.target;
	return a->lost ? status : function_find_error(status, label);
}

static int attached_arm(struct dxp_function *f, bool on)
{
	struct attached *a = attached_of(f);
	const struct attach_request request = {.type = ATTACH_ARM, .on = on};
	struct attach_answer answer;
	int status = request_exchange(a, &request, -1, &answer, NULL);

	if (status != DXP_OK && a->lost == DXP_OK)
		return error_set(status, "cannot keep %s polling: %s", a->path,
				 dxp_status_text(status));
	return status;
}

static void attached_ring(struct dxp_function *f)
{
	wakeup_ring(attached_of(f)->engine_wakeup);
}

static void attached_sleep(struct dxp_function *f, uint64_t deadline_ns)
{
	struct attached *a = attached_of(f);

	/* The NIC's program sends nothing without a request, so input on the socket means that
	 * it has exited. */
	if (function_sleep(f, a->user_wakeup, a->socket, deadline_ns) && a->lost == DXP_OK)
		ended(a);
}

static void attached_free(struct attached *a)
{
	function_memories_free(a->base.memories);
	local_memory_free(&a->window);
	if (a->engine_wakeup >= 0)
		close(a->engine_wakeup);
	if (a->user_wakeup >= 0)
		close(a->user_wakeup);
	if (a->socket >= 0)
		close(a->socket); /* the close notifies the NIC's program */
	free(a);
}

static void attached_close(struct dxp_function *f)
{
	attached_free(attached_of(f));
}

static int attached_window_fd(const struct dxp_function *f)
{
	return CONTAINER_OF(f, const struct attached, base)->window.fd;
}

static const struct function_ops attached_ops = {
	.window_fd = attached_window_fd,
	.region_add = attached_region_add,
	.region_revoke = attached_region_revoke,
	.memory_free = attached_memory_free,
	.area_add = attached_area_add,
	.find = attached_find,
	.arm = attached_arm,
	.ring = attached_ring,
	.sleep = attached_sleep,
	.close = attached_close,
};

/* ---- attaching ---- */

static int busy_error(const struct attached *a, const struct dxp_function_options *o)
{
	if (!o->function)
		return error_set(DXP_EBUSY,
				 "all %s that %s offers are in use; `dxp vf` lists their users",
				 o->qp ? "queue pairs" : "functions", a->path);
	if (o->qp == DXP_QP_ANY)
		return error_set(DXP_EBUSY,
				 "all queue pairs of function %u of %s are in use; choose another "
				 "function, or 0 for any",
				 o->function, a->path);
	if (o->qp)
		return error_set(DXP_EBUSY,
				 "queue pair %u.%u of %s is in use; choose another, or DXP_QP_ANY",
				 o->function, o->qp - DXP_QP(0), a->path);
	return error_set(DXP_EBUSY, "function %u of %s is in use; choose another, or 0 for any",
			 o->function, a->path);
}

static int open_error(const struct attached *a, const struct dxp_function_options *o, int status)
{
	switch (status) {
	case DXP_EBUSY: return busy_error(a, o);
	case DXP_EEXIST:
		return error_set(DXP_EBUSY, "another function of %s has the label '%s'", a->path,
				 o->label ? o->label : "");
	case DXP_EACCESS:
		return error_set(
			status, "%s does not offer %s%u; `dxp vf` lists those that it offers",
			a->path, o->qp ? "that queue pair of function " : "function ", o->function);
	default:
		return error_set(status, "%s cannot open a function: %s", a->path,
				 dxp_status_text(status));
	}
}

/* Maps the window, and keeps the two eventfds that came with the answer. */
static int window_map(struct attached *a, struct descriptors *d)
{
	int status = d->count == FD_COUNT ? DXP_OK : DXP_EMALFORMED;

	if (status == DXP_OK)
		status = local_memory_map(d->fds[FD_WINDOW], 0, sizeof(struct dxp_window),
					  &a->window);
	if (status == DXP_OK) {
		const struct dxp_window *w = a->window.base;
		if (w->magic != DXP_WINDOW_MAGIC || w->version != DXP_WINDOW_VERSION ||
		    w->bytes != sizeof(*w) || w->qp_count == 0 || w->qp_count > DXP_QPS ||
		    w->first_qp > DXP_QPS - w->qp_count)
			status = DXP_EMALFORMED;
	}
	if (status != DXP_OK) {
		descriptors_close(d);
		return error_set(status == DXP_ENOMEM ? status : DXP_EIO,
				 "a window of version %d did not arrive from %s: %s; use programs "
				 "of the same version",
				 DXP_WINDOW_VERSION, a->path, dxp_status_text(status));
	}
	a->base.window = a->window.base;
	a->window.fd = d->fds[FD_WINDOW];
	a->engine_wakeup = d->fds[FD_ENGINE];
	a->user_wakeup = d->fds[FD_USER];
	return DXP_OK;
}

static int function_request(struct attached *a, const struct dxp_function_options *o)
{
	struct attach_request request = {
		.type = ATTACH_OPEN, .function = (uint8_t)o->function, .qp = (uint8_t)o->qp};
	struct attach_answer answer;
	struct descriptors d;

	snprintf(request.label, sizeof(request.label), "%s", o->label ? o->label : "");
	int status = request_exchange(a, &request, -1, &answer, &d);
	if (status != DXP_OK)
		return a->lost ? status : open_error(a, o, status);
	return window_map(a, &d);
}

static int options_check(const struct dxp_function_options *o)
{
	if (o->function >= NIC_FUNCTIONS)
		return error_set(DXP_EINVAL,
				 "function %u does not exist; use 1 to %d, or 0 for any",
				 o->function, NIC_FUNCTIONS - 1);
	if (o->qp > DXP_QP(DXP_QPS - 1) && o->qp != DXP_QP_ANY)
		return error_set(DXP_EINVAL,
				 "queue pair choice %u does not exist; use 0 for all, DXP_QP(0) to "
				 "DXP_QP(%d), or DXP_QP_ANY",
				 o->qp, DXP_QPS - 1);
	return function_label_check(o->label);
}

_Static_assert(DXP_QP(2) == ATTACH_QP(2) && DXP_QP_ANY == ATTACH_QP_ANY, "one numbering");

int dxp_function_attach(const struct dxp_function_options *options, struct dxp_function **out)
{
	static const struct dxp_function_options defaults;
	const struct dxp_function_options *o = options ? options : &defaults;
	int status = options_check(o);

	if (status != DXP_OK)
		return status;
	struct attached *a = calloc(1, sizeof(*a));
	if (!a)
		return error_set(DXP_ENOMEM, "out of memory");
	a->socket = a->engine_wakeup = a->user_wakeup = a->window.fd = -1;
	function_init(&a->base, &attached_ops, o->timeout_ms, o->spin_us);
	status = offer_connect(o->nic, o->function, o->qp, a->base.timeout_ns, a->path, &a->socket);
	if (status == DXP_OK)
		status = function_request(a, o);
	if (status != DXP_OK) {
		attached_free(a);
		return status;
	}
	*out = &a->base;
	return DXP_OK;
}
