/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of engines and of the bridge before them, each with its unit and reason. */
#ifndef ENGINE_LIMITS_H
#define ENGINE_LIMITS_H

#include "bridge/limits.h"

/* bytes, alignment of allocations, of which 256 are documented. OpenCL devices require 128 to 512
 * for a sub-buffer. */
#define ENGINE_ALIGN          512
#define ENGINE_LOG_BYTES_MAX  (1u << 20)   /* bytes per build log; the rest is cut */
#define ENGINE_CACHE_PROGRAMS 256          /* built programs kept without a host */
#define ENGINE_CACHE_BYTES    (1ull << 30) /* bytes of built programs on a node's disk */
#define ENGINE_ITEMS_MAX      (1ull << 40) /* work items per launch: hours on any CPU */

#define PUMP_POLL_ACTIONS 64 /* actions per poll: the owner has other work */
#define PUMP_ENDS         32 /* DMA completions read at once: more than are outstanding */
#define PUMP_RESET_NS     (5ull * 1000 * 1000 * 1000) /* a device that takes longer is broken */
#define PUMP_PAUSE_NS     (20u * 1000u)               /* between two polls of a device in reset */
/* bytes, smallest automatic buffer size. Shorter buffers keep a fast DMA busy, but each costs the
 * network a read and two wakeups. 256 KiB reach 70 % of the rate of 1 MiB, and 64 KiB reach 40
 * %. */
#define PUMP_BUFFER_BYTES (1u << 20)
/* ns; if a buffer size takes longer, no larger size is measured */
#define PUMP_SLOW_NS (2ull * 1000 * 1000 * 1000)
/* ns for the measurement of all buffer sizes at start: three times 7 ms per size and direction */
#define PUMP_MEASURE_NS (500ull * 1000 * 1000)

#define BOARD_QUEUE_MAX 64  /* DMAs accepted per controller: bits of a register */
#define BOARD_ENDS_MAX  256 /* completions not read yet: twice the capacity of both queues */
/* ranges of user memory: both ends of 32 transfers, a bridge's two rings, and as many for its
 * measurement */
#define BOARD_PINS_MAX     68
#define BOARD_RATE_MAX     1000000                     /* MB/s: a hundred times current hardware */
#define BOARD_DELAY_MAX_NS (1ull * 1000 * 1000 * 1000) /* a DMA that starts later is broken */
/* bytes of a board's description: twelve lines and comments */
#define BOARD_FILE_BYTES_MAX (64u << 10)
#define BOARD_SLICE_BYTES    (64u << 10) /* bytes moved at once: fit a cache, 8 us of PCIe */
/* bytes of a DMA that the starting thread moves itself, because a wakeup takes longer */
#define BOARD_SHORT_BYTES (16u << 10)
#define BOARD_CHUNK_BYTES (256u << 10) /* bytes per launch of a stream kernel: hides its start */
#define BOARD_KERNEL_MAX  (1u << 20)   /* bytes of the stream kernel's source */

/* outstanding DMAs per direction: one for each buffer of a ring */
#define FLIGHTS_MAX BRIDGE_BUFFERS_MAX
/* longest delay until a driver's callback is noticed */
#define FLIGHT_LOOK_NS (10ull * 1000 * 1000)
/* ns after a reset until a device counts as lost: drivers' own watchdogs take 2 to 5 s */
#define FLIGHT_LOST_NS      (10ull * 1000 * 1000 * 1000)
#define FLIGHT_BOUNCE_BYTES (4u << 20) /* device memory for overlapping copies: one buffer */

/* allocations that form device memory: a device may limit each to a quarter */
#define OCL_CHUNKS_MAX 64

#endif
