/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes folders of workers in a thread, because a hostile kernel can make it take long. It is in
 * the daemon: the zygote must have one thread to fork, and answer within milliseconds. */
#ifndef WORKER_REMOVER_H
#define WORKER_REMOVER_H

#include <stdint.h>

struct remover;

/* Copies the path. DXP_ENOMEM; DXP_EIO, logged. */
int remover_open(const char *scratch, struct remover **out);
/* Waits for the current removal. NULL is allowed. */
void remover_close(struct remover *r);

/* Queues a folder for folders_remove(). If the queue is full, the folder stays until `scratch` is
 * removed. */
void remover_put(struct remover *r, uint32_t work);

#endif
