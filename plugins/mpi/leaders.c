/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements operations between leaders. They use the switches while there is a group, otherwise
 * ordinary collectives. If a group is lost during an operation, ordinary collectives complete the
 * operation. Elements here are elements on the wire. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"

/* elements per ordinary collective, because it counts in int */
#define PIECE (INT_MAX / 2)

/* Waits for an operation. If nonblocking operations need MPI progress, it instead tests and makes
 * progress in turn: they call the library, which must not be called inside its own wait. */
static int finish(struct dxp_inc_operation *operation, size_t *done)
{
	int status;

	if (!dxp_mpi_settings.has_outstanding || !dxp_mpi_settings.has_outstanding())
		return dxp_inc_wait(operation, done);
	while ((status = dxp_inc_test(operation, done)) == DXP_EAGAIN)
		mpi_progress();
	return status;
}

/* Returns true if the operation is over; *error is then MPI's error code. Returns false if ordinary
 * collectives must continue at the element at which the operation stopped. */
static bool over(struct dxp_mpi_comm *c, int status, int *error)
{
	*error = MPI_SUCCESS;
	switch (status) {
	case DXP_OK: c->operations_begun++; return true;
	case DXP_EPEERLOST: mpi_group_lost(c, status); return false;
	case DXP_EUNSUPPORTED: return false;
	case DXP_EINVAL:
		mpi_group_lost(c, status);
		*error = MPI_ERR_ARG;
		return true;
	case DXP_ENOMEM: *error = MPI_ERR_NO_MEM; return true;
	default: *error = MPI_ERR_OTHER; return true;
	}
}

int mpi_leaders_allreduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
			  void *receive, size_t elements)
{
	size_t width = dxp_inc_type_bytes(m->type), done = 0;
	struct dxp_inc_operation *operation;
	int error = MPI_SUCCESS, status;

	if (mpi_group_ready(c)) {
		status = dxp_inc_allreduce_start(c->group, send, receive, elements, m->type, m->op,
						 &operation);
		if (status == DXP_OK)
			status = finish(operation, &done);
		if (over(c, status, &error))
			return error;
	}
	while (done < elements && error == MPI_SUCCESS) {
		size_t count = elements - done < PIECE ? elements - done : PIECE;
		uint8_t *to = (uint8_t *)receive + done * width;

		error = PMPI_Allreduce(send ? (const uint8_t *)send + done * width : MPI_IN_PLACE,
				       to, (int)count, m->wire_type, m->wire_op, c->leaders);
		done += count;
	}
	return error;
}

/* Reduces the remaining elements by ordinary collectives. The root uses a copy: MPICH 4.0 crashes
 * in a long in-place reduction to a root other than 0. */
static int reduce_rest(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const uint8_t *from,
		       uint8_t *to, size_t elements, int root)
{
	size_t width = dxp_inc_type_bytes(m->type), at = 0;
	uint8_t *copy = NULL;
	int error = MPI_SUCCESS;

	if (from == to && (copy = malloc(elements * width)))
		from = memcpy(copy, from, elements * width);
	while (at < elements && error == MPI_SUCCESS) {
		size_t count = elements - at < PIECE ? elements - at : PIECE;

		error = PMPI_Reduce(from == to ? MPI_IN_PLACE : from + at * width,
				    to ? to + at * width : NULL, (int)count, m->wire_type,
				    m->wire_op, root, c->leaders);
		at += count;
	}
	free(copy);
	return error;
}

int mpi_leaders_reduce(struct dxp_mpi_comm *c, const struct mpi_mapping *m, const void *send,
		       void *receive, size_t elements, int root)
{
	size_t width = dxp_inc_type_bytes(m->type), done = 0;
	const uint8_t *from = send ? send : receive;
	struct dxp_inc_operation *operation;
	int error = MPI_SUCCESS, status;

	if (mpi_group_ready(c)) {
		status = dxp_inc_reduce_start(c->group, from, c->leader == root ? receive : NULL,
					      elements, m->type, m->op, (uint32_t)root, &operation);
		if (status == DXP_OK)
			status = finish(operation, &done);
		if (over(c, status, &error))
			return error;
	}
	if (error == MPI_SUCCESS && done < elements)
		error = reduce_rest(c, m, from + done * width,
				    c->leader == root ? (uint8_t *)receive + done * width : NULL,
				    elements - done, root);
	return error;
}

int mpi_leaders_bcast(struct dxp_mpi_comm *c, void *data, size_t bytes, int root)
{
	struct dxp_inc_operation *operation;
	size_t done = 0;
	int error = MPI_SUCCESS, status;

	if (mpi_group_ready(c)) {
		status = dxp_inc_broadcast_start(c->group, data, bytes, (uint32_t)root, &operation);
		if (status == DXP_OK)
			status = finish(operation, &done);
		if (over(c, status, &error))
			return error;
	}
	if (done < bytes)
		error = PMPI_Bcast((uint8_t *)data + done, (int)(bytes - done), MPI_BYTE, root,
				   c->leaders);
	return error;
}

int mpi_leaders_barrier(struct dxp_mpi_comm *c)
{
	struct dxp_inc_operation *operation;
	int error, status;

	if (mpi_group_ready(c)) {
		status = dxp_inc_barrier_start(c->group, &operation);
		if (status == DXP_OK)
			status = finish(operation, NULL);
		if (over(c, status, &error))
			return error;
	}
	return PMPI_Barrier(c->leaders);
}
