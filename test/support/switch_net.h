/* SPDX-License-Identifier: BSD-3-Clause */
/* Switch cores wired together on a virtual clock, and the hosts around them as inboxes: what
 * switches send is checked (right ICRC, decodes, from the switch's own address), carried in order,
 * and lost or doubled as told. */
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
	size_t count, room;
};

struct switch_net {
	struct sw *switches[NET_SWITCHES];
	uint32_t ips[NET_SWITCHES];
	unsigned count;
	uint64_t now_ns;
	struct swnet_list wire;  /* under way */
	struct swnet_list inbox; /* arrived at hosts, oldest first */
	uint64_t carried;        /* packets put on the wire */
	uint64_t lose, repeat;   /* the n-th of them, from 1, is lost, or comes twice; 0: none */
	size_t batch;            /* packets asked of a switch at once; 0: 64 */
	char wrong[160];         /* the first packet that was not as it should be, or "" */
};

void swnet_open(struct switch_net *net);
void swnet_close(struct switch_net *net);

/* A switch with these options (ip must be set); NULL if it could not be made. */
struct sw *swnet_switch(struct switch_net *net, const struct sw_options *options);
struct sw *swnet_switch_at(const struct switch_net *net, uint32_t ip);
void swnet_switch_kill(struct switch_net *net, uint32_t ip);

/* A packet as a host sends it. */
struct swnet_send {
	struct roce_path path;
	struct inc_header header;
	uint32_t qkey;
	bool rc;
	const void *payload;
	size_t bytes;
};
void swnet_send(struct switch_net *net, const struct swnet_send *what);

/* Bytes as they are, to a switch, at once. */
void swnet_raw(struct switch_net *net, const struct roce_path *path, const void *data,
	       size_t bytes);

/* To switches as it is under way, without looking what they have to send. */
void swnet_receive(struct switch_net *net);

/* Until nothing is under way. */
void swnet_run(struct switch_net *net);

/* The oldest packet of this kind (0: an RC ACK) that arrived at ip:port on either side of it, and
 * is out of the inbox then: the caller frees it. NULL: none. */
struct swnet_packet *swnet_take(struct switch_net *net, uint32_t ip, uint16_t port, uint8_t kind);
void swnet_forget(struct switch_net *net); /* all that arrived */

/* ---- a group ---- */

struct swnet_member {
	uint32_t ip;
	uint16_t port;
	uint8_t path_count;
	uint32_t path[INC_PATH_MAX]; /* switches above it, next first */
};

struct swnet_group {
	uint32_t id, qkey;
	uint16_t epoch, segment_bytes, window;
	bool rc;
	uint8_t planes;
	uint64_t job_id;
	uint32_t count;
	struct swnet_member members[NET_MEMBERS];
};

/* 100 switches' worth of defaults: id 7, window 4, 1408 bytes. Member m is below leaf m / each of
 * `leaves`, and all leaves below `root`; leaves NULL: all are below root. */
void swnet_group_plan(struct swnet_group *g, uint32_t count, const uint32_t *leaves, uint32_t each,
		      uint32_t root);

struct inc_control swnet_control(const struct swnet_group *g, uint32_t member);

/* A control packet about one member, along `path`. */
void swnet_control_send(struct switch_net *net, const struct swnet_group *g, uint8_t kind,
			uint32_t member, const struct inc_control *c, const struct roce_path *path);

/* NOTIFY or KILL for one member, or all; swnet_run is the caller's. */
void swnet_notify(struct switch_net *net, const struct swnet_group *g, uint32_t member,
		  uint8_t kind);
void swnet_notify_all(struct switch_net *net, const struct swnet_group *g, uint8_t kind);

/* All is there: every member has its NOTIFY. Forgets them. */
bool swnet_group_make(struct switch_net *net, const struct swnet_group *g);

/* What member `member` contributes to segment `seq`. */
void swnet_contribute(struct switch_net *net, const struct swnet_group *g, uint32_t member,
		      const struct inc_header *h, const void *payload, size_t bytes);

/* Header of a call of one segment. */
struct inc_header swnet_call(uint32_t seq, enum dxp_inc_op op, enum dxp_inc_type type,
			     uint16_t elements);

/* The result that came to a member, or NULL. */
struct swnet_packet *swnet_result(struct switch_net *net, const struct swnet_group *g,
				  uint32_t member);

#endif
