/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whether the switch answers, before each creation of a group. The test of a closed port
 * fails at once. So the creation itself can have a long time limit, which busy machines need. */
#include <errno.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/rng.h"
#include "inc/endpoint.h"
#include "inc/limits.h"
#include "link/udp.h"

struct probe {
	struct link *link;
	uint32_t own_ip, switch_ip;
	uint16_t own_port;
	uint32_t number;
	bool icrc_wrong; /* an answer had a wrong ICRC, the check of RoCE packets */
};

static void question_send(struct probe *p)
{
	const struct inc_inquiry q = {.section = INC_SECTION_SWITCH};
	const struct roce_path path = {p->own_ip, p->switch_ip, p->own_port, ROCE_PORT};
	const struct inc_header h = {
		.kind = INC_INQUIRE, .comm_id = INC_COMM_CONTROL, .req_id = p->number};
	uint8_t payload[INC_INQUIRY_BYTES], trailer[INC_TRAILER_BYTES];
	struct datagram d;

	inc_packet_encode(&h, ROCE_UD_SEND_ONLY, INC_CONTROL_QKEY, INC_QP, INC_QP, &path, payload,
			  inc_inquiry_encode(&q, payload), &d, trailer);
	link_send(p->link, &d, 1);
}

static bool answer_receive(struct probe *p, const struct datagram_arrival *a)
{
	const struct udp_address from = address_v4(p->switch_ip, ROCE_PORT);
	const struct roce_path path = {p->switch_ip, p->own_ip, ROCE_PORT, p->own_port};
	struct inc_packet packet;

	if (!address_equal(&a->from, &from) ||
	    inc_packet_decode(a->data, a->bytes, &packet) != DXP_OK)
		return false;
	if (!roce_icrc_right(&path, a->data, a->bytes)) {
		p->icrc_wrong = true;
		return false;
	}
	return packet.header.kind == INC_ANSWER && packet.header.req_id == p->number;
}

static enum inc_reach query_send(struct probe *p, const atomic_bool *stop)
{
	const uint64_t begin_ns = clock_now_ns();
	uint64_t now_ns = begin_ns, end_ns = now_ns + INC_SILENCE_NS, gap_ns = INC_QUERY_NS;
	enum inc_reach verdict = INC_REACH_SILENT;
	struct datagram_arrival a;

	for (uint64_t query_ns = now_ns; now_ns < end_ns && !(stop && atomic_load(stop));
	     now_ns = clock_now_ns()) {
		if (now_ns >= query_ns) {
			question_send(p);
			query_ns = now_ns + gap_ns;
			gap_ns = min_u64(2 * gap_ns, 4 * INC_QUERY_MAX_NS);
		}
		while (link_receive(p->link, &a, 1) > 0)
			if (answer_receive(p, &a))
				return INC_REACH_YES;
		int error = link_rejected(p->link);
		if (error == ECONNREFUSED)
			verdict = INC_REACH_REFUSED;
		else if (error != 0 && error != EMSGSIZE)
			verdict = INC_REACH_NO_WAY;
		if (verdict != INC_REACH_SILENT)
			end_ns = min_u64(end_ns, begin_ns + INC_RESTART_NS);
		link_wait(p->link, min_u64(now_ns + INC_TICK_NS, min_u64(query_ns, end_ns)));
	}
	return p->icrc_wrong ? INC_REACH_ICRC : verdict;
}

enum inc_reach probe_switch_reach(struct dxp_inc *inc, const atomic_bool *stop)
{
	const struct link_options o = {.bind = address_v4(inc->own.ip, 0),
				       .whole = true,
				       .unconnected = true,
				       .rejections = true,
				       .no_gso = true,
				       .no_gro = true};
	struct probe p = {.own_ip = inc->own.ip, .switch_ip = inc->switch_ip};
	struct udp_address own;

	pthread_mutex_lock(&inc->lock);
	bool received = inc->received_ns && clock_now_ns() - inc->received_ns < INC_RECEIVED_NS;
	pthread_mutex_unlock(&inc->lock);
	if (received)
		return INC_REACH_YES;
	if (link_open(&o, &p.link) != DXP_OK)
		return INC_REACH_NO_SOCKET;
	link_address(p.link, &own);
	p.own_port = own.port;
	rng_entropy_kernel(NULL, &p.number, sizeof(p.number));
	enum inc_reach reach = query_send(&p, stop);
	link_close(p.link);
	return reach;
}
