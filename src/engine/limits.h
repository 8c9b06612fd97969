/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of engines and of the bridge before them. */
#ifndef ENGINE_LIMITS_H
#define ENGINE_LIMITS_H

#include "bridge/limits.h"

/* bytes, alignment of allocations; 256 are documented. OpenCL devices require 128 to 512 for a
 * sub-buffer. */
#define ENGINE_ALIGN         512
#define ENGINE_LOG_BYTES_MAX (1u << 20) /* bytes of one build log; the rest is cut */
/* unused built programs kept in memory */
#define ENGINE_CACHE_PROGRAMS 256
#define ENGINE_CACHE_BYTES    (1ull << 30) /* bytes of built programs on disk */
/* work-items of one launch: hours on any CPU */
#define ENGINE_ITEMS_MAX (1ull << 40)

#define PUMP_POLL_ACTIONS 64 /* actions of one poll: the owner has other work */
/* DMA completions read at once: more than can be outstanding */
#define PUMP_ENDS 32
/* ns of a reset; a slower device is broken */
#define PUMP_RESET_NS (5ull * 1000 * 1000 * 1000)
#define PUMP_PAUSE_NS (20u * 1000u) /* ns between two polls of a device in reset */
/* bytes, smallest buffer chosen automatically: each buffer costs a network read and two wakeups, so
 * 256 KiB reach 70 % of the rate of 1 MiB, and 64 KiB 40 % */
#define PUMP_BUFFER_BYTES (1u << 20)
/* ns: after a slower size, no larger one is measured */
#define PUMP_SLOW_NS (2ull * 1000 * 1000 * 1000)
/* ns to measure all sizes at the start: three rounds of 7 ms per size and direction */
#define PUMP_MEASURE_NS (500ull * 1000 * 1000)

#define BOARD_QUEUE_MAX 64 /* DMAs of a controller: the bits of a register */
/* unread completions: twice the capacity of both queues */
#define BOARD_ENDS_MAX 256
/* ranges: source and destination of 32 transfers, two rings of a bridge, two to measure it */
#define BOARD_PINS_MAX     68
#define BOARD_RATE_MAX     1000000                     /* MB/s: a hundred times current hardware */
#define BOARD_DELAY_MAX_NS (1ull * 1000 * 1000 * 1000) /* ns: a later DMA is broken */
/* bytes of a board's description of twelve lines and comments */
#define BOARD_FILE_BYTES_MAX (64u << 10)
/* bytes moved at once: fit a cache and take 8 us on PCIe */
#define BOARD_SLICE_BYTES (64u << 10)
/* bytes that the starting thread moves itself, faster than a wakeup */
#define BOARD_SHORT_BYTES (16u << 10)
/* bytes per launch of a stream kernel: hide the time of the start */
#define BOARD_CHUNK_BYTES (256u << 10)
#define BOARD_KERNEL_MAX  (1u << 20) /* bytes of a stream kernel's source */

/* outstanding DMAs per direction: one per buffer of a ring */
#define FLIGHTS_MAX BRIDGE_BUFFERS_MAX
/* ns until a late callback is noticed */
#define FLIGHT_LOOK_NS (10ull * 1000 * 1000)
/* ns from a reset to a lost device: drivers' watchdogs take 2 to 5 s */
#define FLIGHT_LOST_NS (10ull * 1000 * 1000 * 1000)
/* bytes of device memory for overlapping copies: one buffer */
#define FLIGHT_BOUNCE_BYTES (4u << 20)

/* allocations that form device memory: a device may limit each to a quarter */
#define OCL_CHUNKS_MAX 64

#endif
