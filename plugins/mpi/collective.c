/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a collective from start to completion. The contributions of a node are reduced to its
 * leader; then the leaders combine theirs. The leader passes the result and a status to its node.
 * If a node has one rank, the user's buffers are used directly.
 *
 * If a step in a node fails, its leader starts a barrier while the other leaders start the
 * operation. Their library detects this mismatch and reports a failure to all ranks, so that no
 * rank waits. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "device.h"

/* Returns true if the communicator has joined. Lets it join after MPI_FIRST_CALLS calls. After a
 * failed attempt, lets it retry when a retry is due. */
static bool joined(struct dxp_mpi_comm *c)
{
	if (c->state == MPI_UNTRIED && c->calls <= MPI_FIRST_CALLS)
		return false;
	if (c->state == MPI_UNTRIED)
		mpi_join(c);
	else if (c->state == MPI_REFUSED && c->retry_calls > 0 && ++c->waited >= c->patience)
		mpi_rejoin(c);
	return c->state == MPI_JOINED;
}

const struct mpi_mapping *mpi_choose(struct dxp_mpi_comm *c, unsigned collective, int count,
				     MPI_Datatype type, MPI_Op op, bool may_join)
{
	const struct mpi_mapping *m = &c->mapping;

	if (!mpi_count(c) || count <= 0)
		return NULL;
	if (type != c->type || op != c->op) {
		struct mpi_mapping found;

		if (!mpi_map(type, op, &found))
			return NULL;
		c->mapping = found;
		c->type = type;
		c->op = op;
	}
	if (c->state != MPI_JOINED && !(may_join && joined(c)))
		return NULL;
	if (!(c->collectives & collective) || !(c->accepts[m->op] & 1u << m->type) ||
	    (int64_t)mpi_wire_bytes(m, (size_t)count) > c->max_bytes)
		return NULL;
	return m;
}

static int leaders_allreduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, int failed,
			     void *work, int count)
{
	if (failed) {
		mpi_leaders_barrier(c);
		return failed;
	}
	mpi_pack(m, work, (size_t)count, work);
	return mpi_leaders_allreduce(c, m, NULL, work, (size_t)count * m->parts);
}

static int allreduce_alone(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *own,
			   void *receive, int count)
{
	size_t bytes = mpi_wire_bytes(m, (size_t)count);
	uint8_t *wire = c->down.data;
	int error;

	if (m->layout == MPI_LAYOUT_PLAIN)
		return mpi_leaders_allreduce(c, m, own == receive ? NULL : own, receive,
					     (size_t)count * m->parts);
	if (bytes > MPI_SHORT_BYTES)
		wire = malloc(bytes);
	if (!wire)
		return leaders_allreduce(c, m, MPI_ERR_NO_MEM, NULL, 0);
	mpi_pack(m, own, (size_t)count, wire);
	error = mpi_leaders_allreduce(c, m, NULL, wire, (size_t)count);
	if (error == MPI_SUCCESS)
		mpi_unpack(m, wire, (size_t)count, receive);
	if (wire != c->down.data)
		free(wire);
	return error;
}

/* Does an allreduce of short messages: the leader sends status and result to its node in one
 * message. */
static int allreduce_short(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *own,
			   void *receive, int count)
{
	size_t bytes = mpi_wire_bytes(m, (size_t)count);
	struct mpi_down *down = &c->down;
	int own_error;

	own_error = PMPI_Reduce(own, down->data, count, c->type, c->op, 0, c->node);
	if (c->node_rank == 0)
		down->error = leaders_allreduce(c, m, own_error, down->data, count);
	own_error = PMPI_Bcast(down, (int)(offsetof(struct mpi_down, data) + bytes), MPI_BYTE, 0,
			       c->node);
	if (own_error != MPI_SUCCESS || down->error != MPI_SUCCESS)
		return own_error != MPI_SUCCESS ? own_error : down->error;
	mpi_unpack(m, down->data, (size_t)count, receive);
	return MPI_SUCCESS;
}

static int allreduce_long(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *own,
			  void *receive, int count)
{
	int error = MPI_SUCCESS, own_error;
	uint8_t *work = receive;

	if (c->node_rank == 0 && m->layout != MPI_LAYOUT_PLAIN)
		work = malloc(mpi_wire_bytes(m, (size_t)count));
	if (!work) {
		work = receive;
		error = MPI_ERR_NO_MEM;
	}
	own_error = PMPI_Reduce(c->node_rank == 0 && own == work ? MPI_IN_PLACE : own, work, count,
				c->type, c->op, 0, c->node);
	if (c->node_rank == 0)
		error = leaders_allreduce(c, m, error != MPI_SUCCESS ? error : own_error, work,
					  count);
	if (work != receive) {
		if (error == MPI_SUCCESS)
			mpi_unpack(m, work, (size_t)count, receive);
		free(work);
	}
	own_error = PMPI_Bcast(&error, 1, MPI_INT, 0, c->node);
	if (own_error != MPI_SUCCESS || error != MPI_SUCCESS)
		return own_error != MPI_SUCCESS ? own_error : error;
	return PMPI_Bcast(receive, count, c->type, 0, c->node);
}

static int allreduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *own,
		     void *receive, int count)
{
	if (c->node_ranks == 1)
		return allreduce_alone(c, m, own, receive, count);
	if (mpi_wire_bytes(m, (size_t)count) <= MPI_SHORT_BYTES)
		return allreduce_short(c, m, own, receive, count);
	return allreduce_long(c, m, own, receive, count);
}

static int end(struct dxp_mpi_comm *c, int error)
{
	dxp_mpi_call_end(c);
	return error;
}

int dxp_mpi_allreduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		      MPI_Datatype type, MPI_Op op)
{
	const void *own = send == MPI_IN_PLACE ? receive : send;
	const struct mpi_mapping *m;
	int error;

	if (mpi_way_nested(c))
		return DXP_MPI_ORDINARY;
	error = mpi_device_allreduce(c, send, receive, count, type, op);
	if (error != DXP_MPI_ORDINARY)
		return error;
	m = mpi_choose(c, DXP_MPI_ALLREDUCE, count, type, op, true);
	if (!m || !mpi_way_begin(c, MPI_WAY_ALLREDUCE, mpi_wire_bytes(m, (size_t)count)))
		return DXP_MPI_ORDINARY;
	return end(c, allreduce(c, m, own, receive, count));
}

/* Passes the result of a reduce from the leader of the root's node to the root. `to` is the root's
 * rank in that node. */
static int hand_over(struct dxp_mpi_comm *c, const struct mpi_mapping *m, int error, void *work,
		     void *receive, int count, int to)
{
	int own_error;

	if (to == 0) {
		if (error == MPI_SUCCESS)
			mpi_unpack(m, work, (size_t)count, receive);
		return error;
	}
	own_error = PMPI_Send(&error, 1, MPI_INT, to, 0, c->node);
	if (own_error == MPI_SUCCESS && error == MPI_SUCCESS)
		own_error = PMPI_Send(work, count,
				      m->layout == MPI_LAYOUT_PLAIN ? c->type : m->wire_type, to, 0,
				      c->node);
	return own_error != MPI_SUCCESS ? own_error : error;
}

/* Does the part of a leader in a reduce. `own` or `receive` is NULL if this rank has no such
 * buffer. */
static int reduce_leader(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *own,
			 void *receive, int count, const struct mpi_location *root)
{
	size_t bytes = mpi_wire_bytes(m, (size_t)count), elements = (size_t)count * m->parts;
	uint8_t *work = bytes <= MPI_SHORT_BYTES ? c->down.data : malloc(bytes);
	int error = work ? MPI_SUCCESS : MPI_ERR_NO_MEM;

	if (work && c->node_ranks > 1)
		error = PMPI_Reduce(own, work, count, c->type, c->op, 0, c->node);
	else if (work)
		memcpy(work, own, bytes);
	if (error != MPI_SUCCESS) {
		mpi_leaders_barrier(c);
	} else {
		mpi_pack(m, work, (size_t)count, work);
		error = mpi_leaders_reduce(c, m, NULL, work, elements, root->leader);
	}
	if (root->leader == c->leader)
		error = hand_over(c, m, error, work, receive, count, root->node_rank);
	if (work != c->down.data)
		free(work);
	return error;
}

/* Receives the result that hand_over() sends. If elements have padding in memory, the result
 * arrives as wire elements. */
static int receive_over(struct dxp_mpi_comm *c, const struct mpi_mapping *m, void *receive,
			int count)
{
	size_t bytes = mpi_wire_bytes(m, (size_t)count);
	int error = MPI_SUCCESS, own_error;
	uint8_t *wire;

	own_error = PMPI_Recv(&error, 1, MPI_INT, 0, 0, c->node, MPI_STATUS_IGNORE);
	if (own_error != MPI_SUCCESS || error != MPI_SUCCESS)
		return own_error != MPI_SUCCESS ? own_error : error;
	if (m->layout == MPI_LAYOUT_PLAIN)
		return PMPI_Recv(receive, count, c->type, 0, 0, c->node, MPI_STATUS_IGNORE);
	wire = bytes <= MPI_SHORT_BYTES ? c->down.data : malloc(bytes);
	if (!wire)
		return MPI_ERR_NO_MEM;
	own_error = PMPI_Recv(wire, count, m->wire_type, 0, 0, c->node, MPI_STATUS_IGNORE);
	if (own_error == MPI_SUCCESS)
		mpi_unpack(m, wire, (size_t)count, receive);
	if (wire != c->down.data)
		free(wire);
	return own_error;
}

static int reduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *own,
		  void *receive, int count, int root)
{
	const struct mpi_location *location = &c->locations[root];
	int own_error;

	if (c->node_ranks == 1 && m->layout == MPI_LAYOUT_PLAIN)
		return mpi_leaders_reduce(c, m, own, c->rank == root ? receive : NULL,
					  (size_t)count * m->parts, location->leader);
	if (c->node_rank == 0)
		return reduce_leader(c, m, own, receive, count, location);
	own_error = PMPI_Reduce(own, NULL, count, c->type, c->op, 0, c->node);
	if (c->rank == root) {
		int copied = receive_over(c, m, receive, count);

		own_error = own_error ? own_error : copied;
	}
	return own_error;
}

int dxp_mpi_reduce(struct dxp_mpi_comm *c, const void *send, void *receive, int count,
		   MPI_Datatype type, MPI_Op op, int root)
{
	const void *own = send == MPI_IN_PLACE ? receive : send;
	const struct mpi_mapping *m;
	int error;

	if (mpi_way_nested(c))
		return DXP_MPI_ORDINARY;
	error = mpi_device_reduce(c, send, receive, count, type, op, root);
	if (error != DXP_MPI_ORDINARY)
		return error;
	m = mpi_choose(c, DXP_MPI_REDUCE, count, type, op, true);
	if (!m || root < 0 || root >= c->ranks ||
	    !mpi_way_begin(c, MPI_WAY_REDUCE, mpi_wire_bytes(m, (size_t)count)))
		return DXP_MPI_ORDINARY;
	return end(c, reduce(c, m, own, receive, count, root));
}

static int barrier(struct dxp_mpi_comm *c)
{
	int error = MPI_SUCCESS, own_error;

	if (c->node_ranks == 1)
		return mpi_leaders_barrier(c);
	own_error = PMPI_Barrier(c->node);
	if (c->node_rank == 0)
		error = mpi_leaders_barrier(c);
	if (own_error == MPI_SUCCESS)
		own_error = PMPI_Bcast(&error, 1, MPI_INT, 0, c->node);
	return own_error != MPI_SUCCESS ? own_error : error;
}

int dxp_mpi_barrier(struct dxp_mpi_comm *c)
{
	if (mpi_way_nested(c) || !mpi_count(c) || (c->state != MPI_JOINED && !joined(c)) ||
	    !(c->collectives & DXP_MPI_BARRIER) || !mpi_way_begin(c, MPI_WAY_BARRIER, 0))
		return DXP_MPI_ORDINARY;
	return end(c, barrier(c));
}

/* ---- broadcast: ranks may describe the same bytes by different types ---- */

/* Returns true if elements of the type are contiguous. Remembers the last such type. */
static bool flat(struct dxp_mpi_comm *c, MPI_Datatype type)
{
	if (type == c->flat_type)
		return true;
	if (!mpi_lies_flat(type))
		return false;
	c->flat_type = type;
	return true;
}

/* Does the part of a leader in a broadcast. `data` is the user's buffer, or packed bytes if the
 * type is not contiguous. NULL: memory for packed bytes is short. */
static int bcast_leader(struct dxp_mpi_comm *c, const struct mpi_location *root, int failed,
			void *data, size_t bytes)
{
	if (!failed && !data)
		failed = MPI_ERR_NO_MEM;
	if (failed) {
		mpi_leaders_barrier(c);
		return failed;
	}
	return mpi_leaders_bcast(c, data, bytes, root->leader);
}

/* Broadcasts on the root's node. The root sends to its node, then the leader of this node sends to
 * the other leaders. */
static int bcast_from_here(struct dxp_mpi_comm *c, const struct mpi_location *root, void *buffer,
			   int count, MPI_Datatype type, uint8_t *packed, size_t bytes)
{
	int own_error = MPI_SUCCESS, position = 0;

	if (c->node_ranks > 1)
		own_error = PMPI_Bcast(buffer, count, type, root->node_rank, c->node);
	if (c->node_rank != 0)
		return own_error;
	if (own_error == MPI_SUCCESS && packed && packed != buffer)
		own_error = PMPI_Pack(buffer, count, type, packed, (int)bytes, &position, c->comm);
	return bcast_leader(c, root, own_error, packed, bytes);
}

static int bcast_to_here(struct dxp_mpi_comm *c, const struct mpi_location *root, void *buffer,
			 int count, MPI_Datatype type, uint8_t *packed, size_t bytes)
{
	int error = MPI_SUCCESS, position = 0, own_error;

	if (c->node_rank == 0) {
		error = bcast_leader(c, root, MPI_SUCCESS, packed, bytes);
		if (error == MPI_SUCCESS && packed != buffer)
			error = PMPI_Unpack(packed, (int)bytes, &position, buffer, count, type,
					    c->comm);
	}
	if (c->node_ranks == 1)
		return error;
	own_error = PMPI_Bcast(&error, 1, MPI_INT, 0, c->node);
	if (own_error != MPI_SUCCESS || error != MPI_SUCCESS)
		return own_error != MPI_SUCCESS ? own_error : error;
	return PMPI_Bcast(buffer, count, type, 0, c->node);
}

static int bcast(struct dxp_mpi_comm *c, void *buffer, int count, MPI_Datatype type, int root,
		 size_t bytes)
{
	const struct mpi_location *location = &c->locations[root];
	uint8_t *packed = buffer;
	int own_error;

	if (c->node_rank == 0 && !flat(c, type))
		packed = bytes <= MPI_SHORT_BYTES ? c->down.data : malloc(bytes);
	if (location->leader == c->leader)
		own_error = bcast_from_here(c, location, buffer, count, type, packed, bytes);
	else
		own_error = bcast_to_here(c, location, buffer, count, type, packed, bytes);
	if (packed != buffer && packed != c->down.data)
		free(packed);
	return own_error;
}

int dxp_mpi_bcast(struct dxp_mpi_comm *c, void *buffer, int count, MPI_Datatype type, int root)
{
	MPI_Count type_bytes;
	size_t bytes;
	int error;

	if (mpi_way_nested(c))
		return DXP_MPI_ORDINARY;
	error = mpi_device_bcast(c, buffer, count, type, root);
	if (error != DXP_MPI_ORDINARY)
		return error;
	if (!mpi_count(c) || count <= 0 || type == MPI_DATATYPE_NULL ||
	    PMPI_Type_size_x(type, &type_bytes) || type_bytes <= 0)
		return DXP_MPI_ORDINARY;
	bytes = (size_t)count * (size_t)type_bytes;
	if ((c->state != MPI_JOINED && !joined(c)) || !(c->collectives & DXP_MPI_BCAST) ||
	    root < 0 || root >= c->ranks || bytes > INT_MAX || (int64_t)bytes > c->max_bytes ||
	    !mpi_way_begin(c, MPI_WAY_BCAST, bytes))
		return DXP_MPI_ORDINARY;
	return end(c, bcast(c, buffer, count, type, root, bytes));
}
