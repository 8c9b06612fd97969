/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a communicator agree to use switches, and get roles (N-05). Settings may differ
 * between ranks. So they first agree on a few numbers by an ordinary allreduce. If a rank has no
 * switch configured, the communicator stays ordinary. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm.h"
#include "socket.h"

/* Guards the list and the counts below. The list has communicators in the order in which they
 * joined. Joining is collective. So if two ranks share two communicators, these have the same order
 * on both ranks. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dxp_mpi_comm *oldest, **last = &oldest;
static int comm_key = MPI_KEYVAL_INVALID, self_key = MPI_KEYVAL_INVALID;

enum agreement {
	NAMELESS,
	SOME_NAMED,
	SOCKET_KNOWN,
	MODE,
	COLLECTIVES,
	MAX_BYTES,
	MIN_HOSTS,
	RETRY,
	MEASURE,
	AGREEMENTS
};

/* Returns true if dxp_inc_open could find a switch for this host. */
static bool switch_named(void)
{
	const char *set = dxp_mpi_settings.switches, *environment = getenv("DXP_INC_SWITCH");

	return (set && *set) || (environment && *environment) ||
	       access("/etc/dxp/inc.conf", R_OK) == 0;
}

/* Value for a max_bytes that is not set: then measurements, or the number of leaders, decide. */
#define AUTOMATIC INT64_MAX

static int64_t max_bytes_wanted(void)
{
	int64_t bytes = dxp_mpi_settings.max_bytes;

	return bytes == 0 ? AUTOMATIC : bytes < AUTOMATIC ? bytes : AUTOMATIC - 1;
}

/* Reports that ranks have no switch configured. If other ranks have one, this is a mistake of the
 * user, so it is always reported, once. If no rank has one, it is reported only with `verbose`. */
static void nameless_report(const struct dxp_mpi_comm *c, const int64_t all[AGREEMENTS])
{
	static atomic_bool reported;
	const char *where = "coll_dxp_switch, DXP_INC_SWITCH, /etc/dxp/inc.conf";

	if (c->rank != 0)
		return;
	if (all[SOME_NAMED] == 0)
		mpi_log(1, c, "ordinary MPI: no switch is configured (%s)", where);
	else
		mpi_log(atomic_exchange(&reported, true) ? 1 : 0, c,
			"ordinary MPI: rank %" PRId64
			" has no switch configured, but others have (%s)",
			all[NAMELESS], where);
}

/* Agrees on settings: if ranks have different values, the smallest one applies. Returns false if
 * MPI failed or a rank has no switch configured. */
static bool agree(struct dxp_mpi_comm *c, int socket, int64_t all[AGREEMENTS])
{
	bool named = switch_named();
	int64_t own[AGREEMENTS] = {
		[NAMELESS] = named ? INT64_MAX : c->rank,
		[SOME_NAMED] = named ? -1 : 0,
		[SOCKET_KNOWN] = socket >= 0,
		[MODE] = dxp_mpi_settings.mode,
		[COLLECTIVES] = dxp_mpi_settings.collectives,
		[MAX_BYTES] = max_bytes_wanted(),
		[MIN_HOSTS] = dxp_mpi_settings.min_hosts,
		[RETRY] = dxp_mpi_settings.retry_calls,
		[MEASURE] = c->choices ? dxp_mpi_settings.measure_calls : 0,
	};

	if (PMPI_Allreduce(own, all, AGREEMENTS, MPI_INT64_T, MPI_MIN, c->comm))
		return false;
	if (all[NAMELESS] == INT64_MAX)
		return true;
	nameless_report(c, all);
	return false;
}

static int split(MPI_Comm from, int color, int key, MPI_Comm *out)
{
	int error = PMPI_Comm_split(from, color, key, out);

	return error != MPI_SUCCESS ? error : mpi_adopt(*out);
}

/* Creates *host, a communicator of the ranks on this host. Returns false if MPI failed, or if there
 * are fewer hosts than `least`. */
static bool find_host(struct dxp_mpi_comm *c, int least, MPI_Comm *host)
{
	int host_rank, first, hosts;

	if (PMPI_Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, host) ||
	    mpi_adopt(*host) || PMPI_Comm_rank(*host, &host_rank))
		return false;
	first = host_rank == 0;
	if (PMPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, c->comm))
		return false;
	if (hosts >= least)
		return true;
	if (c->rank == 0)
		mpi_log(1, c, "ordinary MPI: %d host(s), at least %d are needed", hosts, least);
	return false;
}

/* Creates c->node, the communicator of the ranks with the same leader. In mode "node", these are
 * the ranks of *host, so *host becomes c->node. In mode "socket", they are the ranks of one CPU
 * socket. In mode "flat", each rank is alone. */
static bool find_node(struct dxp_mpi_comm *c, MPI_Comm *host, int socket)
{
	if (c->mode == DXP_INC_NODE) {
		c->node = *host;
		*host = MPI_COMM_NULL;
	} else if (split(*host, c->mode == DXP_INC_SOCKET ? socket : c->rank, c->rank, &c->node)) {
		return false;
	}
	return !PMPI_Comm_rank(c->node, &c->node_rank) && !PMPI_Comm_size(c->node, &c->node_ranks);
}

/* Creates the communicator of the leaders, in rank order, and finds leader and node rank of each
 * rank. */
static bool find_leaders(struct dxp_mpi_comm *c)
{
	int leader[2] = {0};
	struct mpi_location own;

	if (split(c->comm, c->node_rank == 0 ? 0 : MPI_UNDEFINED, c->rank, &c->leaders))
		return false;
	if (c->leaders != MPI_COMM_NULL &&
	    (PMPI_Comm_rank(c->leaders, &leader[0]) || PMPI_Comm_size(c->leaders, &leader[1])))
		return false;
	if (PMPI_Bcast(leader, 2, MPI_INT, 0, c->node))
		return false;
	c->leader = leader[0];
	c->leader_count = leader[1];
	c->locations = malloc((size_t)c->ranks * sizeof(*c->locations));
	if (!c->locations)
		return false;
	own = (struct mpi_location){c->leader, c->node_rank};
	return !PMPI_Allgather(&own, 2, MPI_INT, c->locations, 2, MPI_INT, c->comm);
}

/* If the node has one rank, frees its communicator. Otherwise creates a second one, because results
 * of nonblocking operations may overtake later contributions. */
static bool settle_node(struct dxp_mpi_comm *c)
{
	if (c->node_ranks == 1)
		return !PMPI_Comm_free(&c->node);
	return !split(c->node, 0, c->node_rank, &c->node_down);
}

static void deal_mode(struct dxp_mpi_comm *c, const int64_t all[AGREEMENTS])
{
	c->mode = (enum dxp_inc_mode)all[MODE];
	c->collectives = (unsigned)all[COLLECTIVES];
	c->max_bytes = all[MAX_BYTES];
	c->retry_calls = (int)all[RETRY];
	c->measure_calls = c->max_bytes == AUTOMATIC ? all[MEASURE] : 0;
	c->patience = c->lost_patience = c->retry_calls;
	if (c->mode == DXP_INC_SOCKET && !all[SOCKET_KNOWN]) {
		static atomic_bool reported;

		c->mode = DXP_INC_NODE;
		if (c->rank == 0 && !atomic_exchange(&reported, true))
			mpi_log(0, c,
				"socket mode needs every rank bound to one socket (mpirun "
				"--bind-to core or socket); some are not, so each host has one "
				"leader");
	}
}

/* Message of a leader to its node after the attempt to create the group. */
struct outcome {
	int32_t made;
	uint32_t accepts[DXP_INC_OPS];
};

static void query_accepts(struct dxp_mpi_comm *c, struct outcome *o)
{
	for (int op = 0; op < DXP_INC_OPS; op++)
		for (int type = 0; type < DXP_INC_TYPES; type++)
			if (dxp_inc_accepts(c->group, op, type, 1))
				o->accepts[op] |= 1u << type;
}

/* Creates the group at the leaders. Each leader sends the outcome to its node. */
static bool make_group(struct dxp_mpi_comm *c)
{
	static atomic_bool reported;
	struct outcome o = {0};
	char why[DXP_INC_WHY_BYTES] = "";

	if (c->leaders != MPI_COMM_NULL && mpi_group_make(c, why)) {
		o.made = 1;
		query_accepts(c, &o);
	}
	if (c->node != MPI_COMM_NULL && PMPI_Bcast(&o, sizeof(o), MPI_BYTE, 0, c->node))
		return false;
	memcpy(c->accepts, o.accepts, sizeof(c->accepts));
	if (!o.made && c->rank == 0)
		mpi_log(atomic_exchange(&reported, true) ? 1 : 0, c, "ordinary MPI: %s", why);
	else if (o.made && c->rank == 0)
		mpi_log(2, c, "offloaded: %d leaders, mode %s", c->leader_count,
			c->mode == DXP_INC_NODE     ? "node"
			: c->mode == DXP_INC_SOCKET ? "socket"
						    : "flat");
	return o.made;
}

/* ---- lifetime ---- */

static void undo(struct dxp_mpi_comm *c)
{
	if (c->state == MPI_ORDINARY)
		return;
	mpi_let_pass(c);
	if (c->operations_begun && c->rank == 0)
		mpi_log(1, c, "offloaded %" PRIu64 " of %" PRIu64 " calls, %" PRIu64 " lost groups",
			c->operations_begun, c->calls, c->losses);
	if (c->rank == 0)
		mpi_way_log(c);
	/* A leader must not leave before all leaders have the results of the last operation. */
	if (c->leaders != MPI_COMM_NULL && c->group)
		PMPI_Barrier(c->leaders);
	mpi_group_drop(c);
	if (c->leaders != MPI_COMM_NULL)
		PMPI_Comm_free(&c->leaders);
	if (c->node_down != MPI_COMM_NULL)
		PMPI_Comm_free(&c->node_down);
	if (c->node != MPI_COMM_NULL)
		PMPI_Comm_free(&c->node);
	free(c->locations);
	c->locations = NULL;
	c->state = MPI_ORDINARY;
}
struct dxp_mpi_comm *dxp_mpi_comm_create(MPI_Comm comm, struct dxp_mpi_comm **owner)
{
	struct dxp_mpi_comm *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->comm = comm;
	c->owner = owner;
	c->node = c->node_down = c->leaders = c->device_comm = MPI_COMM_NULL;
	c->type = c->flat_type = MPI_DATATYPE_NULL;
	c->op = MPI_OP_NULL;
	if (owner)
		*owner = c;
	return c;
}

static void unlist(struct dxp_mpi_comm *c)
{
	pthread_mutex_lock(&lock);
	if (c->link) {
		*c->link = c->next;
		if (c->next)
			c->next->link = c->link;
		else
			last = c->link;
		c->link = NULL;
	}
	pthread_mutex_unlock(&lock);
}

void dxp_mpi_comm_destroy(struct dxp_mpi_comm *c)
{
	unlist(c);
	if (c->owner)
		*c->owner = NULL;
	free(c->locations);
	free(c->choices);
	free(c);
}

static void device_leave(struct dxp_mpi_comm *c)
{
	if (c->device_comm != MPI_COMM_NULL)
		PMPI_Comm_free(&c->device_comm);
}

static int comm_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
	struct dxp_mpi_comm *c = value;

	device_leave(c);
	undo(c);
	dxp_mpi_comm_destroy(c);
	return MPI_SUCCESS;
}

static int finalizing(MPI_Comm comm, int key, void *value, void *extra)
{
	for (struct dxp_mpi_comm *c = oldest; c; c = c->next) {
		device_leave(c);
		undo(c);
	}
	mpi_endpoint_close();
	return MPI_SUCCESS;
}

/* Caller holds `lock`. */
static bool make_keys(void)
{
	static int there;

	if (comm_key == MPI_KEYVAL_INVALID &&
	    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_deleted, &comm_key, NULL))
		return false;
	if (self_key != MPI_KEYVAL_INVALID)
		return true;
	return !PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizing, &self_key, NULL) &&
	       !PMPI_Comm_set_attr(MPI_COMM_SELF, self_key, &there);
}

static bool watch(struct dxp_mpi_comm *c)
{
	bool ok;

	if (c->watched)
		return true;
	pthread_mutex_lock(&lock);
	ok = make_keys();
	pthread_mutex_unlock(&lock);
	c->watched = ok && !PMPI_Comm_set_attr(c->comm, comm_key, c);
	return c->watched;
}

bool mpi_enlist(struct dxp_mpi_comm *c)
{
	if (c->link)
		return true;
	if (!watch(c))
		return false;
	pthread_mutex_lock(&lock);
	c->link = last;
	*last = c;
	last = &c->next;
	pthread_mutex_unlock(&lock);
	return true;
}

static bool worthwhile(MPI_Comm comm)
{
	int inter, ranks;

	return !PMPI_Comm_test_inter(comm, &inter) && !inter && !PMPI_Comm_size(comm, &ranks) &&
	       ranks > 1;
}

struct dxp_mpi_comm *dxp_mpi_comm_of(MPI_Comm comm)
{
	struct dxp_mpi_comm *c = NULL;
	int found = 0;

	if (comm == MPI_COMM_NULL)
		return NULL;
	if (comm_key != MPI_KEYVAL_INVALID && PMPI_Comm_get_attr(comm, comm_key, &c, &found))
		return NULL;
	if (found)
		return c;
	c = dxp_mpi_comm_create(comm, NULL);
	if (!c)
		return NULL;
	if (!worthwhile(comm))
		c->state = MPI_ORDINARY;
	if (watch(c))
		return c;
	dxp_mpi_comm_destroy(c);
	return NULL;
}

/* ---- joining ---- */

static enum mpi_state join(struct dxp_mpi_comm *c)
{
	MPI_Comm host = MPI_COMM_NULL;
	int64_t all[AGREEMENTS];
	int socket = dxp_mpi_settings.mode == DXP_INC_NODE ? 0 : mpi_socket_of_this_process();
	bool roles;

	/* NULL, if memory is short: agree() then disables measurement on all ranks */
	c->choices = calloc(1, sizeof(*c->choices));
	if (!agree(c, socket, all))
		return MPI_ORDINARY;
	deal_mode(c, all);
	roles = find_host(c, (int)all[MIN_HOSTS], &host) && find_node(c, &host, socket) &&
		find_leaders(c) && settle_node(c);
	if (host != MPI_COMM_NULL)
		PMPI_Comm_free(&host);
	if (c->max_bytes == AUTOMATIC && c->measure_calls == 0 &&
	    c->leader_count < DXP_MPI_LEADERS_MANY)
		c->max_bytes = DXP_MPI_FEW_BYTES;
	if (!roles) {
		undo(c);
		return MPI_ORDINARY;
	}
	if (!mpi_enlist(c))
		return MPI_ORDINARY;
	return make_group(c) ? MPI_JOINED : MPI_REFUSED;
}

void mpi_join(struct dxp_mpi_comm *c)
{
	c->state = MPI_JOINING;
	if (PMPI_Comm_rank(c->comm, &c->rank) || PMPI_Comm_size(c->comm, &c->ranks) || c->ranks < 2)
		c->state = MPI_ORDINARY;
	else
		c->state = join(c);
}

void mpi_rejoin(struct dxp_mpi_comm *c)
{
	c->state = MPI_JOINING;
	c->waited = 0;
	c->patience *= 2;
	c->state = make_group(c) ? MPI_JOINED : MPI_REFUSED;
}
