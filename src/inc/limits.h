/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of collectives on a host. */
#ifndef INC_LIMITS_H
#define INC_LIMITS_H

/* groups per endpoint: each communicator of the process uses one */
#define INC_GROUPS_MAX 1024
/* destroyed groups that stay for slower members. If there are more, the owner with most of them
 * loses its oldest one. So a user of the endpoint that makes many groups takes none from others. */
#define INC_DEPARTED_MAX 256
/* unacknowledged messages that every connection permits: enough for a burst of short operations */
#define INC_RING_MIN     16
#define INC_RTO_FIRST_NS (5ull * 1000 * 1000) /* ns: timeout while the round trip is unknown */
/* ns: smallest timeout; long, because results wait for the slowest member */
#define INC_RTO_MIN_NS (1000ull * 1000)
/* ns: a round trip longer than this shows a late member, not a slow network */
#define INC_RTO_BASE_NS (5ull * 1000 * 1000)
/* ns: largest timeout, so that a late member causes only ten small packets/s */
#define INC_RTO_MAX_NS (100ull * 1000 * 1000)
/* a loss is assumed after this many later results, more than the network reorders */
#define INC_GAP 8
/* retransmissions at the first timeout: as many as most losses of a short batch; doubles at each
 * further one */
#define INC_BURST_FIRST 4
#define INC_BURST_MAX   32 /* most retransmissions at one timeout: one GSO batch */
/* ns: for this time after the first rejection, a switch may not have a new group yet */
#define INC_REJECTED_NS (50ull * 1000 * 1000)
/* ns until the first retransmission to members; doubles for each further one up to the maximum */
#define INC_FREEZE_NS     (2ull * 1000 * 1000)
#define INC_FREEZE_MAX_NS (50ull * 1000 * 1000)
/* time limit of an agreement, in halves of deadline_ns: enough if three members die in sequence */
#define INC_FREEZE_PATIENCES 4
#define INC_WAYS_MAX         8 /* paths kept per member: enough for two levels of spines */
/* ns until the first retransmission of QUERY and NOTIFY; doubles for each further one */
#define INC_QUERY_NS (20ull * 1000 * 1000)
/* ns: longest interval between retransmissions of QUERY: a dozen/s, for networks with many
 * losses */
#define INC_QUERY_MAX_NS (80ull * 1000 * 1000)
#define INC_DEADLINE_NS  (2000ull * 1000 * 1000) /* ns: default deadline of an operation */
/* ns: time limit of a group's creation; a switch that lacks processor time answers after 1 s */
#define INC_CREATE_NS (5000ull * 1000 * 1000)
/* ns: a switch that is silent for longer is dead; a busy switch answers within 1 s */
#define INC_SILENCE_NS (2000ull * 1000 * 1000)
/* ns: longer rejections have another cause than a restart of the switch */
#define INC_RESTART_NS (300ull * 1000 * 1000)
/* ns: a switch that sent a packet within this time is not probed */
#define INC_RECEIVED_NS (100ull * 1000 * 1000)
#define INC_TIME_MIN_NS (10ull * 1000 * 1000)           /* ns: least deadline; a few kernel ticks */
#define INC_TIME_MAX_NS (86400ull * 1000 * 1000 * 1000) /* ns: largest deadline, one day */
/* barriers that test multicast: three packets are hardly ever all lost */
#define INC_MULTICAST_TESTS 3
/* ns: a member waits for QUERYs over other paths as long as the first QUERYs took; within these
 * bounds */
#define INC_CHOICE_MIN_NS (300ull * 1000)
#define INC_CHOICE_NS     (2ull * 1000 * 1000)
#define INC_NEIGHBOURS    64 /* members compared with each member below the same switch */
/* ns, wait for QUERYs over other paths if a QUERY was lost, or if no tree can be chosen yet. If the
 * known paths have no common switch, the wait can be longer: see choice_max_ns(). */
#define INC_CHOICE_MAX_NS (50ull * 1000 * 1000)
#define INC_SEGMENT_MAX   8912 /* bytes of payload in a packet at an MTU of 9000 */
#define INC_BLOCK_US      1000 /* us: longest wait in a socket: one tick of the kernel's clock */
#define INC_WAIT_BATCH    64   /* datagrams per receive call of a waiting caller (on its stack) */
#define INC_RECEIVE_BATCH 1024 /* datagrams that are received before other work is done */
#define INC_IDLE_NS       (100u * 1000u) /* ns between calls of `idle`; dxp/inc.h documents it */
/* ns: interval between polls of the progress thread during operations */
#define INC_TICK_NS  (10ull * 1000 * 1000)
#define INC_STALL_NS (50ull * 1000 * 1000) /* ns: a poll as late as this shows a stall */
/* ns: shortest interval between renewals, however short a lease a member or switch states */
#define INC_RENEW_MIN_NS (100ull * 1000 * 1000)
/* ns from a group's last operation to its KILL, because slower members may need the result */
#define INC_LINGER_NS (100ull * 1000 * 1000)
#define INC_KILL_NS   (2ull * 1000 * 1000) /* ns between the two KILLs of a group */
/* attempts to find an unused random group id; one of 2^32 ids is rarely in use */
#define INC_ID_TRIES 3
/* waits that check timers more precisely after a retransmission: losses come in groups */
#define INC_LOSSY_CALLS 64
#define INC_FETCH_MAX   32 /* results per FETCH: 45 KB fit every socket buffer */

#endif
