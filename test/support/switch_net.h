/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects switch cores on a virtual clock; a host is only an inbox. Packets of switches must have
 * a right ICRC, a valid format and their own source address. Packets are carried in order, and lost
 * or duplicated as configured. */
#ifndef SUPPORT_SWITCH_NET_H
#define SUPPORT_SWITCH_NET_H

#include "switch/switch.h"

#define NET_SWITCHES 12
#define NET_MEMBERS  300

struct swnet_packet {
	struct roce_path path;
	struct inc_packet decoded; /* its payload points into `data` */
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
	struct swnet_list wire;  /* in flight */
	struct swnet_list inbox; /* arrived at hosts, oldest first */
	uint64_t carried;        /* packets carried so far */
	/* numbers of the packets that are lost and that arrive twice, from 1; 0: none */
	uint64_t lose, repeat;
	size_t batch;    /* packets requested from a switch in one call; 0: 64 */
	char wrong[160]; /* the first wrong packet, or "" */
};

void swnet_open(struct switch_net *net);
void swnet_close(struct switch_net *net);

/* The options include the switch's IP address. NULL: failed. */
struct sw *swnet_switch(struct switch_net *net, const struct sw_options *options);
struct sw *swnet_switch_at(const struct switch_net *net, uint32_t ip);
void swnet_switch_kill(struct switch_net *net, uint32_t ip);

struct swnet_send {
	struct roce_path path;
	struct inc_header header;
	uint32_t qkey;
	bool rc; /* sent as data of a reliable connection to queue pair INC_QP */
	const void *payload;
	size_t bytes;
};
void swnet_send(struct switch_net *net, const struct swnet_send *what);

void swnet_raw(struct switch_net *net, const struct roce_path *path, const void *data,
	       size_t bytes);

/* Delivers the packets in flight. Does not collect what the switches send. */
void swnet_receive(struct switch_net *net);

void swnet_run(struct switch_net *net);

/* Removes the oldest packet of this kind from the inbox with ip:port as source or destination. The
 * caller frees it. NULL: none. */
struct swnet_packet *swnet_dequeue(struct switch_net *net, uint32_t ip, uint16_t port,
				   uint8_t kind);
void swnet_forget(struct switch_net *net); /* empties the inbox */

/* ---- a group ---- */

struct swnet_member {
	uint32_t ip;
	uint16_t port;
	uint8_t path_count;
	uint32_t path[INC_PATH_MAX]; /* switches above the member, nearest first */
};

struct swnet_group {
	uint32_t id, qkey;
	uint16_t epoch, segment_bytes, window;
	bool compat; /* packets have the compatible format */
	uint8_t planes;
	uint64_t job_id;
	uint32_t count;
	struct swnet_member members[NET_MEMBERS];
};

/* Defaults: id 7, window 4, 1408 bytes. Each switch in `leaves` has `each` members below it, in
 * order, and all of them are below `root`. Without `leaves`, all members are. */
void swnet_group_plan(struct swnet_group *g, uint32_t count, const uint32_t *leaves, uint32_t each,
		      uint32_t root);

struct inc_control swnet_control(const struct swnet_group *g, uint32_t member);

void swnet_control_send(struct switch_net *net, const struct swnet_group *g, uint8_t kind,
			uint32_t member, const struct inc_control *c, const struct roce_path *path);

/* Send NOTIFY or KILL from one member, or from all members. The caller then calls swnet_run. */
void swnet_notify(struct switch_net *net, const struct swnet_group *g, uint32_t member,
		  uint8_t kind);
void swnet_notify_all(struct switch_net *net, const struct swnet_group *g, uint8_t kind);

/* Removes the members' NOTIFY packets from the inbox. Returns true if every member received one. */
bool swnet_group_make(struct switch_net *net, const struct swnet_group *g);

void swnet_contribute(struct switch_net *net, const struct swnet_group *g, uint32_t member,
		      const struct inc_header *h, const void *payload, size_t bytes);

/* Header of an operation with one segment. */
struct inc_header swnet_call(uint32_t seq, enum dxp_inc_op op, enum dxp_inc_type type,
			     uint16_t elements);

/* Result that arrived at the member; NULL: none. The caller frees it. */
struct swnet_packet *swnet_result(struct switch_net *net, const struct swnet_group *g,
				  uint32_t member);

#endif
