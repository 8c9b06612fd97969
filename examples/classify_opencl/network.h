/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a network on the devices of an OpenCL context, one stage each. A crossing tensor is a buffer
 * that one stage writes and the next reads; the platform moves its bytes.
 *
 *   network_open -> { network_submit ... network_collect } -> network_close
 *
 * Two photos in progress keep two devices busy. Answers come in order of submission. After an error
 * only network_close may be called. */
#ifndef CLASSIFY_OPENCL_NETWORK_H
#define CLASSIFY_OPENCL_NETWORK_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "model.h"
#include "plan.h"
#include "steps.h"

#define NETWORK_PHOTOS 2 /* photos in progress */

struct network;

/* Builds kernels and uploads constants; stage i runs on devices[i]. `m` and `plan` must outlive the
 * network. */
int network_open(const struct model *m, const struct plan *plan, const cl_device_id *devices,
		 const struct photo_line *line, struct network **out, struct fault *fault);
void network_close(struct network *n);

/* The caller may reuse `photo` after the return. Fewer than NETWORK_PHOTOS photos must be in
 * progress. */
int network_submit(struct network *n, const uint8_t *photo, struct fault *fault);
uint32_t network_pending(const struct network *n);
/* Waits for the oldest photo's answer: as many floats as the output has elements. */
int network_collect(struct network *n, float *answer, struct fault *fault);

#endif
