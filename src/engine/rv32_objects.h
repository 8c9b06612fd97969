/* SPDX-License-Identifier: BSD-3-Clause */
/* Program binaries of engine `rv32`: packs (ocl_pack.h) whose binary is a list of objects, each
 * with its length as u32. No I/O. */
#ifndef ENGINE_RV32_OBJECTS_H
#define ENGINE_RV32_OBJECTS_H

#include "engine/ocl_pack.h"
#include "rv32/image.h"

#define RV32_OBJECTS_MAX 256 /* of one program */

/* Kind of device in packs, a text instead of a hash. Packs of any version of clang are accepted. */
extern const uint8_t rv32_device_kind[OCL_KEY_BYTES];

/* Returns the number of objects; -1: damaged. */
int rv32_objects_list(const uint8_t *at, size_t bytes, struct rv32_object list[RV32_OBJECTS_MAX]);

/* The *count objects point into `data`. Returns NULL, or a sentence with the reason. */
const char *rv32_objects_open(const void *data, size_t bytes, struct ocl_pack *pack,
			      struct rv32_object list[RV32_OBJECTS_MAX], int *count);

#endif
