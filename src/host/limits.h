/* SPDX-License-Identifier: BSD-3-Clause */
/* The bounds of the host library, each with its reason. */
#ifndef HOST_LIMITS_H
#define HOST_LIMITS_H

#include "base/limits.h"

#define HOST_EVENTS_RING \
	65536 /* entries of the ring of one xPU's events: 5 MiB; older ones go to a list */
#define HOST_COMMANDS_BYTES                                                                      \
	(XPU_COMMANDS_BYTES / 4 * 3) /* of commands that one xPU has not ended; a call waits for \
				      * room. The rest is for marks and signals of wait lists */
#define HOST_NAMED_AGE                                                                            \
	(XPU_PEER_EVENTS_KEPT / 2) /* an xPU is not asked for another's event that is older: that \
				    * other one tells it again, by a new name */
#define HOST_ROOM_NS                                                                           \
	(1000ull * 1000 * 1000) /* without any end it waits so long for room while the program \
				   itself could make some */
#define HOST_PULLS_MAX                                                                      \
	2048 /* transfers that xPUs do when what they wait for has ended: half of the NIC's \
		memory regions; more are done by the host then */
#define HOST_MOVES       8          /* transfers of the host that are under way together */
#define HOST_MOVE_BYTES  (1u << 20) /* one piece of them: others have their turn between */
#define HOST_MOVE_PIECES 4
#define HOST_SHORT_BYTES                                                         \
	(256u << 10) /* transfers up to here have a queue pair without long ones \
		      */
#define HOST_TRAIN_NS                                                                        \
	(20ull * 1000) /* commands in a row leave together, so late: each alone would cost a \
			  system call */
#define HOST_TRAINS_NS (300ull * 1000) /* after the last the keeper looks no more for the next */
#define HOST_HURRY_NS \
	(50ull * 1000) /* who waits so long for a lazy event asks its node to tell at once */
#define HOST_PIECE_BYTES                                                                       \
	(4u << 20) /* one PUT or GET: long enough to hide its start, short enough to share the \
		      wire */
#define HOST_PIECES \
	8 /* of one transfer under way: two fill any window, the rest covers a slow turn */
#define HOST_NARROWINGS_MAX 8 /* that one transfer survives: from 8896 bytes to 1024 */
#define HOST_REPLY_NS          \
	(30ull * 1000 * 1000 * \
	 1000) /* a synchronous command of a live xPU, which may be busy computing */
#define HOST_BUILD_NS                                                                            \
	(600ull * 1000 * 1000 * 1000) /* whether the xPU lives is seen otherwise; it may compile \
				       */
#define HOST_LOG_BYTES    (1u << 20)  /* build log kept; the rest is cut */
#define HOST_SOURCE_BYTES (16u << 20) /* package of one program: sources, or a binary */
#define HOST_FETCH_BYTES  (64u << 20) /* largest binary fetched */
#define HOST_PROBE_NS     \
	(1000ull * 1000 * \
	 1000) /* silence of an awaited xPU before it is asked for a sign of life */
#define HOST_WATCH_NS (250ull * 1000 * 1000) /* between two looks for such silence */
#define HOST_FRESH_NS \
	(300ull *     \
	 1000) /* after a program's turn the keeper stays away: it is about to turn again */
#define HOST_NAP_NS \
	(1000ull *  \
	 1000) /* how long the keeper then sleeps: an acknowledgement may come that late */
#define HOST_LOOK_NS    \
	(20ull * 1000 * \
	 1000) /* keeper's longest sleep: so late may a loss be noticed while no call waits */
#define HOST_AWAY_NS                                                                           \
	(3000ull * 1000 * 1000) /* between two turns of anybody: longer than any sleep between \
				 * them, so this process did not run */
#define HOST_TIMEOUT_MS \
	5000 /* default bound on joining and opening: a crashed predecessor's lease ends within */

#endif
