/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGE_LIMITS_H
#define BRIDGE_LIMITS_H

#include "wire/limits.h"

#define BRIDGE_BUFFERS       8 /* of each ring, as in the source project (S-02) */
#define BRIDGE_BUFFERS_MAX   WIRE_BUFFERS_MAX
#define BRIDGE_BUFFER_MIN    WIRE_BUFFER_MIN
#define BRIDGE_BUFFER_MAX    WIRE_BUFFER_MAX
#define BRIDGE_TRANSFERS_MAX 4096 /* of a bridge, not ended */
/* ns for one step: longer than any DMA of 16 MiB, or the answer of a live peer */
#define BRIDGE_STALL_NS (5ull * 1000 * 1000 * 1000)
/* outstanding DMAs per direction: 4 of 64 KiB at 8 GB/s hide 25 us */
#define BRIDGE_DMAS 4
/* bytes of the shortest piece chosen; shorter ones mostly spend latency */
#define BRIDGE_PIECE_MIN (16u << 10)
/* bytes; pieces of N bytes are about sqrt(N x this) long (cut.h) */
#define BRIDGE_RAMP_BYTES (32u << 10)
/* bytes of a DIRECT piece: no pipeline to fill, but transfers must alternate */
#define BRIDGE_DIRECT_BYTES  (4u << 20)
#define BRIDGE_DIRECT_PIECES 64
/* parts of a fed block, each within BRIDGE_STALL_NS: 40 s in all */
#define BRIDGE_FED_STEPS 8
/* blocks accepted from the first incomplete one on: 16 MiB with BRIDGE_PIECE_MIN */
#define BRIDGE_FED_BLOCKS 1024
/* ns until a returned step is offered again */
#define BRIDGE_AGAIN_NS (20u * 1000u)
/* 1/BRIDGE_KEPT_PART of the ring from the device is for transfers without a buffer */
#define BRIDGE_KEPT_PART 4
/* ns that buffers are kept for fed bytes: two credit requests of the sender, 100 ms apart */
#define BRIDGE_HUNGER_NS (200ull * 1000 * 1000)
/* ns that granted buffers first wait for their bytes */
#define BRIDGE_GRANT_NS (2ull * 1000 * 1000)
/* doublings of BRIDGE_GRANT_NS: 256 ms, as long as any retransmission timeout */
#define BRIDGE_GRANT_DOUBLINGS 7

#endif
