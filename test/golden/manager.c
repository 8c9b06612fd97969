/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a frame of each type between nodes and manager, and those that read counters. */
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "manager/limits.h"
#include "test/golden/capture.h"
#include "wire/channel.h"
#include "wire/manage.h"
#include "wire/probe.h"
#include "wire/stats_service.h"

/* fixed, so that a new lease does not change the bytes */
#define LEASE_NS 3000000000ull
#define REQUEST  41
#define NONCE    0x0102030405060708
#define EPOCH    0x1111111111111111
#define NODE     7
#define PORT     WIRE_PORT

static struct node_entry row_of(uint16_t id, const char *name)
{
	struct node_entry e = {
		.id = id,
		.kind = id == NODE ? MANAGE_XPU : MANAGE_HOST,
		.alive = true,
		.granted = id == NODE,
		.magic = 0xdeadbeef,
		.incarnation = 99,
		.memory_bytes = 1u << 30,
		.address = {.port = 5001,
			    .ip = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = id % 256}},
	};

	memset(e.uuid, 0x5a, sizeof(e.uuid));
	strcpy(e.name, name);
	if (id == NODE) {
		strcpy(e.engine, "ocl");
		strcpy(e.device, "a CPU");
	}
	return e;
}

static void requests(struct capture *c, struct mac *mac)
{
	static const uint8_t renewals[] = {WIRE_RENEW, WIRE_LEAVE, WIRE_TABLE_ACK};
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct manage_join join = {REQUEST, NONCE, EPOCH, row_of(NODE, "xpu-7")};
	struct manage_renew renew = {REQUEST, NONCE, EPOCH, 99, {0x5a}, {EPOCH, 12, 3}};
	struct manage_assign assign = {REQUEST, NONCE, EPOCH, 4, MANAGE_GRANT, "host-1", "*"};
	struct manage_status status = {REQUEST, NONCE, 1};

	capture_frame(c, frame, manage_join_encode(&join, mac, frame), PORT);
	for (size_t i = 0; i < sizeof(renewals); i++)
		capture_frame(c, frame, manage_renew_encode(renewals[i], NODE, &renew, mac, frame),
			      PORT);
	capture_frame(c, frame, manage_assign_encode(&assign, mac, frame), PORT);
	capture_frame(c, frame, manage_status_encode(&status, mac, frame), PORT);
}

static void answers(struct capture *c, struct mac *mac)
{
	uint8_t frame[MANAGE_FRAME_BYTES];
	struct manage_lease lease = {REQUEST, NONCE, EPOCH, 12, LEASE_NS, NODE};
	struct manage_answer answer = {REQUEST, NONCE, DXP_OK, 0, EPOCH, 5, "granted"};
	struct manage_answer refuse = {REQUEST, NONCE, DXP_EBUSY,          1000000,
				       EPOCH,   5,     "the name is taken"};

	capture_frame(c, frame, manage_lease_encode(&lease, mac, frame), PORT);
	capture_frame(c, frame,
		      manage_answer_encode(WIRE_ANSWER, NODE, &answer, sizeof(frame), mac, frame),
		      PORT);
	capture_frame(c, frame,
		      manage_answer_encode(WIRE_REFUSE, NODE, &refuse, sizeof(frame), mac, frame),
		      PORT);
}

static void tables(struct capture *c, struct mac *mac)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct node_entry host = row_of(1, "host-1"), xpu = row_of(NODE, "xpu-7");
	struct manage_rows all = {REQUEST, NONCE, EPOCH, 12, 12, 1, 0, 0};
	struct manage_rows news = {REQUEST, NONCE, EPOCH, 12, 13, 0, 0, 0};
	struct manage_writer w;

	manage_rows_begin(&w, frame, sizeof(frame));
	manage_rows_add(&w, &host);
	manage_rows_add(&w, &xpu);
	capture_frame(c, frame, manage_rows_finish(&w, WIRE_NODE_TABLE, NODE, &all, mac), PORT);
	manage_rows_begin(&w, frame, sizeof(frame));
	manage_rows_remove(&w, 1, MANAGE_GONE);
	manage_rows_add(&w, &xpu);
	capture_frame(c, frame, manage_rows_finish(&w, WIRE_NODE_DELTA, NODE, &news, mac), PORT);
}

/* Frames of nodes with a key pair, and of a channel. */
static void keyed(struct capture *c, struct mac *mac)
{
	static const uint8_t key[PUBLIC_KEY_BYTES] = "a public key", message[40] = "sealed";
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct node_entry host = row_of(1, "host-1");
	struct manage_join join = {REQUEST, NONCE, EPOCH, row_of(NODE, "xpu-7"), key};
	struct manage_renew renew = {REQUEST, NONCE, EPOCH, 99, {0x5a}, {EPOCH, 12, 3}, key};
	struct manage_status status = {REQUEST, NONCE, 1, key};
	struct manage_rows all = {REQUEST, NONCE, EPOCH, 12, 12, 1, 0, 0};
	const struct channel_frame open = {0x77, 2, CHANNEL_REQUEST, message, sizeof(message)};
	struct manage_writer w;

	host.role = ROLE_OPERATOR;
	memcpy(host.key, key, sizeof(host.key));
	capture_frame(c, frame, manage_join_encode(&join, mac, frame), PORT);
	capture_frame(c, frame, manage_renew_encode(WIRE_RENEW, NODE, &renew, mac, frame), PORT);
	capture_frame(c, frame, manage_status_encode(&status, mac, frame), PORT);
	manage_rows_begin(&w, frame, sizeof(frame));
	manage_rows_add(&w, &host);
	capture_frame(c, frame, manage_rows_finish(&w, WIRE_NODE_TABLE, NODE, &all, mac), PORT);
	capture_frame(c, frame,
		      channel_frame_encode(&open, WIRE_NODE_NONE, WIRE_NODE_MANAGER, frame), PORT);
}

static void counters(struct capture *c, struct mac *mac)
{
	uint8_t frame[FABRIC_DATAGRAM_BYTES];
	struct stats_request request = {REQUEST, NONCE, STATS_PART_SESSIONS, 5};
	struct stats_page node = {.request = REQUEST,
				  .nonce = NONCE,
				  .part = STATS_PART_NODE,
				  .published = true,
				  .count = 1,
				  .pid = 4711,
				  .age_ns = 3,
				  .node = {.name = "xpu-7",
					   .program = "dxpd",
					   .address = "10.0.0.7:4796",
					   .xpu = 1,
					   .started_ns = 1,
					   .published_ns = 2,
					   .session_count = 1}};
	struct stats_page sessions = {.request = REQUEST,
				      .nonce = NONCE,
				      .part = STATS_PART_SESSIONS,
				      .published = true,
				      .first = 5,
				      .next = 9,
				      .count = 1,
				      .sessions = {{.node = 8, .active = 1, .peer = "host-1"}}};

	const struct stats_request to_service = {.request = REQUEST, .nonce = NONCE, .first = 2};
	const struct stats_service_page service = {.request = REQUEST,
						   .nonce = NONCE,
						   .first = 2,
						   .count = 1,
						   .service = {.role = STATS_ROLE_MANAGER,
							       .pid = 4712,
							       .up_ns = 9,
							       .name = "host-m",
							       .program = "dxp-manager"},
						   .values = {{"joined", false, 300}}};

	node.node.values[0] = 300;
	capture_frame(c, frame, stats_request_encode(&request, NODE, mac, frame), PORT);
	capture_frame(c, frame, stats_page_encode(&node, NODE, mac, frame), PORT);
	capture_frame(c, frame, stats_page_encode(&sessions, NODE, mac, frame), PORT);
	capture_frame(
		c, frame,
		stats_service_request_encode(&to_service, WIRE_NODE_MANAGER, NULL, mac, frame),
		PORT);
	capture_frame(c, frame, probe_encode(77, 100, NODE, NODE + 1, mac, frame), PORT);
	capture_frame(c, frame,
		      probe_reply_encode(&(struct probe_reply){77, 2}, NODE + 1, NODE, mac, frame),
		      PORT);
	capture_frame(c, frame, stats_service_page_encode(&service, WIRE_NODE_MANAGER, mac, frame),
		      PORT);
}

void manager_write(const char *folder)
{
	static const uint8_t key[FABRIC_KEY_BYTES] = "a key that everybody knows";
	struct capture c;
	struct mac *mac;

	if (mac_create(key, &mac) != DXP_OK) {
		fprintf(stderr, "golden-captures: no HMAC-SHA-256 here\n");
		exit(1);
	}
	capture_open(&c, folder, "manager.pcapng");
	requests(&c, mac);
	answers(&c, mac);
	tables(&c, mac);
	counters(&c, mac);
	keyed(&c, mac);
	capture_close(&c);
	mac_destroy(mac);
}
