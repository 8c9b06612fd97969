/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Iallreduce as a state machine that opal_progress advances. Its stages are:
 *
 *   UP     the node's contributions are reduced to its leader; skipped if the node has one rank
 *   GROUP  the leaders' operation runs at the switches
 *   REST   if the group is lost, an ordinary nonblocking operation of the leaders does the rest
 *   DOWN   the leader sends status and result to its node
 *
 * Operations of a communicator enter GROUP, leave GROUP and enter DOWN in the order of their calls.
 * So all ranks make the calls of each stage in the same order. The callback never blocks: it tests
 * requests without making progress. If it is called while it runs, it returns at once.
 *
 * A nonblocking call must not wait for other ranks, so it never makes the communicator join its
 * switches. Until a blocking call has made it join, nonblocking operations are ordinary. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "coll_dxp.h"

enum stage { UP, GROUP, REST, DOWN, DONE };

/* Wire elements follow the status. */
struct work {
	int32_t error, reserved;
	alignas(16) uint8_t data[];
};

struct coll_dxp_request {
	ompi_request_t super;
	coll_dxp_module_t *module;
	struct coll_dxp_request *next;
	enum stage stage;
	uint64_t ticket;
	struct mpi_mapping mapping;
	void *receive;
	/* The user's buffer, read directly by the switch library: only with one rank in the node,
	 * and elements as on the wire. */
	const void *own;
	int count;
	/* of this node; NULL: `own` and `receive` are used */
	struct work *work;
	int error;
	MPI_Request under; /* incomplete ordinary operation */
	/* NULL in GROUP: the group is lost or did not accept the operation */
	struct dxp_inc_operation *operation;
	bool down_begun;
};
typedef struct coll_dxp_request coll_dxp_request_t;
OBJ_CLASS_INSTANCE(coll_dxp_request_t, ompi_request_t, NULL, NULL);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Incomplete, in the order of calls; guarded by `lock`. */
static coll_dxp_request_t *first, **last = &first;
static bool registered; /* guarded by `lock` */
static atomic_int outstanding;

bool coll_dxp_has_outstanding(void)
{
	return atomic_load_explicit(&outstanding, memory_order_relaxed) > 0;
}

static bool leader(const coll_dxp_request_t *r)
{
	return r->module->engine->node_rank == 0;
}

static bool alone(const coll_dxp_request_t *r)
{
	return r->module->engine->node_ranks == 1;
}

static size_t wire_bytes(const coll_dxp_request_t *r)
{
	return mpi_wire_bytes(&r->mapping, (size_t)r->count);
}

static uint8_t *wire(const coll_dxp_request_t *r)
{
	return r->work ? r->work->data : r->receive;
}

/* The ordinary operation is complete; keeps its error. */
static bool under_done(coll_dxp_request_t *r)
{
	if (r->under == MPI_REQUEST_NULL)
		return true;
	if (!REQUEST_COMPLETE(r->under))
		return false;
	if (r->error == MPI_SUCCESS)
		r->error = r->under->req_status.MPI_ERROR;
	ompi_request_free(&r->under);
	r->under = MPI_REQUEST_NULL;
	return true;
}

/* After a failed step in this node, a barrier instead: the library detects the mismatch at the
 * other leaders, so all ranks report a failure. */
static void group_begin(coll_dxp_request_t *r)
{
	struct dxp_mpi_comm *c = r->module->engine;
	size_t elements = (size_t)r->count * r->mapping.parts;
	int status;

	r->module->group_order++;
	r->stage = GROUP;
	if (c->lost)
		return;
	if (r->error != MPI_SUCCESS) {
		status = dxp_inc_barrier_start(c->group, &r->operation);
	} else {
		if (r->work)
			mpi_pack(&r->mapping, r->work->data, (size_t)r->count, r->work->data);
		status = dxp_inc_allreduce_start(c->group, r->own, wire(r), elements,
						 r->mapping.type, r->mapping.op, &r->operation);
	}
	if (status == DXP_OK)
		return;
	r->operation = NULL;
	if (status == DXP_EPEERLOST)
		mpi_group_lost(c, status);
	else if (status != DXP_EUNSUPPORTED && r->error == MPI_SUCCESS)
		r->error = status == DXP_ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

static void rest_begin(coll_dxp_request_t *r, size_t done)
{
	struct dxp_mpi_comm *c = r->module->engine;
	size_t at = done * dxp_inc_type_bytes(r->mapping.type);
	size_t elements = (size_t)r->count * r->mapping.parts - done;
	const void *from = r->own ? (const uint8_t *)r->own + at : MPI_IN_PLACE;

	r->stage = REST;
	if (elements == 0)
		return;
	r->error = PMPI_Iallreduce(from, wire(r) + at, (int)elements, r->mapping.wire_type,
				   r->mapping.wire_op, c->leaders, &r->under);
	if (r->error != MPI_SUCCESS)
		r->under = MPI_REQUEST_NULL;
}

static bool group_move(coll_dxp_request_t *r)
{
	size_t done = 0;
	int status = DXP_EPEERLOST;

	if (r->ticket != r->module->end_order)
		return false;
	if (r->operation)
		status = dxp_inc_test(r->operation, &done);
	if (status == DXP_EAGAIN)
		return false;
	r->operation = NULL;
	r->module->end_order++;
	r->module->engine->operations_begun += status == DXP_OK && r->error == MPI_SUCCESS;
	if (status == DXP_EPEERLOST || status == DXP_EINVAL)
		if (!r->module->engine->lost)
			mpi_group_lost(r->module->engine, status);
	if (status == DXP_EPEERLOST && r->error == MPI_SUCCESS) {
		rest_begin(r, done);
		return true;
	}
	if (status != DXP_OK && r->error == MPI_SUCCESS)
		r->error = status == DXP_EINVAL ? MPI_ERR_ARG : MPI_ERR_OTHER;
	r->stage = DOWN;
	return true;
}

static bool down_move(coll_dxp_request_t *r)
{
	struct dxp_mpi_comm *c = r->module->engine;
	size_t bytes = sizeof(struct work) + wire_bytes(r);

	if (!alone(r) && !r->down_begun) {
		if (r->ticket != r->module->down_order)
			return false;
		r->module->down_order++;
		r->down_begun = true;
		r->work->error = r->error;
		r->error = PMPI_Ibcast(r->work, (int)bytes, MPI_BYTE, 0, c->node_down, &r->under);
		if (r->error != MPI_SUCCESS)
			r->under = MPI_REQUEST_NULL;
	}
	if (!under_done(r))
		return false;
	if (!alone(r) && r->error == MPI_SUCCESS)
		r->error = r->work->error;
	if (r->work && r->error == MPI_SUCCESS)
		mpi_unpack(&r->mapping, r->work->data, (size_t)r->count, r->receive);
	r->stage = DONE;
	return true;
}

/* One step. False: must wait. */
static bool move(coll_dxp_request_t *r)
{
	switch (r->stage) {
	case UP:
		if (!under_done(r))
			return false;
		if (!leader(r))
			r->stage = DOWN;
		else if (r->ticket == r->module->group_order)
			group_begin(r);
		else
			return false;
		return true;
	case GROUP: return group_move(r);
	case REST:
		if (!under_done(r))
			return false;
		r->stage = DOWN;
		return true;
	case DOWN: return down_move(r);
	default: return false;
	}
}

static void complete(coll_dxp_request_t *r)
{
	struct dxp_mpi_comm *c = r->module->engine;

	free(r->work);
	r->work = NULL;
	r->super.req_status.MPI_ERROR = r->error;
	atomic_fetch_sub_explicit(&outstanding, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&c->outstanding, 1, memory_order_release);
	ompi_request_complete(&r->super, true);
}

/* Completes requests after the unlock, because this may run code of the program. */
static int progress(void)
{
	coll_dxp_request_t *done = NULL, **done_last = &done, **at = &first;
	int moved = 0;

	if (!coll_dxp_has_outstanding() || pthread_mutex_trylock(&lock))
		return 0;
	while (*at) {
		coll_dxp_request_t *r = *at;

		while (move(r))
			moved++;
		if (r->stage != DONE) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		if (!r->next)
			last = at;
		r->next = NULL;
		*done_last = r;
		done_last = &r->next;
	}
	pthread_mutex_unlock(&lock);
	while (done) {
		coll_dxp_request_t *r = done;

		done = r->next;
		complete(r);
	}
	return moved;
}

void coll_dxp_request_close(void)
{
	if (registered)
		opal_progress_unregister(progress);
	registered = false;
}

static int request_free(ompi_request_t **request)
{
	coll_dxp_request_t *r = (coll_dxp_request_t *)*request;

	OMPI_REQUEST_FINI(&r->super);
	OBJ_RELEASE(r);
	*request = MPI_REQUEST_NULL;
	return OMPI_SUCCESS;
}

static coll_dxp_request_t *request_new(coll_dxp_module_t *m, const struct mpi_mapping *mapping,
				       const void *own, void *receive, int count)
{
	coll_dxp_request_t *r = OBJ_NEW(coll_dxp_request_t);

	if (!r)
		return NULL;
	OMPI_REQUEST_INIT(&r->super, false);
	r->super.req_type = OMPI_REQUEST_COLL;
	r->super.req_state = OMPI_REQUEST_ACTIVE;
	r->super.req_status = ompi_status_empty;
	r->super.req_free = request_free;
	r->super.req_cancel = NULL;
	r->super.req_mpi_object.comm = m->comm;
	r->module = m;
	r->mapping = *mapping;
	r->receive = receive;
	r->own = NULL;
	r->count = count;
	r->next = NULL;
	r->work = NULL;
	r->error = MPI_SUCCESS;
	r->under = MPI_REQUEST_NULL;
	r->operation = NULL;
	r->down_begun = false;
	r->stage = UP;
	if (alone(r) && mapping->layout == MPI_LAYOUT_PLAIN) {
		r->own = own == receive ? NULL : own;
		return r;
	}
	r->work = malloc(sizeof(*r->work) + mpi_wire_bytes(mapping, (size_t)count));
	if (r->work)
		return r;
	OMPI_REQUEST_FINI(&r->super);
	OBJ_RELEASE(r);
	return NULL;
}

static void enlist(coll_dxp_request_t *r)
{
	atomic_fetch_add(&r->module->engine->outstanding, 1);
	atomic_fetch_add(&outstanding, 1);
	pthread_mutex_lock(&lock);
	if (!registered)
		opal_progress_register(progress);
	registered = true;
	r->ticket = r->module->tickets++;
	*last = r;
	last = &r->next;
	pthread_mutex_unlock(&lock);
}

/* Open MPI itself may have made this call, to agree on the id of a new communicator, perhaps inside
 * opal_progress. Its order among the user's calls may differ between ranks, so it must not be
 * offloaded. */
static bool of_mpi_itself(int count, MPI_Datatype type, MPI_Op op)
{
	return type == MPI_INT && count <= 4 && (op == MPI_MAX || op == MPI_MIN);
}

static coll_dxp_request_t *begin(coll_dxp_module_t *m, const void *send, void *receive, int count,
				 MPI_Datatype type, MPI_Op op)
{
	const void *own = send == MPI_IN_PLACE ? receive : send;
	const struct mpi_mapping *mapping;
	coll_dxp_request_t *r;

	if (!m->engine || of_mpi_itself(count, type, op))
		return NULL;
	mapping = mpi_choose(m->engine, DXP_MPI_IALLREDUCE, count, type, op, false);
	if (!mapping || mpi_wire_bytes(mapping, (size_t)count) > INT_MAX / 2 ||
	    mpi_way_ordinary(m->engine, MPI_WAY_ALLREDUCE, mpi_wire_bytes(mapping, (size_t)count)))
		return NULL;
	r = request_new(m, mapping, own, receive, count);
	if (!r)
		return NULL;
	if (alone(r) && r->work)
		memcpy(r->work->data, own, wire_bytes(r));
	else if (!alone(r))
		r->error = PMPI_Ireduce(own, leader(r) ? r->work->data : NULL, count, type, op, 0,
					m->engine->node, &r->under);
	if (r->error != MPI_SUCCESS)
		r->under = MPI_REQUEST_NULL;
	return r;
}

int coll_dxp_iallreduce(const void *send, void *receive, int count, ompi_datatype_t *type,
			ompi_op_t *op, ompi_communicator_t *comm, ompi_request_t **request,
			mca_coll_base_module_t *module)
{
	coll_dxp_module_t *m = (coll_dxp_module_t *)module;
	coll_dxp_request_t *r = begin(m, send, receive, count, type, op);

	if (!r)
		return m->iallreduce(send, receive, count, type, op, comm, request,
				     m->iallreduce_module);
	enlist(r);
	*request = &r->super;
	progress();
	return OMPI_SUCCESS;
}
