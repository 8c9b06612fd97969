/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of bridges. */
#ifndef BRIDGE_LIMITS_H
#define BRIDGE_LIMITS_H

#include "wire/limits.h"

#define BRIDGE_BUFFERS       8 /* buffers per ring, as in the source project (S-02) */
#define BRIDGE_BUFFERS_MAX   WIRE_BUFFERS_MAX
#define BRIDGE_BUFFER_MIN    WIRE_BUFFER_MIN
#define BRIDGE_BUFFER_MAX    WIRE_BUFFER_MAX
#define BRIDGE_TRANSFERS_MAX 4096 /* concurrent transfers of a bridge */
/* ns per step: longer than any DMA of 16 MiB, and than any live peer takes to answer */
#define BRIDGE_STALL_NS (5ull * 1000 * 1000 * 1000)
#define BRIDGE_DMAS     4 /* DMAs per direction: 4 of 64 KiB at 8 GB/s hide a gap of 25 us */
/* bytes: smallest automatic length of a piece; shorter pieces spend most of their time on
 * latency */
#define BRIDGE_PIECE_MIN (16u << 10)
/* bytes: a piece has about sqrt(this x transfer); see cut.h */
#define BRIDGE_RAMP_BYTES (32u << 10)
/* bytes per direct piece: there is no pipeline to fill, but transfers alternate */
#define BRIDGE_DIRECT_BYTES  (4u << 20)
#define BRIDGE_DIRECT_PIECES 64
/* shares of a fed block; each must arrive within BRIDGE_STALL_NS, so a block takes 40 s at most */
#define BRIDGE_FED_STEPS 8
/* blocks accepted from the first incomplete one on: at least 16 MiB */
#define BRIDGE_FED_BLOCKS 1024
#define BRIDGE_AGAIN_NS   (20u * 1000u) /* ns until a returned step is retried */
#define BRIDGE_KEPT_PART  4 /* 1/n of the ring from the device is reserved for new readers */
/* ns for which a buffer is kept for fed bytes: two credit requests at intervals of 100 ms */
#define BRIDGE_HUNGER_NS (200ull * 1000 * 1000)
/* ns that granted buffers wait for bytes, at first */
#define BRIDGE_GRANT_NS (2ull * 1000 * 1000)
/* doublings of BRIDGE_GRANT_NS for slow paths and processes: up to 256 ms, as long as any
 * timeout */
#define BRIDGE_GRANT_DOUBLINGS 7

#endif
