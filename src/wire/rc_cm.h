/* SPDX-License-Identifier: BSD-3-Clause */
/* InfiniBand's connection management (CM): REQ, REP, RTU, REJ. A MAD of 256 bytes each, UD SEND
 * only between queue pairs 1; others are unsupported. N-01; InfiniBand specification, 12.6 and
 * 13.4; docs/reference/wire.md "Reliable connections". */
#ifndef WIRE_RC_CM_H
#define WIRE_RC_CM_H

#include "wire/roce.h"

#define RC_CM_MAD_BYTES     256
#define RC_CM_QP            1
#define RC_CM_QKEY          0x80010000u
#define RC_CM_PRIVATE_BYTES 92 /* of a REQ */
/* locally administered, with the text "DXPI" */
#define RC_CM_SERVICE 0x0200000044585049ull

enum rc_cm_kind { RC_CM_REQ = 0x10, RC_CM_REJ = 0x12, RC_CM_REP = 0x13, RC_CM_RTU = 0x14 };

#define RC_CM_REJ_SERVICE  8 /* no such service */
#define RC_CM_REJ_CONSUMER 28

struct rc_cm_message {
	enum rc_cm_kind kind;
	uint64_t transaction;
	uint32_t local_id, remote_id; /* of sender and receiver; REQ: remote 0 */
	/* REQ and REP: */
	uint32_t qp, psn; /* the sender's, with its first PSN; 24 bits */
	uint8_t rnr_retry;
	/* REQ: */
	uint8_t mtu;         /* 128 << mtu bytes, 1 .. 5 */
	uint8_t retry_count; /* after a timeout or NAK, 0 .. 7 */
	uint8_t timeout;     /* ACK timeout: 4.096 us << timeout */
	uint64_t service;
	uint8_t from_gid[16], to_gid[16];
	uint8_t private_data[RC_CM_PRIVATE_BYTES];
	uint16_t reason; /* REJ */
};

void rc_cm_encode(const struct rc_cm_message *m, uint8_t out[RC_CM_MAD_BYTES]);

/* Decodes the payload of a packet to queue pair 1. DXP_EMALFORMED: wrong length or field;
 * DXP_EUNSUPPORTED: another class or CM message. */
int rc_cm_decode(const uint8_t *mad, size_t bytes, struct rc_cm_message *out);

#endif
