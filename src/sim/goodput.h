/* SPDX-License-Identifier: BSD-3-Clause */
/* Goodput against loss on one path: 10 Gb/s, 10 us one way, 1408 bytes of payload, independent
 * losses both ways, messages of 1 MiB. `dxp bench sim --loss` prints the table. */
#ifndef SIM_GOODPUT_H
#define SIM_GOODPUT_H

#include "sim/crowd.h"

#define GOODPUT_MESSAGES 200 /* of 1 MiB */

struct goodput_options {
	enum rltp_recovery recovery;
	enum cc_kind cc;
	uint32_t outstanding; /* messages at a time */
	uint32_t loss_ppm;
	/* fewer complete if time is short; 0: GOODPUT_MESSAGES */
	uint32_t messages;
	uint64_t seed;
	/* Below, 0 is the table's value: 1 MiB, a time-out of 1 ms for go-back-N, a run of 3 s. */
	uint32_t message_bytes;
	/* smallest retransmission time-out; end of the run */
	uint64_t timeout_ns, limit_ns;
	/* counts incomplete messages too */
	bool partial;
};

/* Measures one entry; *gbps is the payload, of whole messages unless `partial` is set.
 * DXP_ENOMEM. */
int goodput_run(const struct goodput_options *options, struct crowd_result *result, double *gbps);

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
