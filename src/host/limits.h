/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the host library, each with unit and reason. */
#ifndef HOST_LIMITS_H
#define HOST_LIMITS_H

#include "wire/limits.h"

/* events in the ring of one xPU: 5.5 MiB; older events move to a list */
#define HOST_EVENTS_RING 65536
/* bytes that one xPU's pending commands may use; when this is reached, calls wait for space. The
 * other quarter of the xPU's limit is for marks and signals of wait lists. */
#define HOST_COMMANDS_BYTES (WIRE_COMMANDS_BYTES / 4 * 3)
/* events. If another xPU's event has this many newer ones, the waiting xPU may have dropped it, so
 * it is signalled again. Half of what an xPU keeps is a safe margin. */
#define HOST_NAMED_AGE (WIRE_PEER_EVENTS_KEPT / 2)
/* ns that a call waits for space. The call fails after this time if no command completed and the
 * program has events to set. */
#define HOST_SPACE_NS (1000ull * 1000 * 1000)
/* transfers that xPUs perform for this host: half of the NIC's regions, because each needs one.
 * This host performs further transfers itself. */
#define HOST_PULLS_MAX 2048
#define HOST_MOVES     8 /* transfers that this host performs at the same time */
/* bytes per piece of an asynchronous transfer by this host; other transfers are served between
 * pieces */
#define HOST_MOVE_BYTES  (1u << 20)
#define HOST_MOVE_PIECES 4
/* bytes; longer transfers use a separate queue pair, so that shorter ones do not wait for them */
#define HOST_SHORT_BYTES (256u << 10)
/* ns; commands that are posted within this time are sent together, because each send costs a system
 * call */
#define HOST_BURST_NS (20ull * 1000)
/* ns after the last command of a burst; then the progress thread stops checking for more
 * commands */
#define HOST_BURSTS_NS (300ull * 1000)
/* ns that a call waits for a lazy event before it requests a report at once */
#define HOST_HURRY_NS (50ull * 1000)
/* bytes of one PUT or GET: so long that the cost of its start is small, and so short that other
 * transfers get their share */
#define HOST_PIECE_BYTES (4u << 20)
/* pieces outstanding per transfer: two fill the send window, and the others cover the time until a
 * slow poll */
#define HOST_PIECES 8
/* outstanding writes of a list of registers: 1.5 FIFOs of doorbells, which leaves a quarter of the
 * queue pair's requests to other calls */
#define HOST_REG_WRITES 48
/* reductions of the path MTU that a transfer survives: from 8896 bytes to 1024 */
#define HOST_NARROWINGS_MAX 8
/* ns until a synchronous command fails; so long because an xPU may be busy with a computation */
#define HOST_REPLY_NS (30ull * 1000 * 1000 * 1000)
/* ns until a request about a program fails; so long because the xPU may compile. A lost xPU is
 * detected earlier. */
#define HOST_BUILD_NS     (600ull * 1000 * 1000 * 1000)
#define HOST_LOG_BYTES    (1u << 20)  /* bytes of a build log; the rest is cut off */
#define HOST_SOURCE_BYTES (16u << 20) /* bytes of a program's sources or binary */
/* sentences about failed commands that are kept per xPU: as many as a batch of completions has */
#define HOST_FAILURES 64
/* launches whose cycles are kept per xPU after their events were freed */
#define HOST_CYCLES      64
#define HOST_FETCH_BYTES (64u << 20) /* bytes of the largest binary that is fetched */
/* ns of silence of an xPU that a call waits for, before a probe */
#define HOST_PROBE_NS (1000ull * 1000 * 1000)
#define HOST_WATCH_NS (250ull * 1000 * 1000) /* ns between two checks for silent xPUs */
/* ns. If a call polled the node less than this time ago, the progress thread pauses, because
 * another call will probably follow. */
#define HOST_FRESH_NS (300ull * 1000)
/* ns that the progress thread pauses; this is also the longest time by which the pause delays an
 * acknowledgement */
#define HOST_NAP_NS (1000ull * 1000)
/* ns, longest sleep of the progress thread. If the program makes no calls, the host detects a loss
 * with at most this delay. */
#define HOST_LOOK_NS (20ull * 1000 * 1000)
/* ns; if the time between two polls is longer, this process did not run */
#define HOST_AWAY_NS (3000ull * 1000 * 1000)
/* ns to wait for the last commands of a group that failed or is destroyed; longer than the
 * detection of a lost xPU */
#define HOST_GROUP_END_NS (6ull * 1000 * 1000 * 1000)
/* ns after which a call that waits for a group releases its lock, so that another thread can abort
 * the group */
#define HOST_GROUP_LOOK_NS (10ull * 1000 * 1000)
/* ns from a rejection or loss of a group of switches to the next attempt to join one. Doubles for
 * each further one, until the switches served for the longer time. A short outage is over after the
 * shorter time, and attempts at the longer interval cost a switch nothing. */
#define HOST_SWITCH_RETRY_MIN_NS (1000ull * 1000 * 1000)
#define HOST_SWITCH_RETRY_MAX_NS (60ull * 1000 * 1000 * 1000)
/* ms to join or open, by default: longer than the lease of a crashed process with the same name */
#define HOST_TIMEOUT_MS 5000

#endif
