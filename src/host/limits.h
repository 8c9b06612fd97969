/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the host library. */
#ifndef HOST_LIMITS_H
#define HOST_LIMITS_H

#include "wire/limits.h"

/* events in the ring of one xPU: 5 MiB; older ones move to a list */
#define HOST_EVENTS_RING 65536
/* bytes of one xPU's pending commands; at this number calls wait for space. The rest of the xPU's
 * limit is for marks and signals of wait lists. */
#define HOST_COMMANDS_BYTES (WIRE_COMMANDS_BYTES / 4 * 3)
/* events: if another xPU's event has this many newer ones, the xPU may have dropped it, so it is
 * signalled again */
#define HOST_NAMED_AGE (WIRE_PEER_EVENTS_KEPT / 2)
/* ns to wait for space. If no command completes, and the program has events to set, the call then
 * fails. */
#define HOST_SPACE_NS (1000ull * 1000 * 1000)
/* transfers that xPUs perform after their waits: half of the NIC's regions; the host performs
 * further ones */
#define HOST_PULLS_MAX 2048
#define HOST_MOVES     8 /* concurrent transfers by the host */
/* bytes per piece of transfers that xPUs perform; other transfers are served between pieces */
#define HOST_MOVE_BYTES  (1u << 20)
#define HOST_MOVE_PIECES 4
/* bytes: longer transfers use a separate queue pair */
#define HOST_SHORT_BYTES (256u << 10)
/* ns: commands posted within this time leave together; each alone costs a system call */
#define HOST_BURST_NS (20ull * 1000)
/* ns after the last command of a burst until the progress thread stops checking for more */
#define HOST_BURSTS_NS (300ull * 1000)
/* ns of waiting for a lazy event; then its node must report at once */
#define HOST_HURRY_NS (50ull * 1000)
/* bytes of one PUT or GET: long compared with its start-up cost, short enough to share the wire */
#define HOST_PIECE_BYTES (4u << 20)
/* pieces outstanding per transfer: two fill the window; the rest covers a slow poll */
#define HOST_PIECES 8
/* outstanding writes of a list of registers: 1.5 FIFOs of doorbells, which leaves a quarter of the
 * queue pair's requests to other calls */
#define HOST_REG_WRITES     48
#define HOST_NARROWINGS_MAX 8 /* path MTU reductions per transfer: from 8896 bytes to 1024 */
/* ns for a synchronous command: a live xPU may be busy computing */
#define HOST_REPLY_NS (30ull * 1000 * 1000 * 1000)
/* ns for requests about programs: the xPU may compile. A lost xPU is detected earlier. */
#define HOST_BUILD_NS     (600ull * 1000 * 1000 * 1000)
#define HOST_LOG_BYTES    (1u << 20)  /* bytes of build log; the rest is cut */
#define HOST_SOURCE_BYTES (16u << 20) /* bytes of a program's sources or binary */
/* sentences about failed commands kept per xPU: as many as a batch of completions */
#define HOST_FAILURES    64
#define HOST_FETCH_BYTES (64u << 20) /* bytes of the largest fetched binary */
/* ns of silence of an awaited xPU until a probe */
#define HOST_PROBE_NS (1000ull * 1000 * 1000)
#define HOST_WATCH_NS (250ull * 1000 * 1000) /* ns between two checks for that silence */
/* ns: if a call polled the node less than this time ago, the progress thread pauses, because
 * another call is likely */
#define HOST_FRESH_NS (300ull * 1000)
/* ns of that pause, the longest time by which it delays an acknowledgement */
#define HOST_NAP_NS (1000ull * 1000)
/* ns: longest sleep of the progress thread; without calls, the host detects a loss after this
 * time */
#define HOST_LOOK_NS (20ull * 1000 * 1000)
/* ns: if the gap between two polls is longer than this, the process did not run */
#define HOST_AWAY_NS (3000ull * 1000 * 1000)
/* ns for the last commands of a failed or destroyed group: longer than a lost xPU's detection */
#define HOST_GROUP_END_NS (6ull * 1000 * 1000 * 1000)
/* ns after which a waiting call of a group lets another thread abort it */
#define HOST_GROUP_LOOK_NS (10ull * 1000 * 1000)
/* ms to join or open by default: longer than the lease of a crashed process with the same name */
#define HOST_TIMEOUT_MS 5000

#endif
