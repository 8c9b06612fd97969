/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of workers and of the zygote, each with its unit and reason. */
#ifndef WORKER_LIMITS_H
#define WORKER_LIMITS_H

/* hosts of one xPU: each has one memory region, and half of a NIC's regions is for hosts */
#define WORKER_HOSTS_MAX 2048
/* orders queued at a worker: enough to hide the time that one handover takes */
#define WORKER_QUEUE_MAX 64
/* bytes of addresses behind device memory: windows of NICs that kernels drive, 1.2 MiB each. A page
 * uses memory only after it is written. */
#define WORKER_TAIL_BYTES (40u << 20)
/* ns between two attempts to start a zygote */
#define WORKER_AGAIN_NS    (1000ull * 1000 * 1000)
#define WORKER_ERROR_BYTES 512 /* bytes of a line that a worker writes to standard error */
#define WORKER_ERROR_LINES 100 /* lines per second from one worker: a crash report is shorter */

/* bytes of address space that a worker gets in addition to device memory, at least. PoCL and its
 * compiler use about 100 MiB. */
#define WORKER_MEMORY_MIN (256ull << 20)
/* open files of a worker: PoCL and a linker use about 20 */
#define WORKER_FILES_MAX 256
/* bytes of a host's label, which is also a file name: FABRIC_NAME_BYTES and an address as text */
#define WORKER_LABEL_BYTES 96
/* bytes of one file that a worker writes: compiled programs have at most some MiB */
#define WORKER_FILE_BYTES_MAX (1ull << 30)
/* threads and processes of a worker; rv32 uses one thread for each core of its model */
#define WORKER_PROCESSES_MAX 512

#endif
