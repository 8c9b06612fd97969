/* SPDX-License-Identifier: BSD-3-Clause */
/* A reliable connection between two addresses, without I/O. The active side sends REQ, the passive
 * side answers REP, and the active side confirms it by RTU. Then both may send messages. A
 * connection that has failed stays failed. Not thread-safe. */
#ifndef RC_CONNECTION_H
#define RC_CONNECTION_H

#include "rc/qp.h"
#include "wire/inc.h"
#include "wire/rc_cm.h"

struct rc_options {
	/* both addresses; the source port is this side's, the destination port is 4791 */
	struct roce_ends ends;
	uint32_t id; /* communication id, unique at this side's address */
	/* number of the queue pair, unique at this side's address */
	uint32_t number;
	/* PSN of the first message; random, so that packets of earlier connections do not match */
	uint32_t first_psn;
	uint16_t window;        /* most messages without acknowledgement, a power of two */
	uint16_t message_bytes; /* length of the longest message; decides the path MTU */
	/* data for the peer, which the active side sends in its REQ */
	uint8_t private_data[RC_CM_PRIVATE_BYTES];
};

struct rc_connection;

/* Begin a connection: rc_connect as its active side, rc_accept as its passive side, from the REQ
 * that this side accepts. DXP_ENOMEM; DXP_EUNSUPPORTED: the REQ's path MTU is below
 * message_bytes. */
int rc_connect(const struct rc_options *options, uint64_t now_ns, struct rc_connection **out);
int rc_accept(const struct rc_options *options, const struct rc_cm_message *req,
	      struct rc_connection **out);
void rc_close(struct rc_connection *c);

/* Returns true for a packet of service RC, or to queue pair 1. */
bool rc_packet(const uint8_t *data, size_t bytes);

/* Reads a message from a packet to queue pair 1. DXP_ENOENT: the packet is of another kind.
 * Otherwise returns the statuses of rc_cm_decode(). */
int rc_cm_packet_decode(const uint8_t *data, size_t bytes, struct rc_cm_message *out);

/* Returns true if a packet to the connection's own address belongs to this connection. */
bool rc_owns(const struct rc_connection *c, const uint8_t *data, size_t bytes);
/* Returns true for a copy of the REQ that began the connection; the REP must then be sent again. */
bool rc_request_again(struct rc_connection *c, const struct rc_cm_message *req);

/* Posts a message that consists of two parts. Returns the statuses of rc_qp_post(). */
int rc_post(struct rc_connection *c, const void *front, size_t front_bytes, const void *rest,
	    size_t rest_bytes);

/* Processes a packet for which rc_owns() returned true and whose ICRC was checked. If `ready` is
 * false, accepts no message now, and the peer sends it again. Returns a message to deliver, and
 * sets its length; NULL: there is none. */
const uint8_t *rc_receive(struct rc_connection *c, const uint8_t *data, size_t bytes, bool ready,
			  uint64_t now_ns, size_t *message_bytes);

/* Appends due packets. Returns true if the batch is full and more are due. */
bool rc_send(struct rc_connection *c, struct inc_batch *out, uint64_t now_ns);

uint64_t rc_deadline(const struct rc_connection *c);
bool rc_failed(const struct rc_connection *c);
struct rc_qp_counters rc_counters(const struct rc_connection *c);

/* Appends a MAD from queue pair 1 to queue pair 1. `mad` must not change until the batch is
 * sent. */
void rc_mad_add(struct inc_batch *out, const struct roce_ends *ends,
		const uint8_t mad[RC_CM_MAD_BYTES]);

#endif
