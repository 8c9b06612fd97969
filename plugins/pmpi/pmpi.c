/* SPDX-License-Identifier: BSD-3-Clause */
/* A library for LD_PRELOAD before any MPI program, built per MPI. Offloads four collectives through
 * the MPI core. Parameters: environment variables DXP_INC_* on each rank. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/mpi/engine.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static long number(const char *name, long standard, long most)
{
	const char *text = getenv(name);
	char *end;
	long value;

	if (!text || !*text)
		return standard;
	value = strtol(text, &end, 10);
	if (!*end && value >= 0 && value <= most)
		return value;
	fprintf(stderr, "dxp-pmpi: %s=%s is not a number from 0 to %ld; using %ld\n", name, text,
		most, standard);
	return standard;
}

static void configure(void)
{
	struct dxp_mpi_settings *s = &dxp_mpi_settings;
	const char *mode = getenv("DXP_INC_MODE"), *collectives = getenv("DXP_INC_COLLECTIVES");

	s->label = "dxp-pmpi";
	s->collectives = DXP_MPI_ALLREDUCE | DXP_MPI_BARRIER | DXP_MPI_BCAST | DXP_MPI_REDUCE;
	if (mode && *mode)
		dxp_mpi_mode_read(mode, &s->mode);
	if (collectives)
		dxp_mpi_collectives_read(collectives, &s->collectives);
	s->verbose = (int)number("DXP_INC_VERBOSE", 0, 9);
	s->max_bytes = number("DXP_INC_MAX_BYTES", 0, LONG_MAX);
	s->min_hosts = (int)number("DXP_INC_MIN_HOSTS", 2, INT_MAX);
	s->retry_calls = (int)number("DXP_INC_RETRY_CALLS", 1000, INT_MAX);
	s->measure_calls = (int)number("DXP_INC_MEASURE_CALLS", DXP_MPI_MEASURE_CALLS, INT_MAX);
	s->deadline_ms = (int)number("DXP_INC_DEADLINE_MS", 0, INT_MAX);
	s->create_ms = (int)number("DXP_INC_CREATE_MS", 0, INT_MAX);
	s->spin_us = (int)number("DXP_INC_SPIN_US", DXP_MPI_SPIN_US, INT_MAX);
	s->user_plane = number("DXP_INC_USER_PLANE", 0, 1);
	s->compat = number("DXP_INC_COMPAT", 0, 1);
	s->reliable = number("DXP_INC_RELIABLE", 0, 1);
	s->no_icrc_check = number("DXP_INC_NO_ICRC_CHECK", 0, 1);
}

static struct dxp_mpi_comm *engine_of(MPI_Comm comm)
{
	pthread_once(&once, configure);
	return dxp_mpi_comm_of(comm);
}

static int ordinary_end(struct dxp_mpi_comm *c, int error)
{
	dxp_mpi_call_end(c);
	return error;
}

/* MPI requires the communicator's error handler. */
static int end(MPI_Comm comm, int error)
{
	if (error != MPI_SUCCESS)
		PMPI_Comm_call_errhandler(comm, error);
	return error;
}

DXP_API int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
			  MPI_Comm comm)
{
	struct dxp_mpi_comm *c = engine_of(comm);
	int error = c ? dxp_mpi_allreduce(c, send, receive, count, type, op) : DXP_MPI_ORDINARY;

	if (error == DXP_MPI_ORDINARY)
		return ordinary_end(c, PMPI_Allreduce(send, receive, count, type, op, comm));
	return end(comm, error);
}

DXP_API int MPI_Reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
		       int root, MPI_Comm comm)
{
	struct dxp_mpi_comm *c = engine_of(comm);
	int error = c ? dxp_mpi_reduce(c, send, receive, count, type, op, root) : DXP_MPI_ORDINARY;

	if (error == DXP_MPI_ORDINARY)
		return ordinary_end(c, PMPI_Reduce(send, receive, count, type, op, root, comm));
	return end(comm, error);
}

DXP_API int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	struct dxp_mpi_comm *c = engine_of(comm);
	int error = c ? dxp_mpi_bcast(c, buffer, count, type, root) : DXP_MPI_ORDINARY;

	if (error == DXP_MPI_ORDINARY)
		return ordinary_end(c, PMPI_Bcast(buffer, count, type, root, comm));
	return end(comm, error);
}

DXP_API int MPI_Barrier(MPI_Comm comm)
{
	struct dxp_mpi_comm *c = engine_of(comm);
	int error = c ? dxp_mpi_barrier(c) : DXP_MPI_ORDINARY;

	if (error == DXP_MPI_ORDINARY)
		return ordinary_end(c, PMPI_Barrier(comm));
	return end(comm, error);
}
