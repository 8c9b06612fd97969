/* SPDX-License-Identifier: BSD-3-Clause */
/* State and start of a benchmark process that uses libfabric, for peer_libfabric*.c. An `error` is
 * libfabric's: 0 or negative. */
#ifndef BENCH_LIBFABRIC_END_H
#define BENCH_LIBFABRIC_END_H

#include <rdma/fabric.h>

#include "bench/peer.h"

#define LIBFABRIC_NAME_BYTES 256

struct libfabric_end {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	fi_addr_t other;
};

struct libfabric_hello {
	uint8_t name[LIBFABRIC_NAME_BYTES];
	uint64_t region, key; /* memory that the other end may write; key 0: none */
};

/* Returns DXP_EIO. */
int libfabric_complain(const char *what, int error);

/* Returns hints for reliable datagrams by the variant's provider, for fi_freeinfo; NULL: out of
 * memory. */
struct fi_info *libfabric_hints(const struct peer_end *e, uint64_t caps);

int libfabric_open(struct libfabric_end *f);

/* Fills the name into `own`, sends it, and receives `theirs`. Returns an error. */
int libfabric_meet(const struct peer_end *e, struct libfabric_end *f, struct libfabric_hello own,
		   struct libfabric_hello *theirs);

#endif
