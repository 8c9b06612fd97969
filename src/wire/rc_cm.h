/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of InfiniBand's connection management (CM): REQ, REP, RTU and REJ. Each is a MAD of 256
 * bytes, sent as UD SEND only from queue pair 1 to queue pair 1. Other messages and attributes are
 * rejected as unsupported. Source: N-01; InfiniBand specification, sections 12.6 and 13.4;
 * docs/reference/wire.md "Reliable connections". */
#ifndef WIRE_RC_CM_H
#define WIRE_RC_CM_H

#include "wire/roce.h"

#define RC_CM_MAD_BYTES     256
#define RC_CM_QP            1
#define RC_CM_QKEY          0x80010000u
#define RC_CM_PRIVATE_BYTES 92 /* bytes of private data in a REQ */
/* service id of this project: a locally administered id with the text "DXPI" */
#define RC_CM_SERVICE 0x0200000044585049ull

enum rc_cm_kind { RC_CM_REQ = 0x10, RC_CM_REJ = 0x12, RC_CM_REP = 0x13, RC_CM_RTU = 0x14 };

#define RC_CM_REJ_SERVICE  8 /* reason of a REJ: no such service */
#define RC_CM_REJ_CONSUMER 28

struct rc_cm_message {
	enum rc_cm_kind kind;
	uint64_t transaction;
	uint32_t local_id, remote_id; /* communication ids of sender and receiver; REQ: remote 0 */
	/* members of REQ and REP */
	uint32_t qp, psn; /* the sender's queue pair and its first PSN; 24 bits */
	uint8_t rnr_retry;
	/* members of REQ */
	uint8_t mtu;         /* code: 128 << mtu bytes, 1 .. 5 */
	uint8_t retry_count; /* retries after a timeout or NAK, 0 .. 7 */
	uint8_t timeout;     /* code of the ACK timeout: 4.096 us << timeout */
	uint64_t service;
	uint8_t from_gid[16], to_gid[16];
	uint8_t private_data[RC_CM_PRIVATE_BYTES];
	uint16_t reason; /* REJ: reason code */
};

void rc_cm_encode(const struct rc_cm_message *m, uint8_t out[RC_CM_MAD_BYTES]);

/* Decodes the payload of a packet to queue pair 1. DXP_EMALFORMED: wrong length or an invalid
 * field. DXP_EUNSUPPORTED: a MAD of another class, or another CM message. */
int rc_cm_decode(const uint8_t *mad, size_t bytes, struct rc_cm_message *out);

#endif
