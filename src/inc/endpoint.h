/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoint: the state machines with sockets, their groups, and a progress thread for work between
 * calls. The public interface is include/dxp/inc.h.
 *
 * Locking: `lock` guards all fields in this file, including `reading`. While a port's `reading` is
 * set, one thread waits in link_receive_wait() on this port without the lock, and no other thread
 * may receive from the port's link. Sending needs only the lock.
 *
 * A caller waits on the socket where its result will arrive: the group's multicast socket, or `in`.
 * While callers are active the progress thread does not use the sockets, so that a packet wakes
 * only one thread. */
#ifndef INC_ENDPOINT_H
#define INC_ENDPOINT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/util.h"
#include "inc/create.h"
#include "inc/exchange.h"
#include "link/udp.h"

#define ENDPOINT_BATCH 128

struct port {
	struct link *link; /* sockets of the port; NULL: not open */
	uint32_t ip;       /* address of this host, or of the multicast group */
	uint16_t number;
	bool reading;
};

struct dxp_inc_operation {
	struct inc_operation core;
	struct dxp_inc_group *group;
	struct dxp_inc_operation *next; /* list of unused operations */
};

struct dxp_inc_group {
	struct dxp_inc *inc;
	struct dxp_inc_group *next;
	uint32_t id, member;
	uint32_t owner;            /* number of the user that created it; 0: the only one */
	struct inc_create *create; /* state of the creation; member 0 keeps it for KILL */
	struct inc_group *group;   /* the group's state machine; NULL during creation */
	struct port multicast;
	bool alone;
	bool kernel; /* switches use XDP: short results arrive by multicast */
	uint32_t depth, above;
	bool received; /* true: a multicast packet has arrived */
	/* number of next waits that use ppoll() for exact timers, because packets were lost */
	unsigned lossy;
	unsigned open_operations;
	bool dirty; /* received packets may require other packets to be sent */
	struct dxp_inc_operation *free_operations;
	uint64_t used_ns;     /* completion time of the last operation */
	uint64_t departed_ns; /* time when the group was destroyed; 0: in use */
	uint64_t kill_ns;     /* time of the next KILL; UINT64_MAX: none */
	unsigned kills;
};

struct inc_counters {
	uint64_t foreign, malformed, icrc_wrong, unknown;
};

struct dxp_inc {
	pthread_mutex_t lock;
	pthread_cond_t read; /* signalled when `reading` of a port is cleared */
	struct dxp_inc_options o;
	uint32_t switch_ip;
	struct inc_member own;
	struct port out; /* sends all packets; receives from members and distant switches */
	struct port in;
	struct dxp_inc_group *groups;
	unsigned group_count, departed_count; /* all groups; those that were destroyed */
	struct inc_counters counters;
	uint16_t segment_bytes;
	uint32_t connections; /* number of connections that groups with RC framing began */

	uint64_t received_ns; /* real time of the last valid packet from the switch; 0: none */
	bool multicast_lost;  /* multicast of the switch's XDP plane does not arrive */
	unsigned waiting;     /* threads that wait in public calls */
	uint64_t active_ns;   /* time of the last public call */
	uint64_t planned_ns;  /* real time at which the progress thread polls next */
	uint64_t stalled_ns;  /* sum of stalls, which endpoint_now() subtracts */
	/* the progress thread sleeps on the sockets until this time; 0: it does not sleep there */
	uint64_t listens_until_ns;
	pthread_t thread;
	int wake_fd;
	unsigned forks; /* forks before the endpoint was opened; see endpoint_owns() */
	bool stop;

	/* inc_making_reserve_bytes() bytes for the creation of a group if memory is short */
	void *reserve;
	bool reserved; /* the creation of a group uses `reserve` */

	struct datagram datagrams[ENDPOINT_BATCH];
	uint8_t trailers[ENDPOINT_BATCH][INC_TRAILER_BYTES];
	uint16_t from_ports[ENDPOINT_BATCH];
	struct datagram_arrival arrivals[DATAGRAM_BATCH];
};

/* ---- endpoint.c ---- */

/* Returns the time without stalls. In a stall this process did not run: it was starved or stopped,
 * or the machine was paused. Packets that arrived in a stall are still unread, so silence in a
 * stall does not show that others have failed. Caller holds the lock. */
uint64_t endpoint_now(struct dxp_inc *inc);

/* Returns false in a fork of the process that opened the endpoint. In a fork, the progress thread
 * does not exist, the lock may stay held, and the sockets belong to the parent. */
bool endpoint_owns(const struct dxp_inc *inc);

/* ---- api.c ---- */

/* Gives up a group whose creation is complete, from any thread: its outstanding operations complete
 * soon, as if its switch were lost. */
void endpoint_group_give_up(struct dxp_inc_group *g, int status);

/* ---- traffic.c; caller holds the lock ---- */

/* Receives a port's datagrams without waiting, and handles them. Returns how many. */
size_t traffic_port_receive(struct dxp_inc *inc, struct port *p, uint64_t now_ns);
/* Waits for a datagram of the port without the lock, up to the port's time limit. Then receives and
 * handles datagrams as traffic_port_receive() does. */
size_t traffic_port_wait(struct dxp_inc *inc, struct port *p);
/* Sends due packets of a group and of its creation. */
void endpoint_flush(struct dxp_inc_group *g, uint64_t now_ns);
void endpoint_flush_due(struct dxp_inc_group *g, uint64_t now_ns);
uint64_t endpoint_deadline(const struct dxp_inc_group *g);
void traffic_batch_send(struct dxp_inc *inc, const struct inc_batch *b);
struct inc_batch traffic_batch_begin(struct dxp_inc *inc);

/* ---- sockets.c ---- */

/* Opens the ports `out` and `in` at the first free source port. DXP_EIO: no socket. DXP_EBUSY: no
 * free port. Logged. */
int sockets_open(struct dxp_inc *inc);
/* Joins the multicast address of a group. Returns false if that fails; then results must arrive by
 * unicast. */
bool sockets_multicast_open(struct dxp_inc *inc, struct port *p, uint32_t group_id);
void inc_port_close(struct port *p);

/* ---- progress.c ---- */

int endpoint_progress_start(struct dxp_inc *inc);
void endpoint_progress_stop(struct dxp_inc *inc);
/* Wakes the progress thread for work that is due before the thread's next poll. */
void progress_wake(struct dxp_inc *inc);
/* Sends due KILLs, and frees groups some time after they were destroyed. */
void inc_departed_tend(struct dxp_inc *inc, uint64_t now_ns);
void endpoint_group_free(struct dxp_inc_group *g);

/* ---- probe.c ---- */

/* X(name, text for users) */
#define INC_REACH_LIST(X)                                                                         \
	X(YES, "answers")                                                                         \
	X(REFUSED, "nothing listens on its UDP port 4791; start dxp-switch there")                \
	X(NO_WAY, "the network reports it as unreachable; check routes and firewalls")            \
	X(SILENT, "it does not answer; check that the machine is up and that firewalls pass UDP " \
		  "port 4791")                                                                    \
	X(ICRC, "its packets arrive changed (wrong ICRC); look for NAT or a proxy on the path")   \
	X(NO_SOCKET, "this process cannot open a socket; raise \"ulimit -n\"")
#define INC_REACH_ENUM(name, text) INC_REACH_##name,
enum inc_reach { INC_REACH_LIST(INC_REACH_ENUM) INC_REACHES };
#undef INC_REACH_ENUM

/* Tests whether the switch answers: for at most INC_SILENCE_NS, or until *stop is true. The caller
 * must not hold the lock. */
enum inc_reach probe_switch_reach(struct dxp_inc *inc, const atomic_bool *stop);

/* ---- wait.c ---- */

/* Sleeps until `until_ns`, or until a packet arrives at one of the ports. Does not hold the lock
 * while it sleeps. */
void wait_ports_sleep(struct dxp_inc *inc, struct port *const *ports, unsigned count,
		      uint64_t until_ns);

/* ---- make.c ---- */

size_t inc_making_reserve_bytes(void);
/* A user of an endpoint that several share. */
struct endpoint_user {
	const atomic_bool *stop; /* creating a group fails soon after *stop becomes true */
	uint32_t owner;          /* number of the user */
};

/* Does what dxp_inc_group_create() does, for one of several users. */
int endpoint_group_create(struct dxp_inc *inc, const struct dxp_inc_bootstrap *bootstrap,
			  const struct dxp_inc_group_options *options,
			  const struct endpoint_user *user, struct dxp_inc_group **out,
			  char why[DXP_INC_WHY_BYTES]);

/* ---- why.c ---- */

/* Write the text for the user. `switches` has the address of each member's switch. */
void why_unreached(enum inc_reach reach, uint32_t host_ip, uint32_t switch_ip,
		   char why[DXP_INC_WHY_BYTES]);
void why_text(const struct outcome *o, uint32_t member, const struct inc_member *members,
	      const uint32_t *switches, char why[DXP_INC_WHY_BYTES]);

#endif
