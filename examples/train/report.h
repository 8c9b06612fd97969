/* SPDX-License-Identifier: BSD-3-Clause */
/* A line per epoch, and the same in JSON. */
#ifndef LEARN_REPORT_H
#define LEARN_REPORT_H

#include <stdio.h>

#include "network.h"
#include "sum.h"

struct epoch {
	uint32_t number;
	float rate; /* learning rate */
	uint32_t steps;
	uint32_t learned, held; /* samples of the passes */
	struct totals training, test;
	double seconds;     /* of this epoch's steps */
	double seconds_all; /* of all steps so far */
	struct sum_totals sums;
	uint64_t weights; /* hash */
};

/* Opens the file of --json; NULL: no such option. */
FILE *report_open(const struct options *o);
void report_epoch(const struct network *n, const struct epoch *e, FILE *json);
/* Fails if a line is lost. */
void report_close(const struct options *o, FILE *json);

#endif
