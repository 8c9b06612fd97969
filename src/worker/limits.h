/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of workers and of the zygote, each with its unit and reason. */
#ifndef WORKER_LIMITS_H
#define WORKER_LIMITS_H

/* hosts of one xPU: each has one region, and half of a NIC's regions is for hosts */
#define WORKER_HOSTS_MAX 2048
/* orders queued at a worker: hide the time of a handover */
#define WORKER_QUEUE_MAX 64
/* bytes of addresses behind device memory, for windows of NICs that kernels drive, 1.2 MiB each.
 * Unwritten pages use no memory. */
#define WORKER_TAIL_BYTES (40u << 20)
/* ns between two attempts to start a zygote */
#define WORKER_AGAIN_NS    (1000ull * 1000 * 1000)
#define WORKER_ERROR_BYTES 512 /* of a line to standard error */
#define WORKER_ERROR_LINES 100 /* lines/s of one worker: a crash report is shorter */

/* bytes of address space besides device memory, at least: PoCL and its compiler use 100 MiB */
#define WORKER_MEMORY_MIN (256ull << 20)
/* open files: PoCL and a linker use about 20 */
#define WORKER_FILES_MAX 256
/* of a label, also a file name: FABRIC_NAME_BYTES and an address as text */
#define WORKER_LABEL_BYTES 96
/* of a file: compiled programs have some MiB */
#define WORKER_FILE_BYTES_MAX (1ull << 30)
/* threads and processes; rv32 uses a thread per core of its model */
#define WORKER_PROCESSES_MAX 512

#endif
