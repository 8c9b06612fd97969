/* SPDX-License-Identifier: BSD-3-Clause */
/* Records that describe a device or a program: tag, length, data; no alignment or padding. Numbers
 * are little-endian. Readers skip unknown tags. Host, xPU and users of the library read them. */
#ifndef DXP_ABOUT_H
#define DXP_ABOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Device records: the tag is a cl_device_info, the data the value that clGetDeviceInfo() returns on
 * the node. Handles are omitted. Additional tags: */
/* Image formats: u32 access (cl_mem_flags), u32 object type, then per format u32 channel order, u32
 * channel type. */
#define DXP_ABOUT_IMAGE_FORMATS 0x10000001u
#define DXP_ABOUT_PROFILES      0x10000002u /* u32 1: dxp_program_profile() works */

/* Program records. DXP_ABOUT_KERNEL starts a kernel, and DXP_ABOUT_ARGUMENT one of the kernel's
 * arguments, in order. The records that follow belong to this kernel or argument. */
#define DXP_ABOUT_BINARY_TYPE  0x20000001u /* u32: cl_program_binary_type */
#define DXP_ABOUT_GLOBAL_BYTES 0x20000002u /* u64: bytes of program-scope variables */
#define DXP_ABOUT_KERNEL       0x20000010u /* name of the kernel, no final zero byte */
/* u32 cl_kernel_work_group_info or cl_kernel_info, then the value that the node's device
 * returns. */
#define DXP_ABOUT_KERNEL_INFO 0x20000011u
/* u32 address qualifier, u32 access qualifier, u64 type qualifier (OpenCL's values), u32 bytes of a
 * value (0: unknown), type name, argument name. A zero byte ends each name. */
#define DXP_ABOUT_ARGUMENT 0x20000020u

/* Records of dxp_program_profile(). */
#define DXP_ABOUT_PROFILE_LAUNCHES 0x30000001u /* u64: counted launches */
/* u32 line of the program's text (0: no line, as for code of the runtime), u64 instructions
 * executed by warps, u64 instructions executed by active lanes, name of the function without a
 * final zero byte. */
#define DXP_ABOUT_PROFILE_LINE 0x30000002u

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

/* Reads the next record into *out. Returns false if there is none, or if it is truncated. */
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
