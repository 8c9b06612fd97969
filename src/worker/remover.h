/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes folders of workers in a thread: a hostile kernel can make the removal take long. The
 * thread is in the daemon, because the zygote must have only one thread to fork, and must answer
 * within milliseconds. */
#ifndef WORKER_REMOVER_H
#define WORKER_REMOVER_H

#include <stdint.h>

struct remover;

/* Starts the thread for folders in `scratch`, which it copies. DXP_ENOMEM; DXP_EIO, logged. */
int remover_open(const char *scratch, struct remover **out);
/* Completes the removal that has begun, and stops. NULL is allowed. */
void remover_close(struct remover *r);

/* Queues a folder for folders_remove(). If many are queued, the folder stays until `scratch` is
 * removed. */
void remover_put(struct remover *r, uint32_t work);

#endif
