/* SPDX-License-Identifier: BSD-3-Clause */
/* Program binaries of engine `rv32`. They are packs (ocl_pack.h) in which the binary is a list of
 * objects: for each object its length as u32, then its bytes. The functions do no I/O. */
#ifndef ENGINE_RV32_OBJECTS_H
#define ENGINE_RV32_OBJECTS_H

#include "engine/ocl_pack.h"
#include "rv32/image.h"

#define RV32_OBJECTS_MAX 256 /* objects of one program */

/* Text that identifies the kind of device in packs, in the place of a hash. It does not depend on
 * the version of clang, so a pack of any version is accepted. */
extern const uint8_t rv32_device_kind[OCL_KEY_BYTES];

/* Lists the objects. Returns their number, or -1 if the list is damaged. */
int rv32_objects_list(const uint8_t *at, size_t bytes, struct rv32_object list[RV32_OBJECTS_MAX]);

/* Opens a program binary. Lists its *count objects, which point into `data`. Returns NULL, or a
 * sentence with the reason of a failure. */
const char *rv32_objects_open(const void *data, size_t bytes, struct ocl_pack *pack,
			      struct rv32_object list[RV32_OBJECTS_MAX], int *count);

#endif
