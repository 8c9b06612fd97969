/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of collectives on a host, each with its unit and reason. */
#ifndef INC_LIMITS_H
#define INC_LIMITS_H

#define INC_GROUPS_MAX   1024                 /* per endpoint: communicators of one process */
#define INC_RTO_FIRST_NS (5ull * 1000 * 1000) /* timeout before the first sample */
/* lower bound of the timeout: results wait for the slowest member */
#define INC_RTO_MIN_NS (1000ull * 1000)
/* a longer round trip means a late member, not a slow network */
#define INC_RTO_BASE_NS (5ull * 1000 * 1000)
/* upper bound of the timeout: a late member costs ten small packets/s */
#define INC_RTO_MAX_NS (100ull * 1000 * 1000)
#define INC_GAP        8 /* later results that show a loss: more than reordering causes */
/* retransmissions after silence: most losses of a short batch; doubles */
#define INC_BURST_FIRST 4
#define INC_BURST_MAX   32 /* upper bound of INC_BURST_FIRST: one GSO batch */
/* pause after a rejection: a switch may not know a new group yet */
#define INC_REFUSED_NS    (50ull * 1000 * 1000)
#define INC_FREEZE_NS     (2ull * 1000 * 1000) /* first retransmission among members; doubles */
#define INC_FREEZE_MAX_NS (50ull * 1000 * 1000)
/* half deadlines until a frozen group ends its operations: three members that die one after the
 * other */
#define INC_FREEZE_PATIENCES 4
#define INC_WAYS_MAX         8 /* paths per member that are remembered: two levels of spines */
/* first retransmission of QUERY and NOTIFY; doubles */
#define INC_QUERY_NS (20ull * 1000 * 1000)
/* upper bound of INC_QUERY_NS: a dozen attempts/s, for bad networks */
#define INC_QUERY_MAX_NS (80ull * 1000 * 1000)
#define INC_DEADLINE_NS  (2000ull * 1000 * 1000) /* default deadline of an operation */
/* deadline of a group's creation; a starved switch takes 1 s */
#define INC_CREATE_NS (5000ull * 1000 * 1000)
/* silence after which a switch counts as dead; busy ones take 1 s */
#define INC_SILENCE_NS (2000ull * 1000 * 1000)
/* rejections for longer than this have another cause than a restart */
#define INC_RESTART_NS (300ull * 1000 * 1000)
/* a switch that sent this recently is not probed */
#define INC_RECEIVED_NS (100ull * 1000 * 1000)
#define INC_TIME_MIN_NS (10ull * 1000 * 1000) /* shortest deadline: a few ticks of the kernel */
#define INC_TIME_MAX_NS (86400ull * 1000 * 1000 * 1000) /* longest deadline: one day */
#define INC_HEARING     3 /* barriers that test whether multicast arrives: not all get lost */
#define INC_CHOICE_NS   (2ull * 1000 * 1000) /* wait for queries over other paths */
#define INC_NEIGHBOURS  64                   /* members searched for one below the same switch */
/* longest wait for queries over other paths; then there is no common path */
#define INC_CHOICE_MAX_NS (50ull * 1000 * 1000)
#define INC_SEGMENT_MAX   8912 /* payload of a packet at an MTU of 9000 */
#define INC_BLOCK_US      1000 /* longest wait in a socket: one tick of the kernel */
#define INC_WAIT_BATCH    64   /* datagrams per receive of a waiting caller, on its stack */
#define INC_RECEIVE_BATCH 1024 /* datagrams received before other work */
#define INC_IDLE_NS       (100u * 1000u) /* between two calls of `idle`, as documented */
/* poll interval of the progress thread while operations run */
#define INC_TICK_NS  (10ull * 1000 * 1000)
#define INC_STALL_NS (50ull * 1000 * 1000) /* a poll later than this: the process did not run */
/* wait after the last operation: a slower member may lack its result */
#define INC_LINGER_NS (100ull * 1000 * 1000)
#define INC_KILL_NS   (2ull * 1000 * 1000) /* between the two KILLs of a group */
#define INC_ID_TRIES  3                    /* attempts with a new group id: one in 2^32 is in use */
/* waits with timer checks after a retransmission: losses are correlated */
#define INC_LOSSY_CALLS 64
#define INC_FETCH_MAX   32 /* results per FETCH: 45 KB fit every socket buffer */

#endif
