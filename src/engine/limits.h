/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of engines and of the bridge before them, each with its unit and reason. */
#ifndef ENGINE_LIMITS_H
#define ENGINE_LIMITS_H

#include "bridge/limits.h"

/* bytes, alignment of allocations; 256 are documented for users. OpenCL devices require 128 to 512
 * for a sub-buffer. */
#define ENGINE_ALIGN         512
#define ENGINE_LOG_BYTES_MAX (1u << 20) /* bytes of one build log; the rest is cut */
/* built programs that are kept in memory although no host uses them */
#define ENGINE_CACHE_PROGRAMS 256
#define ENGINE_CACHE_BYTES    (1ull << 30) /* bytes of built programs that a node keeps on disk */
/* work-items of one launch: they take hours on any CPU */
#define ENGINE_ITEMS_MAX (1ull << 40)

#define PUMP_POLL_ACTIONS 64 /* actions of one poll: the owner has other work too */
/* DMA completions that are read at once: more than can be outstanding */
#define PUMP_ENDS 32
/* ns that a device may need for a reset; a device that takes longer is broken */
#define PUMP_RESET_NS (5ull * 1000 * 1000 * 1000)
#define PUMP_PAUSE_NS (20u * 1000u) /* ns between two polls of a device in reset */
/* bytes, smallest buffer size that is chosen automatically. Shorter buffers also keep a fast DMA
 * busy, but each costs the network a read and two wakeups. 256 KiB reach 70 % of the rate of 1 MiB,
 * and 64 KiB reach 40 %. */
#define PUMP_BUFFER_BYTES (1u << 20)
/* ns: if one buffer size takes longer to measure, no larger size is measured */
#define PUMP_SLOW_NS (2ull * 1000 * 1000 * 1000)
/* ns to measure all buffer sizes at the start: three rounds of 7 ms for each size and direction */
#define PUMP_MEASURE_NS (500ull * 1000 * 1000)

#define BOARD_QUEUE_MAX 64 /* DMAs that a controller accepts: as many as a register has bits */
/* completions that were not read yet: twice the capacity of both queues */
#define BOARD_ENDS_MAX 256
/* pinned ranges: source and destination of 32 transfers, the two rings of a bridge, and two ranges
 * for measuring the bridge */
#define BOARD_PINS_MAX     68
#define BOARD_RATE_MAX     1000000 /* MB/s: a hundred times the rate of current hardware */
#define BOARD_DELAY_MAX_NS (1ull * 1000 * 1000 * 1000) /* ns: a DMA that starts later is broken */
/* bytes of a board's description: it has twelve lines and comments */
#define BOARD_FILE_BYTES_MAX (64u << 10)
/* bytes moved at once: they fit a cache and take 8 us on PCIe */
#define BOARD_SLICE_BYTES (64u << 10)
/* bytes of a DMA that the starting thread moves itself, because waking another thread takes
 * longer */
#define BOARD_SHORT_BYTES (16u << 10)
/* bytes per launch of a stream kernel: enough to hide the time of the start */
#define BOARD_CHUNK_BYTES (256u << 10)
#define BOARD_KERNEL_MAX  (1u << 20) /* bytes of the source of a stream kernel */

/* outstanding DMAs per direction: one for each buffer of a ring */
#define FLIGHTS_MAX BRIDGE_BUFFERS_MAX
/* ns until a late callback of a driver is noticed, at most */
#define FLIGHT_LOOK_NS (10ull * 1000 * 1000)
/* ns after a reset until a device counts as lost: drivers' own watchdogs take 2 to 5 s */
#define FLIGHT_LOST_NS (10ull * 1000 * 1000 * 1000)
/* bytes of device memory for overlapping copies: one buffer */
#define FLIGHT_BOUNCE_BYTES (4u << 20)

/* allocations that together form device memory: a device may limit each to a quarter of its
 * memory */
#define OCL_CHUNKS_MAX 64

#endif
