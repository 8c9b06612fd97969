/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the state and the start of a benchmark process that uses libfabric. The libfabric
 * modules (peer_libfabric*.c) include it. Functions that return an `error` return libfabric's
 * error: 0 or negative. */
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

/* The message that both ends exchange at the start. */
struct libfabric_hello {
	uint8_t name[LIBFABRIC_NAME_BYTES];
	uint64_t region, key; /* memory that the other end may write, and its key; 0: none */
};

/* Prints the error; returns DXP_EIO. */
int libfabric_complain(const char *what, int error);

/* Returns hints for reliable datagrams by the provider that the variant names; free them with
 * fi_freeinfo. Returns NULL if out of memory. */
struct fi_info *libfabric_hints(const struct peer_end *e, uint64_t caps);

/* Opens the endpoint that `info` describes; returns an error. */
int libfabric_open(struct libfabric_end *f);

/* Sends `own` to the other end, after it has filled in the name, and receives `theirs`. Returns an
 * error. */
int libfabric_meet(const struct peer_end *e, struct libfabric_end *f, struct libfabric_hello own,
		   struct libfabric_hello *theirs);

#endif
