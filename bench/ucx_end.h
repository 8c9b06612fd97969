/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the state and the start of a benchmark process that uses UCX. The UCX modules
 * (peer_ucx*.c) include it. */
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

/* The message that both ends exchange at the start. */
struct ucx_hello {
	uint8_t address[UCX_ADDRESS_BYTES];
	uint8_t rkey[UCX_RKEY_BYTES]; /* key of memory that the other end may write; zeros: none */
	uint64_t region;              /* address of that memory */
};

/* Prints the error; returns DXP_EIO. */
int ucx_complain(const char *what, ucs_status_t status);

/* Opens the context and its worker, over the transports that the variant names. `interface` is the
 * only network interface to use; NULL: any. */
ucs_status_t ucx_worker_open(const struct peer_end *e, struct ucx_end *u, uint64_t features,
			     const char *interface);

/* Sends `own`, after it has filled in the address, and connects to the address in `theirs`. */
ucs_status_t ucx_meet(const struct peer_end *e, struct ucx_end *u, struct ucx_hello *own,
		      struct ucx_hello *theirs);

#endif
