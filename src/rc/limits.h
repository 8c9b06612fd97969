/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds and times of reliable connections. */
#ifndef RC_LIMITS_H
#define RC_LIMITS_H

/* ACK timeout code: 4.096 us << 16 = 268 ms. 8 tries take 2.1 s, the default deadline of a group. A
 * lost message is usually found much earlier: the next segment arrives and causes a NAK. */
#define RC_TIMEOUT_CODE 16
#define RC_RETRY_COUNT  7 /* retries after the first try: the largest value of the field */
/* code 7 means retries without limit, because the switch waits for other members */
#define RC_RNR_RETRY 7
#define RC_RNR_CODE  12 /* code of 640 us between retries: the default of NICs */

/* ns, first gap between two REQs; each gap is twice the one before */
#define RC_CM_GAP_NS  (20 * MS_NS)
#define RC_CM_TRIES   7          /* REQs before the connection fails, after 2.5 s */
#define RC_NUMBER_MIN 2          /* first number of a queue pair: 0 and 1 are for management */
#define RC_TABLE_MAX  (1u << 20) /* queue pairs of one address: 8 bytes each */

#endif
