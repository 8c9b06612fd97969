/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the project, each with its reason; nothing grows without a bound. Folders rltp and host
 * have a limits.h of their own. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <dxp/window.h> /* sizes visible to users */

/* link */
/* bytes of the longest frame without payload: an ACK with 16 bitmap words */
#define DATAGRAM_HEADER_BYTES_MAX 192
/* entries of a source list that one packet may span; more are split into more packets */
#define DATAGRAM_SLICES_MAX 6
/* bytes; net.core.rmem_max of a default Debian; root gets them beyond that
 * limit too */
#define LINK_SOCKET_BUFFER_BYTES (4u << 20)
/* datagrams sent or received by one poll: two GSO batches of 44 */
#define LINK_BATCH 88
/* ns, about one wakeup of an idle core: longer spinning costs more than it saves */
#define LINK_SPIN_NS (50u * 1000u)
/* an IPv4 packet's 65535 less IP and UDP headers; a GSO batch is one such packet */
#define LINK_DATAGRAM_BYTES_MAX 65507
/* GSO batches in one sendmmsg: 4 MiB when full, the whole socket buffer */
#define LINK_MESSAGES 64
/* pieces in one sendmmsg; the kernel's UIO_MAXIOV for one GSO batch is the same */
#define LINK_IOVECS 1024
/* bytes, two GSO batches: the kernel reads from the cache what the CPU just copied here */
#define LINK_GATHER_BYTES 131072
/* bytes; batches of pieces longer on average are gathered by the kernel */
#define LINK_GATHER_PIECE_BYTES 4096
/* datagrams in the longest GSO batch tried; kernels accept 64 or 128 */
#define LINK_SEGMENTS_PROBE 512
/* bytes of one receive buffer: GRO merges up to one full IP packet */
#define LINK_RECEIVE_BYTES 65536
/* buffers with GRO: 512 KiB, half of a level-2 cache; LINK_BATCH without */
#define LINK_RECEIVE_BUFFERS 8
/* connected sockets, each with buffers of its own: polling more costs what they save */
#define LINK_BUSY_PEERS 4
/* polls by which a peer leads before it gets a socket: creating one costs 50 of them */
#define LINK_BUSY_VOTES 256
/* every n-th poll also reads a socket other than the busiest: late by one poll, 0.1 us, for each */
#define LINK_OTHERS_EVERY 4
/* polls of a new connected socket that check the source: datagrams of other peers may have entered
 * before the connect */
#define LINK_NAMED_LOOKS 64
/* consecutive polls with a single datagram before a socket becomes quiet: a change of time stamping
 * may patch kernel code, 50 us */
#define LINK_ALONE_MAX 1024
/* consecutive polls with arrivals that count as a stream, even of single datagrams */
#define LINK_STREAK_MAX 4
/* polls after which a quiet socket requests GRO, time stamps and ECN bits again: 30 ms at the rate
 * of a ping-pong */
#define LINK_QUIET_LOOKS 4096
#define LINK_SHORT_BYTES 512 /* bytes; longer single datagrams may be a stream on a slow path */
/* consecutive messages with other ECN bits than their socket's before these are changed */
#define LINK_ECN_OTHER   16
#define LINK_UNSLEPT_MAX 64 /* successful polls after which epoll stops watching */
/* ns; an older time stamp means a stepped clock, not a slow reader */
#define LINK_ARRIVAL_AGE_NS (1000ull * 1000 * 1000)
/* datagrams that the fault injector delays at once; more are dropped */
#define LINK_FAULT_HELD     256
#define LINK_FAULT_DISTANCE 16 /* later datagrams that may overtake a reordered one */
/* ns after which a reordered datagram leaves even if none overtook it */
#define LINK_FAULT_HOLD_NS (1000u * 1000u)

#define LOCAL_BACKLOG 64 /* processes that attach at once; more wait in connect */

/* rate limits of functions */
#define BUCKET_RATE_MAX    1000000000000000ull /* bytes/s: above any link */
#define BUCKET_BYTES_MAX   (1ull << 33)    /* bytes of one charge; the longest operation has 2^31 */
#define BUCKET_BURST_NS    (1000u * 1000u) /* ns of rate that may be saved up: one slow poll */
#define BUCKET_BURST_BYTES (64u << 10)     /* bytes, if these are more: one GSO batch */
/* ns of rate that may be owed: as for pacing of sessions */
#define BUCKET_TRAIN_NS (20u * 1000u)
/* bytes, if these are more: one poll sends them together */
#define BUCKET_TRAIN_BYTES (16u << 10)

/* in-network computing */
#define SERVE_BATCH           512 /* packets built at once: a window for each of 8 children */
#define SERVE_SENDERS_MAX     128 /* source ports open at once: endpoints of one host */
#define SERVE_SENDERS_REFUSED 16  /* open ports above which none is opened for a rejection */
#define SERVE_SENDER_IDLE_NS  (60ull * 1000 * 1000 * 1000) /* idle time until a port is closed */
/* send attempts if the kernel has no space; then hosts retransmit */
#define SERVE_SEND_TRIES 16
/* between two warnings about one port */
#define SERVE_TELL_NS   (60ull * 1000 * 1000 * 1000)
#define SERVE_EXPIRE_NS (50ull * 1000 * 1000) /* between two checks of leases */
/* groups: one per communicator; SHARP switches offer 63 to 511 */
#define SWITCH_GROUPS_DEFAULT 256
#define SWITCH_GROUPS_MAX     65536 /* groups; an idle one takes some KiB */
/* bytes of aggregators of all groups, each of 16 children; unused ones take no memory */
#define SWITCH_MEMORY_DEFAULT (1u << 30)
#define SWITCH_CHILDREN_MAX   256 /* per group and switch: ports of a large one */
#define SWITCH_WINDOW_DEFAULT 64  /* segments in flight: 90 KB, more than a path holds */
#define SWITCH_WINDOW_MAX     1024
/* bytes: 1500-byte MTU less headers and ICRC, a multiple of 16 */
#define SWITCH_SEGMENT_DEFAULT 1408
#define SWITCH_SEGMENT_MAX     8912 /* bytes: the same for an MTU of 9000 */
#define SWITCH_LEASE_MS        30000
#define SWITCH_UNREADY_NS      (10ull * 1000 * 1000 * 1000) /* lease of an incomplete group */
#define SWITCH_AGAIN_NS        (200u * 1000u) /* between two sends of a partial result */
/* ns; no network keeps a packet longer: an aggregator unused for this long accepts any sequence
 * number */
#define SWITCH_STALE_NS     (10ull * 1000 * 1000 * 1000)
#define SWITCH_MESSAGES_MIN 64 /* control packets and answers queued, at first; grows */
/* upper bound of SWITCH_MESSAGES_MIN: 1 MiB, a few per packet of the largest batch */
#define SWITCH_MESSAGES_MAX  4096
#define SWITCH_ANSWERS       16  /* answers with data queued for sw_send: 1400 bytes each */
#define SWITCH_TURN          128 /* packets per poll of one group: two GSO batches */
#define SWITCH_REFUSED_PER_S 1000
#define SWITCH_SOURCE_SHARE  8     /* one address gets at most 1/8 of all answers */
#define SWITCH_SOURCES       256   /* hash buckets for addresses */
#define SWITCH_QUERIES_PER_S 10000 /* per host: 64 ranks that create 100 groups in 1 s */
#define SWITCH_BURST_NS      (200ull * 1000 * 1000) /* ns of both rates that may be saved up */
#define INC_SHORT_BYTES      256  /* bytes of an operation in one packet, as in the source */
#define INC_GROUPS_MAX       1024 /* per endpoint: communicators of one process */

/* in-network computing: hosts */
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
#define INC_REFUSED_NS (50ull * 1000 * 1000)
/* ns that an entry for a group in XDP stays unused before the next group uses it: every run of the
 * program has ended by then */
#define PLANE_REST_NS     (1000ull * 1000 * 1000)
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
#define INC_HEARD_NS        (100ull * 1000 * 1000)
#define INC_TIME_MIN_NS     (10ull * 1000 * 1000) /* shortest deadline: a few ticks of the kernel */
#define INC_TIME_MAX_NS     (86400ull * 1000 * 1000 * 1000) /* longest deadline: one day */
#define INC_HEARING         3 /* barriers that test whether multicast arrives: not all get lost */
#define INC_CHOICE_NS       (2ull * 1000 * 1000) /* wait for queries over other paths */
#define INC_KERNEL_CHILDREN 64 /* children per group at a switch that runs in XDP: one bit each */
#define INC_NEIGHBOURS      64 /* members searched for one below the same switch */
/* longest wait for queries over other paths; then there is no common path */
#define INC_CHOICE_MAX_NS (50ull * 1000 * 1000)
#define INC_SEGMENT_MAX   8912 /* payload of a packet at an MTU of 9000 */
#define INC_BLOCK_US      1000 /* longest wait in a socket: one tick of the kernel */
#define INC_WAIT_BATCH    64   /* datagrams per receive of a waiting caller, on its stack */
#define INC_TURN          1024 /* datagrams received before other work */
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

/* wire */
#define WIRE_PORT 4795 /* default UDP port of a manager; nodes use any port */
/* bytes; a path that carries less is rejected; IPv6 guarantees more */
#define WIRE_PAYLOAD_MIN 1024
/* payload of one data packet: 9000-byte MTU less headers, a multiple of 64. Also on loopback, where
 * batches of these are faster than single 64 KiB datagrams. */
#define WIRE_PAYLOAD_MAX    8896
#define RLTP_WINDOW_MAX     4096 /* packets in flight and in the receiver's map, a power of two */
#define WIRE_SACK_WORDS_MAX 16   /* 1024 packets of bitmap per acknowledgement */
/* queue pairs in one CREDIT: half of a NIC's; no longer than the longest ACK */
#define WIRE_CREDIT_ENTRIES_MAX 16

/* nic: C-15, C-36, C-17 */
#define NIC_FUNCTIONS        8 /* one physical and seven virtual */
#define NIC_QPS_PER_FUNCTION DXP_QPS
#define NIC_DOORBELLS        DXP_DOORBELLS /* entries of a doorbell FIFO */
/* requests per queue pair: 4 queue pairs sustain 4 M NAP/s at 60 us round trip */
#define NIC_OUTSTANDING_MAX 64
#define NIC_NAP_BYTES_MAX   DXP_NAP_BYTES
/* entries of source and destination list together in one descriptor */
#define NIC_LIST_ENTRIES_MAX DXP_LIST_ENTRIES
#define NIC_REGIONS_MAX      4096 /* 12 index bits of a memory key */
/* entries per event ring: all outstanding requests of all queue pairs, and twice that in credits,
 * so that a grant per half of them is in time */
#define NIC_EVENTS DXP_EVENTS
/* NAPs per stream before a grant: a few commands; with many peers at once space may run out */
#define NIC_NAP_CREDIT 16
/* ns after which unused credit may be granted to another peer too */
#define NIC_CREDIT_IDLE_NS (10ull * 1000 * 1000)
/* NAPs; a peer's grant of more at once is ignored as invalid */
#define NIC_CREDIT_AHEAD_MAX 65535
#define NIC_BUFFERS_KEPT     64 /* NAPs that arrived out of order at once: 128 KiB */
/* ns until an allocation that failed is tried again: no spinning */
#define NIC_MEMORY_RETRY_NS (1000ull * 1000)
/* bytes copied inside the NIC per poll, 10 us: meanwhile the network waits */
#define NIC_TURN_BYTES (256u << 10)
/* bytes per queue pair before the next one: shorter slices cost a long PUT 5 % */
#define NIC_SLICE_BYTES (128u << 10)
#define NIC_REST_BYTES  4096 /* bytes at the end of a copy that join its last slice */
/* receive buffers that one waiting queue pair gets before the next: half a FIFO */
#define NIC_ROOM_RUN 16
/* ns to the next check for a free receive buffer; doubles. Loops spin as long. */
#define NIC_ROOM_LOOK_NS (50u * 1000u)
/* ns, upper bound of it: a consumer that never drains costs 100 wakeups/s */
#define NIC_ROOM_LOOK_MAX_NS (10ull * 1000 * 1000)
/* numbers of NAP buffers prefetched (C-30): one cache line of the ring */
#define NIC_BUFFERS_AHEAD 32
#define NIC_AREAS_MAX     16 /* entries of a lookup table: a device has few buffers */
/* ns to the next attempt at a receiver without space: one round trip; doubles */
#define NIC_REGISTERS_PAUSE_NS     (20u * 1000u)
#define NIC_REGISTERS_PAUSE_MAX_NS (5000u * 1000u)
/* ns, then the sender gets an error: the device may have a better reaction */
#define NIC_REGISTERS_BUSY_NS (1000ull * 1000 * 1000)
/* messages of one stream from the oldest incomplete to the newest */
#define NIC_STREAM_WINDOW 128
#define NIC_CFG_WORDS_MAX 256 /* registers per CFG access: one packet at any MTU */
/* us until a piece of staged memory without a buffer is sent again: half a DMA of 512 KiB */
#define NIC_STAGED_RETRY_US 32
/* writes of staged memory under way; beyond, only the oldest of each peer, which waits for no
 * other. The memory's owner accepts more than this at once, and those complete independently. */
#define NIC_STAGED_LATER      256
#define NIC_STAGED_COPY_BYTES 4096 /* bytes handed over at once inside a NIC: fit any buffer */
/* us until a message held for a device is sent again: delay by a lost answer */
#define NIC_HELD_RETRY_US     5000
#define NIC_HELD_RETRY_MAX_US 80000       /* us; doubled up to this, well below RLTP_DEAD_NS */
#define NIC_MESSAGE_BYTES_MAX 0x7fffffffu /* bytes; C-18; longer operations are split above */
/* GET, atomic and CFG requests outstanding per session: the responder always has space */
#define NIC_READS_MAX 64

/* fabric */
/* entries of a node table; ids go to 0xfffd, but memory is reserved for these */
#define FABRIC_NODES_MAX  4096
#define FABRIC_NAME_BYTES 32 /* a node's name and its zero: [A-Za-z0-9._-] */
#define FABRIC_KEY_BYTES  32 /* secret shared by nodes and manager */
/* ns; a node silent for this long is dead: one renewal, 2.9 s of outage, one retransmission and 0.6
 * s for busy machines */
#define FABRIC_LEASE_NS  (4500ull * 1000 * 1000)
#define NODE_NEWS_NS     (1000ull * 1000) /* ns between two queries of link state */
#define NODE_YIELD_TURNS 8 /* empty polls of a spinning thread before it yields: about 4 us */
/* ns without arrival, after which the socket is polled less often */
#define NODE_QUIET_NS (1000ull * 1000)
/* ns between such polls: a poll of the socket costs 0.3 us, local functions wait 0.1 us for each
 * other */
#define NODE_QUIET_LOOK_NS 2000
/* ns between two checks of the own address: three system calls */
#define NODE_LOOK_NS        (250ull * 1000 * 1000)
#define FABRIC_RENEWALS     6 /* renewals per lease: few enough for 4096 nodes, 5500 per second */
#define FABRIC_RENEW_NS     (FABRIC_LEASE_NS / FABRIC_RENEWALS)
#define FABRIC_DEVICE_BYTES 96 /* an engine's text about its device, and its zero */
/* rows of the grants table: one per node; use `*` for more */
#define FABRIC_GRANTS_MAX 4096
/* bytes of the longest management datagram: every path of IPv6 carries it, headers included */
#define FABRIC_DATAGRAM_BYTES 1200
/* table pages in flight to one node: 9600 bytes fit the smallest socket buffer */
#define FABRIC_WINDOW 8
/* ns that a dead host stays in the table, for display */
#define FABRIC_KEEP_NS (600ull * 1000 * 1000 * 1000)
/* ns, default bound of a join: longer than the lease of a crashed node */
#define FABRIC_JOIN_NS (5000ull * 1000 * 1000)
/* ns; a loop this late did not run: no node was silent meanwhile */
#define FABRIC_LATE_NS (1000ull * 1000 * 1000)
/* ns that the state of a silent host stays on an xPU: debuggers, machines out of memory */
#define FABRIC_HOST_KEEP_NS (60ull * 1000 * 1000 * 1000)
#define FABRIC_SLOTS_MAX    16 /* xPUs per daemon */

/* functions offered to other processes */
/* per function: seven of them leave an eighth of the NIC's regions to function 0 */
#define OFFER_REGIONS_MAX 512
/* bytes mapped per function: 128 MiB of page tables if all are touched */
#define OFFER_BYTES_MAX (64ull << 30)
/* connections to the socket for any function: all functions, and status queries */
#define OFFER_CLIENTS_ANY 32
/* connections to the socket of one function: its user and concurrent attempts; no client gets
 * all */
#define OFFER_CLIENTS_ONE 4
/* ns between two polls of the sockets by a loop that does not sleep */
#define OFFER_LOOK_NS (1000ull * 1000)

/* observation: docs/guide/observe.md */
/* ns between two publications: faster than people read */
#define STATS_INTERVAL_NS  (100ull * 1000 * 1000)
#define STATS_COST         100  /* a publication takes at most 1/100 of the interval */
#define STATS_SESSIONS_MAX 1024 /* rows of one node: 400 KiB; totals count all sessions */
#define STATS_SESSIONS_MIN 16   /* rows allocated at first; grows on demand */
#define STATS_NODES_MAX    1024 /* nodes shown by one reader */
#define STATS_FOLDERS_MAX  256  /* folders read: root reads those of other users too */
#define STATS_PATH_BYTES   256
#define TAP_RING_BYTES_MIN (256u << 10) /* holds any datagram at any ring position */
#define TAP_RING_BYTES_MAX (1u << 30)
/* default: 50,000 headers, 20 ms of the fastest link measured */
#define TAP_RING_BYTES (16u << 20)
#define TAP_SNAP_BYTES 256 /* default: every header and bitmap, and some payload */
/* ns between two checks that the tracer lives: they cost system calls */
#define TAP_LOOK_NS (1000ull * 1000 * 1000)

/* bridges */
#define BRIDGE_BUFFERS       8    /* buffers per ring, as in the source project (S-02) */
#define BRIDGE_BUFFERS_MAX   64   /* more buffers hide no more latency than 8 */
#define BRIDGE_BUFFER_MIN    4096 /* bytes; the source project fails at 32 KiB and below (S-09) */
#define BRIDGE_BUFFER_MAX    (16u << 20) /* bytes; no gain beyond 8 MiB (S-08) */
#define BRIDGE_TRANSFERS_MAX 4096        /* transfers of one bridge at once */
/* ns of one step: no DMA of 16 MiB and no live peer takes as long */
#define BRIDGE_STALL_NS (5ull * 1000 * 1000 * 1000)
#define BRIDGE_DMAS     4 /* DMAs per direction: hide 25 us between two of 64 KiB at 8 GB/s */
/* bytes, least automatic size: shorter pieces are mostly latency */
#define BRIDGE_PIECE_MIN (16u << 10)
/* bytes; pieces have about sqrt(this x transfer): see cut.h */
#define BRIDGE_RAMP_BYTES (32u << 10)
/* bytes per direct piece: no pipeline to fill, but transfers alternate */
#define BRIDGE_DIRECT_BYTES  (4u << 20)
#define BRIDGE_DIRECT_PIECES 64 /* direct pieces under way at once */
#define BRIDGE_FED_STEPS     8  /* BRIDGE_STALL_NS per block at most: 40 s */
/* blocks accepted from the first incomplete one: at least 16 MiB */
#define BRIDGE_FED_BLOCKS 1024
#define BRIDGE_AGAIN_NS   (20u * 1000u) /* until a rejected step is retried */
#define BRIDGE_KEPT_PART  4 /* 1/n of the ring from the device, for readers without a buffer */
#define BRIDGE_HUNGER_NS  (200ull * 1000 * 1000) /* two credit requests, 100 ms each */
#define BRIDGE_CALL_NS    (2ull * 1000 * 1000) /* first time that granted buffers wait for bytes */
/* doublings of BRIDGE_CALL_NS, for slower paths and processes: 256 ms, as long as any timeout */
#define BRIDGE_CALL_DOUBLINGS 7
#define PUMP_TURN             64 /* actions per poll: the owner has other work */
#define PUMP_ENDS             32 /* DMA completions read at once: more than are under way */
#define PUMP_RESET_NS         (5ull * 1000 * 1000 * 1000) /* a device that takes longer is broken */
#define PUMP_PAUSE_NS         (20u * 1000u) /* between two polls of a device in reset */
/* bytes, least automatic buffer size. Shorter ones keep a fast DMA busy, but each costs the network
 * a read and two wakeups: 256 KiB reach 70 % of the rate of 1 MiB, 64 KiB 40 %. */
#define PUMP_BUFFER_BYTES (1u << 20)
/* ns; a size that takes longer is the last one measured */
#define PUMP_SLOW_NS (2ull * 1000 * 1000 * 1000)
/* ns at start, for all sizes: three times 7 ms per direction */
#define PUMP_MEASURE_NS (500ull * 1000 * 1000)

/* local DMA */
#define DMA_RATES_MAX 16 /* buffer sizes measured */
/* duration at dxp_dma_open: short enough for users */
#define DMA_MEASURE_NS (200ull * 1000 * 1000)
#define DMA_SPIN_NS    20000 /* spin before its thread sleeps: about one wakeup */
/* transfers under way at once; a further start fails with DXP_EAGAIN until one completes */
#define DMA_TRANSFERS_MAX 1024
#define DMA_PINS_MAX      64          /* ranges of user memory: both ends of 32 transfers */
#define DMA_COPY_SHORT    (64u << 10) /* bytes; a copy faster than waking a thread for it */

/* the engine `board` */
#define BOARD_QUEUE_MAX 64  /* DMAs accepted per controller: bits of a register */
#define BOARD_ENDS_MAX  256 /* completions not read yet; both queues twice */
/* and a bridge's two rings; as many for its measurement */
#define BOARD_PINS_MAX       (DMA_PINS_MAX + 4)
#define BOARD_RATE_MAX       1000000 /* MB/s: a hundred times current hardware */
#define BOARD_DELAY_MAX_NS   (1ull * 1000 * 1000 * 1000) /* a DMA that starts later is broken */
#define BOARD_FILE_BYTES_MAX (64u << 10) /* a board's description: twelve lines and comments */
#define BOARD_SLICE_BYTES    (64u << 10) /* bytes moved at once: fit a cache, 8 us of PCIe */
/* bytes moved by the starting thread: a wakeup takes longer */
#define BOARD_SHORT_BYTES (16u << 10)
#define BOARD_CHUNK_BYTES (256u << 10) /* bytes per launch of a stream kernel: hides its start */
#define BOARD_KERNEL_MAX  (1u << 20)   /* bytes of the stream kernel's source */

/* xPU */
/* hosts that may have one xPU open: one rank per core of a large node */
#define XPU_HOSTS_DEFAULT 1024
#define XPU_HOSTS_MAX     2048 /* with `dxpd --hosts`: half of a NIC's memory regions, one each */
/* bytes, alignment of allocations; 256 are documented: OpenCL devices require 128 to 512 for a
 * sub-buffer */
#define XPU_ALIGN 512
/* bytes for incomplete commands of one host on one xPU: 90,000 short ones; hosts wait below it
 * (HOST_COMMANDS_BYTES) */
#define XPU_COMMANDS_BYTES   (64u << 20)
#define XPU_EVENTS_KEPT      65536 /* own completed events remembered per host: 1.5 MiB */
#define XPU_PEER_EVENTS_KEPT 2048  /* events of other xPUs remembered per host */
#define XPU_PEER_EVENTS_MAX  8192  /* entries of the ring for those: 192 KiB */
/* other xPUs whose events one host's commands wait for: 1.5 KiB each */
#define XPU_SOURCES_MAX FABRIC_NODES_MAX
/* windows of NICs that kernels drive: 7 functions, and others still closing */
#define XPU_WINDOWS_MAX 32
/* bytes behind device memory: those windows, 1.2 MiB each, and a page of counters; memory is used
 * only when written */
#define XPU_TAIL_BYTES (40u << 20)
/* bytes per host and xPU in the daemon: logs, records and packages of its programs; small programs
 * take 1.5 KiB */
#define XPU_PROGRAMS_BYTES (512u << 20)
/* bytes per host: what its programs were built from, to rebuild them after a crash */
#define XPU_PACKAGES_BYTES (64u << 20)
/* bytes that one kernel prints, as in PoCL; the rest is counted and dropped */
#define XPU_PRINT_BYTES (16u << 20)
/* messages to a host that reads too slowly: then prints of its kernels wait */
#define XPU_PRINTS_WAIT 1024
/* ns between two attempts to start the zygote */
#define XPU_WORKER_AGAIN_NS  (1000ull * 1000 * 1000)
#define XPU_WORK_MAX         64           /* jobs queued at the engine: hides the hand-over */
#define XPU_SOURCE_BYTES_MAX (16u << 20)  /* bytes per program, as in the host library */
#define XPU_LOG_BYTES_MAX    (1u << 20)   /* bytes per build log; the rest is cut */
#define XPU_CACHE_PROGRAMS   256          /* built programs kept without a host */
#define XPU_CACHE_BYTES      (1ull << 30) /* bytes of built programs on a node's disk */
#define XPU_ZERO_BYTES       (256u << 10) /* bytes of memory cleared per poll: about 50 us */
#define XPU_ITEMS_MAX        (1ull << 40) /* work items per launch: hours on any CPU */
/* messages in flight to one node: a silent one leaves space for others */
#define XPU_OUTBOX_FLIGHT 8
/* memory behind DMA cleared per DMA: longer ones are not faster */
#define XPU_CLEAR_BYTES (1u << 20)
/* bulk transfers of all hosts under way on one xPU; more are queued */
#define XPU_BULKS_SLOT_MAX 1024
/* bulk transfers of one host under way on one xPU: more fill no pipeline better */
#define XPU_BULKS_MAX 8
/* bytes per GET or PUT of a bulk transfer if no buffer bounds it */
#define XPU_BULK_BYTES (4u << 20)
/* PUTs of peers that one bridge carries at once: above NIC_STAGED_LATER only those that wait for no
 * other */
#define XPU_STAGED_WRITES 316
/* GETs of peers; the other transfers are for bulk transfers, clearing and sources */
#define XPU_STAGED_READS 128
/* GETs, and as many PUTs, of bridges in flight with one node: two rings of 8; a quarter of a queue
 * pair's capacity */
#define XPU_OUTBOX_BULK     16
#define XPU_EVENTS_HELD     32 /* events of one host that may be delayed: one NAP */
#define XPU_EVENTS_HOLD_NS  (5ull * 1000 * 1000) /* longest such delay */
#define XPU_EVENTS_HURRY_NS (30ull * 1000)       /* the same if a later event is awaited */
/* ns; a command that runs longer is reported as started */
#define XPU_BEGUN_NS (2ull * 1000 * 1000)
/* messages queued for one host, twice what its commands need: the host does not read */
#define XPU_OUTBOX_MAX (2u * (XPU_COMMANDS_BYTES / 512))
/* bytes of these messages. XPU_OUTBOX_MAX events need less, but one reply of FETCH takes 1.5 KiB
 * and a host may request any number. */
#define XPU_OUTBOX_BYTES  (64u << 20)
#define XPU_MESSAGES_TURN 64         /* messages received per poll before other work */
#define XPU_PUT_BYTES     (1u << 30) /* bytes per PUT; a longer SEND takes several */
/* DMA by a device's driver */
#define FLIGHTS_MAX BRIDGE_BUFFERS_MAX /* DMAs under way per direction: more are never free */
/* longest delay until a driver's callback is noticed */
#define FLIGHT_LOOK_NS (10ull * 1000 * 1000)
/* ns after a reset: drivers' own watchdogs take 2 to 5 s */
#define FLIGHT_LOST_NS   (10ull * 1000 * 1000 * 1000)
#define DMA_BOUNCE_BYTES (4u << 20) /* device memory for overlapping copies: one buffer */
#define OCL_CHUNKS_MAX   64         /* allocations that form device memory: devices allow 1/4 */
#define XPU_MEMORY_MIN   (1ull << 20)
#define XPU_MEMORY_MAX   (1ull << 40)

#endif
