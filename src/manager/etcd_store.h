/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a store in etcd (store_etcd.c): the fabric's own keys, the lease, transactions, the
 * event log. */
#ifndef MANAGER_ETCD_STORE_H
#define MANAGER_ETCD_STORE_H

#include <string.h>

#include "base/util.h"
#include "manager/etcd_rows.h"
#include "manager/store_etcd.h"
#include "manager/store_internal.h"

#define ETCD_RETRY_NS      (100 * MS_NS)
#define ETCD_NUMBER_BYTES  24
#define ETCD_ADDRESS_BYTES 64
#define ETCD_LOG_ROWS      17 /* with those of changes, fewer than etcd's 128 operations */

/* The event log (etcd_log.c). */
struct etcd_log {
	char first_key[ETCD_KEY_BYTES]; /* sorts before the key of any event */
	uint64_t deleted;               /* no key is left of events before this one */
	/* Events before this one were sent by a transaction whose outcome is unknown; 0: none. The
	 * next try writes the same keys with the same events, so a late copy changes nothing. */
	uint64_t sent;
	uint64_t due_ns;   /* when unsaved events are written; 0: there were none */
	unsigned failures; /* writes that failed since the last one that succeeded */
	uint64_t older;    /* keys of an older layout that were found */
	bool older_left;   /* some of them were not deleted */
};

struct etcd_store {
	struct store base;
	struct etcd etcd;
	struct etcd_place place;
	struct etcd_seal seal;
	uint8_t check[KEYS_BYTES], private_key[KEYS_BYTES];
	char prefix[ETCD_PREFIX_BYTES], address[ETCD_ADDRESS_BYTES], other[ETCD_ADDRESS_BYTES];
	int64_t lease; /* id of the lease; 0: none */
	/* revision at which this manager's election key was created; 0: it stands by */
	int64_t term;
	/* time in ns at which the lease ends; the manager acts only before */
	uint64_t lease_until_ns;
	uint64_t step_ns; /* when the next step is due */
	uint64_t version;
	struct store_import *import; /* or NULL */
	bool must_exist;
	struct etcd_row *rows; /* changes of a save */
	size_t count, space;
	struct etcd_log log;
};

static inline struct etcd_store *etcd_store_own(const struct store *base)
{
	return CONTAINER_OF(base, struct etcd_store, base);
}

static inline uint64_t etcd_store_now(const struct etcd_store *s)
{
	return s->etcd.transport.now_ns(s->etcd.transport.context);
}

/* Writes the key with this name. */
char *etcd_store_key(const struct etcd_store *s, const char *name, char out[ETCD_KEY_BYTES]);

/* etcd_fabric.c: finds the fabric, or creates it. Statuses of store_etcd_open. */
int etcd_fabric_open(struct etcd_store *s);
/* Checks the value of the key `format`. Errors are logged. */
int etcd_fabric_check(const struct etcd_store *s, const char *value);

#define ETCD_IMPORTING "importing" /* a key that exists while an import runs: its digest */
/* The contract of store.h. */
int etcd_import_mark(struct store *base, const char *digest);
/* Checks the value of ETCD_IMPORTING. DXP_EUNSUPPORTED: another import wrote it (logged). */
int etcd_import_check(struct etcd_store *s, const char *value);

/* etcd_lease.c: the contracts of store.h. */
uint64_t etcd_lease_step(struct store *base);
uint64_t etcd_lease_term(const struct store *base);
void etcd_lease_resign(struct store *base);
/* Stands by from now on; logs why. */
void etcd_lease_give_up(struct etcd_store *s, const char *why);
/* Ends the lease in etcd, so that the next manager need not wait. */
void etcd_lease_end(struct etcd_store *s);

/* etcd_save.c: the contract of store.h. */
int etcd_save_changes(struct store *base, struct registry *r);
/* Returns the next row to fill, with key and value; NULL: no memory. */
struct etcd_row *etcd_save_row(struct etcd_store *s);
/* Commits some of the rows: repeats the transaction until its outcome is known. DXP_EIO: the term
 * has ended. */
int etcd_save_commit(struct etcd_store *s, size_t first, size_t count);
/* Makes one attempt to commit all rows, without a change of `version`. etcd may execute them at any
 * later time of this term, which must do no harm. DXP_EAGAIN: the outcome is unknown; DXP_EIO: the
 * term has ended. */
int etcd_save_try(struct etcd_store *s);
/* Frees the rows from `first` on. */
void etcd_save_drop(struct etcd_store *s, size_t first);
void etcd_save_clear(struct etcd_store *s);

/* etcd_log.c: implements store_log_save (store.h). */
uint64_t etcd_log_save(struct store *base, struct registry *r, bool at_once);
/* Adds rows that write unsaved events, at most ETCD_LOG_ROWS. Returns the number of the first event
 * that they leave out; 0: there are none, or no memory. Call etcd_log_saved with that number once
 * they are committed. */
uint64_t etcd_log_rows(struct etcd_store *s, struct event_journal *l);
void etcd_log_saved(struct etcd_store *s, struct event_journal *l, uint64_t saved);
/* Load the event log: etcd_log_begin prepares for it, etcd_log_load loads a pair whose key begins
 * with "event/", and etcd_log_loaded ends it. Keys of an older layout are deleted meanwhile. */
void etcd_log_begin(struct etcd_store *s);
void etcd_log_load(struct etcd_store *s, struct event_journal *l, const struct etcd_pair *pair);
void etcd_log_loaded(struct etcd_store *s);

#endif
