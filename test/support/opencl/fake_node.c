/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the nodes of the fake fabric, and allocates their memory. */
#include <stdlib.h>
#include <string.h>

#include "test/support/opencl/fake_internal.h"

static uint32_t alloc_calls;

uint64_t fake_allocated(uint32_t node)
{
	return fake_nodes[node].allocated;
}

uint32_t fake_alloc_calls(void)
{
	return alloc_calls;
}

static void record(uint8_t *out, size_t *at, uint32_t tag, const void *data, uint32_t bytes)
{
	for (int i = 0; i < 4; i++) {
		out[*at + (size_t)i] = (uint8_t)(tag >> 8 * i);
		out[*at + 4 + (size_t)i] = (uint8_t)(bytes >> 8 * i);
	}
	memcpy(out + *at + 8, data, bytes);
	*at += 8 + bytes;
}

/* Adds size limits, and the formats RGBA of bytes and R of floats for each kind of image. */
static void images(uint8_t *data, size_t *bytes)
{
	static const uint32_t sizes[] = {0x1011, 0x1012, 0x1013, 0x1014, 0x1015, 0x1040, 0x1041};
	const uint32_t yes = 1;
	const uint64_t size = 4096;

	record(data, bytes, 0x1016, &yes, sizeof(yes));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		record(data, bytes, sizes[i], &size, sizeof(size));
	for (uint32_t object = 0x10f1; object <= 0x10f6; object++) {
		const uint32_t formats[] = {1, object, 0x10b5, 0x10d2, 0x10b0, 0x10de};
		record(data, bytes, 0x10000001, formats, sizeof(formats));
	}
}

/* Returns image properties, name (0x102B), extensions (0x1030) and type (0x1000), in records with
 * OpenCL's numbers. The plugin must ignore one of the extensions. */
int dxp_xpu_about(struct dxp_xpu *xpu, void **out, size_t *bytes)
{
	static const char text[] = "cl_khr_fp64 cl_khr_spir cl_khr_int64_base_atomics";
	const uint64_t type = 2;
	uint8_t *data;

	if (!fake_nodes[xpu->node].opencl)
		return DXP_EUNSUPPORTED;
	data = malloc(1024);
	*bytes = 0;
	images(data, bytes);
	record(data, bytes, 0x102B, "Fake 1", 7);
	record(data, bytes, 0x1030, text, sizeof(text));
	record(data, bytes, 0x1000, &type, sizeof(type));
	*out = data;
	return DXP_OK;
}

static bool is_free(const struct fake_node *n, uint64_t address, uint64_t bytes, uint64_t *next)
{
	for (uint32_t i = 0; i < n->range_count; i++) {
		const struct range *r = &n->ranges[i];
		if (address < r->address + r->bytes && r->address < address + bytes) {
			*next = (r->address + r->bytes + 255) & ~255ull;
			return false;
		}
	}
	return address + bytes <= n->memory_bytes;
}

int dxp_mem_alloc(struct dxp_xpu *xpu, uint64_t bytes, uint64_t *address)
{
	struct fake_node *n = &fake_nodes[xpu->node];
	int status = DXP_ENOMEM;
	uint64_t at = 0;

	pthread_mutex_lock(&fake_lock);
	alloc_calls++;
	if (fake_is_dead(xpu))
		status = DXP_EPEERLOST;
	while (status == DXP_ENOMEM && at + bytes <= n->memory_bytes) {
		if (is_free(n, at, bytes, &at)) {
			n->ranges[n->range_count++] = (struct range){at, bytes};
			n->allocated += bytes;
			*address = at;
			status = DXP_OK;
		}
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}

int dxp_mem_free(struct dxp_xpu *xpu, uint64_t address)
{
	struct fake_node *n = &fake_nodes[xpu->node];
	int status = DXP_ENOENT;

	pthread_mutex_lock(&fake_lock);
	for (uint32_t i = 0; i < n->range_count && status == DXP_ENOENT; i++) {
		if (n->ranges[i].address == address) {
			n->allocated -= n->ranges[i].bytes;
			n->ranges[i] = n->ranges[--n->range_count];
			status = DXP_OK;
		}
	}
	pthread_mutex_unlock(&fake_lock);
	return status;
}
