/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>

#include "collective/limits.h"
#include "host/combine.h"
#include "host/internal.h"
#include "host/mpi.h"

struct prepared {
	struct prepared *next;
	struct dxp_xpu *xpu;
	uint64_t scratch;
	struct dxp_program *programs[DXP_TYPES][DXP_REDUCTIONS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct prepared *all; /* guarded by `lock` */

/* Caller holds the lock. NULL: this thread's last error has the reason. */
static struct prepared *prepare(struct dxp_xpu *x, int *status)
{
	struct prepared *p = all;

	while (p && p->xpu != x)
		p = p->next;
	*status = x->status;
	if (p || *status != DXP_OK) {
		if (*status != DXP_OK)
			error_xpu(x, *status, "MPI");
		return *status == DXP_OK ? p : NULL;
	}
	p = calloc(1, sizeof(*p));
	*status = p ? dxp_mem_alloc(x, COLLECTIVE_SCRATCH, &p->scratch)
		    : error_set(DXP_ENOMEM, "out of memory");
	if (*status != DXP_OK) {
		free(p);
		return NULL;
	}
	p->xpu = x;
	p->next = all;
	all = p;
	return p;
}

int mpi_xpu_scratch(struct dxp_xpu *x, uint64_t *address)
{
	int status;

	pthread_mutex_lock(&lock);
	const struct prepared *p = prepare(x, &status);
	if (p)
		*address = p->scratch;
	pthread_mutex_unlock(&lock);
	return status;
}

int mpi_xpu_program(struct dxp_xpu *x, enum dxp_type type, enum dxp_reduction reduction,
		    struct dxp_program **out)
{
	int status;

	pthread_mutex_lock(&lock);
	struct prepared *p = prepare(x, &status);
	if (p && !p->programs[type][reduction])
		status = combine_build(x, type, reduction, &p->programs[type][reduction]);
	if (status == DXP_OK)
		*out = p->programs[type][reduction];
	pthread_mutex_unlock(&lock);
	return status;
}

void mpi_xpu_release(struct dxp_xpu *x)
{
	pthread_mutex_lock(&lock);
	struct prepared **at = &all, *p;
	while ((p = *at) && p->xpu != x)
		at = &p->next;
	if (p)
		*at = p->next;
	pthread_mutex_unlock(&lock);
	if (!p)
		return;
	for (uint32_t t = 0; t < DXP_TYPES; t++)
		for (uint32_t r = 0; r < DXP_REDUCTIONS; r++)
			if (p->programs[t][r])
				dxp_program_release(p->programs[t][r]);
	if (x->status == DXP_OK)
		dxp_mem_free(x, p->scratch);
	free(p);
}
