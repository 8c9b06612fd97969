/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>

#include "collective/limits.h"
#include "host/combine.h"
#include "host/internal.h"
#include "host/mpi.h"

struct scratch {
	struct scratch *next;
	uint64_t address;
	bool in_use;
};

struct prepared {
	struct prepared *next;
	struct dxp_xpu *xpu;
	struct scratch *scratch;
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
	if (!p) {
		*status = error_set(DXP_ENOMEM, "out of memory");
		return NULL;
	}
	p->xpu = x;
	p->next = all;
	all = p;
	return p;
}

/* Caller holds the lock. */
static int scratch_reserve(struct prepared *p, uint64_t *address)
{
	struct scratch *s = p->scratch;

	while (s && s->in_use)
		s = s->next;
	if (!s) {
		s = calloc(1, sizeof(*s));
		const int status = s ? dxp_mem_alloc(p->xpu, COLLECTIVE_SCRATCH, &s->address)
				     : error_set(DXP_ENOMEM, "out of memory");
		if (status != DXP_OK) {
			free(s);
			return status;
		}
		s->next = p->scratch;
		p->scratch = s;
	}
	s->in_use = true;
	*address = s->address;
	return DXP_OK;
}

int mpi_xpu_scratch_reserve(struct dxp_xpu *x, uint64_t *address)
{
	int status;

	pthread_mutex_lock(&lock);
	struct prepared *p = prepare(x, &status);
	if (p)
		status = scratch_reserve(p, address);
	pthread_mutex_unlock(&lock);
	return status;
}

void mpi_xpu_scratch_release(struct dxp_xpu *x, uint64_t address, bool quiet)
{
	pthread_mutex_lock(&lock);
	const struct prepared *p = all;
	while (p && p->xpu != x)
		p = p->next;
	struct scratch *s = p ? p->scratch : NULL;
	while (s && s->address != address)
		s = s->next;
	if (s)
		s->in_use = !quiet;
	pthread_mutex_unlock(&lock);
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

/* Memory to which late commands may still write stays allocated until the xPU is closed. */
static void scratch_free(struct prepared *p)
{
	struct scratch *s;

	while ((s = p->scratch)) {
		p->scratch = s->next;
		if (!s->in_use && p->xpu->status == DXP_OK)
			dxp_mem_free(p->xpu, s->address);
		free(s);
	}
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
	scratch_free(p);
	free(p);
}
