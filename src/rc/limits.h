/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds and times of reliable connections. */
#ifndef RC_LIMITS_H
#define RC_LIMITS_H

/* ACK timeout: 4.096 us << 16 = 268 ms. 8 tries take 2.1 s, about the default deadline of a group.
 * Mostly a NAK arrives much earlier, because the next segment causes it. */
#define RC_TIMEOUT_CODE 16
#define RC_RETRY_COUNT  7 /* largest value of the field */
/* 7 means that RNR retries have no limit, because the switch waits for members */
#define RC_RNR_RETRY 7
#define RC_RNR_CODE  12 /* 640 us between retries, the default of NICs */

/* ns between the first two REQs; each later gap is twice the gap before it */
#define RC_CM_GAP_NS  (20 * MS_NS)
#define RC_CM_TRIES   7          /* 2.5 s until the connection fails */
#define RC_NUMBER_MIN 2          /* queue pairs 0 and 1 are for management */
#define RC_TABLE_MAX  (1u << 20) /* queue pairs at one address, of 8 bytes each in the table */

#endif
