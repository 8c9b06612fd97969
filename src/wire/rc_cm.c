/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/rc_cm.h"

#include <string.h>

#include <dxp/status.h>

#include "base/bytes.h"

/* X(field, offset, bytes) of the MAD; the CM message starts at 24. */
#define RC_CM_FIELDS(X)            \
	X(BASE_VERSION, 0, 1)      \
	X(CLASS, 1, 1)             \
	X(CLASS_VERSION, 2, 1)     \
	X(METHOD, 3, 1)            \
	X(TRANSACTION, 8, 8)       \
	X(ATTRIBUTE, 16, 2)        \
	X(LOCAL_ID, 24, 4)         \
	X(REMOTE_ID, 28, 4)        \
	X(REQ_SERVICE, 32, 8)      \
	X(REQ_GUID, 40, 8)         \
	X(REQ_QP, 56, 3)           \
	X(REQ_RESPONSE, 67, 1)     \
	X(REQ_PSN, 68, 3)          \
	X(REQ_RETRY, 71, 1)        \
	X(REQ_PKEY, 72, 2)         \
	X(REQ_MTU, 74, 1)          \
	X(REQ_CM_RETRIES, 75, 1)   \
	X(REQ_FROM_LID, 76, 2)     \
	X(REQ_TO_LID, 78, 2)       \
	X(REQ_FROM_GID, 80, 16)    \
	X(REQ_TO_GID, 96, 16)      \
	X(REQ_HOP_LIMIT, 117, 1)   \
	X(REQ_ACK_TIMEOUT, 119, 1) \
	X(REQ_PRIVATE, 164, 92)    \
	X(REP_QP, 36, 3)           \
	X(REP_PSN, 44, 3)          \
	X(REP_RNR_RETRY, 51, 1)    \
	X(REP_GUID, 52, 8)         \
	X(REJ_REASON, 34, 2)

#define FIELD_ENUM(name, offset, bytes) OFF_##name = (offset),
enum rc_cm_offset { RC_CM_FIELDS(FIELD_ENUM) };
#undef FIELD_ENUM

#define CLASS_CM       7
#define CLASS_VERSION  2
#define METHOD_SEND    3
#define LID_PERMISSIVE 0xffff /* RoCE has no LIDs */
/* time for a CM response: 4.096 us << 20 = 4 s; lower bits 0: service type RC, no flow control */
#define RESPONSE_TIME (20 << 3)
#define CM_RETRIES    (15 << 4)
#define SERVICE_TYPE  6 /* in REQ_RESPONSE; 0: RC */
#define HOP_LIMIT     64

static void put_be24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	put_be16(p + 1, (uint16_t)v);
}

static uint32_t get_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | get_be16(p + 1);
}

static void request_put(const struct rc_cm_message *m, uint8_t *out)
{
	put_be64(out + OFF_REQ_SERVICE, m->service);
	memcpy(out + OFF_REQ_GUID, m->from_gid + 8, 8);
	put_be24(out + OFF_REQ_QP, m->qp);
	out[OFF_REQ_RESPONSE] = RESPONSE_TIME;
	put_be24(out + OFF_REQ_PSN, m->psn);
	out[OFF_REQ_RETRY] = (uint8_t)(RESPONSE_TIME | m->retry_count);
	put_be16(out + OFF_REQ_PKEY, 0xffff);
	out[OFF_REQ_MTU] = (uint8_t)(m->mtu << 4 | m->rnr_retry);
	out[OFF_REQ_CM_RETRIES] = CM_RETRIES;
	put_be16(out + OFF_REQ_FROM_LID, LID_PERMISSIVE);
	put_be16(out + OFF_REQ_TO_LID, LID_PERMISSIVE);
	memcpy(out + OFF_REQ_FROM_GID, m->from_gid, 16);
	memcpy(out + OFF_REQ_TO_GID, m->to_gid, 16);
	out[OFF_REQ_HOP_LIMIT] = HOP_LIMIT;
	out[OFF_REQ_ACK_TIMEOUT] = (uint8_t)(m->timeout << 3);
	memcpy(out + OFF_REQ_PRIVATE, m->private_data, RC_CM_PRIVATE_BYTES);
}

void rc_cm_encode(const struct rc_cm_message *m, uint8_t out[RC_CM_MAD_BYTES])
{
	memset(out, 0, RC_CM_MAD_BYTES);
	out[OFF_BASE_VERSION] = 1;
	out[OFF_CLASS] = CLASS_CM;
	out[OFF_CLASS_VERSION] = CLASS_VERSION;
	out[OFF_METHOD] = METHOD_SEND;
	put_be64(out + OFF_TRANSACTION, m->transaction);
	put_be16(out + OFF_ATTRIBUTE, (uint16_t)m->kind);
	put_be32(out + OFF_LOCAL_ID, m->local_id);
	put_be32(out + OFF_REMOTE_ID, m->remote_id);
	if (m->kind == RC_CM_REQ) {
		request_put(m, out);
	} else if (m->kind == RC_CM_REP) {
		put_be24(out + OFF_REP_QP, m->qp);
		put_be24(out + OFF_REP_PSN, m->psn);
		out[OFF_REP_RNR_RETRY] = (uint8_t)(m->rnr_retry << 5);
		memcpy(out + OFF_REP_GUID, m->from_gid + 8, 8);
	} else if (m->kind == RC_CM_REJ) {
		put_be16(out + OFF_REJ_REASON, m->reason);
	}
}

static int request_get(const uint8_t *mad, struct rc_cm_message *m)
{
	m->service = get_be64(mad + OFF_REQ_SERVICE);
	m->qp = get_be24(mad + OFF_REQ_QP);
	m->psn = get_be24(mad + OFF_REQ_PSN);
	m->retry_count = mad[OFF_REQ_RETRY] & 7;
	m->mtu = mad[OFF_REQ_MTU] >> 4;
	m->rnr_retry = mad[OFF_REQ_MTU] & 7;
	m->timeout = mad[OFF_REQ_ACK_TIMEOUT] >> 3;
	memcpy(m->from_gid, mad + OFF_REQ_FROM_GID, 16);
	memcpy(m->to_gid, mad + OFF_REQ_TO_GID, 16);
	memcpy(m->private_data, mad + OFF_REQ_PRIVATE, RC_CM_PRIVATE_BYTES);
	if (mad[OFF_REQ_RESPONSE] & SERVICE_TYPE)
		return DXP_EUNSUPPORTED;
	return m->mtu < 1 || m->mtu > 5 ? DXP_EMALFORMED : DXP_OK;
}

int rc_cm_decode(const uint8_t *mad, size_t bytes, struct rc_cm_message *out)
{
	struct rc_cm_message m = {0};
	int status = DXP_OK;

	if (bytes != RC_CM_MAD_BYTES)
		return DXP_EMALFORMED;
	if (mad[OFF_BASE_VERSION] != 1 || mad[OFF_CLASS] != CLASS_CM ||
	    mad[OFF_CLASS_VERSION] != CLASS_VERSION || mad[OFF_METHOD] != METHOD_SEND)
		return DXP_EUNSUPPORTED;
	m.transaction = get_be64(mad + OFF_TRANSACTION);
	m.kind = get_be16(mad + OFF_ATTRIBUTE);
	m.local_id = get_be32(mad + OFF_LOCAL_ID);
	m.remote_id = get_be32(mad + OFF_REMOTE_ID);
	switch (m.kind) {
	case RC_CM_REQ:
		m.remote_id = 0;
		status = request_get(mad, &m);
		break;
	case RC_CM_REP:
		m.qp = get_be24(mad + OFF_REP_QP);
		m.psn = get_be24(mad + OFF_REP_PSN);
		m.rnr_retry = mad[OFF_REP_RNR_RETRY] >> 5;
		break;
	case RC_CM_REJ: m.reason = get_be16(mad + OFF_REJ_REASON); break;
	case RC_CM_RTU: break;
	default: return DXP_EUNSUPPORTED;
	}
	if ((m.kind == RC_CM_REQ || m.kind == RC_CM_REP) && (m.qp < 2 || m.qp == ROCE_QP_MULTICAST))
		return DXP_EMALFORMED;
	if (status == DXP_OK)
		*out = m;
	return status;
}
