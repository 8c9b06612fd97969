/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/board_copy.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

#define LINE_BYTES 64
/* bytes; caches are faster for shorter copies */
#define STREAM_BYTES 4096
/* bytes of one memory latency */
#define AHEAD_BYTES 2048

static void lines_stream(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += LINE_BYTES) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + i + 16));
		__m128i c = _mm_loadu_si128((const __m128i *)(const void *)(from + i + 32));
		__m128i d = _mm_loadu_si128((const __m128i *)(const void *)(from + i + 48));
		_mm_stream_si128((__m128i *)(void *)(to + i), a);
		_mm_stream_si128((__m128i *)(void *)(to + i + 16), b);
		_mm_stream_si128((__m128i *)(void *)(to + i + 32), c);
		_mm_stream_si128((__m128i *)(void *)(to + i + 48), d);
	}
	_mm_sfence(); /* orders the copied bytes before later stores; memcpy() does so too */
}

void board_copy_out(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	uint64_t lines = bytes / LINE_BYTES * LINE_BYTES;

	for (uint64_t i = 0; i < lines; i += LINE_BYTES) {
		/* A prefetch past the end has no effect. */
		_mm_prefetch((const char *)((uintptr_t)from + i + AHEAD_BYTES), _MM_HINT_T0);
		memcpy(to + i, from + i, LINE_BYTES);
	}
	memcpy(to + lines, from + lines, bytes - lines);
}

void board_copy_in(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	if (bytes < STREAM_BYTES) {
		memcpy(to, from, bytes);
		return;
	}
	uint64_t head = (LINE_BYTES - (uintptr_t)to % LINE_BYTES) % LINE_BYTES;
	uint64_t lines = (bytes - head) / LINE_BYTES * LINE_BYTES;
	memcpy(to, from, head);
	lines_stream(to + head, from + head, lines);
	memcpy(to + head + lines, from + head + lines, bytes - head - lines);
}
#else
void board_copy_out(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	memcpy(to, from, bytes);
}

void board_copy_in(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	memcpy(to, from, bytes);
}
#endif
