/* SPDX-License-Identifier: BSD-3-Clause */
/* A network on the devices of an OpenCL context, one stage on each. What crosses a cut is a buffer
 * that one stage writes and the next one reads: where its bytes are is the platform's business.
 *
 *   network_open -> { network_submit ... network_collect } -> network_close
 *
 * Two photos may be under way, so each device works while the other does. Answers come in the order
 * of submission. After an error only network_close may be called. */
#ifndef CLASSIFY_OPENCL_NETWORK_H
#define CLASSIFY_OPENCL_NETWORK_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "model.h"
#include "plan.h"
#include "steps.h"

#define NETWORK_PHOTOS 2 /* under way */

struct network;

/* Stage i runs on devices[i]. */
int network_open(const struct model *m, const struct plan *plan, const cl_device_id *devices,
		 const struct photo_line *line, struct network **out, struct fault *fault);
void network_close(struct network *n);

/* The photo's bytes are the caller's again at the return. */
int network_submit(struct network *n, const uint8_t *photo, struct fault *fault);
uint32_t network_pending(const struct network *n);
/* The oldest photo's answer: as many floats as the model's output has. */
int network_collect(struct network *n, float *answer, struct fault *fault);

#endif
