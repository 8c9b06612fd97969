/* SPDX-License-Identifier: BSD-3-Clause */
/* Module that measures libfabric's one-sided write between two processes of one machine. The
 * variant is the provider. */
#include <stdlib.h>
#include <sys/mman.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <dxp/status.h>

#include "bench/libfabric_end.h"

#define BATCH 32
#define KEY   11

struct put_end {
	struct libfabric_end end;
	struct fid_mr *mr;
	uint8_t *region;
	uint64_t region_bytes, remote, remote_key, posted;
	struct fi_context2 contexts[WORK_DEPTH_MAX];
};

static int info_get(const struct peer_end *e, struct fi_info **out)
{
	struct fi_info *hints = libfabric_hints(e, FI_RMA);

	if (!hints)
		return -FI_ENOMEM;
	hints->domain_attr->mr_mode =
		FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL;
	int error = fi_getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, out);
	fi_freeinfo(hints);
	return error;
}

static int objects_open(struct put_end *p)
{
	int error = libfabric_open(&p->end);

	return error ? error
		     : fi_mr_reg(p->end.domain, p->region, p->region_bytes,
				 FI_WRITE | FI_REMOTE_WRITE, 0, KEY, 0, &p->mr, NULL);
}

static int meet(struct peer_end *e, struct put_end *p)
{
	struct libfabric_hello own = {.key = fi_mr_key(p->mr)}, theirs;

	if (p->end.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		own.region = (uint64_t)(uintptr_t)p->region;
	int error = libfabric_meet(e, &p->end, own, &theirs);
	if (error != 0)
		return error;
	p->remote = theirs.region;
	p->remote_key = theirs.key;
	return 0;
}

static int put_open(struct peer_end *e)
{
	struct put_end *p = calloc(1, sizeof(*p));

	e->state = p;
	if (!p)
		return DXP_ENOMEM;
	if (e->work->op != WORK_PUT)
		return DXP_EUNSUPPORTED;
	p->region_bytes = work_region_bytes(e->work);
	p->region = mmap(NULL, p->region_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p->region == MAP_FAILED)
		return DXP_ENOMEM;
	int error = info_get(e, &p->end.info);
	if (error == -FI_ENODATA)
		return DXP_EUNSUPPORTED;
	if (error == 0)
		error = objects_open(p);
	if (error == 0)
		error = meet(e, p);
	return error == 0 ? DXP_OK : libfabric_complain(e->variant, error);
}

static int put_post(struct peer_end *e)
{
	struct put_end *p = e->state;
	uint64_t at = work_offset(e->work, p->posted);
	int error = (int)fi_write(p->end.ep, p->region + at, e->work->bytes, fi_mr_desc(p->mr),
				  p->end.other, p->remote + at, p->remote_key,
				  &p->contexts[p->posted % WORK_DEPTH_MAX]);

	if (error == -FI_EAGAIN)
		return DXP_EAGAIN;
	p->posted++;
	return error == 0 ? DXP_OK : libfabric_complain("write", error);
}

static int put_poll(struct peer_end *e)
{
	struct put_end *p = e->state;
	struct fi_cq_entry entries[BATCH];
	ssize_t n = fi_cq_read(p->end.cq, entries, BATCH);

	if (n == -FI_EAGAIN)
		return 0;
	return n < 0 ? libfabric_complain("completion", (int)n) : (int)n;
}

static void put_serve(struct peer_end *e)
{
	put_poll(e);
}

__attribute__((visibility("default")))
const struct peer_ops peer_ops_exported = {put_open, put_post, put_poll, put_serve};
