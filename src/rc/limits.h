/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds and times of reliable connections. */
#ifndef RC_LIMITS_H
#define RC_LIMITS_H

/* ACK timeout 4.096 us << 16 = 268 ms; 8 tries take 2.1 s, the default deadline of a group.
 * Segments are retransmitted much earlier, and cause a NAK for missing ones. */
#define RC_TIMEOUT_CODE 16
#define RC_RETRY_COUNT  7  /* the largest */
#define RC_RNR_RETRY    7  /* retries without limit, because the switch waits for other members */
#define RC_RNR_CODE     12 /* 640 us, as NICs by default */

#define RC_CM_GAP_NS  (20 * MS_NS) /* first gap between two REQs; doubles */
#define RC_CM_TRIES   7            /* REQs: 2.5 s */
#define RC_NUMBER_MIN 2            /* 0 and 1 are for management */
#define RC_TABLE_MAX  (1u << 20)   /* queue pairs of a switch: 16 bytes each */

#endif
