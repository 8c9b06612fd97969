/* SPDX-License-Identifier: BSD-3-Clause */
/* Program binaries of engine `rv32`: packs (ocl_pack.h) whose binary is a list of objects. Each has
 * its length as u32, then its bytes. Pure. */
#ifndef ENGINE_RV32_OBJECTS_H
#define ENGINE_RV32_OBJECTS_H

#include "engine/ocl_pack.h"
#include "rv32/image.h"

#define RV32_OBJECTS_MAX 256 /* objects of one program */

/* Identifies the kind of device in binaries: any version of clang may have made them. */
extern const uint8_t rv32_device_kind[OCL_KEY_BYTES];

/* Lists the objects; returns how many, or -1: the list is damaged. */
int rv32_objects_list(const uint8_t *at, size_t bytes, struct rv32_object list[RV32_OBJECTS_MAX]);

/* Opens a program binary: its objects, *count of them, point into `data`. Returns NULL, or a
 * sentence with the reason. */
const char *rv32_objects_open(const void *data, size_t bytes, struct ocl_pack *pack,
			      struct rv32_object list[RV32_OBJECTS_MAX], int *count);

#endif
