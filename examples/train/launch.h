/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers and kernels of a replica, and their launches. */
#ifndef LEARN_LAUNCH_H
#define LEARN_LAUNCH_H

#include "network.h"

/* Creates queue, zeroed buffers and kernels, and sets constant arguments. `part`: most samples of
 * one launch. */
void launch_open(struct network *n, struct replica *r, uint32_t part);
void launch_close(struct replica *r);

size_t launch_bytes(const struct network *n, enum buffer b);

/* `samples` is ignored by kernels over parameters. Waits for `after`; it and `event` may be
 * NULL. */
void launch(struct replica *r, enum kernel k, uint32_t samples, cl_event after, cl_event *event);

/* Copies `samples` samples from order[first] to the batch. `seed` shifts images; 0: no shifts. */
void launch_gather(struct replica *r, uint32_t first, uint32_t samples, uint32_t seed);

void launch_samples(struct replica *r, uint32_t samples);

void launch_rate(struct replica *r, float rate);

#endif
