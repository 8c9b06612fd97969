/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry's storage: an SQLite database in the state folder, or etcd (store_etcd.h). A manager
 * that is killed loses nothing that it has confirmed to a node. These functions log errors, with
 * the next step. */
#ifndef MANAGER_STORE_H
#define MANAGER_STORE_H

#include "manager/registry.h"

struct store;

/* Opens or creates an SQLite database in the folder (mode 0700; file 0600, because it holds
 * magics). It uses a write-ahead log (WAL). A second manager cannot open it. DXP_EBUSY: another
 * manager uses the database; DXP_EACCESS: not writable; DXP_EMALFORMED: damaged, or the file of
 * another program; DXP_EUNSUPPORTED: another version; DXP_EIO; DXP_ENOMEM. */
int store_open(const char *folder, struct store **out);
void store_close(struct store *s);

/* Sets `key` to the private key of the fabric's managers. Returns the statuses of
 * secrets_manager_key. */
int store_private_key(struct store *s, uint8_t key[KEYS_BYTES]);

/* Does what is due: renews this manager's lease, or tries to make it active. Returns in how many ns
 * to call it again; UINT64_MAX: never. */
uint64_t store_step(struct store *s);
/* Returns the term in which this manager may act; 0: it may not. When a term ends, the registry
 * that was loaded in it is void, even if this manager gets the next term too. SQLite: always 1. */
uint64_t store_term(const struct store *s);
/* Returns the address of the active manager, if that is another one; "": unknown. */
const char *store_other(const struct store *s);
/* Lets another manager become active, because this one cannot act. */
void store_resign(struct store *s);

/* Passes all rows to registry_load, but of a large event log only the newest events;
 * store_log_save loads the others. DXP_EMALFORMED: a row is invalid; DXP_EIO. */
int store_load(struct store *s, struct registry *r);
/* Does the same, but returns once all events are loaded. */
int store_load_all(struct store *s, struct registry *r);

/* SQLite: checks that the file at the path is still the open database; call it about once a second.
 * If the file is missing, writes it again from the registry. If another file is in its place, first
 * renames that file and logs it. DXP_EBUSY: another manager uses that file; other statuses are
 * those of store_open. After a failure nothing is saved until a later call succeeds. */
int store_check(struct store *s, struct registry *r);

/* Returns the number of transactions so far; 0: SQLite, which counts none. */
uint64_t store_version(const struct store *s);
/* etcd: marks the fabric as incomplete, because an import with this digest runs; NULL: the import
 * is complete. SQLite needs no mark, because a save is one transaction. DXP_EIO. */
int store_import_mark(struct store *s, const char *digest);

/* etcd: saves events that no store_save has saved, after a few seconds; call it after answers are
 * sent. A failure ends no term and is repeated. With `at_once` it saves all, and returns once that
 * is done, or after some seconds without success. Returns in how many ns to call it again;
 * UINT64_MAX: once there are new events. SQLite: store_save saves all events; without `at_once`,
 * this loads some events that store_load left out, and returns 0 while there are more. */
uint64_t store_log_save(struct store *s, struct registry *r, bool at_once);

/* Writes all changes. SQLite: in one transaction. DXP_EIO: nothing was written (for instance
 * because the disk is full); the registry returns all changes again. etcd: in transactions of at
 * most ETCD_ROWS_MAX rows, in the order keys, tokens, others. After DXP_EIO the term has
 * ended, and it is unknown whether the last transaction was executed. */
int store_save(struct store *s, struct registry *r);

/* Writes all changes and all events, for an import. DXP_EIO: as store_save, but SQLite has written
 * nothing also if only the events failed. */
int store_save_all(struct store *s, struct registry *r);

#endif
