/* SPDX-License-Identifier: BSD-3-Clause */
/* The Open MPI component coll/dxp, with a module per intracommunicator of two or more ranks. It
 * calls the functions of the module below for operations that are not offloaded. Built outside Open
 * MPI's source tree, for 4.1 and 5.0. Include ompi_config.h first. */
#ifndef COLL_DXP_H
#define COLL_DXP_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

#include "plugins/mpi/comm.h"

#if OMPI_MAJOR_VERSION == 4
#define COLL_DXP_VERSION MCA_COLL_BASE_VERSION_2_0_0
#elif OMPI_MAJOR_VERSION == 5
#define COLL_DXP_VERSION MCA_COLL_BASE_VERSION_2_4_0
#else
#error "coll/dxp knows Open MPI 4 and 5"
#endif

/* Saved: functions of the module below, and a reference to it. */
#define COLL_DXP_SAVED(X) \
	X(allreduce)      \
	X(iallreduce)     \
	X(barrier)        \
	X(bcast)          \
	X(reduce)

struct coll_dxp_module {
	mca_coll_base_module_t super;
	struct dxp_mpi_comm *engine; /* NULL: all calls are ordinary */
	ompi_communicator_t *comm;   /* NULL: not enabled */
#define COLL_DXP_SAVED_FIELD(name)               \
	mca_coll_base_module_##name##_fn_t name; \
	mca_coll_base_module_t *name##_module;
	COLL_DXP_SAVED(COLL_DXP_SAVED_FIELD)
#undef COLL_DXP_SAVED_FIELD

	/* Nonblocking operations are sent in the order of the calls. Next numbers: to assign; to
	 * start at the leaders; to complete there; to send from the leader to its node. Guarded by
	 * the lock of request.c. */
	uint64_t tickets, group_order, end_order, down_order;

	struct coll_dxp_module *next, **link; /* guarded by the lock of module.c */
};
typedef struct coll_dxp_module coll_dxp_module_t;
OBJ_CLASS_DECLARATION(coll_dxp_module_t);

/* ---- module.c ---- */
mca_coll_base_module_t *coll_dxp_comm_query(ompi_communicator_t *comm, int *priority);
void coll_dxp_made_private(MPI_Comm comm);

/* ---- request.c ---- */
int coll_dxp_iallreduce(const void *send, void *receive, int count, ompi_datatype_t *type,
			ompi_op_t *op, ompi_communicator_t *comm, ompi_request_t **request,
			mca_coll_base_module_t *module);
bool coll_dxp_has_outstanding(void);
void coll_dxp_request_close(void);

extern int coll_dxp_priority;

#endif
