/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits the free parameters of allreduce (mark F) to measured rows: least squares of the logarithms,
 * with a prior of a factor of two in each direction, so that few rows suffice. */
#ifndef MODEL_CALIBRATE_H
#define MODEL_CALIBRATE_H

#include "model/allreduce.h"

#define MODEL_FREE_MAX 8
/* samples: all rows of the source's figure, and as many other rows */
#define MODEL_SAMPLES_MAX 256

struct model_sample {
	struct model_allreduce of;
	double ns; /* measured, above 0 */
};

struct model_free_value {
	const struct model_parameter *row;
	int64_t prior, value;
	double factor;     /* remaining standard deviation: value / factor .. value * factor */
	double determined; /* share of the prior's variance that the rows removed, 0 .. 1 */
};

struct model_calibration {
	struct model_free_value free[MODEL_FREE_MAX];
	unsigned count;
	bool settings;        /* true: the rows determined tor_hosts, spine and nic_service */
	double before, after; /* relative root mean square error of the rows */
};

/* Sets the free parameters of *p, and *out. With four rows or more, also sets tor_hosts, spine and
 * nic_service if another setting fits clearly better than the named one. DXP_EINVAL with
 * error_text(); DXP_ENOMEM. */
int model_calibrate(const struct model_sample *samples, unsigned count, struct model_parameters *p,
		    struct model_calibration *out);

#endif
