/* SPDX-License-Identifier: BSD-3-Clause */
/* The manager process: a UDP endpoint, the registry, its store, and one thread that runs all
 * three. */
#ifndef MANAGER_SERVER_H
#define MANAGER_SERVER_H

#include "manager/etcd.h"
#include "manager/registry.h"

struct server_options {
	struct udp_address bind;
	const char *state_folder; /* must stay valid */
	/* location of the store in etcd; NULL: the store is an SQLite database in state_folder */
	const struct etcd_place *etcd;
	struct etcd_tls tls;
	/* address at which nodes reach this manager; all 0: the address of the endpoint; port 0:
	 * the endpoint's port */
	struct udp_address advertise;
	uint8_t key[FABRIC_KEY_BYTES];
	enum grants_policy policy;
	enum admission admission;
	/* True: makes a token for one operator at the start, even if an operator exists already. */
	bool operator_token;
	uint32_t events; /* bound of the event log; 0: FABRIC_EVENTS */
};

/* seconds for which the token in FOLDER/operator.token is valid */
#define OPERATOR_TOKEN_S (24ull * 3600)

struct server;

/* Opens endpoint and store, and loads the registry, unless another manager is active. Returns the
 * statuses of link_open and of the opening of the store, which log errors. */
int server_open(const struct server_options *options, struct server **out);
void server_close(struct server *s);

void server_address(const struct server *s, struct udp_address *out);
const uint8_t *server_public_key(const struct server *s);
/* Returns true if FOLDER/operator.token has a new token, with which an operator can join. */
bool server_operator_token(const struct server *s);

/* Returns true if this manager is the active one of those that use the same store. */
bool server_active(const struct server *s);

/* Runs until server_stop. Returns DXP_OK; DXP_EMALFORMED, DXP_EUNSUPPORTED: the store became
 * unusable, which is logged. */
int server_run(struct server *s);

/* Makes server_run return. Any thread or signal handler may call it. */
void server_stop(struct server *s);

/* Logs counters and nodes at level info. */
void server_report(const struct server *s);

#endif
