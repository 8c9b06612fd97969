/* SPDX-License-Identifier: BSD-3-Clause */
/* State and start of a benchmark process that uses UCX, for peer_ucx*.c. */
#ifndef BENCH_UCX_END_H
#define BENCH_UCX_END_H

#include <ucp/api/ucp.h>

#include "bench/peer.h"

#define UCX_ADDRESS_BYTES 4096
#define UCX_RKEY_BYTES    1024

struct ucx_end {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
};

struct ucx_hello {
	uint8_t address[UCX_ADDRESS_BYTES];
	uint8_t rkey[UCX_RKEY_BYTES]; /* memory that the other end may write; zeros: none */
	uint64_t region;              /* address of that memory */
};

/* Returns DXP_EIO. */
int ucx_complain(const char *what, ucs_status_t status);

/* Opens context and worker over the variant's transports. `interface`: the only network interface;
 * NULL: any. */
ucs_status_t ucx_worker_open(const struct peer_end *e, struct ucx_end *u, uint64_t features,
			     const char *interface);

/* Fills the address into `own`, sends it, and connects to that in `theirs`. */
ucs_status_t ucx_meet(const struct peer_end *e, struct ucx_end *u, struct ucx_hello *own,
		      struct ucx_hello *theirs);

#endif
