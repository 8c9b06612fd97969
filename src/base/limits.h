/* SPDX-License-Identifier: BSD-3-Clause */
/* Every bound of the project, with its reason. Nothing grows without one. Those of rltp and of host
 * are in a limits.h of their own. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <dxp/window.h> /* sizes that users see too */

/* link */
#define LINK_HEADER_BYTES_MAX \
	192 /* the longest frame without payload: an ACK with 16 bitmap words */
#define LINK_SLICES_MAX \
	6 /* source list entries that one packet may span; more are cut into more packets */
#define LINK_SOCKET_BUFFER_BYTES \
	(4u << 20) /* net.core.rmem_max of a stock Debian; root gets it beyond that too */
#define LINK_BATCH                                                                            \
	88 /* datagrams handed to or taken from the kernel between two looks at the rest: two \
	      trains of 44 */
#define LINK_SPIN_NS \
	(50u *       \
	 1000u) /* about one wake-up of an idle core: spinning longer costs more than it saves */
#define LINK_DATAGRAM_BYTES_MAX \
	65507 /* an IPv4 packet's 65535 less IP and UDP headers; a GSO train is one such packet */
#define LINK_MESSAGES 64 /* trains in one sendmmsg: 4 MiB when full, the whole socket buffer */
#define LINK_IOVECS \
	1024 /* pieces in one sendmmsg; the kernel's UIO_MAXIOV for one train is the same */
#define LINK_GATHER_BYTES \
	131072 /* two trains: what the CPU just copied here the kernel copies out of its cache */
#define LINK_GATHER_PIECE_BYTES \
	4096 /* trains of longer pieces (on average) are gathered by the kernel */
#define LINK_SEGMENTS_PROBE 512   /* longest GSO train looked for; kernels take 64 or 128 */
#define LINK_RECEIVE_BYTES  65536 /* one receive buffer: GRO merges up to one full IP packet */
#define LINK_RECEIVE_BUFFERS \
	8 /* with GRO: 512 KiB, half of a level-2 cache; LINK_BATCH of them without */
#define LINK_BUSY_PEERS \
	4 /* connected sockets: as many buffers more; looking at more costs what they save */
#define LINK_BUSY_VOTES \
	256 /* looks that a peer leads by before he gets one: making it costs 50 of them */
#define LINK_OTHERS_EVERY \
	4 /* looks at the busiest socket for each at another: late by one look of 0.1 us each */
#define LINK_NAMED_LOOKS \
	64 /* a connected socket's first: datagrams of others may have slipped in before */
#define LINK_ALONE_MAX                                                                          \
	1024 /* datagrams in a row that each came alone before a socket becomes quiet: a change \
	      * of the time stamps may patch kernel code, 50 us */
#define LINK_STREAK_MAX \
	4 /* looks in a row that bring something are a stream, though each brings one datagram */
#define LINK_QUIET_LOOKS                                                                    \
	4096 /* then a quiet socket asks for everything again, 30 ms later at the rate of a \
		ping-pong */
#define LINK_SHORT_BYTES \
	512 /* longer datagrams that come one by one may be a stream on a slow path */
#define LINK_ECN_OTHER \
	16 /* messages in a row that want other ECN bits than their socket's: then it changes */
#define LINK_UNSLEPT_MAX 64 /* looks with success after which epoll is told to stop watching */
#define LINK_ARRIVAL_AGE_NS                                                                      \
	(1000ull * 1000 * 1000) /* a stamp older than this is a stepped clock, not a slow reader \
				 */
#define LINK_FAULT_HELD                                                          \
	256 /* datagrams the fault injector keeps back at once; more are dropped \
	     */
#define LINK_FAULT_DISTANCE 16 /* later datagrams that may overtake a reordered one */
#define LINK_FAULT_HOLD_NS \
	(1000u * 1000u) /* then a reordered one leaves even if nothing overtook it */

#define LOCAL_BACKLOG 64 /* processes that attach at once; more wait in connect */

/* rate limits of functions */
#define BUCKET_RATE_MAX    1000000000000000ull /* bytes per second: no link here comes near */
#define BUCKET_BYTES_MAX   (1ull << 33)        /* of one charge; the longest operation is 2^31 */
#define BUCKET_BURST_NS    (1000u * 1000u)     /* saved up at most: what a slow turn may miss */
#define BUCKET_BURST_BYTES (64u << 10)         /* or this, where it is more: one GSO train */
#define BUCKET_TRAIN_NS    (20u * 1000u)       /* of them owed: as a session's pace has it */
#define BUCKET_TRAIN_BYTES (16u << 10)         /* or this: a turn's packets leave together */

/* in-network computing */
#define SERVE_BATCH           512 /* packets made at once: 8 children, a window each */
#define SERVE_SENDERS_MAX     128 /* ports it sends from at once: endpoints of one host */
#define SERVE_SENDERS_REFUSED 16  /* open ports beyond which none is opened to refuse */
#define SERVE_SENDER_IDLE_NS  (60ull * 1000 * 1000 * 1000) /* then such a port is given back */
#define SERVE_SEND_TRIES      16 /* for room in the kernel; then hosts must repeat */
#define SERVE_TELL_NS         (60ull * 1000 * 1000 * 1000) /* a warning about a port comes again */
#define SERVE_EXPIRE_NS       (50ull * 1000 * 1000)        /* between two looks at leases */
#define SWITCH_GROUPS_DEFAULT 256   /* a communicator each; SHARP's switches offer 63 to 511 */
#define SWITCH_GROUPS_MAX     65536 /* each costs some KiB though it is idle */
#define SWITCH_MEMORY_DEFAULT \
	(1u << 30) /* slots of all groups: each of 16 children; what is not used is not there */
#define SWITCH_CHILDREN_MAX    256 /* of a group at one switch: ports of a large one */
#define SWITCH_WINDOW_DEFAULT  64  /* segments in flight: 90 KB, more than a path holds here */
#define SWITCH_WINDOW_MAX      1024
#define SWITCH_SEGMENT_DEFAULT 1408 /* a 1500-byte MTU less headers and ICRC, a multiple of 16 */
#define SWITCH_SEGMENT_MAX     8912 /* the same of 9000 */
#define SWITCH_LEASE_MS        30000
#define SWITCH_UNREADY_NS      (10ull * 1000 * 1000 * 1000) /* lease of half a group */
#define SWITCH_AGAIN_NS        (200u * 1000u) /* between two repeats of a partial result */
#define SWITCH_STALE_NS                                                                      \
	(10ull * 1000 * 1000 * 1000) /* no network keeps a packet so long: a slot left alone \
				      * for this takes any number */
#define SWITCH_MESSAGES_MIN  64      /* control packets and answers that wait; then more */
#define SWITCH_MESSAGES_MAX  4096    /* 1 MiB: a few for each packet of the largest batch */
#define SWITCH_ANSWERS       16      /* rows that wait for sw_send: 1400 bytes each */
#define SWITCH_TURN          128     /* packets of one group before the next: two GSO trains */
#define SWITCH_REFUSED_PER_S 1000
#define SWITCH_SOURCE_SHARE  8     /* one address gets at most 1/8 of all answers */
#define SWITCH_SOURCES       256   /* addresses told apart, by hash */
#define SWITCH_QUERIES_PER_S 10000 /* of one host: 64 ranks that create 100 groups within 1 s */
#define SWITCH_BURST_NS      (200ull * 1000 * 1000) /* of both, saved up */
#define INC_SHORT_BYTES      256  /* a whole call in one small packet, as in the source */
#define INC_GROUPS_MAX       1024 /* of one endpoint: communicators of one process */

/* in-network computing: hosts */
#define INC_RTO_FIRST_NS  (5ull * 1000 * 1000)   /* before the first sample */
#define INC_RTO_MIN_NS    (1000ull * 1000)       /* results wait for the slowest member */
#define INC_RTO_BASE_NS   (5ull * 1000 * 1000)   /* more says that others wait, not the net */
#define INC_RTO_MAX_NS    (100ull * 1000 * 1000) /* a late member costs ten small packets/s */
#define INC_GAP           8  /* later results that tell of a lost one: more than reordering */
#define INC_BURST_FIRST   4  /* repeats when nothing came: most losses of a short train; doubles */
#define INC_BURST_MAX     32 /* and no more: one GSO train */
#define INC_REFUSED_NS    (50ull * 1000 * 1000)   /* a switch may not know a new group yet */
#define PLANE_REST_NS     (1000ull * 1000 * 1000) /* a place of a group in XDP, before the next */
#define INC_FREEZE_NS     (2ull * 1000 * 1000)    /* first repeat among members; doubles */
#define INC_FREEZE_MAX_NS (50ull * 1000 * 1000)
#define INC_FREEZE_PATIENCES \
	4 /* half deadlines until calls end whoever is silent: three deaths in turn */
#define INC_WAYS_MAX        8 /* from a member up that are remembered: two levels of spines */
#define INC_QUERY_NS        (20ull * 1000 * 1000)   /* first repeat of QUERY and NOTIFY; doubles */
#define INC_QUERY_MAX_NS    (80ull * 1000 * 1000)   /* a dozen tries a second, for bad networks */
#define INC_DEADLINE_NS     (2000ull * 1000 * 1000) /* of a call, unless told otherwise */
#define INC_CREATE_NS       (5000ull * 1000 * 1000) /* of a creation; a starved switch takes 1 s */
#define INC_SILENCE_NS      (2000ull * 1000 * 1000) /* no sign of a switch; busy ones take 1 s */
#define INC_RESTART_NS      (300ull * 1000 * 1000)  /* refused for so long: not only restarted */
#define INC_HEARD_NS        (100ull * 1000 * 1000)  /* heard so lately, it need not be asked */
#define INC_TIME_MIN_NS     (10ull * 1000 * 1000) /* shortest deadline: a few ticks of the kernel */
#define INC_TIME_MAX_NS     (86400ull * 1000 * 1000 * 1000) /* the longest: a day */
#define INC_HEARING         3 /* barriers that show whether multicast arrives: not all get lost */
#define INC_CHOICE_NS       (2ull * 1000 * 1000) /* queries by other ways may come later */
#define INC_KERNEL_CHILDREN 64 /* of a group at one switch that XDP takes: a bit each */
#define INC_NEIGHBOURS      64 /* members looked at for one below the same switch */
#define INC_CHOICE_MAX_NS   (50ull * 1000 * 1000) /* then there is no common way */
#define INC_SEGMENT_MAX     8912                  /* payload of a packet that 9000 bytes carry */
#define INC_BLOCK_US        1000           /* longest wait in a socket: one tick of the kernel */
#define INC_WAIT_BATCH      64             /* datagrams taken at once by who waits: on its stack */
#define INC_TURN            1024           /* datagrams taken before anything else is looked at */
#define INC_IDLE_NS         (100u * 1000u) /* between two calls of `idle`, as promised */
#define INC_TICK_NS         (10ull * 1000 * 1000)  /* of the thread while callers are about */
#define INC_STALL_NS        (50ull * 1000 * 1000)  /* late by more: the process did not run */
#define INC_LINGER_NS       (100ull * 1000 * 1000) /* after the last call: who lacks its result */
#define INC_KILL_NS         (2ull * 1000 * 1000)   /* between the two KILLs of a group */
#define INC_ID_TRIES        3  /* of a group whose number is in use: one in 2^32 is */
#define INC_LOSSY_CALLS     64 /* after a repeat waits look at the clock: losses come together */
#define INC_FETCH_MAX       32 /* results for one FETCH: 45 KB fit every socket buffer */

/* wire */
#define WIRE_PORT        4795 /* default UDP port of a manager; nodes take any port */
#define WIRE_PAYLOAD_MIN 1024 /* a path that carries less is refused; IPv6 promises more */
#define WIRE_PAYLOAD_MAX                                                                          \
	8896 /* payload of one data packet: 9000-byte MTU less headers, a multiple of 64; also on \
	      * loopback, where trains of these beat single 64 KiB datagrams */
#define RLTP_WINDOW_MAX     4096 /* packets in flight; also the receiver's bitmap, a power of two */
#define WIRE_SACK_WORDS_MAX 16   /* 1024 packets of bitmap per acknowledgement */
#define WIRE_CREDIT_ENTRIES_MAX                                                              \
	16 /* queue pairs in one CREDIT: half of a NIC's, and no longer than the longest ACK \
	    */

/* nic: C-15, C-36, C-17 */
#define NIC_FUNCTIONS        8 /* one physical and seven virtual */
#define NIC_QPS_PER_FUNCTION DXP_QPS
#define NIC_DOORBELLS        DXP_DOORBELLS /* depth of a FIFO */
#define NIC_OUTSTANDING_MAX \
	64 /* requests of a queue pair; four of them: 4 million NAPs a second over 60 us */
#define NIC_NAP_BYTES_MAX DXP_NAP_BYTES
#define NIC_LIST_ENTRIES_MAX \
	DXP_LIST_ENTRIES /* entries of source and destination lists together in one descriptor */
#define NIC_REGIONS_MAX 4096 /* 12 index bits of a key */
#define NIC_EVENTS                                                                               \
	DXP_EVENTS /* entries of each event ring: what all queue pairs may have outstanding, and \
		    * twice that in credits, so that a grant each half of them is in time */
#define NIC_NAP_CREDIT                                                                             \
	16 /* of each stream before any grant: a few commands; many peers at once may find no slot \
	    */
#define NIC_CREDIT_IDLE_NS \
	(10ull * 1000 *    \
	 1000) /* credit that lies unused this long may be promised to somebody else too */
#define NIC_CREDIT_AHEAD_MAX 65535 /* a peer that grants more than this at once is not believed */
#define NIC_BUFFERS_KEPT     64    /* NAPs that came out of order at once: 128 KiB */
#define NIC_MEMORY_RETRY_NS \
	(1000ull * 1000) /* until whoever found no memory asks again: no spinning for it */
#define NIC_TURN_BYTES \
	(256u << 10) /* copied inside the NIC in one turn, 10 us: meanwhile the network waits */
#define NIC_SLICE_BYTES \
	(128u << 10) /* of one queue pair before the next; shorter ones cost a long PUT 5 % */
#define NIC_REST_BYTES 4096 /* of a copy that are taken along at the end of a slice */
#define NIC_ROOM_RUN \
	16 /* receive slots that one who waits for them gets before the next: half a FIFO */
#define NIC_ROOM_LOOK_NS \
	(50u *           \
	 1000u) /* between two looks for a receive slot at first; doubles. Loops spin so long */
#define NIC_ROOM_LOOK_MAX_NS \
	(10ull * 1000 * 1000) /* a consumer that never drains costs 100 wake-ups a second */
#define NIC_BUFFERS_AHEAD \
	32 /* NAP buffers whose numbers are fetched ahead (C-30): one line of the ring */
#define NIC_AREAS_MAX 16 /* of a lookup table: a device has a few buffers */
#define NIC_REGISTERS_PAUSE_NS \
	(20u * 1000u) /* before a receiver without room is asked again: a round trip; doubles */
#define NIC_REGISTERS_PAUSE_MAX_NS (5000u * 1000u)
#define NIC_REGISTERS_BUSY_NS \
	(1000ull * 1000 * 1000) /* then its sender is told: the device may know better */
#define NIC_STREAM_WINDOW \
	128 /* messages of one stream between the oldest incomplete and the newest */
#define NIC_CFG_WORDS_MAX 256 /* registers in one CFG access: one packet at any MTU */
#define NIC_STAGED_RETRY_US                                                                        \
	32 /* a piece of staged memory without a buffer asks for this pause: half a DMA of 512 KiB \
	    */
#define NIC_STAGED_LATER                                                                         \
	256 /* writes of staged memory under way; from then on only of whoever waits for nobody: \
	       the memory's owner takes more at once, and those end by themselves */
#define NIC_STAGED_COPY_BYTES 4096 /* handed over at once inside a NIC: fits any buffer */
#define NIC_HELD_RETRY_US \
	5000 /* a message held for a device is asked for again: what a lost word delays it by */
#define NIC_HELD_RETRY_MAX_US 80000       /* doubled up to this, well below RLTP_DEAD_NS */
#define NIC_MESSAGE_BYTES_MAX 0x7fffffffu /* C-18; longer operations are cut above */
#define NIC_READS_MAX                                                                             \
	64 /* GET, atomic and CFG requests outstanding per session: the responder always has room \
	    */

/* fabric */
#define FABRIC_NODES_MAX \
	4096 /* entries of a node table; ids 1 .. 0xfffd are possible, memory is kept for these */
#define FABRIC_NAME_BYTES 32 /* a node's name and its zero: [A-Za-z0-9._-] */
#define FABRIC_KEY_BYTES  32 /* the shared secret that nodes and manager prove */
#define FABRIC_LEASE_NS                                                                           \
	(4500ull * 1000 * 1000) /* a node silent for this long is dead: a renewal, 2.9 s in which \
				 * nothing passes, a repeat and 0.6 s for busy machines */
#define NODE_NEWS_NS     (1000ull * 1000) /* between two questions to the link */
#define NODE_YIELD_TURNS 8 /* empty turns of a spinner before others have theirs: about 4 us */
#define NODE_QUIET_NS \
	(1000ull * 1000) /* without an arrival: the network is quiet, and looked at less */
#define NODE_QUIET_LOOK_NS                                                                     \
	2000 /* a look at the socket costs 0.3 us, functions of this machine wait 0.1 for each \
		other */
#define NODE_LOOK_NS \
	(250ull * 1000 * 1000) /* between two looks at the own address: three system calls */
#define FABRIC_RENEWALS     6  /* renewals in a lease: few enough for 4096 nodes, 5500 a second */
#define FABRIC_RENEW_NS     (FABRIC_LEASE_NS / FABRIC_RENEWALS)
#define FABRIC_DEVICE_BYTES 96 /* an engine's own text about its device, and its zero */
#define FABRIC_GRANTS_MAX \
	4096 /* rows of the grants table: one per node, more are better said with `*` */
#define FABRIC_DATAGRAM_BYTES                                                                    \
	1200 /* longest management datagram: passes every path that IPv6 allows, header included \
	      */
#define FABRIC_WINDOW \
	8 /* table pages under way to one node; 9600 bytes fit the smallest socket buffer */
#define FABRIC_KEEP_NS          \
	(600ull * 1000 * 1000 * \
	 1000) /* a dead host stays in the table this long, so that people see it */
#define FABRIC_JOIN_NS    \
	(5000ull * 1000 * \
	 1000) /* default bound on joining: longer than the lease of one who crashed */
#define FABRIC_LATE_NS \
	(1000ull * 1000 * 1000) /* a loop this late did not run: nobody was silent meanwhile */
#define FABRIC_HOST_KEEP_NS                                                                      \
	(60ull * 1000 * 1000 * 1000) /* what a silent host has on an xPU stays this long: people \
				      * in debuggers, machines out of memory */
#define FABRIC_SLOTS_MAX 16          /* xPU nodes in one box */

/* functions offered to other processes */
#define OFFER_REGIONS_MAX \
	512 /* of one function: seven of them leave an eighth of the NIC's to function 0 */
#define OFFER_BYTES_MAX \
	(64ull << 30) /* mapped for one function: 128 MiB of page tables when all was touched */
#define OFFER_CLIENTS_ANY \
	32 /* connections to the socket of any function: all functions, and people who look */
#define OFFER_CLIENTS_ONE \
	4 /* to that of one function: its user, and who tries meanwhile; nobody takes all */
#define OFFER_LOOK_NS \
	(1000ull * 1000) /* between two looks at the sockets by a loop that does not sleep */

/* observation: docs/observe.md */
#define STATS_INTERVAL_NS \
	(100ull * 1000 * 1000)  /* between two publications: faster than people look */
#define STATS_COST         100  /* a publication takes at most 1/100 of the time between two */
#define STATS_SESSIONS_MAX 1024 /* rows of one node: 400 KiB; the totals count all sessions */
#define STATS_SESSIONS_MIN 16   /* room from the start; more is taken when it is needed */
#define STATS_NODES_MAX    1024 /* that one reader looks at */
#define STATS_FOLDERS_MAX  256  /* root looks into those of other users, too */
#define STATS_PATH_BYTES   256
#define TAP_RING_BYTES_MIN (256u << 10) /* holds any datagram, wherever the lap ends */
#define TAP_RING_BYTES_MAX (1u << 30)
#define TAP_RING_BYTES     (16u << 20) /* default: 50,000 headers, 20 ms of the fastest link seen */
#define TAP_SNAP_BYTES     256         /* default: every header and bitmap, and some payload */
#define TAP_LOOK_NS                                                                            \
	(1000ull * 1000 * 1000) /* between two looks whether the tracer still lives: they cost \
				 * system calls */

/* bridges */
#define BRIDGE_BUFFERS       8           /* of each ring, as the source has (S-02) */
#define BRIDGE_BUFFERS_MAX   64          /* more hides nothing that 8 do not */
#define BRIDGE_BUFFER_MIN    4096        /* the source fails at 32 KiB and below (S-09) */
#define BRIDGE_BUFFER_MAX    (16u << 20) /* beyond 8 MiB nothing is gained (S-08) */
#define BRIDGE_TRANSFERS_MAX 4096        /* of one bridge at once */
#define BRIDGE_STALL_NS \
	(5ull * 1000 * 1000 * 1000) /* of one step: no DMA of 16 MiB and no live peer takes it */
#define BRIDGE_DMAS          4 /* of each direction: hides 25 us between two of 64 KiB at 8 GB/s */
#define BRIDGE_PIECE_MIN     (16u << 10)   /* of those chosen: shorter ones are mostly latency */
#define BRIDGE_RAMP_BYTES    (32u << 10)   /* pieces near sqrt(this x transfer): see cut.h */
#define BRIDGE_DIRECT_BYTES  (4u << 20)    /* nothing to fill: long, but still turns */
#define BRIDGE_DIRECT_PIECES 64            /* of transfers without buffers, at once */
#define BRIDGE_FED_STEPS     8             /* a block may take so many stalls at most: 40 s */
#define BRIDGE_FED_BLOCKS    1024          /* past the first not in place: 16 MiB at least */
#define BRIDGE_AGAIN_NS      (20u * 1000u) /* after which a step given back comes again */
#define BRIDGE_KEPT_PART     4 /* of the ring from the device, for readers that have none of it */
#define BRIDGE_HUNGER_NS     (200ull * 1000 * 1000) /* two questions for credit, of 100 ms each */
#define BRIDGE_CALL_NS       (2ull * 1000 * 1000)   /* how long a promised buffer waits */
#define BRIDGE_CALL_DOUBLINGS \
	7 /* of that, for paths and processes that are slower: 256 ms, as long as any timeout */
#define PUMP_TURN     64 /* actions of one turn: the owner has other things to do */
#define PUMP_ENDS     32 /* DMAs' ends taken at once: more than are under way */
#define PUMP_RESET_NS (5ull * 1000 * 1000 * 1000) /* a device that takes longer is broken */
#define PUMP_PAUSE_NS (20u * 1000u)               /* between two looks at one that resets */
#define PUMP_BUFFER_BYTES                                                                          \
	(1u << 20) /* least that is chosen: shorter ones keep a fast DMA busy, but each costs the  \
		      network a read and two wake-ups: 256 KiB carry 70 % of what 1 MiB do, 64 KiB \
		      40 % */
#define PUMP_SLOW_NS \
	(2ull * 1000 * 1000 * 1000) /* one size that takes longer is the last to be measured */
#define PUMP_MEASURE_NS \
	(500ull * 1000 * 1000) /* at start, for all sizes: three times 7 ms each way */

/* local DMA */
#define DMA_RATES_MAX  16                     /* sizes of buffers measured */
#define DMA_MEASURE_NS (200ull * 1000 * 1000) /* at dxp_dma_open: nobody minds so long */
#define DMA_SPIN_NS    20000 /* before its thread sleeps: about what a wake-up takes */
#define DMA_TRANSFERS_MAX \
	1024 /* under way at once; starting one more fails with DXP_EAGAIN until one has ended */
#define DMA_PINS_MAX   64          /* ranges of user memory: both ends of 32 transfers */
#define DMA_COPY_SHORT (64u << 10) /* a copy that takes less than waking a thread to do it */

/* the engine `board` */
#define BOARD_QUEUE_MAX      64  /* DMAs that one controller has taken: a register's bits */
#define BOARD_ENDS_MAX       256 /* ended and not taken; both queues twice */
#define BOARD_PINS_MAX       (DMA_PINS_MAX + 4) /* and a bridge's two rings; as many measure it */
#define BOARD_RATE_MAX       1000000            /* MB/s: a hundred times what is built today */
#define BOARD_DELAY_MAX_NS   (1ull * 1000 * 1000 * 1000) /* a DMA that starts later is broken */
#define BOARD_FILE_BYTES_MAX (64u << 10)  /* a board's description: twelve lines and comments */
#define BOARD_SLICE_BYTES    (64u << 10)  /* moved at once: fits a cache, and is 8 us of PCIe */
#define BOARD_SHORT_BYTES    (16u << 10)  /* moved by who starts it: waking a thread takes longer */
#define BOARD_CHUNK_BYTES    (256u << 10) /* one launch of a stream kernel: hides its start */
#define BOARD_KERNEL_MAX     (1u << 20)   /* bytes of the stream kernel's source */

/* xPU */
#define XPU_HOSTS_DEFAULT \
	1024 /* hosts that may have one xPU open at once: a rank on each core of a large node */
#define XPU_HOSTS_MAX 2048 /* with `dxpd --hosts`: half of a NIC's memory regions, one each */
#define XPU_ALIGN                                                              \
	512 /* of allocations, where 256 are promised: OpenCL devices want 128 \
	     * to 512 of a sub-buffer */
#define XPU_COMMANDS_BYTES                                                                    \
	(64u << 20) /* memory for commands of one host on one xPU that have not ended: 90,000 \
		       short ones; hosts wait below it (HOST_COMMANDS_BYTES) */
#define XPU_EVENTS_KEPT      65536 /* own events that have ended, remembered per host: 1.5 MiB */
#define XPU_PEER_EVENTS_KEPT 2048  /* events of another xPU remembered per host */
#define XPU_PEER_EVENTS_MAX  8192  /* entries of the ring for those: 192 KiB */
#define XPU_SOURCES_MAX \
	FABRIC_NODES_MAX /* other xPUs of whose events one host's commands wait: 1.5 KiB each */
#define XPU_WINDOWS_MAX \
	32 /* of NICs that kernels drive: 7 functions, and what still ends of others */
#define XPU_TAIL_BYTES                                                                            \
	(40u << 20) /* behind device memory: those windows, 1.2 MiB each, and a page of counters; \
		       takes memory only where it is written */
#define XPU_PROGRAMS_BYTES                                                                       \
	(512u << 20) /* of one host on one xPU, in the daemon: logs, records and packages of its \
			programs, 1.5 KiB each where they are small */
#define XPU_PACKAGES_BYTES                                                                         \
	(64u << 20) /* of one host: what its programs were built from, to build them again after a \
		       crash */
#define XPU_PRINT_BYTES \
	(16u << 20) /* that one kernel prints, as PoCL promises; the rest is counted and lost */
#define XPU_PRINTS_WAIT \
	1024 /* messages to a host that reads too slowly: its kernels' prints wait */
#define XPU_CELL_AGAIN_NS                                                       \
	(1000ull * 1000 * 1000) /* between two tries to start what starts cells \
				 */
#define XPU_WORK_MAX         64 /* jobs with the engine ahead of time: hides the hand-over */
#define XPU_SOURCE_BYTES_MAX (16u << 20)  /* of one program, as the host library allows */
#define XPU_LOG_BYTES_MAX    (1u << 20)   /* of one build log; the rest is cut */
#define XPU_CACHE_PROGRAMS   256          /* built programs kept that no host has any more */
#define XPU_CACHE_BYTES      (1ull << 30) /* of built programs on a node's disk */
#define XPU_ZERO_BYTES       (256u << 10) /* memory cleared in one turn: about 50 us */
#define XPU_ITEMS_MAX        (1ull << 40) /* work items of one launch: hours of any CPU */
#define XPU_OUTBOX_FLIGHT \
	8 /* messages under way to one node: a silent one leaves room for others */
#define XPU_CLEAR_BYTES \
	(1u << 20) /* memory behind DMA cleared by one DMA: past that none is faster */
#define XPU_HAULS_SLOT_MAX \
	1024 /* hauls of all hosts on one xPU under way at once; more wait for their turn */
#define XPU_HAULS_MAX \
	8 /* hauls of one host on one xPU under way at once: more fill no pipeline better */
#define XPU_HAUL_BYTES (4u << 20) /* one GET or PUT of a haul where no buffer bounds it */
#define XPU_STAGED_WRITES                                                                         \
	316 /* PUTs of others that one bridge carries at once: beyond NIC_STAGED_LATER those that \
	       wait for nobody */
#define XPU_STAGED_READS \
	128 /* GETs of others; the rest of its transfers is for hauls, clearing and sources */
#define XPU_OUTBOX_BULK                                                                     \
	16 /* GETs, and as many PUTs, of bridges under way with one node: two rings of 8; a \
	      quarter of what a queue pair takes */
#define XPU_EVENTS_HELD     32 /* events of one host that may come late: one NAP of them */
#define XPU_EVENTS_HOLD_NS  (5ull * 1000 * 1000) /* how late they may come */
#define XPU_EVENTS_HURRY_NS (30ull * 1000)       /* the same where a later one is waited for */
#define XPU_BEGUN_NS \
	(2ull * 1000 * 1000) /* a command that runs for so long is told of before its end */
#define XPU_OUTBOX_MAX                                                                       \
	(2u * (XPU_COMMANDS_BYTES / 512)) /* messages that wait for one host, twice what its \
					     commands need: it never reads */
#define XPU_OUTBOX_BYTES                                                                           \
	(64u << 20) /* memory of these messages: XPU_OUTBOX_MAX events need less, but one reply of \
		       FETCH is 1.5 KiB, and a host may ask for any number */
#define XPU_MESSAGES_TURN 64         /* messages taken in one turn before the rest is looked at */
#define XPU_PUT_BYTES     (1u << 30) /* of one PUT; a longer SEND is several */
/* DMA by a device's driver */
#define FLIGHTS_MAX    BRIDGE_BUFFERS_MAX    /* under way in each direction: more are never free */
#define FLIGHT_LOOK_NS (10ull * 1000 * 1000) /* how late a driver's callback is noticed */
#define FLIGHT_LOST_NS \
	(10ull * 1000 * 1000 * 1000) /* after a reset: drivers' own watchdogs take 2 to 5 s */
#define DMA_BOUNCE_BYTES \
	(4u << 20)        /* device memory for copies that overlap: what one buffer holds */
#define OCL_CHUNKS_MAX 64 /* allocations that device memory is made of: devices give 1/4 */
#define XPU_MEMORY_MIN (1ull << 20)
#define XPU_MEMORY_MAX (1ull << 40)

#endif
