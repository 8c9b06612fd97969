/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects to a NIC of this machine by its name, by its path, or without either if there is only
 * one. The folder of a NIC may remain after its program exits. So only NICs that accept a
 * connection count. */
#include "host/offer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "host/internal.h"
#include "link/local.h"
#include "node/limits.h"
#include "node/stats.h"

#define LISTED_MAX 16 /* maximum number of NICs that an error text lists */
/* ns to wait for each NIC in a search, so that a stopped program does not block the search */
#define ANSWER_NS_MAX   S_NS
#define LIST_TEXT_BYTES (LISTED_MAX * (FABRIC_NAME_BYTES + 2))

/* A search through all NICs of this machine. */
struct search {
	const char *name;      /* name of the NIC; NULL: any NIC */
	uint32_t function, qp; /* see struct dxp_function_options */
	uint64_t timeout_ns;
	struct offer_folder *folders;
	uint32_t folder_count;

	uint32_t count; /* number of NICs that match and accept a connection */
	int socket;     /* connection to the first NIC that matches and accepts it; -1: none */
	char path[OFFER_PATH_BYTES];
	int rejected;      /* error of a NIC that matches but cannot be used; DXP_OK: none */
	uint32_t answered; /* number of NICs that accept a connection */
	size_t list_used;
	char list[LIST_TEXT_BYTES]; /* names of the NICs that accept a connection, as "a, b, c" */
};

static bool scope_fits(const struct search *s, struct offer_scope scope)
{
	bool choice = s->qp != ATTACH_QP_ALL && s->qp != ATTACH_QP_ANY;

	if (!scope.only)
		return true;
	if (s->function > 0 && scope.function != s->function)
		return false;
	return scope.qp == ATTACH_QP_ALL ? scope.function > 0 : !choice || scope.qp == s->qp;
}

/* Connects to the socket `nic` in the folder. If it does not exist, connects to a socket for one
 * function or one queue pair that fits. */
static int folder_connect(const struct search *s, const char *folder, char path[OFFER_PATH_BYTES],
			  int *socket)
{
	uint64_t timeout_ns = s->name ? s->timeout_ns : min_u64(s->timeout_ns, ANSWER_NS_MAX);
	struct offer_scope scope;
	int status = DXP_ENOENT;

	for (uint32_t i = 0; offer_socket_scope(i, &scope) && status == DXP_ENOENT; i++) {
		if (scope_fits(s, scope) && offer_socket_path(folder, scope, path))
			status = local_connect(path, timeout_ns, socket);
	}
	return status;
}

static void list_add(struct search *s, const char *name)
{
	if (s->answered++ >= LISTED_MAX)
		return;
	s->list_used += (size_t)snprintf(s->list + s->list_used, sizeof(s->list) - s->list_used,
					 "%s%s", s->list_used ? ", " : "", name);
}

static void folder_check(struct search *s, const struct offer_folder *offered)
{
	char path[OFFER_PATH_BYTES];
	bool matches = !s->name || strcmp(s->name, offered->name) == 0;
	int socket;
	int status = folder_connect(s, offered->folder, path, &socket);

	if (status != DXP_OK) {
		if (matches && status != DXP_ENOENT) {
			s->rejected = status;
			snprintf(s->path, sizeof(s->path), "%s", path);
		}
		return;
	}
	list_add(s, offered->name);
	if (!matches || s->count++ > 0) {
		close(socket);
		return;
	}
	s->socket = socket;
	snprintf(s->path, sizeof(s->path), "%s", path);
}

static int connect_error(int status, const char *path)
{
	switch (status) {
	case DXP_ENOENT:
		return error_set(
			status, "no NIC offers functions at %s; check that its program runs", path);
	case DXP_EACCESS:
		return error_set(status,
				 "%s belongs to another user; run as that user, or get access from "
				 "that user",
				 path);
	case DXP_ETIMEDOUT:
		return error_set(
			status,
			"the program that serves %s does not answer; check that it is not stopped",
			path);
	case DXP_EINVAL: return error_set(status, "'%s' is not the path of a socket", path);
	default:
		return error_set(status, "cannot connect to %s: %s", path, dxp_status_text(status));
	}
}

static int search_judge(const struct search *s)
{
	if (s->count == 1)
		return DXP_OK;
	if (s->count == 0 && s->rejected != DXP_OK)
		return connect_error(s->rejected, s->path);
	if (s->answered == 0)
		return error_set(DXP_ENOENT,
				 "no NIC on this machine offers functions; start some with `dxp "
				 "up`, or a program that calls dxp_nic_serve()");
	if (s->count == 0)
		return error_set(DXP_ENOENT,
				 "no NIC named '%.64s' on this machine; choose one of: %s", s->name,
				 s->list);
	if (s->name)
		return error_set(DXP_EINVAL,
				 "%u NICs on this machine are named '%s'; give the path of one of "
				 "their sockets",
				 s->count, s->name);
	return error_set(DXP_EINVAL,
			 "several NICs are on this machine; name one, or set DXP_NIC to one of: %s",
			 s->list);
}

static int name_connect(struct search *s, char path[OFFER_PATH_BYTES], int *socket)
{
	s->folders = calloc(STATS_NODES_MAX, sizeof(*s->folders));
	if (!s->folders)
		return error_set(DXP_ENOMEM, "out of memory");
	s->folder_count = offer_folders(s->folders, STATS_NODES_MAX);
	for (uint32_t i = 0; i < s->folder_count; i++)
		folder_check(s, &s->folders[i]);
	free(s->folders);
	int status = search_judge(s);
	if (status == DXP_OK) {
		memcpy(path, s->path, OFFER_PATH_BYTES);
		*socket = s->socket;
	} else if (s->socket >= 0) {
		close(s->socket);
	}
	return status;
}

static int path_connect(const char *given, uint64_t timeout_ns, char path[OFFER_PATH_BYTES],
			int *socket)
{
	if (snprintf(path, OFFER_PATH_BYTES, "%s", given) >= OFFER_PATH_BYTES)
		return error_set(DXP_EINVAL,
				 "the path of the NIC's socket is too long; use a shorter DXP_RUN");
	int status = local_connect(path, timeout_ns, socket);
	return status == DXP_OK ? status : connect_error(status, path);
}

int offer_connect(const char *nic, uint32_t function, uint32_t qp, uint64_t timeout_ns,
		  char path[OFFER_PATH_BYTES], int *socket)
{
	const char *own = getenv("DXP_NIC");

	if (!nic && own && *own)
		nic = own;
	if (nic && strchr(nic, '/'))
		return path_connect(nic, timeout_ns, path, socket);
	struct search *s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(DXP_ENOMEM, "out of memory");
	*s = (struct search){.name = nic,
			     .function = function,
			     .qp = qp,
			     .timeout_ns = timeout_ns,
			     .socket = -1};
	int status = name_connect(s, path, socket);
	free(s);
	return status;
}
