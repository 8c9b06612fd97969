/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of an xPU, each with its unit and reason. */
#ifndef XPU_LIMITS_H
#define XPU_LIMITS_H

#include "engine/limits.h"
#include "node/limits.h"
#include "wire/limits.h"
#include "worker/limits.h"

/* UDP port of the first xPU of a machine: the one after the manager's port */
#define XPU_PORT_FIRST 4796
/* ports: one for each slot of 4 daemons, so that a firewall rule can name them */
#define XPU_PORTS 64
/* ns that an xPU keeps the state of a silent host: time for a debugger, or lack of memory */
#define FABRIC_HOST_KEEP_NS (60ull * 1000 * 1000 * 1000)
#define FABRIC_SLOTS_MAX    16 /* xPUs per daemon */

/* hosts per xPU: one rank per core of a large node */
#define XPU_HOSTS_DEFAULT 1024
#define XPU_HOSTS_MAX     WORKER_HOSTS_MAX /* largest value of `dxpd --hosts` */
#define XPU_ALIGN         ENGINE_ALIGN     /* bytes, alignment of allocations */
/* completed events of this xPU remembered per host: 1.5 MiB */
#define XPU_EVENTS_KEPT     65536
#define XPU_PEER_EVENTS_MAX 8192 /* entries of the ring for events of other xPUs: 192 KiB */
/* other xPUs with events that commands of one host may wait for: 1.5 KiB each */
#define XPU_SOURCES_MAX FABRIC_NODES_MAX
/* windows of NICs that kernels drive: 7 functions, and windows of hosts that are leaving */
#define XPU_WINDOWS_MAX 32
/* bytes of logs, records and packages of programs, per host and xPU; a small program has 1.5 KiB */
#define XPU_PROGRAMS_BYTES (512u << 20)
/* bytes of packages per host that are kept for rebuilds after a crash */
#define XPU_PACKAGES_BYTES (64u << 20)
/* queued messages per host at which printf output of its kernels starts to wait */
#define XPU_PRINTS_WAIT      1024
#define XPU_WORK_MAX         WORKER_QUEUE_MAX
#define XPU_SOURCE_BYTES_MAX (16u << 20)  /* bytes of a program, as in the host library */
#define XPU_ZERO_BYTES       (256u << 10) /* bytes of memory cleared per poll: about 50 us */
/* outstanding messages per node: few, so that a silent node leaves space for others */
#define XPU_OUTBOX_FLIGHT 8
/* bytes that one DMA clears: longer DMAs are not faster */
#define XPU_CLEAR_BYTES (1u << 20)
/* bytes of a departed tenant's pages that one poll returns to the system */
#define XPU_DISCARD_BYTES (1u << 20)
/* ns between two checks of tenants' files. A hostile kernel can fill memory for that time, as it
 * can with ordinary memory. */
#define XPU_FILES_NS (1000ull * 1000 * 1000)
/* bytes of pages that a tenant's file may have in excess of its allocations */
#define XPU_FILES_SLACK (1u << 20)
/* running bulk transfers per xPU; more are queued */
#define XPU_BULKS_SLOT_MAX 1024
/* running bulk transfers per host and xPU: more do not use the pipeline better */
#define XPU_BULKS_MAX 8
/* bytes per GET or PUT of a bulk transfer if no buffer bounds it */
#define XPU_BULK_BYTES (4u << 20)
/* PUTs of peers in one bridge; PUTs beyond NIC_STAGED_LATER do not wait for other messages */
#define XPU_STAGED_WRITES 316
/* GETs of peers in one bridge; the bridge has more transfers, for bulk transfers, clearing and
 * program packages */
#define XPU_STAGED_READS 128
/* outstanding GETs of bridges per node, and as many PUTs: buffers of two rings of 8, a quarter of a
 * queue pair */
#define XPU_OUTBOX_BULK 16
/* groups of switches per xPU; each has a thread */
#define XPU_SWITCH_GROUPS_MAX 64
#define XPU_EVENTS_HELD       32 /* most delayed events of one host: these fit one NAP */
#define XPU_EVENTS_HOLD_NS    (5ull * 1000 * 1000) /* ns; longest delay of an event */
#define XPU_EVENTS_HURRY_NS   (30ull * 1000)       /* ns; longest delay if the host waits */
/* ns; a command that runs longer than this is reported as started */
#define XPU_BEGUN_NS (2ull * 1000 * 1000)
/* queued messages per host: twice what the host's commands need */
#define XPU_OUTBOX_MAX (2u * (WIRE_COMMANDS_BYTES / 512))
/* bytes of queued messages per host; a host may request any number of FETCH replies of 1.5 KiB */
#define XPU_OUTBOX_BYTES  (64u << 20)
#define XPU_MESSAGES_POLL 64         /* messages received per poll before other work */
#define XPU_PUT_BYTES     (1u << 30) /* bytes per PUT; a longer SEND uses several */
#define XPU_MEMORY_MIN    (1ull << 20)
#define XPU_MEMORY_MAX    (1ull << 40)

#endif
