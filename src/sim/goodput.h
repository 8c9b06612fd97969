/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of the table of goodput against loss: 10 Gb/s, 10 us one way, datagrams of 1408 bytes of
 * payload lost by themselves in both directions, messages of 1 MiB. `dxp bench sim --loss` prints
 * the table, test/sim/goodput.c holds it against test/golden/goodput.tsv. */
#ifndef SIM_GOODPUT_H
#define SIM_GOODPUT_H

#include "sim/crowd.h"

#define GOODPUT_MESSAGES 200 /* 1 MiB each */

struct goodput_options {
	enum rltp_recovery recovery;
	enum cc_kind cc;
	uint32_t outstanding; /* messages under way */
	uint32_t loss_ppm;
	uint32_t messages; /* 0: GOODPUT_MESSAGES; fewer where 3 s of virtual time do not suffice */
	uint64_t seed;
};

/* DXP_ENOMEM. *gbps is payload of whole messages. */
int goodput_run(const struct goodput_options *options, struct crowd_result *result, double *gbps);

/* The rows of the table. */
struct goodput_row {
	enum rltp_recovery recovery;
	enum cc_kind cc;
	uint32_t outstanding;
};
#define GOODPUT_ROWS   10
#define GOODPUT_LOSSES 6
extern const struct goodput_row goodput_rows[GOODPUT_ROWS];
extern const uint32_t goodput_losses_ppm[GOODPUT_LOSSES];

#endif
