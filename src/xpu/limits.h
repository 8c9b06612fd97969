/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of an xPU. */
#ifndef XPU_LIMITS_H
#define XPU_LIMITS_H

#include "engine/limits.h"
#include "node/limits.h"
#include "wire/limits.h"
#include "worker/limits.h"

/* UDP port of a machine's first xPU: after the manager's */
#define XPU_PORT_FIRST 4796
/* one per slot of 4 daemons, for a firewall rule */
#define XPU_PORTS 64
/* ns for a silent host: a debugger, or lack of memory */
#define FABRIC_HOST_KEEP_NS (60ull * 1000 * 1000 * 1000)
#define FABRIC_SLOTS_MAX    16 /* per daemon */

/* one rank per core of a large node */
#define XPU_HOSTS_DEFAULT 1024
#define XPU_HOSTS_MAX     WORKER_HOSTS_MAX /* of `dxpd --hosts` */
#define XPU_ALIGN         ENGINE_ALIGN     /* bytes, of allocations */
/* completed own events remembered per host: 1.5 MiB */
#define XPU_EVENTS_KEPT     65536
#define XPU_PEER_EVENTS_MAX 8192 /* entries for events of other xPUs: 192 KiB */
/* other xPUs that commands of one host may wait for: 1.5 KiB each */
#define XPU_SOURCES_MAX FABRIC_NODES_MAX
/* NIC windows of kernels: 7 functions, and hosts that are leaving */
#define XPU_WINDOWS_MAX 32
/* bytes of logs, records and packages per host and xPU; a small program has 1.5 KiB */
#define XPU_PROGRAMS_BYTES (512u << 20)
/* bytes of packages per host for rebuilds after a crash */
#define XPU_PACKAGES_BYTES (64u << 20)
/* queued messages of a host that make printf output wait */
#define XPU_PRINTS_WAIT 1024
#define XPU_WORK_MAX    WORKER_QUEUE_MAX
/* orders queued at a worker, whatever their length, to hide handovers */
#define XPU_WORK_MIN 2
/* ns of kernels queued at a worker, to hide many handovers. Kernels that become ready meanwhile and
 * were posted earlier, such as those of a collective, wait for the queued ones. */
#define XPU_WORK_NS          (1000ull * 1000)
#define XPU_SOURCE_BYTES_MAX (16u << 20)  /* bytes of a program, as in the host library */
#define XPU_ZERO_BYTES       (256u << 10) /* bytes cleared per poll: about 50 us */
/* outstanding messages per node */
#define XPU_OUTBOX_FLIGHT 8
/* bytes per DMA that clears; longer ones are not faster */
#define XPU_CLEAR_BYTES (1u << 20)
/* bytes of a departed tenant's pages returned to the system per poll */
#define XPU_DISCARD_BYTES (1u << 20)
/* ns between attempts to send a lost event to another xPU: a session needs some ms to restart */
#define XPU_NOTICE_AGAIN_NS (50ull * 1000 * 1000)
/* ns in which attempts begin: longer than a lease, so that a lost xPU is known first */
#define XPU_NOTICE_NS (5000ull * 1000 * 1000)
/* lost events per xPU: a host may have as many commands in 64 other xPUs; 8 MiB */
#define XPU_NOTICES_MAX     65536
#define XPU_NOTICES_BUCKETS 256 /* lists that count them per host: 4 of XPU_HOSTS_DEFAULT each */
/* ns between checks of tenants' files, which a hostile kernel can fill */
#define XPU_FILES_NS (1000ull * 1000 * 1000)
/* bytes of a tenant's file beyond its allocations */
#define XPU_FILES_SLACK (1u << 20)
/* running bulk transfers per xPU; more are queued */
#define XPU_BULKS_SLOT_MAX 1024
/* per host and xPU: more do not use the pipeline better */
#define XPU_BULKS_MAX 8
/* bytes per GET or PUT of a bulk transfer without buffers */
#define XPU_BULK_BYTES (4u << 20)
/* PUTs of peers in a bridge; those beyond NIC_STAGED_LATER wait for no other message */
#define XPU_STAGED_WRITES 316
/* GETs of peers in a bridge, which also has bulk, clearing and package transfers */
#define XPU_STAGED_READS 128
/* outstanding GETs of bridges per node, and PUTs: two rings of 8, a quarter of a queue pair */
#define XPU_OUTBOX_BULK 16
/* groups of switches per xPU; each has a thread */
#define XPU_SWITCH_GROUPS_MAX 64
/* threads of such groups, with those that hosts have left */
#define XPU_SWITCH_THREADS_MAX (2 * XPU_SWITCH_GROUPS_MAX)
/* ns until a group goes away whose host does not continue its creation; other members' steps take 7
 * s at most */
#define XPU_SWITCH_EXCHANGE_NS (20ull * 1000 * 1000 * 1000)
/* ns until the endpoint to the switch is opened again after a logged failure */
#define XPU_SWITCH_RETRY_NS (1000ull * 1000 * 1000)
#define XPU_EVENTS_HELD     32                   /* delayed events of one host: one NAP */
#define XPU_EVENTS_HOLD_NS  (5ull * 1000 * 1000) /* delay of an event */
#define XPU_EVENTS_HURRY_NS (30ull * 1000)       /* delay if the host waits */
/* ns; a longer command is reported as started */
#define XPU_BEGUN_NS (2ull * 1000 * 1000)
/* queued messages per host: twice what its commands need */
#define XPU_OUTBOX_MAX (2u * (WIRE_COMMANDS_BYTES / 512))
/* bytes of queued messages per host: it may request any number of FETCH replies of 1.5 KiB */
#define XPU_OUTBOX_BYTES  (64u << 20)
#define XPU_MESSAGES_POLL 64         /* received per poll before other work */
#define XPU_PUT_BYTES     (1u << 30) /* bytes per PUT of a SEND */
#define XPU_MEMORY_MIN    (1ull << 20)
#define XPU_MEMORY_MAX    (1ull << 40)

#endif
