/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes folders of workers in a thread, because a hostile kernel can make the removal take long.
 * The thread is in the daemon, not in the zygote: the zygote must have only one thread to fork, and
 * must answer within milliseconds. */
#ifndef WORKER_REMOVER_H
#define WORKER_REMOVER_H

#include <stdint.h>

struct remover;

/* Starts the thread for folders in `scratch`; copies the path. DXP_ENOMEM; DXP_EIO, logged. */
int remover_open(const char *scratch, struct remover **out);
/* Waits until the current removal is complete, and stops the thread. NULL is allowed. */
void remover_close(struct remover *r);

/* Queues a folder for folders_remove(). If the queue is full, the folder stays until `scratch` is
 * removed. */
void remover_put(struct remover *r, uint32_t work);

#endif
