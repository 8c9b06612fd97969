/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/fetch.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"

#define SCRATCH_BYTES_MIN (64u << 10)
/* Number of parts. Data of at most this many parts is fetched part by part, by replies. Longer data
 * is fetched through device memory. */
#define FETCH_PARTS 3

static bool scratch_free(void *context)
{
	const struct dxp_xpu *x = context;

	return !x->scratch_busy;
}

static int scratch_grow(struct dxp_xpu *x, uint64_t bytes)
{
	struct command c;
	struct command_reply reply;
	uint64_t space = SCRATCH_BYTES_MIN;
	int status = DXP_OK;

	while (space < bytes)
		space *= 2;
	if (x->scratch_bytes) {
		command_begin(&c, COMMAND_FREE);
		c.address = x->scratch;
		x->scratch_bytes = 0;
		status = request_call(x, &c, &reply, HOST_REPLY_NS);
	}
	if (status == DXP_OK) {
		command_begin(&c, COMMAND_ALLOC);
		c.bytes = space;
		status = request_call(x, &c, &reply, HOST_REPLY_NS);
	}
	if (status == DXP_OK) {
		x->caps.free_bytes = reply.free_bytes;
		x->scratch = reply.address;
		x->scratch_bytes = space;
	}
	return status;
}

int fetch_scratch_acquire(struct dxp_xpu *x, uint64_t bytes, uint64_t *address)
{
	struct dxp_fabric *f = x->fabric;

	if (host_fabric_wait(f, scratch_free, x, clock_now_ns() + HOST_BUILD_NS) != DXP_OK)
		return DXP_ETIMEDOUT;
	x->scratch_busy = true;
	int status = bytes > x->scratch_bytes ? scratch_grow(x, bytes) : x->status;
	if (status == DXP_OK)
		*address = x->scratch;
	else
		fetch_scratch_give(x);
	return status;
}

void fetch_scratch_give(struct dxp_xpu *x)
{
	x->scratch_busy = false;
	x->fabric->ended++;
	host_fabric_ended(x->fabric);
}

/* Requests a part. The time limit is the one for builds: for a binary, the worker compiles all
 * kernels, and it answers one request at a time. */
static int source_query(struct dxp_xpu *x, const struct command *what, uint64_t skip,
			uint64_t bytes, uint64_t address, struct command_reply *reply)
{
	struct command c;

	command_begin(&c, COMMAND_FETCH);
	c.program = what->program;
	c.what = what->what;
	c.skip = skip;
	c.bytes = bytes;
	c.address = address;
	return request_call(x, &c, reply, HOST_BUILD_NS);
}

/* Fetches the data from byte `have` on, part by part. */
static int parts_fetch(struct dxp_xpu *x, const struct command *what, uint8_t *to, uint64_t have,
		       uint64_t bytes)
{
	struct command_reply reply;

	while (have < bytes) {
		int status = source_query(x, what, have, bytes - have, COMMAND_NO_ADDRESS, &reply);
		if (status != DXP_OK)
			return status;
		if (reply.part_bytes == 0 || reply.part_bytes > bytes - have)
			return DXP_EMALFORMED;
		memcpy(to + have, reply.part, reply.part_bytes);
		have += reply.part_bytes;
	}
	return DXP_OK;
}

/* Fetches all bytes at once: the xPU writes them to device memory, and a GET reads them. */
static int through_scratch(struct dxp_xpu *x, const struct command *what, uint8_t *to,
			   uint64_t bytes)
{
	struct command_reply reply;
	uint64_t address;
	int status = fetch_scratch_acquire(x, bytes, &address);

	if (status != DXP_OK)
		return status;
	status = source_query(x, what, 0, bytes, address, &reply);
	if (status == DXP_OK && reply.total < bytes)
		status = DXP_EMALFORMED;
	if (status == DXP_OK)
		status = memory_move(x, MEMORY_READ, address, to, bytes);
	fetch_scratch_give(x);
	return status;
}

int fetch_whole(struct dxp_xpu *x, uint32_t program, uint8_t what, size_t most, void **out,
		size_t *bytes)
{
	const struct command of = {.program = program, .what = what};
	struct command_reply first = {0};
	uint64_t limit = most ? most : HOST_FETCH_BYTES;

	int status = source_query(x, &of, 0, limit, COMMAND_NO_ADDRESS, &first);
	if (status != DXP_OK)
		return status;
	uint64_t whole = min_u64(first.total, limit);
	if (first.part_bytes > whole)
		return DXP_EMALFORMED;
	uint8_t *data = malloc(whole + 1);
	if (!data)
		return DXP_ENOMEM;
	memcpy(data, first.part, first.part_bytes);
	status = DXP_EUNSUPPORTED;
	if (whole > FETCH_PARTS * COMMAND_LOG_PART)
		status = through_scratch(x, &of, data, whole);
	if (status == DXP_EUNSUPPORTED || status == DXP_ENOMEM)
		status = parts_fetch(x, &of, data, first.part_bytes, whole);
	if (status != DXP_OK) {
		free(data);
		return status;
	}
	*out = data;
	*bytes = whole;
	return DXP_OK;
}
