/* SPDX-License-Identifier: BSD-3-Clause */
/* The module of a communicator: offloads collectives through the MPI core; others go to the module
 * below. */
#include <pthread.h>

#include "coll_dxp.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coll_dxp_module_t *modules; /* enabled; guarded by `lock` */

static void construct(coll_dxp_module_t *m)
{
	memset((char *)m + sizeof(m->super), 0, sizeof(*m) - sizeof(m->super));
}

static void unlist(coll_dxp_module_t *m)
{
	pthread_mutex_lock(&lock);
	if (m->link) {
		*m->link = m->next;
		if (m->next)
			m->next->link = m->link;
	}
	pthread_mutex_unlock(&lock);
}

static void destruct(coll_dxp_module_t *m)
{
	unlist(m);
	if (m->engine)
		dxp_mpi_comm_destroy(m->engine);
#define RELEASE(name)         \
	if (m->name##_module) \
		OBJ_RELEASE(m->name##_module);
	COLL_DXP_SAVED(RELEASE)
#undef RELEASE
}

OBJ_CLASS_INSTANCE(coll_dxp_module_t, mca_coll_base_module_t, construct, destruct);

/* Disables offloading on a private communicator of the core. */
void coll_dxp_made_private(MPI_Comm comm)
{
	coll_dxp_module_t *m;

	pthread_mutex_lock(&lock);
	for (m = modules; m && m->comm != comm; m = m->next)
		;
	if (m && m->engine)
		dxp_mpi_comm_destroy(m->engine);
	pthread_mutex_unlock(&lock);
}

static int ordinary_end(const coll_dxp_module_t *m, int error)
{
	dxp_mpi_call_end(m->engine);
	return error;
}

static int allreduce(const void *send, void *receive, int count, ompi_datatype_t *type,
		     ompi_op_t *op, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_dxp_module_t *m = (coll_dxp_module_t *)module;
	int error = m->engine ? dxp_mpi_allreduce(m->engine, send, receive, count, type, op)
			      : DXP_MPI_ORDINARY;

	if (error != DXP_MPI_ORDINARY)
		return error;
	return ordinary_end(
		m, m->allreduce(send, receive, count, type, op, comm, m->allreduce_module));
}

static int barrier(ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_dxp_module_t *m = (coll_dxp_module_t *)module;
	int error = m->engine ? dxp_mpi_barrier(m->engine) : DXP_MPI_ORDINARY;

	if (error != DXP_MPI_ORDINARY)
		return error;
	return ordinary_end(m, m->barrier(comm, m->barrier_module));
}

static int bcast(void *buffer, int count, ompi_datatype_t *type, int root,
		 ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_dxp_module_t *m = (coll_dxp_module_t *)module;
	int error =
		m->engine ? dxp_mpi_bcast(m->engine, buffer, count, type, root) : DXP_MPI_ORDINARY;

	if (error != DXP_MPI_ORDINARY)
		return error;
	return ordinary_end(m, m->bcast(buffer, count, type, root, comm, m->bcast_module));
}

static int reduce(const void *send, void *receive, int count, ompi_datatype_t *type, ompi_op_t *op,
		  int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
	coll_dxp_module_t *m = (coll_dxp_module_t *)module;
	int error = m->engine ? dxp_mpi_reduce(m->engine, send, receive, count, type, op, root)
			      : DXP_MPI_ORDINARY;

	if (error != DXP_MPI_ORDINARY)
		return error;
	return ordinary_end(
		m, m->reduce(send, receive, count, type, op, root, comm, m->reduce_module));
}

/* Ordinary calls go to the present functions. Open MPI enables modules by rising priority, so these
 * have lower priority. */
static int enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
	coll_dxp_module_t *m = (coll_dxp_module_t *)module;

#define LACKS(name) || !comm->c_coll->coll_##name || !comm->c_coll->coll_##name##_module
	if (false COLL_DXP_SAVED(LACKS))
		return OMPI_ERR_NOT_FOUND;
#undef LACKS
	if (!dxp_mpi_comm_create(comm, &m->engine))
		return OMPI_ERR_OUT_OF_RESOURCE;
#define SAVE(name)                                             \
	m->name = comm->c_coll->coll_##name;                   \
	m->name##_module = comm->c_coll->coll_##name##_module; \
	OBJ_RETAIN(m->name##_module);
	COLL_DXP_SAVED(SAVE)
#undef SAVE
	m->comm = comm;
	pthread_mutex_lock(&lock);
	m->next = modules;
	m->link = &modules;
	if (modules)
		modules->link = &m->next;
	modules = m;
	pthread_mutex_unlock(&lock);
	return OMPI_SUCCESS;
}

mca_coll_base_module_t *coll_dxp_comm_query(ompi_communicator_t *comm, int *priority)
{
	coll_dxp_module_t *m;

	if (coll_dxp_priority < 0 || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2)
		return NULL;
	m = OBJ_NEW(coll_dxp_module_t);
	if (!m)
		return NULL;
	*priority = coll_dxp_priority;
	m->super.coll_module_enable = enable;
	m->super.coll_allreduce = allreduce;
	m->super.coll_iallreduce = coll_dxp_iallreduce;
	m->super.coll_barrier = barrier;
	m->super.coll_bcast = bcast;
	m->super.coll_reduce = reduce;
	return &m->super;
}
