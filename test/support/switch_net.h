/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects switch cores on a virtual clock; the hosts around them are inboxes. Packets of switches
 * are checked (right ICRC, decodable, own source address), carried in order, and lost or duplicated
 * as configured. */
#ifndef SUPPORT_SWITCH_NET_H
#define SUPPORT_SWITCH_NET_H

#include "switch/switch.h"

#define NET_SWITCHES 12
#define NET_MEMBERS  300

struct swnet_packet {
	struct roce_path path;
	struct inc_packet decoded; /* its payload is in `data` */
	size_t bytes;
	uint8_t data[];
};

struct swnet_list {
	struct swnet_packet **packets;
	size_t count, space;
};

struct switch_net {
	struct sw *switches[NET_SWITCHES];
	uint32_t ips[NET_SWITCHES];
	unsigned count;
	uint64_t now_ns;
	struct swnet_list wire;  /* packets in flight */
	struct swnet_list inbox; /* arrived at hosts, oldest first */
	uint64_t carried;        /* packets put on the wire */
	/* number of the packet, counted from 1, that is lost; that arrives twice; 0: none */
	uint64_t lose, repeat;
	size_t batch;    /* packets requested from a switch at once; 0: 64 */
	char wrong[160]; /* description of the first wrong packet, or "" */
};

void swnet_open(struct switch_net *net);
void swnet_close(struct switch_net *net);

/* Creates a switch with these options (ip must be set). Returns NULL on failure. */
struct sw *swnet_switch(struct switch_net *net, const struct sw_options *options);
struct sw *swnet_switch_at(const struct switch_net *net, uint32_t ip);
void swnet_switch_kill(struct switch_net *net, uint32_t ip);

struct swnet_send {
	struct roce_path path;
	struct inc_header header;
	uint32_t qkey;
	bool rc; /* as RC data, to INC_QP */
	const void *payload;
	size_t bytes;
};
void swnet_send(struct switch_net *net, const struct swnet_send *what);

void swnet_raw(struct switch_net *net, const struct roce_path *path, const void *data,
	       size_t bytes);

/* Delivers the packets in flight to switches, without collecting their output. */
void swnet_receive(struct switch_net *net);

void swnet_run(struct switch_net *net);

/* Removes from the inbox the oldest packet of this kind with ip:port as source or
 * destination. The caller frees it. Returns NULL if there is none. */
struct swnet_packet *swnet_dequeue(struct switch_net *net, uint32_t ip, uint16_t port,
				   uint8_t kind);
void swnet_forget(struct switch_net *net); /* drops all arrived packets */

/* ---- a group ---- */

struct swnet_member {
	uint32_t ip;
	uint16_t port;
	uint8_t path_count;
	uint32_t path[INC_PATH_MAX]; /* switches above it, nearest first */
};

struct swnet_group {
	uint32_t id, qkey;
	uint16_t epoch, segment_bytes, window;
	bool compat; /* packets in the compatible format */
	uint8_t planes;
	uint64_t job_id;
	uint32_t count;
	struct swnet_member members[NET_MEMBERS];
};

/* Plans a group with the defaults: id 7, window 4, 1408 bytes. Member m is below leaf m / each of
 * `leaves`, and all leaves are below `root`; leaves NULL: all members are below root. */
void swnet_group_plan(struct swnet_group *g, uint32_t count, const uint32_t *leaves, uint32_t each,
		      uint32_t root);

struct inc_control swnet_control(const struct swnet_group *g, uint32_t member);

void swnet_control_send(struct switch_net *net, const struct swnet_group *g, uint8_t kind,
			uint32_t member, const struct inc_control *c, const struct roce_path *path);

/* Send NOTIFY or KILL for one member, or for all; the caller calls swnet_run. */
void swnet_notify(struct switch_net *net, const struct swnet_group *g, uint32_t member,
		  uint8_t kind);
void swnet_notify_all(struct switch_net *net, const struct swnet_group *g, uint8_t kind);

/* Creates the group. Returns whether every member received its NOTIFY; removes these from the
 * inboxes. */
bool swnet_group_make(struct switch_net *net, const struct swnet_group *g);

void swnet_contribute(struct switch_net *net, const struct swnet_group *g, uint32_t member,
		      const struct inc_header *h, const void *payload, size_t bytes);

/* Returns the header of an operation of one segment. */
struct inc_header swnet_call(uint32_t seq, enum dxp_inc_op op, enum dxp_inc_type type,
			     uint16_t elements);

/* Returns the result that arrived at a member, or NULL. The caller frees it. */
struct swnet_packet *swnet_result(struct switch_net *net, const struct swnet_group *g,
				  uint32_t member);

#endif
