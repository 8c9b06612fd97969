/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams: messages from one node to one queue pair are executed in the order of their ids,
 * whatever order their packets come in. Data of PUT is placed at once; only what has an effect
 * beyond memory waits for its turn. */
#include <stdlib.h>

#include <dxp/status.h>

#include "nic/internal.h"

struct rx_stream *rx_stream_get(struct nic_peer *p, uint32_t index)
{
	if (!p->rx[index])
		p->rx[index] = calloc(1, sizeof(*p->rx[index]));
	return p->rx[index];
}

struct tx_stream *tx_stream_get(struct nic_peer *p, uint32_t index)
{
	if (!p->tx[index])
		p->tx[index] = calloc(1, sizeof(*p->tx[index]));
	return p->tx[index];
}

void tx_stream_done(struct tx_stream *t, uint32_t id, struct nic_request *arrived)
{
	uint32_t slot = id % NIC_STREAM_WINDOW;

	t->arrived[slot] = arrived;
	t->done[slot / 64] |= 1ull << (slot % 64);
	while (t->una != t->next) {
		uint32_t first = t->una % NIC_STREAM_WINDOW;
		uint64_t bit = 1ull << (first % 64);
		if (!(t->done[first / 64] & bit))
			break;
		t->done[first / 64] &= ~bit;
		t->una++;
		if (t->arrived[first])
			request_finished(t->arrived[first], DXP_OK);
		t->arrived[first] = NULL;
	}
}

static void record_execute(struct nic_peer *p, uint32_t index, struct rx_record *r)
{
	struct nic_function *f = &p->nic->functions[index / NIC_QPS_PER_FUNCTION];
	struct nic_event event = {
		.imm = r->imm,
		.bytes = r->bytes,
		.qp = (uint16_t)(index % NIC_QPS_PER_FUNCTION),
		.src_node = p->session->node,
		.src_qp = (uint16_t)r->src_qp,
		.type = r->type == WIRE_NAP ? NIC_EVENT_NAP : NIC_EVENT_PUT,
	};

	if (r->reserved) {
		received_unreserve(f);
		received_write(f, &event, r->held);
	} else if (r->type == WIRE_GET_REQ) {
		get_execute(p, index, r);
	} else if (r->type == WIRE_CFG_RD || r->type == WIRE_CFG_WR) {
		cfg_execute(p, r);
	}
}

void record_clear(struct nic_peer *p, uint32_t index, struct rx_record *r, bool executed)
{
	if (r->reserved && !executed)
		received_unreserve(&p->nic->functions[index / NIC_QPS_PER_FUNCTION]);
	if (r->region)
		r->region->uses--;
	if (r->answer) {
		p->answers--;
		message_put(p->nic, r->answer);
	}
	free(r->held);
	*r = (struct rx_record){0};
}

void rx_stream_run(struct nic_peer *p, uint32_t index)
{
	struct rx_stream *stream = p->rx[index];

	for (;;) {
		struct rx_record *r = &stream->records[stream->next % NIC_STREAM_WINDOW];
		if (r->state != RECORD_WHOLE && r->state != RECORD_ABORTED)
			return;
		bool execute = r->state == RECORD_WHOLE;
		if (execute)
			record_execute(p, index, r);
		record_clear(p, index, r, execute);
		stream->next++;
	}
}

void peer_streams_fail(struct nic_peer *p, int status)
{
	for (uint32_t i = 0; i < NIC_STREAMS; i++) {
		for (uint32_t k = 0; p->rx[i] && k < NIC_STREAM_WINDOW; k++)
			record_clear(p, i, &p->rx[i]->records[k], false);
		for (uint32_t k = 0; p->tx[i] && k < NIC_STREAM_WINDOW; k++)
			if (p->tx[i]->arrived[k])
				request_finished(p->tx[i]->arrived[k], status);
		free(p->rx[i]);
		free(p->tx[i]);
		p->rx[i] = NULL;
		p->tx[i] = NULL;
	}
}

void packet_aborted(void *user, struct rltp_session *s, const struct wire_header *h)
{
	struct nic_peer *p = peer_of(s);
	uint32_t index = stream_index(h->dst_function, h->dst_qp);

	if (!p || index == NIC_STREAMS)
		return;
	/* Answers have no magic; one is given up when the path carries less than it was cut for. */
	if (h->qp_magic == 0) {
		read_cancel(p, h->msg_id, DXP_EPATH);
		return;
	}
	struct rx_stream *stream = rx_stream_get(p, index);
	if (!stream || h->msg_id - stream->next >= NIC_STREAM_WINDOW)
		return;
	struct rx_record *r = &stream->records[h->msg_id % NIC_STREAM_WINDOW];
	record_clear(p, index, r, false);
	r->state = RECORD_ABORTED;
	rx_stream_run(p, index);
}
