/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a store in etcd. One of the managers of a fabric is active: its election key exists, bound
 * to a lease. Each transaction compares the revision of that key, so that only the active manager
 * writes. docs/guide/manager.md describes the keys. */
#ifndef MANAGER_STORE_ETCD_H
#define MANAGER_STORE_ETCD_H

#include "keys/token.h"
#include "manager/etcd.h"
#include "manager/store.h"

/* rows of one transaction; etcd accepts 128 operations by default */
#define ETCD_ROWS_MAX 100
/* events that etcd keeps: at most 10 MB, 0.5 % of etcd's default quota; to load them, a takeover
 * takes 0.2 s of CPU time with 16 events a key, and 0.8 s if each has a key of its own */
#define ETCD_EVENTS_MAX 20000

/* Values that an import writes to etcd besides the rows of the registry. */
struct store_import {
	const uint8_t *private_key; /* of the managers, if the fabric does not exist yet */
	uint64_t version;           /* number of transactions of such a fabric */
	char digest[KEY_TEXT_BYTES];
	/* set by store_load: an earlier import with this digest was interrupted */
	bool resumed;
};

struct store_etcd_options {
	struct etcd_place place;
	uint8_t fabric_key[FABRIC_KEY_BYTES];
	/* address of this manager, which the others give to nodes; at most 63 bytes */
	const char *address;
	/* owned by the store afterwards, also after an error */
	struct etcd_transport transport;
	struct store_import *import; /* must stay valid; or NULL */
	bool must_exist;             /* true: creates no fabric */
};

/* Finds the fabric in etcd, or creates it. The manager stands by until store_step makes it active.
 * DXP_EIO: no answer; DXP_EMALFORMED: damaged, or of another fabric key; DXP_EUNSUPPORTED: another
 * version; DXP_ENOENT: there is none, and must_exist is true; DXP_ENOMEM. Errors are logged. */
int store_etcd_open(const struct store_etcd_options *options, struct store **out);

#endif
