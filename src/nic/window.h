/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of dxp/device.h, as the engine sees it; its layout is checked for every compiler.
 * docs/reference/window.md lists each byte. */
#ifndef NIC_WINDOW_H
#define NIC_WINDOW_H

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <dxp/device.h> /* includes dxp/window.h */

/* Copies memory that the user may change meanwhile, so that the checked value is the used one.
 * Without the fence, clang replaces a copy of the copy by another copy of the window. */
static inline void window_copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void window_ahead(const void *p)
{
#if defined(__x86_64__)
	/* Unless an option names the CPU, compilers make the builtin a prefetch for reading. */
	__asm__ volatile("prefetchw %0" : : "m"(*(const uint8_t *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

_Static_assert(sizeof(struct dxp_descriptor) == 64, "the head is one cache line");
_Static_assert(sizeof(struct dxp_slot) == 2112, "33 lines: slots do not share cache sets");
_Static_assert(sizeof(struct dxp_nic_event) == 64, "an event is one cache line");
_Static_assert(sizeof(struct dxp_registers) == 192, "two lines of the user, one of the engine");
_Static_assert(offsetof(struct dxp_window, consumer) == 4096, "page 1: status");
_Static_assert(offsetof(struct dxp_window, producer) == 8192, "page 2: the user's indices");
_Static_assert(offsetof(struct dxp_window, registers) == 12288, "page 3: registers");
_Static_assert(offsetof(struct dxp_window, buffers) == 16384, "page 4: buffers given back");
_Static_assert(offsetof(struct dxp_window, sent) == 20480, "completions");
_Static_assert(offsetof(struct dxp_window, received) == 53248, "receive events");
_Static_assert(offsetof(struct dxp_window, nap) == 86016, "NAP buffers, aligned to their size");
_Static_assert(offsetof(struct dxp_window, slots) == 1134592, "descriptors");
_Static_assert(sizeof(struct dxp_window) == 1204224, "whole pages");

#endif
