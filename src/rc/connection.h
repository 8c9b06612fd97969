/* SPDX-License-Identifier: BSD-3-Clause */
/* A reliable connection between two addresses (IPv4 or IPv6), without I/O. It negotiates the queue
 * pairs by REQ, REP and RTU, then carries messages. The active side sends the REQ. A connection
 * that fails stays failed. Not thread-safe. */
#ifndef RC_CONNECTION_H
#define RC_CONNECTION_H

#include "rc/qp.h"
#include "wire/inc.h"
#include "wire/rc_cm.h"

struct rc_options {
	/* from: address and UDP source port of this side; to: address of the peer, port 4791 */
	struct roce_ends ends;
	uint32_t id; /* communication id, unique among the connections of this side's address */
	/* number of this side's queue pair, unique among the queue pairs of this side's address */
	uint32_t number;
	/* packet number of the first message; random, so that packets of earlier connections do not
	 * match */
	uint32_t first_psn;
	uint16_t window;        /* messages without acknowledgement: a power of two */
	uint16_t message_bytes; /* length of the longest message; decides the path MTU */
	/* active side: data that the REQ carries to the peer */
	uint8_t private_data[RC_CM_PRIVATE_BYTES];
};

struct rc_connection;

/* rc_connect() begins a connection as the active side. rc_accept() begins it as the passive side,
 * from the REQ that it accepts. DXP_ENOMEM; DXP_EUNSUPPORTED: the REQ's path MTU is below
 * message_bytes. */
int rc_connect(const struct rc_options *options, uint64_t now_ns, struct rc_connection **out);
int rc_accept(const struct rc_options *options, const struct rc_cm_message *req,
	      struct rc_connection **out);
void rc_close(struct rc_connection *c);

/* Returns whether the packet belongs to a reliable connection: its opcode is of service RC, or it
 * goes to queue pair 1. */
bool rc_packet(const uint8_t *data, size_t bytes);

/* Reads a connection message from a packet to queue pair 1. DXP_ENOENT: the packet is of another
 * kind; other statuses of rc_cm_decode(). */
int rc_cm_packet_decode(const uint8_t *data, size_t bytes, struct rc_cm_message *out);

/* Returns whether this packet, which came to the connection's own address, belongs to this
 * connection. */
bool rc_owns(const struct rc_connection *c, const uint8_t *data, size_t bytes);
/* Returns whether this REQ is a copy of the one that began the connection. The REP must then be
 * sent again. */
bool rc_request_again(struct rc_connection *c, const struct rc_cm_message *req);

/* Posts a message on the connection's queue pair. Statuses of rc_qp_post(). */
int rc_post(struct rc_connection *c, const void *front, size_t front_bytes, const void *rest,
	    size_t rest_bytes);

/* Processes a packet for which rc_owns() is true and the ICRC was checked. `ready` is false if the
 * caller cannot accept a message now; the peer sends it again later. Returns a message to deliver
 * and its length, or NULL. */
const uint8_t *rc_receive(struct rc_connection *c, const uint8_t *data, size_t bytes, bool ready,
			  uint64_t now_ns, size_t *message_bytes);

/* Appends due packets to the batch. Returns true if the batch is full and more packets are due. */
bool rc_send(struct rc_connection *c, struct inc_batch *out, uint64_t now_ns);

uint64_t rc_deadline(const struct rc_connection *c);
bool rc_failed(const struct rc_connection *c);
struct rc_qp_counters rc_counters(const struct rc_connection *c);

/* Appends a connection message (MAD) to the batch, from queue pair 1 to queue pair 1. `mad` must
 * not change until the batch is sent. */
void rc_mad_add(struct inc_batch *out, const struct roce_ends *ends,
		const uint8_t mad[RC_CM_MAD_BYTES]);

#endif
