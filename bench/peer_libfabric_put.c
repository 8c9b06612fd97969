/* SPDX-License-Identifier: BSD-3-Clause */
/* libfabric's one-sided write between two processes of one machine; the variant is the provider. A
 * module, as peer_libfabric.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <dxp/status.h>

#include "bench/peer.h"

#define NAME_BYTES 256
#define BATCH      32
#define KEY        11

struct hello {
	uint8_t name[NAME_BYTES];
	uint64_t place, key;
};

struct put_end {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	struct fid_mr *mr;
	fi_addr_t other;
	uint8_t *place;
	uint64_t place_bytes, remote, remote_key, posted;
	struct fi_context2 contexts[WORK_DEPTH_MAX];
};

static int complain(const char *what, int error)
{
	fprintf(stderr, "dxp bench: libfabric %s: %s\n", what, fi_strerror(-error));
	return DXP_EIO;
}

static int info_get(const struct peer_end *e, struct fi_info **out)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return -FI_ENOMEM;
	hints->caps = FI_RMA;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode =
		FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL;
	hints->fabric_attr->prov_name = strdup(e->variant);
	int error = fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, out);
	fi_freeinfo(hints);
	return error;
}

static int objects_open(struct put_end *p)
{
	struct fi_cq_attr cq = {.size = 4 * WORK_DEPTH_MAX, .format = FI_CQ_FORMAT_CONTEXT};
	struct fi_av_attr av = {.type = FI_AV_UNSPEC, .count = 2};
	int error = fi_fabric(p->info->fabric_attr, &p->fabric, NULL);

	if (error == 0)
		error = fi_domain(p->fabric, p->info, &p->domain, NULL);
	if (error == 0)
		error = fi_cq_open(p->domain, &cq, &p->cq, NULL);
	if (error == 0)
		error = fi_av_open(p->domain, &av, &p->av, NULL);
	if (error == 0)
		error = fi_endpoint(p->domain, p->info, &p->ep, NULL);
	if (error == 0)
		error = fi_ep_bind(p->ep, &p->cq->fid, FI_TRANSMIT | FI_RECV);
	if (error == 0)
		error = fi_ep_bind(p->ep, &p->av->fid, 0);
	if (error == 0)
		error = fi_enable(p->ep);
	return error ? error
		     : fi_mr_reg(p->domain, p->place, p->place_bytes, FI_WRITE | FI_REMOTE_WRITE, 0,
				 KEY, 0, &p->mr, NULL);
}

static int meet(struct peer_end *e, struct put_end *p)
{
	struct hello mine = {.key = fi_mr_key(p->mr)}, theirs;
	size_t bytes = sizeof(mine.name);
	int error = fi_getname(&p->ep->fid, mine.name, &bytes);

	if (error != 0)
		return error;
	if (p->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		mine.place = (uint64_t)(uintptr_t)p->place;
	if (!control_write(e->control, &mine, sizeof(mine)) ||
	    !control_read(e->control, &theirs, sizeof(theirs)))
		return -FI_EIO;
	p->remote = theirs.place;
	p->remote_key = theirs.key;
	return fi_av_insert(p->av, theirs.name, 1, &p->other, 0, NULL) == 1 ? 0 : -FI_EINVAL;
}

static int put_open(struct peer_end *e)
{
	struct put_end *p = calloc(1, sizeof(*p));

	e->state = p;
	if (!p)
		return DXP_ENOMEM;
	if (e->work->op != WORK_PUT)
		return DXP_EUNSUPPORTED;
	p->place_bytes = work_place_bytes(e->work);
	p->place = mmap(NULL, p->place_bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p->place == MAP_FAILED)
		return DXP_ENOMEM;
	int error = info_get(e, &p->info);
	if (error == -FI_ENODATA)
		return DXP_EUNSUPPORTED;
	if (error == 0)
		error = objects_open(p);
	if (error == 0)
		error = meet(e, p);
	return error == 0 ? DXP_OK : complain(e->variant, error);
}

static int put_post(struct peer_end *e)
{
	struct put_end *p = e->state;
	uint64_t at = work_place(e->work, p->posted);
	int error = (int)fi_write(p->ep, p->place + at, e->work->bytes, fi_mr_desc(p->mr), p->other,
				  p->remote + at, p->remote_key,
				  &p->contexts[p->posted % WORK_DEPTH_MAX]);

	if (error == -FI_EAGAIN)
		return DXP_EAGAIN;
	p->posted++;
	return error == 0 ? DXP_OK : complain("write", error);
}

static int put_poll(struct peer_end *e)
{
	struct put_end *p = e->state;
	struct fi_cq_entry entries[BATCH];
	ssize_t n = fi_cq_read(p->cq, entries, BATCH);

	if (n == -FI_EAGAIN)
		return 0;
	return n < 0 ? complain("completion", (int)n) : (int)n;
}

static void put_serve(struct peer_end *e)
{
	put_poll(e);
}

__attribute__((visibility("default")))
const struct peer_ops peer_ops_exported = {put_open, put_post, put_poll, put_serve};
