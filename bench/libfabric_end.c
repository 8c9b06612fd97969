/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/libfabric_end.h"

#include <stdio.h>
#include <string.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <dxp/status.h>

int libfabric_complain(const char *what, int error)
{
	fprintf(stderr, "dxp bench: libfabric %s: %s\n", what, fi_strerror(-error));
	return DXP_EIO;
}

struct fi_info *libfabric_hints(const struct peer_end *e, uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = caps;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->fabric_attr->prov_name = strdup(e->variant);
	return hints;
}

int libfabric_open(struct libfabric_end *f)
{
	struct fi_cq_attr cq = {.size = 4 * WORK_DEPTH_MAX, .format = FI_CQ_FORMAT_CONTEXT};
	struct fi_av_attr av = {.type = FI_AV_UNSPEC, .count = 2};
	int error = fi_fabric(f->info->fabric_attr, &f->fabric, NULL);

	if (error == 0)
		error = fi_domain(f->fabric, f->info, &f->domain, NULL);
	if (error == 0)
		error = fi_cq_open(f->domain, &cq, &f->cq, NULL);
	if (error == 0)
		error = fi_av_open(f->domain, &av, &f->av, NULL);
	if (error == 0)
		error = fi_endpoint(f->domain, f->info, &f->ep, NULL);
	if (error == 0)
		error = fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV);
	if (error == 0)
		error = fi_ep_bind(f->ep, &f->av->fid, 0);
	return error == 0 ? fi_enable(f->ep) : error;
}

int libfabric_meet(const struct peer_end *e, struct libfabric_end *f, struct libfabric_hello own,
		   struct libfabric_hello *theirs)
{
	size_t bytes = sizeof(own.name);
	int error = fi_getname(&f->ep->fid, own.name, &bytes);

	if (error != 0)
		return error;
	if (!control_write(e->control, &own, sizeof(own)) ||
	    !control_read(e->control, theirs, sizeof(*theirs)))
		return -FI_EIO;
	return fi_av_insert(f->av, theirs->name, 1, &f->other, 0, NULL) == 1 ? 0 : -FI_EINVAL;
}
