/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of bridges, each with its unit and reason. */
#ifndef BRIDGE_LIMITS_H
#define BRIDGE_LIMITS_H

#include "wire/limits.h"

#define BRIDGE_BUFFERS       8 /* buffers per ring, as in the source project (S-02) */
#define BRIDGE_BUFFERS_MAX   WIRE_BUFFERS_MAX
#define BRIDGE_BUFFER_MIN    WIRE_BUFFER_MIN
#define BRIDGE_BUFFER_MAX    WIRE_BUFFER_MAX
#define BRIDGE_TRANSFERS_MAX 4096 /* transfers of one bridge at once */
/* ns of one step: no DMA of 16 MiB and no live peer takes as long */
#define BRIDGE_STALL_NS (5ull * 1000 * 1000 * 1000)
#define BRIDGE_DMAS     4 /* DMAs per direction: hide 25 us between two of 64 KiB at 8 GB/s */
/* bytes, least automatic size: shorter pieces are mostly latency */
#define BRIDGE_PIECE_MIN (16u << 10)
/* bytes; pieces have about sqrt(this x transfer): see cut.h */
#define BRIDGE_RAMP_BYTES (32u << 10)
/* bytes per direct piece: no pipeline to fill, but transfers alternate */
#define BRIDGE_DIRECT_BYTES  (4u << 20)
#define BRIDGE_DIRECT_PIECES 64 /* direct pieces under way at once */
#define BRIDGE_FED_STEPS     8  /* BRIDGE_STALL_NS per block at most: 40 s */
/* blocks accepted from the first incomplete one: at least 16 MiB */
#define BRIDGE_FED_BLOCKS 1024
#define BRIDGE_AGAIN_NS   (20u * 1000u) /* until a rejected step is retried */
#define BRIDGE_KEPT_PART  4 /* 1/n of the ring from the device, for readers without a buffer */
#define BRIDGE_HUNGER_NS  (200ull * 1000 * 1000) /* two credit requests, 100 ms each */
#define BRIDGE_GRANT_NS   (2ull * 1000 * 1000) /* first time that granted buffers wait for bytes */
/* doublings of BRIDGE_GRANT_NS, for slower paths and processes: 256 ms, as long as any timeout */
#define BRIDGE_GRANT_DOUBLINGS 7

#endif
