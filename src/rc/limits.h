/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds and times of reliable connections. */
#ifndef RC_LIMITS_H
#define RC_LIMITS_H

/* ACK timeout: 4.096 us << 16 = 268 ms. 8 tries take 2.1 s, a group's default deadline; mostly the
 * next segment causes a NAK much earlier. */
#define RC_TIMEOUT_CODE 16
#define RC_RETRY_COUNT  7 /* largest value of the field */
/* 7: without limit, because the switch waits for members */
#define RC_RNR_RETRY 7
#define RC_RNR_CODE  12 /* 640 us between retries: default of NICs */

/* ns between the first REQs; doubles */
#define RC_CM_GAP_NS  (20 * MS_NS)
#define RC_CM_TRIES   7          /* 2.5 s until the connection fails */
#define RC_NUMBER_MIN 2          /* 0 and 1 are for management */
#define RC_TABLE_MAX  (1u << 20) /* of one address: 8 bytes each */

#endif
