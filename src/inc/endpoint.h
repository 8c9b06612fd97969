/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores behind sockets: an endpoint, its groups, and a thread for what must happen while nobody
 * calls. include/dxp/inc.h is what others see.
 *
 * Locking: `lock` guards everything here, but for `reading`, which is also guarded by it and means:
 * a thread waits inside link_receive_wait of this port, without the lock; nobody else may touch the
 * port's link until it has come back. Sending needs the lock only. A caller waits for its result
 * where it is expected (its group's multicast socket, or `in`); the thread stays away from the
 * sockets while callers are about, so that a packet wakes one thread. */
#ifndef INC_ENDPOINT_H
#define INC_ENDPOINT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/util.h"
#include "inc/create.h"
#include "link/udp.h"

#define ENDPOINT_BATCH 128

struct port {
	struct link *link; /* NULL: there is none */
	uint32_t ip;       /* own, or the multicast group's */
	uint16_t number;
	bool reading;
};

struct dxp_inc_call {
	struct inc_call core;
	struct dxp_inc_group *group;
	struct dxp_inc_call *next; /* of the free ones */
};

struct dxp_inc_group {
	struct dxp_inc *inc;
	struct dxp_inc_group *next;
	uint32_t id, member;
	struct inc_create *create; /* at work; later kept by member 0, for the KILL */
	struct inc_group *group;   /* NULL while it is made */
	struct port multicast;
	bool alone;  /* it has one member */
	bool kernel; /* short results come by multicast */
	uint32_t depth, above;
	bool heard;     /* something came by multicast */
	unsigned lossy; /* calls for which packets are thought to get lost */
	unsigned open_calls;
	bool dirty; /* something came, and what it lets go has not left */
	struct dxp_inc_call *free_calls;
	uint64_t used_ns;     /* end of the last call */
	uint64_t departed_ns; /* 0: in use */
	uint64_t kill_ns;     /* next KILL; UINT64_MAX: none */
	unsigned kills;
};

struct inc_counters {
	uint64_t foreign, malformed, icrc_wrong, unknown;
};

struct dxp_inc {
	pthread_mutex_t lock;
	pthread_cond_t read; /* a thread that was `reading` has come back */
	struct dxp_inc_options o;
	uint32_t switch_ip;
	struct inc_member own;
	struct port out; /* sends everything, hears other members and far switches */
	struct port in;  /* hears the switch */
	struct dxp_inc_group *groups;
	unsigned group_count;
	struct inc_counters counters;
	uint16_t segment_bytes;

	uint64_t heard_ns;         /* when something right came from the switch, by the real
				    * clock; 0: never */
	bool deaf;                 /* what its XDP plane sends by multicast does not arrive */
	unsigned waiting;          /* threads that wait in a call */
	uint64_t active_ns;        /* when one was last about */
	uint64_t planned_ns;       /* when the thread wants to look next; of the real clock */
	uint64_t stalled_ns;       /* endpoint_now */
	uint64_t listens_until_ns; /* it sleeps on the sockets till then; 0: it does not */
	pthread_t thread;
	int wake_fd;
	unsigned forks; /* endpoint_ours */
	bool stop;

	void *reserve; /* of making_reserve_bytes, for a creation without memory, ... */
	bool reserved; /* ... which has it */

	struct link_datagram datagrams[ENDPOINT_BATCH];
	uint8_t trailers[ENDPOINT_BATCH][INC_TRAILER_BYTES];
	uint16_t from_ports[ENDPOINT_BATCH];
	struct link_arrival arrivals[LINK_BATCH];
};

/* ---- endpoint.c ---- */

/* With the lock: the time, less that in which this process was kept from looking although it wanted
 * to (starved, stopped, its machine paused): what came meanwhile lies unread, so that time says
 * nothing about others. */
uint64_t endpoint_now(struct dxp_inc *inc);

/* False in a child of the process that opened it: there is no thread, the lock may be held for
 * ever, and the sockets are the parent's. */
bool endpoint_ours(const struct dxp_inc *inc);

/* ---- traffic.c; all with the lock ---- */

/* Takes what came to a port, asking the kernel once. Returns how many datagrams. */
size_t port_take(struct dxp_inc *inc, struct port *p, uint64_t now_ns);
/* The same, and waits for it as long as the port does, without the lock. */
size_t port_wait(struct dxp_inc *inc, struct port *p);
/* Sends what a group, or its creation, has to send now. */
void endpoint_flush(struct dxp_inc_group *g, uint64_t now_ns);
void endpoint_flush_due(struct dxp_inc_group *g, uint64_t now_ns);
uint64_t endpoint_deadline(const struct dxp_inc_group *g);
void batch_send(struct dxp_inc *inc, const struct inc_batch *b);
struct inc_batch batch_begin(struct dxp_inc *inc);

/* ---- sockets.c ---- */

/* Opens the ports `out` and `in`; finds the first free number. DXP_EIO, DXP_EBUSY; logged. */
int sockets_open(struct dxp_inc *inc);
/* Listens to a group's multicast address; false: it cannot, and results must come otherwise. */
bool multicast_open(struct dxp_inc *inc, struct port *p, uint32_t group_id);
void inc_port_close(struct port *p);

/* ---- keeper.c ---- */

int endpoint_keeper_start(struct dxp_inc *inc);
void endpoint_keeper_stop(struct dxp_inc *inc);
/* Something is due earlier than the thread may think. */
void keeper_wake(struct dxp_inc *inc);
/* KILLs that are due, and the end of groups that departed long ago. */
void departed_tend(struct dxp_inc *inc, uint64_t now_ns);
void endpoint_group_free(struct dxp_inc_group *g);

/* ---- probe.c ---- */

/* X(name, text) */
#define INC_REACH_LIST(X)                                                                       \
	X(YES, "answers")                                                                       \
	X(REFUSED, "nothing listens on its UDP port 4791: start dxp-switch there")              \
	X(NO_WAY, "the network says that there is no way to it: see routes and firewalls")      \
	X(SILENT, "it does not answer: is the machine up, and does UDP port 4791 get through?") \
	X(ICRC, "its packets come changed (wrong ICRC): is there NAT or a proxy between?")      \
	X(NO_SOCKET, "this process can open no socket; raise \"ulimit -n\"")
#define INC_REACH_ENUM(name, text) INC_REACH_##name,
enum inc_reach { INC_REACH_LIST(INC_REACH_ENUM) INC_REACHES };
#undef INC_REACH_ENUM

/* Does the next switch answer? Takes INC_SILENCE_NS at most; without the lock. */
enum inc_reach switch_reach(struct dxp_inc *inc);

/* ---- wait.c ---- */

/* Sleeps until something comes to one of the ports or `until_ns`; without the lock meanwhile. */
void ports_sleep(struct dxp_inc *inc, struct port *const *ports, unsigned count, uint64_t until_ns);

/* ---- make.c ---- */

size_t making_reserve_bytes(void);

/* ---- why.c ---- */

/* What each member tells the others of how its creation went. */
struct outcome {
	int32_t status;
	uint32_t cause, cause_ip, silent;
	uint32_t deaf; /* it is */
};

/* The sentence for the first member that failed. `switches`: of each member. */
void why_unreached(enum inc_reach reach, uint32_t host_ip, uint32_t switch_ip,
		   char why[DXP_INC_WHY_BYTES]);
void why_text(const struct outcome *o, uint32_t member, const struct inc_member *members,
	      const uint32_t *switches, char why[DXP_INC_WHY_BYTES]);

#endif
