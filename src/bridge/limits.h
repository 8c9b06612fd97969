/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of bridges, each with its unit and reason. */
#ifndef BRIDGE_LIMITS_H
#define BRIDGE_LIMITS_H

#include "wire/limits.h"

#define BRIDGE_BUFFERS       8 /* buffers of each ring, as in the source project (S-02) */
#define BRIDGE_BUFFERS_MAX   WIRE_BUFFERS_MAX
#define BRIDGE_BUFFER_MIN    WIRE_BUFFER_MIN
#define BRIDGE_BUFFER_MAX    WIRE_BUFFER_MAX
#define BRIDGE_TRANSFERS_MAX 4096 /* transfers of a bridge that have not ended */
/* ns for one step: longer than any DMA of 16 MiB, and longer than a live peer takes to answer */
#define BRIDGE_STALL_NS (5ull * 1000 * 1000 * 1000)
/* outstanding DMAs of each direction: 4 of 64 KiB at 8 GB/s hide a gap of 25 us */
#define BRIDGE_DMAS 4
/* bytes: the shortest piece that the bridge itself chooses; shorter pieces spend most of their time
 * on latency */
#define BRIDGE_PIECE_MIN (16u << 10)
/* bytes; a transfer of N bytes is cut into pieces of about sqrt(N x this); see cut.h */
#define BRIDGE_RAMP_BYTES (32u << 10)
/* bytes of a piece of a DIRECT transfer: there is no pipeline to fill, but transfers must
 * alternate */
#define BRIDGE_DIRECT_BYTES  (4u << 20)
#define BRIDGE_DIRECT_PIECES 64
/* parts of a fed block. Each part must arrive within BRIDGE_STALL_NS, so a block takes 40 s at
 * most. */
#define BRIDGE_FED_STEPS 8
/* blocks that are accepted from the first incomplete block on: 16 MiB with blocks of
 * BRIDGE_PIECE_MIN */
#define BRIDGE_FED_BLOCKS 1024
/* ns until a step that the owner returned is offered again */
#define BRIDGE_AGAIN_NS (20u * 1000u)
/* 1/BRIDGE_KEPT_PART of the ring from the device is reserved for transfers that have no buffer
 * yet */
#define BRIDGE_KEPT_PART 4
/* ns for which buffers are kept for fed bytes: the sender makes two credit requests in this time,
 * which are 100 ms apart */
#define BRIDGE_HUNGER_NS (200ull * 1000 * 1000)
/* ns that granted buffers wait for their bytes the first time */
#define BRIDGE_GRANT_NS (2ull * 1000 * 1000)
/* how often BRIDGE_GRANT_NS may be doubled, for slow paths and processes: up to 256 ms, as long as
 * any retransmission timeout */
#define BRIDGE_GRANT_DOUBLINGS 7

#endif
