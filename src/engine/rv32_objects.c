/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/rv32_objects.h"

#include <string.h>

const uint8_t rv32_device_kind[OCL_KEY_BYTES] = "dxp rv32imaf ilp32 objects 1";

int rv32_objects_list(const uint8_t *at, size_t bytes, struct rv32_object list[RV32_OBJECTS_MAX])
{
	int count = 0;
	uint32_t size;

	while (bytes > 0) {
		if (bytes < sizeof(size) || count == RV32_OBJECTS_MAX)
			return -1;
		memcpy(&size, at, sizeof(size));
		if (size > bytes - sizeof(size))
			return -1;
		list[count++] = (struct rv32_object){at + sizeof(size), size};
		at += sizeof(size) + size;
		bytes -= sizeof(size) + size;
	}
	return count;
}

const char *rv32_objects_open(const void *data, size_t bytes, struct ocl_pack *pack,
			      struct rv32_object list[RV32_OBJECTS_MAX], int *count)
{
	const char *wrong = ocl_pack_read(data, bytes, pack);

	if (wrong)
		return wrong;
	if (memcmp(pack->device, rv32_device_kind, sizeof(rv32_device_kind)) != 0)
		return "the binary is for another device: build it from source";
	*count = rv32_objects_list(pack->binary, pack->binary_bytes, list);
	return *count < 1 ? "the binary is damaged: build it from source" : NULL;
}
