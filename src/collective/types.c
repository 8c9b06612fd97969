/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and sizes of types and reductions. */
#include <stddef.h>

#include <dxp/collective.h>

#include "base/util.h"

#define TYPE_BYTES(name, bytes, text) bytes,
#define TYPE_TEXT(name, bytes, text)  text,
#define REDUCTION_TEXT(name, text)    text,

size_t dxp_type_bytes(enum dxp_type type)
{
	static const size_t bytes[] = {DXP_TYPE_LIST(TYPE_BYTES)};

	return (unsigned)type < ARRAY_COUNT(bytes) ? bytes[type] : 0;
}

const char *dxp_type_text(enum dxp_type type)
{
	static const char *const texts[] = {DXP_TYPE_LIST(TYPE_TEXT)};

	return (unsigned)type < ARRAY_COUNT(texts) ? texts[type] : "unknown type";
}

const char *dxp_reduction_text(enum dxp_reduction reduction)
{
	static const char *const texts[] = {DXP_REDUCTION_LIST(REDUCTION_TEXT)};

	return (unsigned)reduction < ARRAY_COUNT(texts) ? texts[reduction] : "unknown reduction";
}
