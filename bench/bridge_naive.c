/* SPDX-License-Identifier: BSD-3-Clause */
/* The source's naive way (S-04), without a pipeline: for each transfer the server learns its size,
 * allocates and registers buffers for all of it, reads all bytes, passes them through its board,
 * and writes them back.
 *
 *   client: a direct xPU's memory <--- network ---> server: this program <--- DMA ---> its board
 *
 * The bridge's rows use the same network, board model and bytes; there the board is at the other
 * end, and this program is the client. */
#include <string.h>
#include <sys/mman.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/bridge.h"

#define PROVE_WORDS 65536

/* Maps and touches one transfer's memory. The library registers it for each transfer. */
static uint8_t *buffer_make(uint64_t bytes)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return base == MAP_FAILED ? NULL : base;
}

int bridge_naive_move(struct bridge_setup *p, const struct bridge_way *way, uint64_t bytes)
{
	const struct bridge_daemon *client = &p->daemons[way->daemon];
	uint8_t *in = buffer_make(bytes), *out = buffer_make(bytes);
	const struct dxp_dma_order order = {
		.kind = DXP_DMA_THROUGH, .from = in, .to = out, .bytes = bytes};
	uint32_t announced;
	int status = in && out ? DXP_OK : DXP_ENOMEM;

	if (status == DXP_OK) /* size and queue number: one round trip */
		status = dxp_reg_read(client->xpu, 0, &announced, 1);
	if (status == DXP_OK)
		status = dxp_mem_read(client->xpu, in, client->address, bytes);
	if (status == DXP_OK)
		status = dxp_dma_move(p->dma, &order);
	if (status == DXP_OK)
		status = dxp_mem_write(client->xpu, client->address, out, bytes);
	if (in)
		munmap(in, bytes);
	if (out)
		munmap(out, bytes);
	return status;
}

/* Passes words through a core that adds 1 to each, so bytes that bypass the core are noticed. */
static int prove_move(struct bridge_setup *p, const struct bridge_way *way)
{
	const struct bridge_daemon *client = &p->daemons[way->daemon];
	uint32_t *from = (uint32_t *)(void *)p->from, *to = (uint32_t *)(void *)p->to;
	const uint64_t bytes = min_u64(PROVE_WORDS * sizeof(*from), p->largest) / 4 * 4;
	int status;

	for (uint32_t i = 0; i < bytes / 4; i++)
		from[i] = i * 2654435761u;
	status = dxp_mem_write(client->xpu, client->address, from, bytes);
	if (status == DXP_OK)
		status = bridge_naive_move(p, way, bytes);
	if (status == DXP_OK)
		status = dxp_mem_read(client->xpu, to, client->address, bytes);
	for (uint32_t i = 0; i < bytes / 4 && status == DXP_OK; i++)
		if (to[i] != from[i] + 1)
			status = DXP_EIO;
	return status;
}

bool bridge_naive_prove(struct bridge_setup *p, size_t daemon)
{
	const struct bridge_way way = {.route = ROUTE_THROUGH, .daemon = daemon};
	int status = dxp_dma_core_set(p->dma, DXP_CORE_ADD, 1);

	/* without such a core there is nothing to check */
	if (status == DXP_EUNSUPPORTED)
		return true;
	if (status == DXP_OK)
		status = prove_move(p, &way);
	dxp_dma_core_set(p->dma, DXP_CORE_PASS, 0);
	if (status != DXP_OK)
		log_error("naive round trip: the bytes did not pass the board (%s); nothing is "
			  "measured",
			  dxp_status_text(status));
	return status == DXP_OK;
}
