/* SPDX-License-Identifier: BSD-3-Clause */
/* Which buffers and kernels a replica has, and how its kernels are launched. */
#ifndef LEARN_LAUNCH_H
#define LEARN_LAUNCH_H

#include "network.h"

/* Creates the queue, the buffers and the kernels of a replica, and sets the arguments that stay.
 * `part` is the largest number of samples of one launch. Buffers are zero. */
void launch_open(struct network *n, struct replica *r, uint32_t part);
void launch_close(struct replica *r);

/* Bytes of a buffer that has no element for each sample of a batch. */
size_t launch_bytes(const struct network *n, enum buffer b);

/* Enqueues a kernel over `samples` samples; those over parameters ignore the number. The kernel
 * waits for `after`, if it is not NULL. `event` may be NULL. */
void launch(struct replica *r, enum kernel k, uint32_t samples, cl_event after, cl_event *event);

/* Enqueues the forward pass of order[first] .. order[first + samples - 1]. `seed`: of the shifts of
 * images; 0: no shifts. */
void launch_forward(struct replica *r, uint32_t first, uint32_t samples, uint32_t seed);

/* Sets, for gradient kernels, the number of samples in the batch of this replica. */
void launch_samples(struct replica *r, uint32_t samples);

/* Sets the learning rate of later updates. */
void launch_rate(struct replica *r, float rate);

#endif
