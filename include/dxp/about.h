/* SPDX-License-Identifier: BSD-3-Clause */
/* Records that tell about a device or a program: a tag, a length, bytes; one behind the other, no
 * alignment, numbers little-endian. An unknown tag is skipped. Header of its own because both ends
 * of the wire and users read them. */
#ifndef DXP_ABOUT_H
#define DXP_ABOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* About a device: the tag is a cl_device_info, the bytes are what clGetDeviceInfo gives on the
 * node, without handles. These besides: */
#define DXP_ABOUT_IMAGE_FORMATS                                            \
	0x10000001u /* u32 object type, then u32 order, u32 type, each; by \
		       access in the record's first u32 (cl_mem_flags) */

/* About a program. ABOUT_KERNEL begins a kernel and ABOUT_ARGUMENT one of its arguments, in order;
 * what follows belongs to it. */
#define DXP_ABOUT_BINARY_TYPE  0x20000001u /* u32 cl_program_binary_type */
#define DXP_ABOUT_GLOBAL_BYTES 0x20000002u /* u64: program-scope variables */
#define DXP_ABOUT_KERNEL       0x20000010u /* its name, without a zero */
#define DXP_ABOUT_KERNEL_INFO                                           \
	0x20000011u /* u32 cl_kernel_work_group_info or cl_kernel_info, \
		       then what the node's device says */
#define DXP_ABOUT_ARGUMENT                                                   \
	0x20000020u /* u32 address qualifier, u32 access qualifier, u64 type \
		       qualifier, u32 bytes of a value (0: not known), type  \
		       name, zero, name, zero. Qualifiers are OpenCL's. */

struct dxp_about {
	const uint8_t *at, *end;
};

struct dxp_about_record {
	uint32_t tag, bytes;
	const uint8_t *data;
};

static inline void dxp_about_begin(struct dxp_about *a, const void *records, size_t bytes)
{
	a->at = (const uint8_t *)records;
	a->end = a->at + bytes;
}

static inline uint32_t dxp_about_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t dxp_about_u64(const uint8_t *p)
{
	return dxp_about_u32(p) | (uint64_t)dxp_about_u32(p + 4) << 32;
}

/* The next record; false at the end, or where what is left is no record. */
static inline bool dxp_about_next(struct dxp_about *a, struct dxp_about_record *out)
{
	if (a->end - a->at < 8)
		return false;
	out->tag = dxp_about_u32(a->at);
	out->bytes = dxp_about_u32(a->at + 4);
	if ((size_t)(a->end - a->at) - 8 < out->bytes)
		return false;
	out->data = a->at + 8;
	a->at += 8 + out->bytes;
	return true;
}

#endif
