/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets on which a NIC offers its functions. They have an epoll set of their own, which the
 * node's link watches. So a busy node checks all sockets together, at most once per OFFER_LOOK_NS.
 * A sleeping node is woken. */
#include "node/offer_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "link/local.h"
#include "node/internal.h"
#include "node/limits.h"
#include "node/offer.h"
#include "node/offer_folder.h"

/* sockets: one for any function, one for each function, one for each queue pair */
#define LISTENERS_MAX (1 + NIC_FUNCTIONS + NIC_USERS)
/* epoll events handled per poll; each of them handles one request */
#define EVENTS 16
/* pause before accept is retried after the process ran out of descriptors */
#define AGAIN_NS   (100 * MS_NS)
#define RECLAIM_NS (1 * MS_NS) /* time between two attempts to free memory */
#define WARN_NS    (60 * S_NS) /* time between warnings about paused sockets */

/* Source of an epoll event. It is the first member of struct listener and struct connection. */
struct source {
	bool listens;
	int fd;
};

struct listener {
	struct source source;
	struct offer_scope scope;
	uint32_t connections;
	/* descriptors received from clients of this listener that are being closed */
	struct local_drops *drops;
	char *path;
};

struct connection {
	struct source source;
	struct offer_client client;
	struct listener *listener;
	struct connection *previous, *next;
};

struct offers {
	struct node *node;
	struct offer *offer;
	int epoll_fd;
	struct listener *listeners; /* array of LISTENERS_MAX entries */
	uint32_t listener_count;
	char folder[OFFER_PATH_BYTES]; /* folder that this object has made; "": none */
	struct connection *connections;
	int engine_fds[NIC_USERS]; /* eventfds of users, watched by the link; -1: none */
	uint64_t malformed;
	/* time in ns at which paused sockets are watched again; UINT64_MAX: none is paused */
	uint64_t again_ns;
	uint64_t warned_ns; /* time in ns of the last warning; 0: none */
	/* time in ns of the next attempt to free memory; UINT64_MAX: nothing to free */
	uint64_t reclaim_ns;
};

/* ---- functions of the node that the offers call ---- */

static int node_find(void *context, const char *name, struct dxp_target *out)
{
	const struct offers *s = context;
	const struct node_table *table = node_table(s->node);

	const struct node_entry *e = table ? node_table_find_name(table, name) : NULL;

	return e ? node_target(s->node, e->id, out) : DXP_ENOENT;
}

static void node_armed_by(void *context, int delta)
{
	const struct offers *s = context;

	node_arm(s->node, delta);
}

static int node_users(void *context, uint32_t user, int engine_fd, int user_fd)
{
	struct offers *s = context;
	struct link *l = s->node->link;

	/* Removes the eventfd from the epoll set explicitly. close() would not remove it, because
	 * the user's process has it open too. */
	if (s->engine_fds[user] >= 0)
		link_unwatch(l, s->engine_fds[user]);
	s->engine_fds[user] = -1;
	node_user_fd(s->node, user, user_fd);
	if (engine_fd < 0)
		return DXP_OK;
	int status = link_watch(l, engine_fd, true);
	if (status == DXP_OK)
		s->engine_fds[user] = engine_fd;
	else
		node_user_fd(s->node, user, -1);
	return status;
}

/* ---- connections ---- */

static int source_watch(struct offers *s, struct source *source)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, source->fd, &e);
}

/* Disconnects at once. Another thread closes the socket, because closing the descriptors in its
 * queue may take long. */
static void socket_drop(struct listener *l, int fd)
{
	shutdown(fd, SHUT_RDWR);
	local_drop(l->drops, &fd, 1);
}

static void connection_close(struct offers *s, struct connection *c, uint64_t now_ns)
{
	offer_client_gone(s->offer, &c->client, now_ns);
	s->reclaim_ns = now_ns;
	if (c->previous)
		c->previous->next = c->next;
	else
		s->connections = c->next;
	if (c->next)
		c->next->previous = c->previous;
	c->listener->connections--;
	/* Removes the socket from the epoll set explicitly. close() would not remove it, because a
	 * forked child may have it open. */
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, c->source.fd, NULL);
	socket_drop(c->listener, c->source.fd);
	free(c);
}

/* Sends an answer. Returns false if the socket is full, because the client does not read its
 * answers; the caller then disconnects the client. */
static bool answer_send(int fd, const struct attach_answer *a, const struct offer_fds *beside)
{
	uint8_t bytes[ATTACH_BYTES_MAX];
	size_t length = attach_answer_encode(a, bytes);

	return local_send(fd, bytes, length, beside->fds, beside->count) == (int)length;
}

static void reject(struct listener *l, int fd)
{
	const struct attach_answer busy = {.type = ATTACH_OPEN, .status = DXP_EBUSY};
	const struct offer_fds none = {.count = 0};

	answer_send(fd, &busy, &none);
	socket_drop(l, fd);
}

static void connection_add(struct offers *s, struct listener *l, int fd,
			   const struct local_peer *peer)
{
	uint32_t space = l->scope.only ? OFFER_CLIENTS_ONE : OFFER_CLIENTS_ANY;
	struct connection *c = l->connections < space ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		reject(l, fd);
		return;
	}
	c->source.fd = fd;
	c->listener = l;
	c->client.scope = l->scope;
	c->client.manages = !l->scope.only && (peer->uid == geteuid() || peer->uid == 0);
	c->client.pid = (uint32_t)peer->pid;
	if (source_watch(s, &c->source) != 0) {
		reject(l, fd);
		free(c);
		return;
	}
	c->next = s->connections;
	if (c->next)
		c->next->previous = c;
	s->connections = c;
	l->connections++;
}

static void pause_warn(struct offers *s, uint64_t now_ns, const char *text)
{
	if (s->warned_ns && now_ns - s->warned_ns < WARN_NS)
		return;
	s->warned_ns = now_ns;
	log_warn("%s: %s", s->node->name, text);
}

/* Stops accepting connections on this listener for AGAIN_NS. */
static void listener_pause(struct offers *s, struct listener *l, uint64_t now_ns)
{
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, l->source.fd, NULL);
	s->again_ns = min_u64(s->again_ns, now_ns + AGAIN_NS);
}

static void listeners_pause(struct offers *s, uint64_t now_ns)
{
	pause_warn(s, now_ns,
		   "no file descriptors left, so no process can attach; raise \"ulimit -n\"");
	for (uint32_t i = 0; i < s->listener_count; i++)
		listener_pause(s, &s->listeners[i], now_ns);
}

/* Pauses a listener and its clients if too many descriptors from them are still being closed.
 * Returns true if paused. */
static bool listener_full(struct offers *s, struct listener *l, uint64_t now_ns)
{
	if (!local_drops_full(l->drops))
		return false;
	pause_warn(s, now_ns,
		   "closing the files that an attached process sent takes long; its requests wait "
		   "until they are closed");
	listener_pause(s, l, now_ns);
	for (struct connection *c = s->connections; c; c = c->next)
		if (c->listener == l)
			epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, c->source.fd, NULL);
	return true;
}

/* Watches all sources again. For sources that are still watched, epoll_ctl fails with EEXIST, which
 * is harmless. */
static void listeners_resume(struct offers *s)
{
	s->again_ns = UINT64_MAX;
	for (uint32_t i = 0; i < s->listener_count; i++)
		source_watch(s, &s->listeners[i].source);
	for (struct connection *c = s->connections; c; c = c->next)
		source_watch(s, &c->source);
}

static void listener_accept(struct offers *s, struct listener *l, uint64_t now_ns)
{
	struct local_peer peer;
	int fd;

	if (listener_full(s, l, now_ns))
		return;
	int status = local_accept(l->source.fd, &fd, &peer);

	if (status == DXP_OK)
		connection_add(s, l, fd, &peer);
	else if (status == DXP_ENOMEM)
		listeners_pause(s, now_ns);
}

static void malformed_note(struct offers *s, const struct connection *c, int status)
{
	if (s->malformed++ == 0)
		log_warn("%s: a request of process %u does not parse (%s); logged once, `dxp vf "
			 "--json` counts them",
			 s->node->name, c->client.pid, dxp_status_text(status));
}

/* Closes the descriptors of a request. If the first one was mapped, closes it at once: this is
 * fast, because the mapping keeps the pages. */
static void descriptors_drop(struct listener *l, const int *fds, unsigned count, bool first_mapped)
{
	if (first_mapped)
		close(fds[0]);
	local_drop(l->drops, fds + first_mapped, count - first_mapped);
}

static void connection_accept(struct offers *s, struct connection *c, uint64_t now_ns)
{
	uint8_t bytes[ATTACH_BYTES_MAX];
	int fds[LOCAL_FDS_ALL];
	unsigned fd_count = LOCAL_FDS_ALL;
	struct offer_fds beside = {.count = 0};
	struct attach_request request = {0};
	struct attach_answer answer = {0};

	if (listener_full(s, c->listener, now_ns))
		return;
	int length = local_receive(c->source.fd, bytes, sizeof(bytes), fds, &fd_count);
	int status = fd_count > LOCAL_FDS_MAX ? DXP_EMALFORMED
		     : length < 0             ? length
				  : attach_request_decode(bytes, (size_t)length, &request);
	if (length == DXP_EAGAIN)
		return;
	if (status == DXP_OK) {
		offer_request(s->offer, &c->client, &request, fd_count ? fds[0] : -1, now_ns,
			      &answer, &beside);
	} else if (length != DXP_ECLOSED) {
		answer.status = status;
		malformed_note(s, c, status);
	}
	descriptors_drop(c->listener, fds, fd_count,
			 request.type == ATTACH_REGISTER && answer.status == DXP_OK);
	if (length == DXP_ECLOSED || !answer_send(c->source.fd, &answer, &beside))
		connection_close(s, c, now_ns);
	else if (beside.count > 0)
		offer_handed_over(s->offer, &c->client);
	s->reclaim_ns = now_ns;
}

uint32_t offers_poll(struct offers *s, uint64_t now_ns)
{
	struct epoll_event events[EVENTS];
	int ready = epoll_wait(s->epoll_fd, events, EVENTS, 0);

	for (int i = 0; i < ready; i++) {
		struct source *source = events[i].data.ptr;
		if (source->listens)
			listener_accept(s, CONTAINER_OF(source, struct listener, source), now_ns);
		else
			connection_accept(s, CONTAINER_OF(source, struct connection, source),
					  now_ns);
	}
	if (now_ns >= s->again_ns)
		listeners_resume(s);
	if (now_ns >= s->reclaim_ns)
		s->reclaim_ns = offer_reclaim(s->offer) ? now_ns + RECLAIM_NS : UINT64_MAX;
	return ready > 0 ? (uint32_t)ready : 0;
}

uint64_t offers_deadline(const struct offers *s)
{
	return min_u64(s->again_ns, s->reclaim_ns);
}

/* ---- open and close ---- */

static int listener_add(struct offers *s, const char *path, struct offer_scope scope)
{
	struct listener *l = &s->listeners[s->listener_count];
	int status = local_drops_create(&l->drops);

	l->path = strdup(path);
	if (status == DXP_OK)
		status = l->path ? local_listen(path, &l->source.fd) : DXP_ENOMEM;
	if (status != DXP_OK) {
		local_drops_free(l->drops);
		free(l->path);
		return status;
	}
	l->source.listens = true;
	l->scope = scope;
	s->listener_count++;
	return source_watch(s, &l->source) == 0 ? DXP_OK : DXP_EIO;
}

static int scope_add(struct offers *s, struct offer_scope scope)
{
	char path[OFFER_PATH_BYTES];

	return offer_socket_path(s->folder, scope, path) ? listener_add(s, path, scope)
							 : DXP_EINVAL;
}

/* Adds the sockets of a function: one for all its queue pairs, and one for each queue pair.
 * Function 0 has sockets only for queue pairs that the NIC's own program does not use. */
static int function_add(struct offers *s, uint32_t function)
{
	struct offer_scope scope = {.only = true, .function = (uint8_t)function};
	int status = function > 0 ? scope_add(s, scope) : DXP_OK;

	for (uint32_t q = 0; status == DXP_OK && q < NIC_QPS_PER_FUNCTION; q++) {
		scope.qp = ATTACH_QP(q);
		if (function > 0 || nic_qp_magic(s->node->nic, 0, q) == 0)
			status = scope_add(s, scope);
	}
	return status;
}

static int folders_add(struct offers *s, uint32_t functions)
{
	int lock;
	int status = offer_folder_make(s->node->name, s->folder, &lock);

	if (status != DXP_OK)
		s->folder[0] = '\0';
	if (status == DXP_OK)
		status = scope_add(s, (struct offer_scope){.only = false});
	for (uint32_t i = 0; status == DXP_OK && i <= functions; i++)
		status = function_add(s, i);
	if (lock >= 0)
		close(lock);
	return status;
}

static int offers_start(struct offers *s, uint32_t functions, const char *path)
{
	const struct offer_options options = {
		.nic = s->node->nic,
		.name = s->node->name,
		.functions = functions,
		.ops = {node_find, node_armed_by, node_users, s},
		.malformed = &s->malformed,
	};
	int status = offer_create(&options, &s->offer);

	if (status != DXP_OK)
		return status;
	s->listeners = calloc(LISTENERS_MAX, sizeof(*s->listeners));
	if (!s->listeners)
		return DXP_ENOMEM;
	s->epoll_fd = descriptor_raise(epoll_create1(EPOLL_CLOEXEC));
	if (s->epoll_fd < 0 || link_watch(s->node->link, s->epoll_fd, false) != DXP_OK) {
		log_error("%s: cannot wait for processes that attach: %m; if the limit of open "
			  "files is reached, raise \"ulimit -n\"",
			  s->node->name);
		return DXP_EIO;
	}
	return path ? listener_add(s, path, (struct offer_scope){.only = false})
		    : folders_add(s, functions);
}

int offers_open(struct node *n, uint32_t functions, const char *path, struct offers **out)
{
	struct offers *s = calloc(1, sizeof(*s));

	if (!s)
		return DXP_ENOMEM;
	s->node = n;
	s->epoll_fd = -1;
	s->again_ns = s->reclaim_ns = UINT64_MAX;
	for (uint32_t i = 0; i < NIC_USERS; i++)
		s->engine_fds[i] = -1;
	int status = offers_start(s, functions, path);
	if (status != DXP_OK) {
		offers_close(s);
		return status;
	}
	*out = s;
	return DXP_OK;
}

static void listener_free(struct listener *l)
{
	local_drops_free(l->drops);
	free(l->path);
}

void offers_close(struct offers *s)
{
	uint64_t now_ns = clock_now_ns();

	if (!s)
		return;
	for (uint32_t i = 0; i < s->listener_count; i++)
		local_unlisten(s->listeners[i].path, s->listeners[i].source.fd);
	if (s->folder[0])
		rmdir(s->folder); /* fails if another process listens at a socket there */
	while (s->connections)
		connection_close(s, s->connections, now_ns);
	for (uint32_t i = 0; i < s->listener_count; i++)
		listener_free(&s->listeners[i]);
	offer_destroy(s->offer, now_ns);
	if (s->epoll_fd >= 0) {
		link_unwatch(s->node->link, s->epoll_fd);
		close(s->epoll_fd);
	}
	free(s->listeners);
	free(s);
}
