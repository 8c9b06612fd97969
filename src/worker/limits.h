/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of workers and of the zygote, each with its unit and reason. */
#ifndef WORKER_LIMITS_H
#define WORKER_LIMITS_H

/* hosts of one xPU: each has one memory region, and half of a NIC's regions is for hosts */
#define WORKER_HOSTS_MAX 2048
#define WORKER_QUEUE_MAX 64 /* orders queued at a worker: enough to hide the time of a handover */
/* bytes behind device memory: windows of NICs that kernels drive, 1.2 MiB each; memory is used
 * only when written */
#define WORKER_TAIL_BYTES (40u << 20)
/* ns between two attempts to start the zygote */
#define WORKER_AGAIN_NS    (1000ull * 1000 * 1000)
#define WORKER_ERROR_BYTES 512 /* bytes of a line that a worker writes to standard error */
#define WORKER_ERROR_LINES 100 /* lines a second of one worker: a crash report is shorter */

/* bytes of address space beyond device memory; PoCL and its compiler use about 100 MiB */
#define WORKER_MEMORY_MIN (256ull << 20)
/* open files of a worker: PoCL and a linker use about 20 */
#define WORKER_FILES_MAX 256
/* bytes of a host's label, a file name: FABRIC_NAME_BYTES and the text of an address */
#define WORKER_LABEL_BYTES 96
/* bytes of a file that a worker writes: compiled programs have at most some MiB */
#define WORKER_FILE_BYTES_MAX (1ull << 30)
/* threads and processes of a worker; rv32 has one thread for each core that it models */
#define WORKER_PROCESSES_MAX 512

#endif
