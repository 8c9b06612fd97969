/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits the free parameters of allreduce (mark F) to measured rows, by least squares of the
 * logarithms. The prior allows a factor of two each way, so a few rows suffice. */
#ifndef MODEL_CALIBRATE_H
#define MODEL_CALIBRATE_H

#include "model/allreduce.h"

#define MODEL_FREE_MAX 8
/* the source's figure (N-11) has 189 rows */
#define MODEL_SAMPLES_MAX 256

struct model_sample {
	struct model_allreduce of;
	double ns; /* above 0 */
};

struct model_free_value {
	const struct model_parameter *row;
	int64_t prior, value;
	/* remaining standard deviation: from value / factor to value * factor */
	double factor;
	double determined; /* share of the prior's variance that the rows removed, 0 .. 1 */
};

struct model_calibration {
	struct model_free_value free[MODEL_FREE_MAX];
	unsigned count;
	bool settings; /* tor_hosts, spine and nic_service are determined */
	/* root mean square of relative errors, before and after */
	double before, after;
};

/* Sets the free parameters of *p. From four rows on, a clearly better tor_hosts, spine and
 * nic_service replaces the named one. DXP_EINVAL, with error_text(); DXP_ENOMEM. */
int model_calibrate(const struct model_sample *samples, unsigned count, struct model_parameters *p,
		    struct model_calibration *out);

#endif
