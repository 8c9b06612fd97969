/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes folders of workers in a thread: a hostile kernel can make that take long. The daemon has
 * it, because the zygote has one thread, and a fork of the zygote takes milliseconds. */
#ifndef WORKER_REMOVER_H
#define WORKER_REMOVER_H

#include <stdint.h>

struct remover;

/* Starts the thread for folders in `scratch`, which it copies. DXP_ENOMEM; DXP_EIO, logged. */
int remover_open(const char *scratch, struct remover **out);
/* Completes what has begun, and stops. NULL is allowed. */
void remover_close(struct remover *r);

/* Queues a folder, as folders_remove. If many are queued, this one stays until `scratch` goes. */
void remover_put(struct remover *r, uint32_t work);

#endif
