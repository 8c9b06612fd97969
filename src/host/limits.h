/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the host library, each with its reason. */
#ifndef HOST_LIMITS_H
#define HOST_LIMITS_H

#include "wire/limits.h"

/* entries of the ring of one xPU's events: 5 MiB; older ones move to a list */
#define HOST_EVENTS_RING 65536
/* bytes of commands that one xPU has not completed; a call waits for space. The rest is for
 * marks and signals of wait lists. */
#define HOST_COMMANDS_BYTES (WIRE_COMMANDS_BYTES / 4 * 3)
/* events: after so many newer ones an xPU may have forgotten another xPU's event, so it is
 * signalled again under a new name */
#define HOST_NAMED_AGE (WIRE_PEER_EVENTS_KEPT / 2)
/* ns to wait for space; then a call fails if no command has completed and the program has events
 * to set */
#define HOST_SPACE_NS (1000ull * 1000 * 1000)
/* transfers that xPUs start themselves after their waits: half of the NIC's memory regions; the
 * host does the rest */
#define HOST_PULLS_MAX 2048
#define HOST_MOVES     8 /* transfers of the host under way together */
/* bytes of a piece of those; between pieces others are served */
#define HOST_MOVE_BYTES  (1u << 20)
#define HOST_MOVE_PIECES 4
/* bytes: transfers up to here use a queue pair without long ones */
#define HOST_SHORT_BYTES (256u << 10)
/* ns: commands of a burst leave together after this delay; each alone would cost a system call */
#define HOST_BURST_NS (20ull * 1000)
/* ns after the last command of a burst in which the progress thread checks for more */
#define HOST_BURSTS_NS (300ull * 1000)
/* ns of waiting for a lazy event before its node must report at once */
#define HOST_HURRY_NS (50ull * 1000)
/* bytes of one PUT or GET: long enough to hide its start, short enough to share the wire */
#define HOST_PIECE_BYTES (4u << 20)
/* of one transfer under way: two fill any window, the rest covers a slow poll */
#define HOST_PIECES         8
#define HOST_NARROWINGS_MAX 8 /* per transfer: from 8896 bytes to 1024 */
/* ns for a synchronous command of a live xPU, which may be busy computing */
#define HOST_REPLY_NS (30ull * 1000 * 1000 * 1000)
/* ns for requests about programs, since the xPU may compile; a dead xPU is detected sooner */
#define HOST_BUILD_NS     (600ull * 1000 * 1000 * 1000)
#define HOST_LOG_BYTES    (1u << 20)  /* bytes of build log kept; the rest is cut */
#define HOST_SOURCE_BYTES (16u << 20) /* bytes of a program's package: sources, or a binary */
#define HOST_FETCH_BYTES  (64u << 20) /* bytes of the largest binary fetched */
/* ns of silence of an awaited xPU before it is probed */
#define HOST_PROBE_NS (1000ull * 1000 * 1000)
#define HOST_WATCH_NS (250ull * 1000 * 1000) /* ns between two checks for such silence */
/* ns after a call's poll in which the progress thread pauses: another is likely */
#define HOST_FRESH_NS (300ull * 1000)
/* ns of that pause: an acknowledgement may be that late */
#define HOST_NAP_NS (1000ull * 1000)
/* ns: longest sleep of the progress thread; a loss may be noticed so late while no call waits */
#define HOST_LOOK_NS (20ull * 1000 * 1000)
/* ns between two polls: longer than any sleep, so this process did not run */
#define HOST_AWAY_NS (3000ull * 1000 * 1000)
/* ms: default limit on joining and opening; a crashed predecessor's lease ends within */
#define HOST_TIMEOUT_MS 5000

#endif
