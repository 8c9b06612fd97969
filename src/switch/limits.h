/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of the switch, each with its unit and reason. */
#ifndef SWITCH_LIMITS_H
#define SWITCH_LIMITS_H

#define SERVE_BATCH           512 /* packets built at once: a window for each of 8 children */
#define SERVE_SENDERS_MAX     128 /* source ports open at once: endpoints of one host */
#define SERVE_SENDERS_REFUSED 16  /* open ports above which none is opened for a rejection */
#define SERVE_SENDER_IDLE_NS  (60ull * 1000 * 1000 * 1000) /* idle time until a port is closed */
/* send attempts if the kernel has no space; then hosts retransmit */
#define SERVE_SEND_TRIES 16
/* between two warnings about one port */
#define SERVE_REPORT_NS (60ull * 1000 * 1000 * 1000)
#define SERVE_EXPIRE_NS (50ull * 1000 * 1000) /* between two checks of leases */

/* groups: one per communicator; SHARP switches offer 63 to 511 */
#define SWITCH_GROUPS_DEFAULT 256
#define SWITCH_GROUPS_MAX     65536 /* groups; an idle one takes some KiB */
/* bytes of aggregators of all groups, each of 16 children; unused ones take no memory */
#define SWITCH_MEMORY_DEFAULT (1u << 30)
#define SWITCH_CHILDREN_MAX   256 /* per group and switch: ports of a large one */
#define SWITCH_WINDOW_DEFAULT 64  /* segments in flight: 90 KB, more than a path holds */
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
#define SWITCH_ANSWERS       16  /* answers with data queued for switch_send: 1400 bytes each */
#define SWITCH_QUANTUM       128 /* packets per poll of one group: two GSO batches */
#define SWITCH_REFUSED_PER_S 1000
#define SWITCH_SOURCE_SHARE  8     /* one address gets at most 1/8 of all answers */
#define SWITCH_SOURCES       256   /* hash buckets for addresses */
#define SWITCH_QUERIES_PER_S 10000 /* per host: 64 ranks that create 100 groups in 1 s */
#define SWITCH_BURST_NS      (200ull * 1000 * 1000) /* ns of both rates that may be saved up */

/* ns that an entry for a group in XDP stays unused before the next group uses it: every run of the
 * program has ended by then */
#define PLANE_REST_NS (1000ull * 1000 * 1000)

#endif
